"""The machine that measures: its processor, and the widest vectors that it has."""

from __future__ import annotations

import os
import pathlib

# A page keeps the figures of each, since the code that runs differs; the widest first.
VECTORS = ("AVX-512", "AVX2", "no AVX2")
_FLAGS = {"AVX-512": "avx512f", "AVX2": "avx2"}


def vectors() -> str:
    """The widest vectors, one of `VECTORS`."""
    flags = _cpuinfo("flags")
    return next((name for name, flag in _FLAGS.items() if flag in flags), VECTORS[-1])


def about() -> str:
    """The processor, its cores and its vectors."""
    return f"{' '.join(_cpuinfo('model name')) or 'unknown CPU'}, {os.cpu_count()} cores, {vectors()}"


def _cpuinfo(field: str) -> list[str]:
    """The words of a field of the first processor."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        name, _, words = line.partition(":")
        if name.strip() == field:
            return words.split()
    return []
