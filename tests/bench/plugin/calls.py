"""What a custom call costs inside a program, beyond the handler."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from bench.plugin import running
from bench.plugin.program import Program

FEW, MANY, ROUNDS = 100, 200, 401


def program(ops: Any, count: int) -> Program:
    """A chain of calls of a handler that reads and writes one element: about 2 ns by docs/bench/ffi.md."""

    def chain(x: jax.Array) -> jax.Array:
        for _ in range(count):
            x = ops.identity(x)
        return x

    return Program(f"chain of {count} calls", chain, [np.ones(16, np.float32)])


def nanoseconds(ops: Any) -> dict[str, float]:
    """The time of one call on each platform, handler included: the slope between a short and a long chain, so that
    what a program costs drops out. Platforms and lengths take turns, each run once before it is timed, so that caches
    hold what it uses; the median of the slopes."""
    chains = {
        platform: [running.on(platform, program(ops, count)) for count in (FEW, MANY)] for platform in running.PLATFORMS
    }
    slopes: dict[str, list[float]] = {platform: [] for platform in running.PLATFORMS}
    for _ in range(ROUNDS):
        for platform, lengths in chains.items():
            short, long = (warm_seconds(run) for run in lengths)
            slopes[platform].append((long - short) / (MANY - FEW) * 1e9)
    return {platform: statistics.median(samples) for platform, samples in slopes.items()}


def warm_seconds(run: Callable[[], Any]) -> float:
    """The time of the second of two calls."""
    run()
    return running.seconds(run)
