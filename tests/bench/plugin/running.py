"""Times of running: the same program on both platforms, in turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import jax

from bench.plugin.program import Program

PLATFORMS = ("cpu", "oxcall")
BUDGET, LEAST, MOST = 1.5, 7, 300  # seconds and rounds of each program


def on(platform: str, program: Program) -> Callable[[], Any]:
    """A call of the compiled program on its inputs, which waits for the results."""
    device = jax.devices(platform)[0]
    inputs = [jax.device_put(value, device) for value in program.inputs]
    with jax.default_device(device):
        compiled = jax.jit(program.function).lower(*inputs).compile()
    return lambda: jax.block_until_ready(compiled(*inputs))


def seconds(run: Callable[[], Any]) -> float:
    """The time that one call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def settle() -> None:
    """Waits, at most 0.1 s, until no thread of this process works.

    Threads of OpenBLAS, which XLA:CPU calls, spin for some milliseconds after a call, and would take a core from the
    other side, whose turn is next.
    """
    end = time.perf_counter() + 0.1
    while time.perf_counter() < end:
        busy = time.process_time()
        time.sleep(0.002)
        if time.process_time() - busy < 0.0005:
            return


def medians(program: Program, budget: float) -> dict[str, float]:
    """Median time of one call on each platform, including its dispatch and the wait for its results."""
    runs = {platform: on(platform, program) for platform in PLATFORMS}
    for run in runs.values():
        run()
    times: dict[str, list[float]] = {platform: [] for platform in PLATFORMS}
    end = time.perf_counter() + budget
    while len(times["cpu"]) < LEAST or (time.perf_counter() < end and len(times["cpu"]) < MOST):
        for platform, run in runs.items():
            if program.calls_lapack:
                settle()
            times[platform].append(seconds(run))
    return {platform: statistics.median(samples) for platform, samples in times.items()}
