"""Functions that the text of programs calls."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = [
    "at_pole",
    "beside_any",
    "beside_largest",
    "beside_one",
    "bits_as",
    "bounded",
    "convert",
    "devices_mesh",
    "either_zero",
    "finite",
    "flushed",
    "inexact",
    "inverse_of_flushed",
    "moved",
    "noisy",
    "nonzero",
    "normal",
    "number",
    "placed",
    "results_of_parts",
    "seeded",
    "signed",
    "spd",
    "spilled",
    "spilled_here",
    "term",
    "total",
    "use",
]

_state: dict = {"platform": "cpu", "seed": None, "devices": 1}


def use(platform: str, devices: int = 1, seed: object = None) -> None:
    """Sets the platform and the seed of noise of what is traced from now on."""
    _state.update(platform=platform, devices=devices, seed=seed)


def devices_mesh() -> jax.sharding.Mesh:
    """The devices that the program runs on."""
    return jax.sharding.Mesh(np.array(jax.devices(_state["platform"])[: _state["devices"]]), ("d",))


def placed(x: jax.Array, *axes: str | None) -> jax.Array:
    """The array in parts over the devices; stock JAX has all of it on each: its maximum of parts drops NaNs."""
    spec = jax.sharding.PartitionSpec(*() if _state["platform"] == "cpu" else axes)
    return lax.with_sharding_constraint(x, jax.sharding.NamedSharding(devices_mesh(), spec))


def results_of_parts(results: tuple) -> tuple:
    """Those of a function on every device, placed likewise."""
    return tuple(placed(x, "d") for x in results)


def convert(x: jax.Array, dtype: str) -> jax.Array:
    """A conversion that drops an imaginary part without a warning."""
    if jnp.issubdtype(x.dtype, jnp.complexfloating) and not jnp.issubdtype(jnp.dtype(dtype), jnp.complexfloating):
        x = lax.real(x)
    return lax.convert_element_type(x, dtype)


def inexact(tangents: tuple) -> tuple:
    """Those of floats: integers have none."""
    return tuple(x for x in tangents if x.dtype != jax.dtypes.float0)


def seeded(x: jax.Array) -> jax.Array:
    """A key of random numbers that depends on a value."""
    return jax.random.key(lax.convert_element_type(x.ravel()[0], jnp.uint32) if x.size else 0)


def spd(x: jax.Array) -> jax.Array:
    """A positive definite matrix, made of any."""
    x = bounded(x)
    return x @ jnp.swapaxes(x, -1, -2).conj() + x.shape[-1] * jnp.eye(x.shape[-1], dtype=x.dtype)


def bounded(x: jax.Array) -> jax.Array:
    """The array without what is large or not a number."""
    return jnp.where(jnp.abs(x) < 4, x, jnp.ones_like(x))


def finite(x: jax.Array) -> jax.Array:
    """The array with ones for what is not finite.

    XLA:CPU spreads it over the groups of a convolution, and its complex powers of it are NaN where C has zeros.
    """
    return jnp.where(jnp.isfinite(x), x, jnp.ones_like(x)) if jnp.issubdtype(x.dtype, jnp.inexact) else x


def nonzero(x: jax.Array) -> jax.Array:
    """The array with ones for zeros, whose complex powers are NaN in stock JAX."""
    return jnp.where(x == 0, jnp.ones_like(x), x)


def normal(x: jax.Array) -> jax.Array:
    """The array with zeros for subnormal numbers, which XLA:CPU takes for zeros, and for those that `flushed` gives."""
    return jnp.where(jnp.abs(x) < 4 * jnp.finfo(x.dtype).tiny, jnp.zeros_like(x), x)


def number(x: jax.Array) -> jax.Array:
    """The array with zeros for NaNs, which XLA:CPU's maximum over devices drops, and for zeros of either sign."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    return jnp.where(jnp.isnan(x) | (x == 0), jnp.zeros_like(x), x)


def total(results: tuple) -> jax.Array:
    """One real number that depends on every inexact result."""
    parts = [jnp.real(x).astype(jnp.float32).sum() for x in results if jnp.issubdtype(x.dtype, jnp.inexact)]
    return sum(parts, jnp.float32(0))


def noisy(x: jax.Array, ulps: int, salt: int) -> jax.Array:
    """The value with errors of so many units in the last place, of random signs.

    Every other seed makes NaN of complex numbers that are not finite, or whose squares are not: what products and
    quotients of them give depends on the formula.
    """
    if not isinstance(x, jax.Array) or not jnp.issubdtype(x.dtype, jnp.inexact):
        return x
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        re, im = lax.real(x), lax.imag(x)
        size = lax.max(lax.abs(re), lax.abs(im))
        moved = lax.complex(_part(re, size, ulps, salt), _part(im, size, ulps, salt + 500))
        info = jnp.finfo(x.dtype)
        low, high = float(info.tiny) ** 0.5 * 16, float(info.max) ** 0.5 / 16
        plain = ((size > low) & (size < high)) | (size == 0)
        return jnp.where(plain | ~_odd(), moved, _nan(x))
    moved = jnp.where(_odd(16), _coarse(x, ulps), _moved(x, x, ulps, salt))
    # Of narrow subnormal numbers a unit in the last place is the size.
    info = jnp.finfo(x.dtype)
    is_small = (jnp.abs(x) < float(info.tiny)) & (info.bits <= 16)
    return jnp.where(_odd(4) & is_small, jnp.zeros_like(x), moved)


def _coarse(x: jax.Array, ulps: int) -> jax.Array:
    """The value with errors of so many units in the last place by which near numbers are equal."""
    info = jnp.finfo(x.dtype)
    if info.nmant < 16:
        return x
    return lax.reduce_precision(x, info.nexp, info.nmant - 1 - max(ulps, 1).bit_length())


def signed(x: jax.Array) -> jax.Array:
    """The array; some seeds make NaNs negative, some positive: no op promises their signs."""
    if not isinstance(x, jax.Array) or not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    return jnp.where(jnp.isnan(x) & _odd(2), jnp.where(_odd(4), lax.abs(x), -lax.abs(x)), x)


def term(x: jax.Array, ulps: int, salt: int) -> jax.Array:
    """The same for an operand: some seeds make infinite what would overflow in some orders of a sum, others small."""
    x = noisy(x, ulps, salt)
    if not isinstance(x, jax.Array) or not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    most = float(jnp.finfo(x.dtype).max) / 256
    other = jnp.where(_odd(2), x / jnp.asarray(256, x.dtype), jnp.copysign(jnp.asarray(jnp.inf, x.dtype), x))
    return jnp.where((jnp.abs(x) > most) & _odd(), other, x)


def at_pole(x: jax.Array, ulps: int) -> jax.Array:
    """The operand of a function with poles at integers; some seeds put what may be nothing but an error away there."""
    if not isinstance(x, jax.Array) or not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    pole = lax.round(x)
    error = lax.abs(pole) * jnp.asarray(float(jnp.finfo(x.dtype).eps) * 8 * ulps, x.dtype)
    return jnp.where(_odd(4) & (lax.abs(x - pole) <= error), pole, x)


def moved(result: jax.Array, operand: jax.Array, ulps: int, salt: int) -> jax.Array:
    """The result with errors of so many units in the last place of the operand; some seeds make zero what may be
    nothing but such an error."""
    if not isinstance(result, jax.Array) or result.shape != operand.shape:
        return result
    size = operand.astype(result.dtype)
    return _or_zero(result, size, ulps, _moved(result, size, ulps, salt))


def beside_largest(result: jax.Array, ulps: int, salt: int) -> jax.Array:
    """The result, which is not negative, with errors of up to so many units in the last place of the largest number of
    its row."""
    if not result.size:
        return result
    largest = jnp.max(jnp.abs(result), axis=-1, keepdims=True)
    size = jnp.broadcast_to(largest, result.shape) * _fractions(result.shape, salt + 1).astype(result.dtype)
    return lax.abs(_or_zero(result, largest, ulps, _moved(result, size, ulps, salt)))


def beside_one(result: jax.Array, ulps: int, salt: int) -> jax.Array:
    """The result with errors of so many units in the last place of 1: logarithms of sums that are nearly 1."""
    return _moved(result, jnp.ones_like(result), ulps, salt)


def beside_any(result: jax.Array, ulps: int, salt: int) -> jax.Array:
    """The result, in some seeds with errors of up to so many units in the last place of the largest number of the
    array; other seeds make zero what may be nothing but such an error."""
    if not result.size:
        return result
    parts = (lax.real(result), lax.imag(result)) if jnp.iscomplexobj(result) else (result,)
    largest = jnp.max(jnp.stack([jnp.abs(part) for part in parts]))
    size = jnp.where(jnp.isfinite(largest), largest, jnp.zeros_like(largest))
    parts = [_beside(part, jnp.broadcast_to(size, part.shape), ulps, salt + 10 * n) for n, part in enumerate(parts)]
    return lax.complex(*parts) if jnp.iscomplexobj(result) else parts[0]


def _beside(x: jax.Array, size: jax.Array, ulps: int, salt: int) -> jax.Array:
    moved = _moved(x, size * _fractions(x.shape, salt + 1).astype(x.dtype), ulps, salt)
    return _or_zero(x, size, ulps, jnp.where(_odd(2), moved, x))


def either_zero(x: jax.Array) -> jax.Array:
    """The result of a sum; some seeds make its zeros positive: whether a sum begins with zero is no promise."""
    if not isinstance(x, jax.Array) or not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    return jnp.where((x == 0) & _odd(2), jnp.zeros_like(x), x)


def flushed(result: jax.Array, salt: int, *operands: jax.Array) -> jax.Array:
    """The result; every other seed makes a small normal number of a zero where no operand is zero or infinite.

    XLA:CPU flushes subnormal numbers to zero, StableHLO does not: what comes after may multiply them, or divide, or
    compare them. Some seeds make equal numbers of all zeros, and some different ones: of sums, with signs of their own,
    if the operands are small enough.
    """
    if not isinstance(result, jax.Array) or not jnp.issubdtype(result.dtype, jnp.inexact):
        return result
    if jnp.issubdtype(result.dtype, jnp.complexfloating):
        parts = (lax.real(result), lax.imag(result))
        return lax.complex(*(_flushed(part, result, salt + 20 * n, operands) for n, part in enumerate(parts)))
    return _flushed(result, result, salt, operands)


def _flushed(part: jax.Array, result: jax.Array, salt: int, operands: tuple) -> jax.Array:
    info = jnp.finfo(part.dtype)
    if info.minexp > jnp.finfo(jnp.float32).minexp:  # narrow: its subnormal numbers are float32's normal ones
        return part
    zero = (part == 0) & _odd()
    least, contracts = jnp.ones((), part.dtype), False
    for x in operands:
        if not isinstance(x, jax.Array):
            continue
        if x.shape in ((), result.shape):
            zero &= (x != 0) & jnp.isfinite(x)
        if jnp.issubdtype(x.dtype, jnp.inexact):
            contracts |= x.shape not in ((), result.shape)
            least *= _least(x, part.dtype)
    varies = _odd(8) & (least < info.tiny) if contracts else _odd(8)
    # XLA:CPU does not flush it, and `normal` takes it for zero.
    size = jnp.where(varies, 1 + 2 * _fractions(part.shape, salt), 2).astype(part.dtype) * info.tiny
    small = jnp.copysign(size, part)
    if contracts:
        small *= jnp.where(varies, _signs(part.shape, salt + 1), 1).astype(part.dtype)
    return jnp.where(zero, small, part)


def _least(x: jax.Array, dtype: jnp.dtype) -> jax.Array:
    """The least size of an array's numbers, or of their parts, but for zeros."""
    parts = (lax.real(x), lax.imag(x)) if jnp.iscomplexobj(x) else (x,)
    sizes = [lax.abs(part.astype(dtype)) for part in parts]
    return jnp.stack([jnp.min(jnp.where(size > 0, size, jnp.inf), initial=jnp.inf) for size in sizes]).min()


def inverse_of_flushed(result: jax.Array, *operands: jax.Array) -> jax.Array:
    """The result; every other seed makes a large number of an infinity where no operand is zero or infinite: the
    inverse of a product that XLA:CPU flushes."""
    if jnp.issubdtype(result.dtype, jnp.complexfloating):
        parts = (lax.real(result), lax.imag(result))
        return lax.complex(*(inverse_of_flushed(part, *operands) for part in parts))
    infinite = jnp.isinf(result) & _odd()
    for x in operands:
        infinite &= (x != 0) & jnp.isfinite(x)
    return jnp.where(infinite, jnp.copysign(jnp.finfo(result.dtype).max / 4, result), result)


def spilled(result: jax.Array, *operands: jax.Array) -> jax.Array:
    """The result; if an operand has an element that is not finite, or a complex one whose square is not, some seeds
    make NaN of it, others make it finite.

    Which elements meet infinity times zero depends on the algorithm.
    """
    if not isinstance(result, jax.Array) or not jnp.issubdtype(result.dtype, jnp.inexact):
        return result
    finite = [jnp.isfinite(_square(x)).all() for x in operands if jnp.issubdtype(x.dtype, jnp.inexact)]
    if not finite:
        return result
    return jnp.where(jnp.stack(finite).all() | ~_odd(), result, _unlike(result))


def spilled_here(result: jax.Array, *operands: jax.Array) -> jax.Array:
    """The same for ops that compute each element from its own operands, as those of other shapes do not."""
    if not isinstance(result, jax.Array) or not jnp.issubdtype(result.dtype, jnp.inexact):
        return result
    operands = [x for x in operands if isinstance(x, jax.Array) and jnp.issubdtype(x.dtype, jnp.inexact)]
    if any(x.shape not in ((), result.shape) for x in operands):
        return spilled(result, *operands)
    finite = jnp.ones(result.shape, bool)
    for x in operands:
        finite &= jnp.isfinite(_square(x))
    return jnp.where(finite | ~_odd(), result, _unlike(result))


def _unlike(result: jax.Array) -> jax.Array:
    """What is finite where the result is not in some seeds, NaN in others, and either, element by element, in some."""
    finite = jnp.where(jnp.isfinite(result), result, jnp.ones_like(result))
    either = jnp.where(_signs(result.shape, 900) > 0, finite, _nan(result))
    return jnp.where(_odd(2), finite, jnp.where(_odd(4), either, _nan(result)))


def _square(x: jax.Array) -> jax.Array:
    """What products of complex numbers compute, infinite where it underflows; real numbers are as they are."""
    if not jnp.iscomplexobj(x):
        return x
    square = lax.square(lax.real(x)) + lax.square(lax.imag(x))
    return jnp.where((square < jnp.finfo(x.dtype).tiny) & (x != 0), jnp.inf, square)


def _nan(x: jax.Array) -> jax.Array:
    both = jnp.issubdtype(x.dtype, jnp.complexfloating)
    return jnp.asarray(complex(np.nan, np.nan) if both else np.nan, x.dtype)


def _odd(bit: int = 1) -> jax.Array:
    return (jnp.asarray(_state["seed"], jnp.uint32) & np.uint32(bit)) != 0


def bits_as(x: jax.Array, dtype: str) -> jax.Array:
    """The bits as another dtype.

    Subnormal numbers are zeros, and NaNs the usual one, before and after: no op promises their bits.
    """
    return _usual(lax.bitcast_convert_type(_usual(x), dtype))


def _usual(x: jax.Array) -> jax.Array:
    """The array with zeros for subnormal numbers and the usual NaN for all NaNs."""
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    x = normal(x)
    return jnp.where(jnp.isnan(x), jnp.full_like(x, jnp.nan), x)


def _part(x: jax.Array, size: jax.Array, ulps: int, salt: int) -> jax.Array:
    """A part of a complex number of this size; some seeds make zero what may be nothing but an error, as in (-1)^2."""
    return _or_zero(x, size, ulps, jnp.where(_odd(4) & _odd(2), x, _moved(x, size, ulps, salt)))


def _or_zero(x: jax.Array, size: jax.Array, ulps: int, other: jax.Array) -> jax.Array:
    """``other``; some seeds make zero what is at most so many units in the last place of a number of this size."""
    error = lax.abs(size) * jnp.asarray(float(jnp.finfo(x.dtype).eps) * ulps, x.dtype)
    return jnp.where(_odd(4) & (lax.abs(x) <= error), jnp.zeros_like(x), other)


def _moved(x: jax.Array, size: jax.Array, ulps: int, salt: int) -> jax.Array:
    bits = jnp.finfo(x.dtype).bits
    # What is narrow is computed in float32 and rounded once.
    by = float(jnp.finfo(x.dtype).eps) * (ulps if bits > 16 else 1)
    # Errors of one size would leave the last bit as it is.
    size_of_error = jnp.where(_odd(8), 0.25 + 0.75 * _fractions(x.shape, salt + 3), 1)
    sign = _signs(x.shape, salt) * size_of_error
    wide = x.dtype if bits > 8 else jnp.float32
    moved = x.astype(wide) + sign.astype(wide) * jnp.asarray(by, wide) * size.astype(wide)
    moved = jnp.where((moved == 0) & (x == 0), x.astype(wide), moved)  # with its sign
    # No one promises the sign of a NaN that an op makes, and some orders see it.
    other = jnp.where(jnp.isnan(x) & _odd(), -x.astype(wide), x.astype(wide))
    return jnp.where(jnp.isfinite(moved), moved, other).astype(x.dtype)


def _signs(shape: tuple[int, ...], salt: int) -> jax.Array:
    return 1.0 - 2.0 * ((_hashes(shape, salt) >> np.uint32(17)) & np.uint32(1)).astype(jnp.float32)


def _fractions(shape: tuple[int, ...], salt: int) -> jax.Array:
    return (_hashes(shape, salt) >> np.uint32(9)).astype(jnp.float32) * np.float32(2.0**-23)


def _hashes(shape: tuple[int, ...], salt: int) -> jax.Array:
    """Numbers that depend on the seed."""
    count = int(np.prod(shape))
    h = lax.iota(jnp.uint32, count) * np.uint32(2654435761) + np.uint32(salt * 40503 % 2**32)
    h = h ^ (jnp.asarray(_state["seed"], jnp.uint32) * np.uint32(2246822519))
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    return h.reshape(shape)
