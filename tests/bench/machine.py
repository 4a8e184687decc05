"""The machine that measures: its processor, and the widest vectors that it has."""

from __future__ import annotations

import os
import pathlib

# A page keeps the figures of each, since the code that runs differs; the widest first.
VECTORS = ("AVX-512", "AVX2", "no AVX2")
_FLAGS = {"AVX-512": "avx512f", "AVX2": "avx2"}

# What `--avx2` of the bench tells XLA.
_WITHOUT_AVX512 = "--xla_cpu_max_isa=AVX2"


def vectors() -> str:
    """The widest vectors that programs may use, one of `VECTORS`."""
    widest = _widest()
    return "AVX2" if widest == "AVX-512" and _leaves_out() else widest


def about() -> str:
    """The processor, its cores and the vectors that programs may use."""
    left_out = " (AVX-512 left out)" if vectors() != _widest() else ""
    return f"{' '.join(_cpuinfo('model name')) or 'unknown CPU'}, {os.cpu_count()} cores, {vectors()}{left_out}"


def _widest() -> str:
    """The widest vectors of the processor."""
    flags = _cpuinfo("flags")
    return next((name for name, flag in _FLAGS.items() if flag in flags), VECTORS[-1])


def _leaves_out() -> bool:
    """Whether this process leaves AVX-512 out."""
    return _WITHOUT_AVX512 in os.environ.get("XLA_FLAGS", "").split()


def _cpuinfo(field: str) -> list[str]:
    """The words of a field of the first processor."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        name, _, words = line.partition(":")
        if name.strip() == field:
            return words.split()
    return []
