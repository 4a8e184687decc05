"""Inputs: dtypes, shapes, and values with the extremes of each dtype among them."""

from __future__ import annotations

import ml_dtypes
import numpy as np

SIGNED = ("int2", "int4", "int8", "int16", "int32", "int64")
UNSIGNED = ("uint2", "uint4", "uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
SMALL_FLOATS = (
    "float4_e2m1fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e4m3b11fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
)
INSIDE = ("float6_e2m3fn", "float6_e3m2fn")  # inside programs only: PJRT has no buffers of them
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
EVERY = ("bool", *INTEGERS, *SMALL_FLOATS, *FLOATS, *COMPLEX)

# Empty, scalar, one element, prime sizes, more than a tile, several dimensions of which one is 1.
SHAPES = ((0,), (), (1,), (7,), (2053,), (3, 0, 2), (5, 1, 3), (13, 17))


def dtype_of(name: str) -> np.dtype:
    """The numpy dtype of this name, those of ml_dtypes included."""
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def bits(name: str) -> int:
    """The width of a real dtype in bits."""
    dtype = dtype_of(name)
    if name in INTEGERS:
        return int(ml_dtypes.iinfo(dtype).bits)
    return int(ml_dtypes.finfo(dtype).bits)


def values(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Random values of many magnitudes; where there is room, the dtype's extremes are among them."""
    dtype, count = dtype_of(name), int(np.prod(shape))
    if name == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if name in INTEGERS:
        info = ml_dtypes.iinfo(dtype)
        low, high = int(info.min), int(info.max)
        flat = rng.integers(low, high, count, dtype=np.int64 if low < 0 else np.uint64, endpoint=True)
        small = rng.integers(max(low, -3), min(high, 5), count, endpoint=True)
        flat = np.where(rng.random(count) < 0.5, flat, small.astype(flat.dtype))
        special = [0, 1, high, low, high - 1]
    elif name in COMPLEX:
        part = "float32" if name == "complex64" else "float64"
        whole = np.empty(shape, dtype)
        whole.real, whole.imag = values(rng, part, shape), values(rng, part, shape)
        return whole
    else:
        flat = rng.standard_normal(count) * np.exp2(rng.integers(-6, 7, count))
        info = ml_dtypes.finfo(dtype)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, float(info.max), float(info.min), float(info.tiny)]
        special += [1.0, -1.0, 0.5]
        # XLA:CPU takes subnormal numbers of float32's and float64's range for zeros, where StableHLO asks for IEEE 754.
        if int(info.minexp) > -126:
            special += [float(info.smallest_subnormal), -float(info.smallest_subnormal)]
    if name == "float8_e8m0fnu":  # its least value is a subnormal number of float32
        flat, special = np.abs(flat) + 1e-6, [value for value in special if value > 1e-37]
    flat[: len(special)] = special[:count] if count < len(special) else special
    return rng.permutation(flat).astype(dtype).reshape(shape)


def subnormal(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Subnormal numbers, zeros, and the least normal numbers."""
    info = ml_dtypes.finfo(dtype_of(name))
    steps = rng.integers(-3 * 2 ** int(info.nmant) // 2, 3 * 2 ** int(info.nmant) // 2, shape, endpoint=True)
    return (steps * float(info.smallest_subnormal)).astype(dtype_of(name))


def moderate(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Random values near 1, without extremes: for ops whose errors grow with their inputs."""
    dtype = dtype_of(name)
    if name == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if name in INTEGERS:
        info = ml_dtypes.iinfo(dtype)
        return rng.integers(max(int(info.min), -4), min(int(info.max), 5), shape, endpoint=True).astype(dtype)
    if name in COMPLEX:
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    flat = rng.standard_normal(shape)
    return (np.abs(flat) if name == "float8_e8m0fnu" else flat).astype(dtype)  # that has neither zero nor sign
