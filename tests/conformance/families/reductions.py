"""Reductions, windows and scans."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs, oracles
from conformance.cases import Case, family
from conformance.compare import EXACT, Tolerance
from conformance.tolerances import sums

_NUMBERS = (*inputs.INTEGERS, *inputs.SMALL_FLOATS, *inputs.FLOATS, *inputs.COMPLEX)
_AXES = (
    ((7,), (0,)),
    ((5, 11), (0,)),
    ((5, 11), (1,)),
    ((3, 5, 7), (1,)),
    ((3, 5, 7), (0, 2)),
    ((3, 0, 2), (1,)),
    ((), ()),
)
_NO_INIT = "XLA:CPU drops the initial value of windows of rank 0"


def _inexact(dtype: str) -> bool:
    return dtype not in inputs.INTEGERS and dtype != "bool"


@family
def reduce(rng: np.random.Generator) -> Iterator[Case]:
    """Over one and several dimensions, empty ones included."""
    for dtype in ("bool", *_NUMBERS):
        zero, one = np.zeros((), inputs.dtype_of(dtype)), np.ones((), inputs.dtype_of(dtype))
        for shape, axes in _AXES:
            x = inputs.moderate(rng, dtype, shape)
            near = sums(int(np.prod([shape[a] for a in axes]))) if _inexact(dtype) else EXACT
            where = f"{list(shape)} over {list(axes)}"
            if dtype == "bool":
                yield Case("reduce", dtype, f"or {where}", lambda x, a=axes: jnp.any(x, a), [x])
                yield Case("reduce", dtype, f"and {where}", lambda x, a=axes: jnp.all(x, a), [x])
                continue
            yield Case(
                "reduce", dtype, f"add {where}", lambda x, z=zero, a=axes: lax.reduce(x, z, lax.add, a), [x], near
            )
            yield Case(
                "reduce", dtype, f"multiply {where}", lambda x, o=one, a=axes: lax.reduce(x, o, lax.mul, a), [x], near
            )
            if dtype not in inputs.COMPLEX:
                x = inputs.values(rng, dtype, shape)
                yield Case("reduce", dtype, f"max {where}", lambda x, z=zero, a=axes: lax.reduce(x, z, lax.max, a), [x])
                yield Case("reduce", dtype, f"min {where}", lambda x, z=zero, a=axes: lax.reduce(x, z, lax.min, a), [x])
            if dtype in inputs.INTEGERS and inputs.bits(dtype) >= 8:
                yield Case(
                    "reduce", dtype, f"xor {where}", lambda x, z=zero, a=axes: lax.reduce(x, z, lax.bitwise_xor, a), [x]
                )


@family
def large(rng: np.random.Generator) -> Iterator[Case]:
    """Sizes at which work is split among threads."""
    for shape, axes in (
        ((1_000_003,), (0,)),
        ((1009, 1013), (0,)),
        ((1009, 1013), (1,)),
        ((101, 53, 211), (0, 2)),
        ((7, 300_007), (1,)),
    ):
        x = rng.standard_normal(shape).astype("float32")
        count = int(np.prod([shape[a] for a in axes]))
        yield Case("reduce", "float32", f"sum {shape} {axes}", lambda x, a=axes: jnp.sum(x, a), [x], sums(count, 8))
        yield Case("reduce", "float32", f"max {shape} {axes}", lambda x, a=axes: jnp.max(x, a), [x])
        yield Case(
            "reduce",
            "float32",
            f"mean, var {shape} {axes}",
            lambda x, a=axes: (x.mean(a), x.var(a)),
            [x],
            sums(count, 8),
        )


@family
def arguments(rng: np.random.Generator) -> Iterator[Case]:
    """Variadic reductions: argmax and argmin, with NaN and ties."""
    for dtype in (*inputs.INTEGERS[2:6], *inputs.INTEGERS[8:], *inputs.FLOATS, "bool"):
        for shape, axis in (((17,), 0), ((5, 11), 0), ((5, 11), 1), ((3, 1, 4), 1), ((2, 3, 4), 2)):
            x = inputs.values(rng, dtype, shape)
            x = np.where(rng.random(shape) < 0.3, x.ravel()[0], x)
            yield Case("reduce", dtype, f"argmax {shape} {axis}", lambda x, a=axis: jnp.argmax(x, a), [x])
            yield Case("reduce", dtype, f"argmin {shape} {axis}", lambda x, a=axis: jnp.argmin(x, a), [x])


def _pools(dtype: str) -> Iterator[tuple[str, Any, Callable[..., Any], Callable[..., np.ndarray], Tolerance]]:
    """What reduces windows of a type: its name, initial value and function, its inputs, and how near it is."""
    near = sums(9) if _inexact(dtype) else EXACT
    if dtype == "bool":
        yield "or", False, lax.bitwise_or, inputs.moderate, EXACT
        yield "and", True, lax.bitwise_and, inputs.moderate, EXACT
        return
    yield "add", 0, lax.add, inputs.moderate, near
    if dtype in inputs.COMPLEX:
        yield "multiply", 1, lax.mul, inputs.moderate, near
    else:
        yield "max", 0, lax.max, inputs.values, EXACT


@family
def windows(rng: np.random.Generator) -> Iterator[Case]:
    """Pooling with strides, padding and dilations."""
    for dtype in inputs.EVERY:
        for shape, window, strides, padding, base, dilation in (
            ((1, 9, 8, 2), (1, 2, 2, 1), (1, 2, 2, 1), "VALID", None, None),
            ((2, 7, 7, 1), (1, 3, 3, 1), (1, 2, 1, 1), "SAME", None, None),
            ((11,), (3,), (1,), ((2, 0),), None, (2,)),
            ((5, 6), (2, 2), (1, 1), ((1, 1), (0, 2)), (2, 1), (1, 2)),
            ((4, 0), (2, 1), (1, 1), "VALID", None, None),
            ((6,), (2,), (2,), ((-1, 1),), None, None),
            ((), (), (), "VALID", None, None),
        ):

            def pool(x, init, op, window=window, strides=strides, padding=padding, base=base, dilation=dilation):
                return lax.reduce_window(x, init, op, window, strides, padding, base, dilation)

            for name, init, op, values, near in _pools(dtype):
                label, init = f"{name} {shape} {window} {padding}", np.asarray(init).astype(inputs.dtype_of(dtype))
                function = functools.partial(pool, init=init, op=op)
                oracle = oracles.STOCK if shape else oracles.other(functools.partial(op, init), _NO_INIT)
                yield Case("reduce_window", dtype, label, function, [values(rng, dtype, shape)], near, oracle=oracle)


@family
def scans(rng: np.random.Generator) -> Iterator[Case]:
    """Cumulative ops, which are windows of a whole dimension on the CPU."""
    functions = {"cumsum": lax.cumsum, "cumprod": lax.cumprod, "cummax": lax.cummax, "cummin": lax.cummin}
    for dtype in (*inputs.INTEGERS[2:6], *inputs.INTEGERS[8:], *inputs.FLOATS):
        for name, function in functions.items():
            for shape, axis in (((33,), 0), ((5, 7), 0), ((5, 7), 1), ((2, 1, 3), 1)):
                x = inputs.moderate(rng, dtype, shape)
                near = sums(shape[axis]) if _inexact(dtype) and name in ("cumsum", "cumprod") else EXACT
                for reverse in (False, True):

                    def scan(x, function=function, axis=axis, reverse=reverse):
                        return function(x, axis, reverse)

                    yield Case("reduce_window", dtype, f"{name} {shape} {axis} {reverse}", scan, [x], near)
    x = rng.standard_normal(100_003).astype("float32")
    yield Case("reduce_window", "float32", "cumsum large", jnp.cumsum, [x], sums(100_003))
    yield Case("reduce_window", "float32", "logcumsumexp", lax.cumlogsumexp, [x[:999]], sums(999))
