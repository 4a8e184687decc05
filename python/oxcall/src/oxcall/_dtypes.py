"""XLA's dtype names, and what JAX calls them."""

from __future__ import annotations

import functools
import re
from typing import Any

# XLA_FFI_DataType codes; the legacy call descriptor carries them.
CODES = {
    "pred": 1, "s8": 2, "s16": 3, "s32": 4, "s64": 5, "u8": 6, "u16": 7, "u32": 8, "u64": 9, "f16": 10, "f32": 11,
    "f64": 12, "c64": 15, "bf16": 16, "token": 17, "c128": 18, "f8e5m2": 19, "f8e4m3fn": 20, "s4": 21, "u4": 22,
    "f8e4m3b11fnuz": 23, "f8e5m2fnuz": 24, "f8e4m3fnuz": 25, "s2": 26, "u2": 27, "f8e4m3": 28, "f8e3m4": 29, "s1": 30,
    "u1": 31, "f4e2m1fn": 32, "f8e8m0fnu": 33,
}  # fmt: skip

_WORDS = {"s": "int", "u": "uint", "f": "float", "c": "complex", "bf": "bfloat"}


@functools.cache
def numpy_name(dtype: str) -> str:
    """NumPy's (and `ml_dtypes`') name of an XLA dtype: ``"float32"`` of ``"f32"``."""
    if dtype == "pred":
        return "bool"
    if dtype == "token":
        return "token"
    if small := re.fullmatch(r"f([48])(e.*)", dtype):
        return f"float{small[1]}_{small[2]}"
    word, bits = re.fullmatch(r"([a-z]+)([0-9]+)", dtype).groups()
    return _WORDS[word] + bits


_XLA_NAMES = {numpy_name(dtype): dtype for dtype in CODES}


def xla_name(name: str) -> str | None:
    """XLA's name of a NumPy dtype name; ``None`` if XLA has no such dtype."""
    return _XLA_NAMES.get(name)


def numpy_dtype(dtype: str) -> Any:
    """The NumPy dtype of an XLA dtype; ``None`` where the installed `ml_dtypes` does not know it."""
    import ml_dtypes
    import numpy as np

    name = numpy_name(dtype)
    scalar = getattr(np, f"{name}_" if name == "bool" else name, None) or getattr(ml_dtypes, name, None)
    return None if scalar is None else np.dtype(scalar)


def describe(*dtypes: str) -> str:
    """Dtypes for a message, by the names that a JAX user knows."""
    names = [numpy_name(dtype) for dtype in dtypes]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" or {names[-1]}"


def bits(dtype: str) -> int:
    """Bits of one element; 0 for a token."""
    if dtype in ("pred", "token"):
        return 8 if dtype == "pred" else 0
    return int(re.search(r"[0-9]+", dtype)[0])


def is_integer(dtype: str) -> bool:
    return dtype[0] in "su"


def is_float(dtype: str) -> bool:
    return dtype.startswith(("f", "bf"))


def is_complex(dtype: str) -> bool:
    return dtype in ("c64", "c128")


def is_inexact(dtype: str) -> bool:
    """Whether elements are floating-point or complex numbers, which have derivatives."""
    return is_float(dtype) or is_complex(dtype)
