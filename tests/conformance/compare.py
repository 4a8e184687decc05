"""Distances between results, in units in the last place of their dtype."""

from __future__ import annotations

import dataclasses

import ml_dtypes
import numpy as np


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """How far a result may be from the reference.

    Attributes:
        ulp: units in the last place of each reference element.
        of_largest: measure in units of the reference's largest finite element instead, for sums of many terms.
        below: absolute difference that always passes, for results near zero whose terms are not.
        reason: why it is not zero.
    """

    ulp: float = 0.0
    of_largest: bool = False
    below: float = 0.0
    reason: str = "exact"


EXACT = Tolerance()


@dataclasses.dataclass(frozen=True)
class Difference:
    """The worst difference of a pair of results."""

    ulp: float
    message: str | None


def compare(ours: np.ndarray, reference: np.ndarray, tolerance: Tolerance, subnormal: bool = False) -> Difference:
    """Compares two arrays; the message says what is wrong, if anything is.

    Numbers that are subnormal in float32 or float64 count as zeros, unless ``subnormal`` is true.
    """
    if ours.dtype != reference.dtype or ours.shape != reference.shape:
        shown = f"{ours.dtype}{list(ours.shape)} instead of {reference.dtype}{list(reference.shape)}"
        return Difference(np.inf, shown)
    if ours.size == 0:
        return Difference(0.0, None)
    if np.issubdtype(ours.dtype, np.complexfloating):
        parts = (
            compare(getattr(ours, part), getattr(reference, part), _of_complex(reference, tolerance), subnormal)
            for part in ("real", "imag")
        )
        return max(parts, key=lambda difference: (difference.message is not None, difference.ulp))
    if not is_float(ours.dtype):
        wrong = np.flatnonzero(ours.ravel() != reference.ravel())
        return Difference(0.0, None) if wrong.size == 0 else Difference(np.inf, _shown(ours, reference, wrong))
    return _compare_floats(ours, reference, tolerance, subnormal)


def is_float(dtype: np.dtype) -> bool:
    """Whether it is a real floating-point dtype, those of ml_dtypes included."""
    try:
        ml_dtypes.finfo(dtype)
    except ValueError:
        return False
    return not np.issubdtype(dtype, np.complexfloating)


def _of_complex(reference: np.ndarray, tolerance: Tolerance) -> Tolerance:
    # A part may be the difference of products that are as large as the other part.
    finite = np.abs(reference[np.isfinite(reference)])
    scale = float(finite.max()) if finite.size else 0.0
    eps = float(np.finfo(reference.dtype).eps)
    return dataclasses.replace(tolerance, below=max(tolerance.below, tolerance.ulp * eps * scale))


def _compare_floats(ours: np.ndarray, reference: np.ndarray, tolerance: Tolerance, subnormal: bool) -> Difference:
    info = ml_dtypes.finfo(ours.dtype)
    wide = (lambda array, _: array.astype(np.float64).ravel()) if subnormal else _flushed
    a, b = wide(ours, info), wide(reference, info)
    special = ~(np.isfinite(a) & np.isfinite(b))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if (wrong := np.flatnonzero(special & ~same)).size:
        return Difference(np.inf, _shown(ours, reference, wrong))
    # -0 counts as equal to 0 where a tolerance is given, and in the type whose zeros stand for NaN.
    zeros = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
    if tolerance == EXACT and ours.dtype.name != "float4_e2m1fn" and (wrong := np.flatnonzero(zeros)).size:
        return Difference(1.0, _shown(ours, reference, wrong))
    with np.errstate(all="ignore"):
        gap = np.where(special, 0.0, np.abs(a - b))
        size = np.where(special, 0.0, np.maximum(np.abs(a), np.abs(b)))
        if tolerance.of_largest:
            size = np.full_like(size, size.max())
        exponent = np.maximum(np.floor(np.log2(np.where(size == 0, 1.0, size))), info.minexp)
        exponent = np.where(size == 0, info.minexp, exponent)
        ulp = np.where(gap <= tolerance.below, 0.0, gap / np.exp2(exponent - info.nmant))
    worst = float(ulp.max())
    if worst <= tolerance.ulp:
        return Difference(worst, None)
    return Difference(worst, f"{worst:.3g} ULP: " + _shown(ours, reference, np.flatnonzero(ulp > tolerance.ulp)))


def _flushed(array: np.ndarray, info: ml_dtypes.finfo) -> np.ndarray:
    """As float64; results that XLA:CPU flushes to zero, because they are subnormal in float32 or float64, are zeros."""
    wide = array.astype(np.float64).ravel()
    if array.dtype.name == "float8_e8m0fnu":  # its least value is a subnormal float32, and it has no zero
        return np.where(wide == float(info.tiny), np.nan, wide)
    least = float(np.finfo(np.float64 if info.bits == 64 else np.float32).tiny)
    return np.where(np.abs(wide) < least, np.copysign(0.0, wide), wide)


def _shown(ours: np.ndarray, reference: np.ndarray, wrong: np.ndarray) -> str:
    index = int(wrong[0])
    place = [int(i) for i in np.unravel_index(index, ours.shape)]
    values = f"{ours.ravel()[index]!s} instead of {reference.ravel()[index]!s}"
    return f"{wrong.size} of {ours.size} elements differ, the first at {place}: {values}"
