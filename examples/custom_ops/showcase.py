"""Runs a gallery: each op inside ``jax.jit`` against a ``jax.numpy`` reference, one line an op."""

from __future__ import annotations

import dataclasses
import pathlib
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

import oxcall

SECONDS_PER_TIMING = 0.2


class Mismatch(Exception):
    """The op and its reference disagree."""


@dataclasses.dataclass
class Case:
    """One comparison. ``tolerance`` bounds the largest error, relative to the reference's largest magnitude or to 1."""

    ours: Callable[..., Any]
    reference: Callable[..., Any]
    args: Sequence[Any] = ()
    tolerance: float = 0.0
    # An op with state is called this often from one compiled program; its reference gets the keyword ``call`` = 1, 2...
    calls: int | None = None


@dataclasses.dataclass
class Failing:
    """A call that must raise, with ``message`` somewhere in the exception's text."""

    ours: Callable[..., Any]
    message: str
    args: Sequence[Any] = ()


@dataclasses.dataclass
class Demo:
    """One line of the gallery: the cases of one op, of which the first is also timed."""

    op: str
    shows: str
    cases: Callable[[Any], Sequence[Case | Failing]]


DEMOS: list[Demo] = []


def demo(op: str, shows: str) -> Callable[[Callable], Callable]:
    """Adds a function from the loaded library to a list of cases."""

    def add(cases: Callable) -> Callable:
        DEMOS.append(Demo(op, shows, cases))
        return cases

    return add


def error(got: Any, want: Any) -> float:
    """The largest error over all outputs, relative to the largest magnitude of the reference or to 1."""
    got, want = jax.tree.leaves(got), jax.tree.leaves(want)
    if len(got) != len(want):
        raise Mismatch(f"{len(got)} results, expected {len(want)}")
    largest = 0.0
    for ours, reference in zip(got, want, strict=True):
        ours, reference = np.asarray(ours), np.asarray(reference)
        if (ours.shape, ours.dtype) != (reference.shape, reference.dtype):
            raise Mismatch(f"{ours.dtype}{list(ours.shape)}, expected {reference.dtype}{list(reference.shape)}")
        wide = np.complex128 if np.iscomplexobj(reference) else np.float64
        ours, reference = ours.astype(wide), reference.astype(wide)
        if not np.array_equal(np.isfinite(ours), np.isfinite(reference)):
            raise Mismatch("not finite in the same places")
        finite = np.isfinite(reference)
        if finite.any():
            scale = max(1.0, float(np.abs(reference[finite]).max()))
            largest = max(largest, float(np.abs(ours[finite] - reference[finite]).max()) / scale)
    return largest


def check(case: Case | Failing) -> float:
    """The largest error of a case; raises where it is too large or where nothing fails that should."""
    ours = jax.jit(case.ours)
    if isinstance(case, Failing):
        try:
            jax.block_until_ready(ours(*case.args))
        except Exception as raised:
            if case.message not in str(raised):
                raise Mismatch(f"the error says {str(raised)!r}, expected {case.message!r} in it") from raised
            return 0.0
        raise Mismatch(f"no error, expected one that says {case.message!r}")
    reference = jax.jit(case.reference, static_argnames=("call",) if case.calls else None)
    calls = [{"call": number + 1} for number in range(case.calls)] if case.calls else [{}]
    largest = max(error(ours(*case.args), reference(*case.args, **call)) for call in calls)
    if largest > case.tolerance:
        raise Mismatch(f"error {largest:.1e} above {case.tolerance:.1e}")
    return largest


def microseconds(function: Callable, args: Sequence[Any]) -> float:
    """Median time of one call of a compiled function, until its result is there."""
    jax.block_until_ready(function(*args))
    times: list[float] = []
    end = time.perf_counter() + SECONDS_PER_TIMING
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        jax.block_until_ready(function(*args))
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def timing(case: Case | Failing) -> str:
    if isinstance(case, Failing):
        return ""
    ours = microseconds(jax.jit(case.ours), case.args)
    call = {"call": 1} if case.calls else {}
    reference = microseconds(jax.jit(lambda *args: case.reference(*args, **call)), case.args)
    return f"{ours:9.1f} us {reference:9.1f} us"


def line(demo: Demo, ops: Any) -> tuple[str, bool]:
    """The line of one op, and whether everything was as it should be."""
    head = f"{demo.op:<18} {demo.shows:<58}"
    try:
        cases = list(demo.cases(ops))
        largest = max(check(case) for case in cases)
        return f"{head} {largest:8.1e} {timing(cases[0])}", True
    except Mismatch as mismatch:
        return f"{head} MISMATCH: {mismatch}", False
    except Exception:
        return f"{head} FAILED\n{traceback.format_exc()}", False


def main() -> None:
    """Runs every demo on the library that the command line names."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {pathlib.Path(sys.argv[0]).name} LIBRARY")
    ops = oxcall.load(sys.argv[1])
    print(f"jax {jax.__version__} on {jax.default_backend()}; {pathlib.Path(sys.argv[1]).name}; inside jax.jit\n")
    print(f"{'op':<18} {'shows':<58} {'error':>8} {'ours':>12} {'jax.numpy':>12}")
    good = 0
    for entry in DEMOS:
        text, ok = line(entry, ops)
        print(text, flush=True)
        good += ok
    print(f"\n{good} of {len(DEMOS)} ops agree with their references")
    sys.exit(good != len(DEMOS))
