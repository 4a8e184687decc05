"""Each function on stock JAX and on the plugin, by our op and by the formula."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from bench.pointwise.timing import DTYPES, SHAPES, SIZES, measure

Function = Callable[..., jax.Array]


class Case(NamedTuple):
    """A function by our op and by the formula."""

    name: str
    ours: Callable[..., Any]
    formula: Callable[..., Any]
    operands: int
    gradient_of: Function | None = None
    """A function whose result's cotangent is one more operand."""


def _chain(x: jax.Array, y: jax.Array) -> jax.Array:
    a = jnp.abs(jnp.sin(x * 0.5 + y) * jnp.cos(y - x * 0.25) + 1.0)
    b = jnp.exp(-a * a + 1.0) / (jnp.sqrt(a) + 0.5)
    return jnp.maximum(jnp.tanh(b * x + y * 0.125 - a), b - 2.0)


def _gradient(function: Function) -> Callable[..., Any]:
    """The cotangents of the operands, given those of the result, which is the last argument."""

    def gradient(*args: jax.Array) -> Any:
        *operands, cotangent = args
        return jax.vjp(function, *operands)[1](cotangent)

    return gradient


def _both(name: str, ours: Function, formula: Function, operands: int) -> Iterator[Case]:
    yield Case(name, ours, formula, operands)
    yield Case(f"its gradient: {name}", _gradient(ours), _gradient(formula), operands, formula)


def functions(ops: Any) -> Iterator[Case]:
    """Functions of single elements, and their gradients."""

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
        yield from _both(name, ours, formula, count)


def _softmax_cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    return -jnp.sum(labels * jax.nn.log_softmax(logits), axis=-1)


def _layer_norm(x: jax.Array, gain: jax.Array, bias: jax.Array) -> jax.Array:
    return gain * jax.nn.standardize(x, epsilon=1e-5) + bias


def functions_of_rows(ops: Any) -> Iterator[Case]:
    """Functions of rows, and their gradients."""
    for name, ours, formula, count in (
        ("softmax_cross_entropy", ops.softmax_cross_entropy, _softmax_cross_entropy, 2),
        ("layer_norm", ops.layer_norm, _layer_norm, 3),
    ):
        yield from _both(name, ours, formula, count)


def records(ops: Any) -> Iterator[dict[str, Any]]:
    """The times of each pointwise function for each size and dtype."""
    for function in functions(ops):
        for dtype in DTYPES:
            for size in SIZES:
                yield _record(function, dtype, (size,), {"size": size})


def records_of_rows(ops: Any) -> Iterator[dict[str, Any]]:
    """The times of each function of rows for each shape and dtype."""
    for function in functions_of_rows(ops):
        for dtype in DTYPES:
            for shape in SHAPES:
                yield _record(function, dtype, shape, {"shape": shape})


def _record(case: Case, dtype: str, shape: tuple[int, ...], about: dict[str, Any]) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    host = [jnp.asarray(rng.normal(size=shape), dtype) for _ in range(case.operands)]
    if case.gradient_of is not None:
        result = jax.eval_shape(case.gradient_of, *host)
        host.append(jnp.asarray(rng.normal(size=result.shape), dtype))
    here, there = (jax.device_put(host, jax.devices(platform)[0]) for platform in ("cpu", "oxcall"))
    forms = {
        "xla": _call(jax.jit(case.formula), here),
        "op on xla": _call(jax.jit(case.ours), here),
        "unfused": _call(case.formula, here),
        "plugin": _call(jax.jit(case.formula), there),
        "op on plugin": _call(jax.jit(case.ours), there),
    }
    _agree(forms, dtype)
    times = measure(forms)
    return {
        "name": case.name,
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
