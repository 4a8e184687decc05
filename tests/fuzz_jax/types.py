"""Types of values, and the dtypes that programs are made of."""

from __future__ import annotations

import dataclasses
import functools
import math

from conformance import inputs

NARROW_INTEGERS = ("int2", "uint2", "int4", "uint4")
SIGNED = ("int8", "int16", "int32")
UNSIGNED = ("uint8", "uint16", "uint32")
INTEGERS = SIGNED + UNSIGNED
# `float8_e8m0fnu` has powers of two alone, `float4_e2m1fn` eight magnitudes: their noise is as large as their values.
SMALL_FLOATS = tuple(name for name in inputs.SMALL_FLOATS if name not in ("float8_e8m0fnu", "float4_e2m1fn"))
FLOATS = ("float16", "bfloat16", "float32")
COMPLEX = ("complex64",)


@dataclasses.dataclass(frozen=True)
class Type:
    """A dtype and a shape."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def is_integer(self) -> bool:
        return self.dtype in inputs.INTEGERS

    def is_narrow(self) -> bool:
        """An integer of fewer bits than a byte, or a float of fewer than 16."""
        return self.dtype in NARROW_INTEGERS or self.dtype in inputs.SMALL_FLOATS

    def is_float(self) -> bool:
        return self.dtype in inputs.FLOATS or self.dtype in inputs.SMALL_FLOATS

    def is_wide_float(self) -> bool:
        """A float of 16 bits or more: what JAX's own functions take."""
        return self.dtype in inputs.FLOATS

    def is_complex(self) -> bool:
        return self.dtype in inputs.COMPLEX

    def is_bool(self) -> bool:
        return self.dtype == "bool"


@functools.cache
def dtypes(x64: bool) -> tuple[tuple[str, float], ...]:
    """Dtypes of inputs and conversions, with how often each is drawn."""
    table = [("float32", 8.0), ("int32", 4.0), ("bool", 2.0), ("bfloat16", 2.0), ("float16", 2.0), ("complex64", 1.5)]
    table += [(name, 0.7) for name in INTEGERS if name != "int32"]
    table += [(name, 0.2) for name in SMALL_FLOATS] + [(name, 0.2) for name in NARROW_INTEGERS]
    if x64:
        table += [("float64", 8.0), ("int64", 4.0), ("uint64", 1.0), ("complex128", 1.5)]
    return tuple(table)
