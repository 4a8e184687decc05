"""Each function on stock JAX and on the plugin, by our op and by the formula."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bench.pointwise.timing import DTYPES, SIZES, measure

Function = Callable[..., jax.Array]


def _chain(x: jax.Array, y: jax.Array) -> jax.Array:
    a = jnp.abs(jnp.sin(x * 0.5 + y) * jnp.cos(y - x * 0.25) + 1.0)
    b = jnp.exp(-a * a + 1.0) / (jnp.sqrt(a) + 0.5)
    return jnp.maximum(jnp.tanh(b * x + y * 0.125 - a), b - 2.0)


def _gradient(function: Function, count: int) -> Callable[..., Any]:
    def gradient(*args: jax.Array) -> Any:
        value, pull = jax.vjp(function, *args[:count])
        return pull(jnp.cos(value))

    return gradient


def functions(ops: Any) -> Iterator[tuple[str, Callable[..., Any], Callable[..., Any], int]]:
    """Name, our function, the formula, and how many operands they have."""

    def ramp(softplus: Function, x: jax.Array, y: jax.Array, z: jax.Array) -> jax.Array:
        return jnp.tanh(softplus(x) * y) + z

    pairs: dict[str, tuple[Function, Function, int]] = {
        "gelu": (ops.gelu, functools.partial(jax.nn.gelu, approximate=False), 1),
        "softplus": (ops.softplus, jax.nn.softplus, 1),
        "chain of 20": (ops.chain, _chain, 2),
        "tanh(softplus(x) y) + z": (
            functools.partial(ramp, ops.softplus),
            functools.partial(ramp, jax.nn.softplus),
            3,
        ),
    }
    for name, (ours, formula, count) in pairs.items():
        yield name, ours, formula, count
        yield f"its gradient: {name}", _gradient(ours, count), _gradient(formula, count), count


def records(ops: Any) -> Iterator[dict[str, Any]]:
    """The times of each function for each size and dtype."""
    cpu, plugin = jax.devices("cpu")[0], jax.devices("oxcall")[0]
    for name, ours, formula, count in functions(ops):
        for dtype in DTYPES:
            for size in SIZES:
                rng = np.random.default_rng(0)
                host = [jnp.asarray(rng.normal(size=size), dtype) for _ in range(count)]
                here, there = (jax.device_put(host, device) for device in (cpu, plugin))
                forms = {
                    "xla": _call(jax.jit(formula), here),
                    "op on xla": _call(jax.jit(ours), here),
                    "unfused": _call(formula, here),
                    "plugin": _call(jax.jit(formula), there),
                    "op on plugin": _call(jax.jit(ours), there),
                }
                _agree(forms, dtype)
                times = measure(forms)
                yield {
                    "name": name,
                    "dtype": dtype,
                    "size": size,
                    "us": times.us,
                    "op on xla": {form: times.ratio(form, "op on xla") for form in ("xla", "unfused")},
                    "op on plugin": {form: times.ratio(form, "op on plugin") for form in ("xla", "plugin")},
                }


def _call(function: Callable[..., Any], args: list[jax.Array]) -> Callable[[], Any]:
    return lambda: jax.block_until_ready(function(*args))


def _agree(forms: dict[str, Callable[[], Any]], dtype: str) -> None:
    """All but a few numbers, where a formula cancels: by their digits, or by those that `bfloat16` has."""
    tolerance = 1e-4 if dtype == "float32" else 0.1
    expected = [np.asarray(leaf, "float64") for leaf in jax.tree.leaves(forms["xla"]())]
    for form, run in forms.items():
        found = [np.asarray(leaf, "float64") for leaf in jax.tree.leaves(run())]
        for ours, right in zip(found, expected, strict=True):
            wrong = np.mean(~np.isclose(ours, right, tolerance, tolerance))
            assert wrong < 1e-2, f"{form}: {wrong:.1%} of the numbers differ"
