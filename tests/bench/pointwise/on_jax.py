"""Each function on stock JAX and on the plugin, by our op and by the formula."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bench.pointwise.timing import DTYPES, SHAPES, SIZES, measure

Function = Callable[..., jax.Array]


def _chain(x: jax.Array, y: jax.Array) -> jax.Array:
    a = jnp.abs(jnp.sin(x * 0.5 + y) * jnp.cos(y - x * 0.25) + 1.0)
    b = jnp.exp(-a * a + 1.0) / (jnp.sqrt(a) + 0.5)
    return jnp.maximum(jnp.tanh(b * x + y * 0.125 - a), b - 2.0)


def _gradient(function: Function, count: int, weight: Function = jnp.cos) -> Callable[..., Any]:
    def gradient(*args: jax.Array) -> Any:
        value, pull = jax.vjp(function, *args[:count])
        return pull(weight(value))

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


def _softmax_cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    return -jnp.sum(labels * jax.nn.log_softmax(logits), axis=-1)


def _layer_norm(x: jax.Array, gain: jax.Array, bias: jax.Array) -> jax.Array:
    return gain * jax.nn.standardize(x, epsilon=1e-5) + bias


def _slow_weight(value: jax.Array) -> jax.Array:
    """Sums of long rows of halves are large, and their last digit is no part of an angle."""
    return jnp.tanh(value * 1e-3)


def functions_of_rows(ops: Any) -> Iterator[tuple[str, Callable[..., Any], Callable[..., Any], int]]:
    """As `functions`."""
    for name, ours, formula, count in (
        ("softmax_cross_entropy", ops.softmax_cross_entropy, _softmax_cross_entropy, 2),
        ("layer_norm", ops.layer_norm, _layer_norm, 3),
    ):
        yield name, ours, formula, count
        gradients = [_gradient(function, count, _slow_weight) for function in (ours, formula)]
        yield f"its gradient: {name}", *gradients, count


def records(ops: Any) -> Iterator[dict[str, Any]]:
    """The times of each pointwise function for each size and dtype."""
    for function in functions(ops):
        for dtype in DTYPES:
            for size in SIZES:
                yield _record(*function, dtype, (size,), {"size": size})


def records_of_rows(ops: Any) -> Iterator[dict[str, Any]]:
    """The times of each function of rows for each shape and dtype."""
    for function in functions_of_rows(ops):
        for dtype in DTYPES:
            for shape in SHAPES:
                yield _record(*function, dtype, shape, {"shape": shape})


def _record(
    name: str,
    ours: Callable[..., Any],
    formula: Callable[..., Any],
    count: int,
    dtype: str,
    shape: tuple[int, ...],
    about: dict[str, Any],
) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    host = [jnp.asarray(rng.normal(size=shape), dtype) for _ in range(count)]
    here, there = (jax.device_put(host, jax.devices(platform)[0]) for platform in ("cpu", "oxcall"))
    forms = {
        "xla": _call(jax.jit(formula), here),
        "op on xla": _call(jax.jit(ours), here),
        "unfused": _call(formula, here),
        "plugin": _call(jax.jit(formula), there),
        "op on plugin": _call(jax.jit(ours), there),
    }
    _agree(forms, dtype)
    times = measure(forms)
    return {
        "name": name,
        "dtype": dtype,
        **about,
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
            # Long sums of both signs are as accurate as they are large.
            wrong = np.mean(~np.isclose(ours, right, tolerance, tolerance * max(1, np.abs(right).mean())))
            # One program for each function rounds between them, also what is summed.
            assert wrong < (0.1 if form == "unfused" else 1e-2), f"{form}: {wrong:.1%} of the numbers differ"
