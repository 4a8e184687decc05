"""Prints results of the gallery's functions of single numbers and of rows, on stock JAX and on the plugin, as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import oxcall

SIZE = 1000
SHAPE = (7, 143)
# The shapes of the operands.
SHAPES = {
    "softplus": [SIZE],
    # One operand is broadcast.
    "swiglu": [SHAPE, SHAPE[1:]],
    "huber": [SIZE],
    "rope_pair": [SIZE] * 3,
    "logit_normal_pdf": [SIZE] * 3,
    "softmax_cross_entropy": [SHAPE] * 2,
    "layer_norm": [SHAPE] * 3,
    "tempered_softmax": [SHAPE, SHAPE[:1]],
}


def _operands(name: str, dtype: str) -> list[jax.Array]:
    rng = np.random.default_rng(7)
    values = [rng.normal(size=size) for size in SHAPES[name]]
    if name == "tempered_softmax":
        values[1] = 1 + values[1] ** 2
    if name == "logit_normal_pdf":
        values = [rng.uniform(0.05, 0.95, SIZE), values[1], rng.uniform(0.5, 2.0, SIZE)]
    return [jnp.asarray(value, dtype) for value in values]


def _forms(function: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    def directions(args: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        return tuple(arg * 0.5 for arg in args)

    def pull(*args: jax.Array) -> Any:
        results, transposed = jax.vjp(function, *args)
        return transposed(jax.tree.map(lambda result: result * 0 + 1, results))

    return {
        "values": function,
        "jvp": lambda *args: jax.jvp(function, args, directions(args)),
        "vjp": pull,
        "jvp of vjp": lambda *args: jax.jvp(pull, args, directions(args)),
    }


def main() -> None:
    """One line, the last: results by function, dtype, form and device."""
    ops = oxcall.load(sys.argv[1])
    found: dict[str, dict[str, list[float]]] = {}
    for name in SHAPES:
        for dtype in ("float16", "bfloat16", "float32", "float64"):
            operands = _operands(name, dtype)
            for form, function in _forms(ops[name]).items():
                results = found[f"{name}, {dtype}, {form}"] = {}
                for device in ("cpu", "oxcall"):
                    args = jax.device_put(operands, jax.devices(device)[0])
                    leaves = jax.tree.leaves(jax.jit(function)(*args))
                    results[device] = np.concatenate([np.asarray(leaf, "float64").ravel() for leaf in leaves]).tolist()
    print(json.dumps(found))


if __name__ == "__main__":
    main()
