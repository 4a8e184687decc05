"""Element-wise ops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs
from conformance.cases import Case, family
from conformance.tolerances import tolerance

_NUMBERS = (*inputs.INTEGERS, *inputs.SMALL_FLOATS, *inputs.FLOATS, *inputs.COMPLEX)
_REAL = (*inputs.INTEGERS, *inputs.SMALL_FLOATS, *inputs.FLOATS)
_INEXACT = (*inputs.SMALL_FLOATS, *inputs.FLOATS, *inputs.COMPLEX)
_FLOATS = (*inputs.SMALL_FLOATS, *inputs.FLOATS)
_BITS = ("bool", *inputs.INTEGERS)

UNARY: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "abs": (lax.abs, (*inputs.SIGNED, *_INEXACT)),
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
    # XLA counts the sign's copies in the rest of the byte for narrower ones.
    "popcnt": (lax.population_count, inputs.INTEGERS[2:6] + inputs.INTEGERS[8:]),
    "real": (lax.real, inputs.COMPLEX),
    "round_nearest_afz": (lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), _FLOATS),
    "round_nearest_even": (lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), _FLOATS),
    "rsqrt": (lax.rsqrt, _INEXACT),
    "sign": (lax.sign, (*inputs.SIGNED, *_INEXACT)),
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
    "shift_right_arithmetic": (lax.shift_right_arithmetic, inputs.SIGNED + inputs.UNSIGNED[2:]),
    "shift_right_logical": (lax.shift_right_logical, inputs.INTEGERS),
    "subtract": (lax.sub, _NUMBERS),
    "xor": (lax.bitwise_xor, _BITS),
}

COMPARE = {"eq": lax.eq, "ne": lax.ne, "ge": lax.ge, "gt": lax.gt, "le": lax.le, "lt": lax.lt}


@family
def unary(rng: np.random.Generator) -> Iterator[Case]:
    """One operand."""
    for op, (function, dtypes) in UNARY.items():
        for dtype in dtypes:
            for shape in inputs.SHAPES:
                # Functions of complex infinities and NaN are not specified.
                draw = inputs.moderate if dtype in inputs.COMPLEX and op != "negate" else inputs.values
                x = draw(rng, dtype, shape)
                yield Case(op, dtype, f"{list(shape)}", function, [x], tolerance(op, dtype))


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
                yield Case(op, dtype, f"{list(shape)}", function, [x, y], tolerance(op, dtype))


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

            # XLA:CPU converts 4-bit floats to integers by way of a type that does not hold them.
            through = lambda x, to=to: x.astype("float32").astype(to)  # noqa: E731
            reference = through if source == "float4_e2m1fn" else None
            yield Case("convert", source, f"to {target}", convert, [x], reference=reference)


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

            yield Case("reduce_precision", dtype, f"e{exponent}m{mantissa}", reduce, [x])
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
        x = inputs.values(rng, dtype, (3, 1))
        yield Case("broadcast_in_dim", dtype, "outer", lambda x: lax.broadcast_in_dim(x, (2, 3, 4), (1, 2)), [x])
        yield Case("broadcast_in_dim", dtype, "transposed", lambda x: lax.broadcast_in_dim(x, (1, 5, 3), (2, 0)), [x])
        yield Case("broadcast_in_dim", dtype, "scalar", lambda x: lax.broadcast(x[0, 0], (2, 0, 3)), [x])
        yield Case("broadcast_in_dim", dtype, "rows", lambda x: jnp.broadcast_to(x, (4, 3, 33)), [x])
        yield Case("broadcast_in_dim", dtype, "same", lambda x: lax.broadcast_in_dim(x, (3, 1), (0, 1)), [x])
