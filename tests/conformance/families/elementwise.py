"""Element-wise ops."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs, oracles
from conformance.cases import Case, family
from conformance.tolerances import tolerance

_NUMBERS = (*inputs.INTEGERS, *inputs.SMALL_FLOATS, *inputs.FLOATS, *inputs.COMPLEX)
_REAL = (*inputs.INTEGERS, *inputs.SMALL_FLOATS, *inputs.FLOATS)
_INEXACT = (*inputs.SMALL_FLOATS, *inputs.FLOATS, *inputs.COMPLEX)
_FLOATS = (*inputs.SMALL_FLOATS, *inputs.FLOATS)
_BITS = ("bool", *inputs.INTEGERS)

_PACKED = "XLA:CPU converts 4-bit floats to integers by way of a type that does not hold them: NumPy, StableHLO"

UNARY: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "abs": (lax.abs, (*inputs.SIGNED[2:], *_INEXACT)),
    "cbrt": (lax.cbrt, _FLOATS),
    "ceil": (lax.ceil, _FLOATS),
    "count_leading_zeros": (lax.clz, inputs.INTEGERS),
    "cosine": (lax.cos, _INEXACT),
    "exponential": (lax.exp, _INEXACT),
    "exponential_minus_one": (lax.expm1, _INEXACT),
    "floor": (lax.floor, _FLOATS),
    "imag": (lax.imag, inputs.COMPLEX),
    "is_finite": (lax.is_finite, _FLOATS),
    "log": (lax.log, _INEXACT),
    "log_plus_one": (lax.log1p, _INEXACT),
    "logistic": (lax.logistic, _INEXACT),
    "negate": (lax.neg, _NUMBERS),
    "not": (lax.bitwise_not, _BITS),
    "popcnt": (lax.population_count, inputs.INTEGERS),
    "real": (lax.real, inputs.COMPLEX),
    "round_nearest_afz": (lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), _FLOATS),
    "round_nearest_even": (lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), _FLOATS),
    "rsqrt": (lax.rsqrt, _INEXACT),
    "sign": (lax.sign, (*inputs.SIGNED[2:], *_INEXACT)),
    "sine": (lax.sin, _INEXACT),
    "sqrt": (lax.sqrt, _INEXACT),
    "tan": (lax.tan, _INEXACT),
    "tanh": (lax.tanh, _INEXACT),
}

BINARY: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "add": (lax.add, _NUMBERS),
    "and": (lax.bitwise_and, _BITS),
    "atan2": (lax.atan2, _FLOATS),
    "divide": (lax.div, _NUMBERS),
    "maximum": (lax.max, ("bool", *_NUMBERS)),
    "minimum": (lax.min, ("bool", *_NUMBERS)),
    "multiply": (lax.mul, _NUMBERS),
    "or": (lax.bitwise_or, _BITS),
    "power": (lax.pow, _INEXACT),
    "remainder": (lax.rem, _REAL),
    "shift_left": (lax.shift_left, inputs.INTEGERS),
    "shift_right_arithmetic": (lax.shift_right_arithmetic, inputs.INTEGERS),
    "shift_right_logical": (lax.shift_right_logical, inputs.INTEGERS),
    "subtract": (lax.sub, _NUMBERS),
    "xor": (lax.bitwise_xor, _BITS),
}

COMPARE = {"eq": lax.eq, "ne": lax.ne, "ge": lax.ge, "gt": lax.gt, "le": lax.le, "lt": lax.lt}


# Pairs of ops and dtypes on which XLA:CPU is wrong.
_WRONG = {
    ("popcnt", dtype): oracles.interpreter("XLA:CPU counts the copies of the sign in the rest of the byte")
    for dtype in ("int2", "int4", "uint2", "uint4")
}


def _oracle(op: str, dtype: str) -> oracles.Oracle:
    return _WRONG.get((op, dtype), oracles.STOCK)


@family
def unary(rng: np.random.Generator) -> Iterator[Case]:
    """One operand."""
    for op, (function, dtypes) in UNARY.items():
        for dtype in dtypes:
            for shape in inputs.SHAPES:
                # Functions of complex infinities and NaN are not specified.
                draw = inputs.moderate if dtype in inputs.COMPLEX and op != "negate" else inputs.values
                x = draw(rng, dtype, shape)
                yield Case(op, dtype, f"{list(shape)}", function, [x], tolerance(op, dtype), oracle=_oracle(op, dtype))


@family
def binary(rng: np.random.Generator) -> Iterator[Case]:
    """Two operands of one type."""
    for op, (function, dtypes) in BINARY.items():
        for dtype in dtypes:
            for shape in inputs.SHAPES:
                draw = (
                    inputs.moderate
                    if op in ("divide", "multiply", "power") and dtype in inputs.COMPLEX
                    else inputs.values
                )
                x, y = draw(rng, dtype, shape), draw(rng, dtype, shape)
                yield Case(
                    op, dtype, f"{list(shape)}", function, [x, y], tolerance(op, dtype), oracle=_oracle(op, dtype)
                )


@family
def compare(rng: np.random.Generator) -> Iterator[Case]:
    """Comparisons; half of the pairs are equal."""
    for direction, function in COMPARE.items():
        for dtype in inputs.EVERY:
            if dtype in inputs.COMPLEX and direction not in ("eq", "ne"):
                continue
            for shape in inputs.SHAPES:
                x = inputs.values(rng, dtype, shape)
                y = np.where(rng.random(shape) < 0.5, x, inputs.values(rng, dtype, shape))
                yield Case("compare", dtype, f"{direction} {list(shape)}", function, [x, y])


@family
def convert(rng: np.random.Generator) -> Iterator[Case]:
    """Conversions between all pairs of dtypes."""
    for source in inputs.EVERY:
        x = inputs.values(rng, source, (61,))
        for target in inputs.EVERY:
            if source in inputs.COMPLEX and target not in inputs.COMPLEX:
                continue
            to = inputs.dtype_of(target)

            def convert(x: Any, to: Any = to) -> Any:
                return lax.convert_element_type(x, to)

            def through(x: Any, to: Any = to) -> Any:
                return x.astype("float32").astype(to)

            oracle = oracles.other(through, _PACKED) if source == "float4_e2m1fn" else oracles.STOCK
            yield Case("convert", source, f"to {target}", convert, [x], oracle=oracle)
        for shape in inputs.SHAPES:
            yield Case(
                "convert",
                source,
                f"to complex64 {shape}",
                lambda x: lax.convert_element_type(x, "complex64"),
                [inputs.values(rng, source, shape)],
            )


@family
def ternary(rng: np.random.Generator) -> Iterator[Case]:
    """Select and clamp."""
    for dtype in inputs.EVERY:
        for shape in inputs.SHAPES:
            x, y = inputs.values(rng, dtype, shape), inputs.values(rng, dtype, shape)
            mask = rng.random(shape) < 0.5
            yield Case("select", dtype, f"{list(shape)}", lax.select, [mask, x, y])
            if dtype not in inputs.COMPLEX and dtype != "bool":
                low, high = inputs.values(rng, dtype, shape), inputs.values(rng, dtype, shape)
                yield Case("clamp", dtype, f"{list(shape)}", lax.clamp, [low, x, high])


_BITWISE = "XLA:CPU rounds the mantissa bits of subnormal numbers, which a format of more exponents holds exactly"


def _to_mantissa(x: np.ndarray, bits: int) -> np.ndarray:
    """The nearest numbers with so many bits after the first."""
    fraction, exponent = np.frexp(x.astype("float64"))
    return np.ldexp(np.round(np.ldexp(fraction, bits + 1)), exponent - bits - 1).astype(x.dtype)


@family
def others(rng: np.random.Generator) -> Iterator[Case]:
    """Complex numbers of parts, rounding of precision, bits as other types."""
    for real, dtype in (("float32", "complex64"), ("float64", "complex128")):
        for shape in inputs.SHAPES:
            x, y = inputs.values(rng, real, shape), inputs.values(rng, real, shape)
            yield Case("complex", dtype, f"{list(shape)}", lax.complex, [x, y])
    for dtype in inputs.FLOATS:
        for exponent, mantissa in ((5, 10), (8, 7), (8, 23), (4, 3), (5, 2), (2, 0), (11, 52)):
            x = inputs.values(rng, dtype, (97,))

            def reduce(x: Any, exponent: int = exponent, mantissa: int = mantissa) -> Any:
                return lax.reduce_precision(x, exponent, mantissa)

            # Wider exponents hold the subnormal numbers of float16.
            rounded = functools.partial(_to_mantissa, bits=mantissa)
            wider = dtype == "float16" and exponent > 5
            oracle = oracles.numpy(rounded, _BITWISE) if wider else oracles.STOCK
            yield Case("reduce_precision", dtype, f"e{exponent}m{mantissa}", reduce, [x], oracle=oracle)
    for source in inputs.EVERY:
        for target in inputs.EVERY:
            if "bool" in (source, target) or {source, target} & set(inputs.COMPLEX):
                continue
            x = inputs.values(rng, source, (3, max(1, inputs.bits(target) // inputs.bits(source))))
            to = inputs.dtype_of(target)
            yield Case("bitcast_convert", source, f"to {target}", lambda x, to=to: lax.bitcast_convert_type(x, to), [x])
    for dtype in (*inputs.INTEGERS, *inputs.SMALL_FLOATS, *inputs.FLOATS, *inputs.COMPLEX):
        for shape in ((5,), (2, 3), (3, 1), (0,), (2, 2, 3)):
            for dim in range(len(shape)):
                to = inputs.dtype_of(dtype)

                def iota(to: Any = to, shape: tuple[int, ...] = shape, dim: int = dim) -> Any:
                    return lax.broadcasted_iota(to, shape, dim)

                yield Case("iota", dtype, f"{list(shape)} {dim}", iota, [])
    for dtype in inputs.EVERY:
        x = inputs.values(rng, dtype, (3, 1))
        yield Case("broadcast_in_dim", dtype, "outer", lambda x: lax.broadcast_in_dim(x, (2, 3, 4), (1, 2)), [x])
        yield Case("broadcast_in_dim", dtype, "transposed", lambda x: lax.broadcast_in_dim(x, (1, 5, 3), (2, 0)), [x])
        yield Case("broadcast_in_dim", dtype, "scalar", lambda x: lax.broadcast(x[0, 0], (2, 0, 3)), [x])
        yield Case("broadcast_in_dim", dtype, "rows", lambda x: jnp.broadcast_to(x, (4, 3, 33)), [x])
        yield Case("broadcast_in_dim", dtype, "same", lambda x: lax.broadcast_in_dim(x, (3, 1), (0, 1)), [x])


@family
def subnormal(rng: np.random.Generator) -> Iterator[Case]:
    """Ops that IEEE 754 defines, on subnormal numbers."""
    oracle = oracles.interpreter("XLA:CPU takes subnormal numbers for zeros, StableHLO keeps them as IEEE 754 says")
    unary = {op: UNARY[op][0] for op in ("abs", "negate", "sign", "sqrt", "ceil", "floor", "is_finite")}
    binary = {op: BINARY[op][0] for op in ("add", "subtract", "multiply", "divide", "maximum", "minimum")}
    others = {
        "compare": lax.lt,
        "select": lambda x, y: lax.select(x < y, x, y),
        "clamp": lambda x, y: lax.clamp(x, y, y),
    }
    for dtype in ("bfloat16", "float32", "float64"):
        for shape in ((), (7,), (2053,)):
            x, y = inputs.subnormal(rng, dtype, shape), inputs.subnormal(rng, dtype, shape)
            for op, function in unary.items():
                yield Case(op, dtype, f"subnormal {shape}", function, [x], oracle=oracle)
            for op, function in (binary | others).items():
                yield Case(op, dtype, f"subnormal {shape}", function, [x, y], oracle=oracle)
            for target in inputs.FLOATS:
                to = lambda x, t=target: lax.convert_element_type(x, t)  # noqa: E731
                yield Case("convert", dtype, f"subnormal {shape} to {target}", to, [x], oracle=oracle)
