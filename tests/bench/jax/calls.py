"""The calls that are timed: by the package, by `jax.ffi.ffi_call`, and by `jax.custom_vjp` over that."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

EPS = 1e-5
OURS, BARE, BY_HAND = "ours", "ffi_call", "custom_vjp"
Run = Callable[[], Any]


@dataclasses.dataclass(frozen=True)
class Case:
    """A call in several forms, each of which gives the same arrays.

    Attributes:
        name: what is done.
        forms: for each form, the function that does it once.
        limit: the most that ours may take, as a multiple of `ffi_call`.
    """

    name: str
    forms: dict[str, Run]
    limit: float | None = None


def forms(ops: Any) -> dict[str, Callable[[Any, Any], Any]]:
    """A norm with a weight in each form."""
    norm, gradient = ops.weighted_rms_norm.target, ops.weighted_rms_norm_vjp.target

    def bare(x: Any, w: Any) -> Any:
        return jax.ffi.ffi_call(norm, jax.ShapeDtypeStruct(x.shape, x.dtype))(x, w, eps=np.float64(EPS))

    @jax.custom_vjp
    def by_hand(x: Any, w: Any) -> Any:
        return bare(x, w)

    def backward(residuals: Any, dy: Any) -> Any:
        x, w = residuals
        types = [jax.ShapeDtypeStruct(value.shape, value.dtype) for value in (x, w)]
        return tuple(jax.ffi.ffi_call(gradient, types)(x, w, dy, eps=np.float64(EPS)))

    by_hand.defvjp(lambda x, w: (bare(x, w), (x, w)), backward)
    return {OURS: lambda x, w: ops.weighted_rms_norm(x, w, eps=EPS), BARE: bare, BY_HAND: by_hand}


def cases(ops: Any) -> list[Case]:
    """All calls, of 8 x 16 floats."""
    generator = np.random.default_rng(1)
    x = jnp.asarray(generator.normal(size=(8, 16)), jnp.float32)
    w = jnp.asarray(generator.normal(size=16), jnp.float32)
    functions = forms(ops)
    differentiable = {name: function for name, function in functions.items() if name != BARE}

    def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
        return jax.grad(lambda x, w: function(x, w).sum(), (0, 1))

    def lowered(function: Callable[..., Any]) -> Run:
        # A new function each time: JAX remembers those that it has traced.
        return lambda: jax.jit(lambda x, w: function(x, w)).lower(x, w)

    def runs(chosen: dict[str, Any], wrap: Callable[..., Any]) -> dict[str, Run]:
        return {name: functools.partial(wrap(function), x, w) for name, function in chosen.items()}

    def as_given(function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    return [
        Case("eager call", runs(functions, as_given), limit=2.0),
        Case("jitted call", runs(functions, jax.jit)),
        Case("eager gradient", runs(differentiable, gradient)),
        Case("jitted gradient", runs(differentiable, lambda function: jax.jit(gradient(function)))),
        Case("tracing and lowering of a call", {name: lowered(function) for name, function in functions.items()}),
        Case(
            "tracing and lowering of a gradient",
            {name: lowered(gradient(function)) for name, function in differentiable.items()},
        ),
    ]
