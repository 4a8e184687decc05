"""Times of compiling: what the user waits for, and what the backend's compile call takes of it.

The call is `backend.compile_and_load(module, ...)` on both platforms. For a plugin it begins with jaxlib's translation
of the module to a portable artifact in MLIR bytecode; for XLA:CPU with that to HLO.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
from jax._src import compiler

from bench.plugin.program import Program
from bench.plugin.running import PLATFORMS

BUDGET, LEAST, MOST = 1.0, 5, 25  # seconds and rounds of each program


class Times(NamedTuple):
    """Medians in seconds."""

    backend: float
    user: float


@contextlib.contextmanager
def timed_backend() -> Iterator[list[float]]:
    """The times of JAX's calls of the backend, one after another."""
    times: list[float] = []
    original = compiler.backend_compile_and_load

    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        executable = original(*args, **kwargs)
        times.append(time.perf_counter() - start)
        return executable

    compiler.backend_compile_and_load = timed
    try:
        yield times
    finally:
        compiler.backend_compile_and_load = original


def compile_once(program: Program, platform: str, inputs: Any, backend: list[float]) -> tuple[float, float]:
    """Traces, lowers and compiles the program as if it had never been seen; the time in the backend, and of all."""
    jax.clear_caches()
    backend.clear()
    with jax.default_device(jax.devices(platform)[0]):
        lowered = jax.jit(program.function).lower(*inputs)
        start = time.perf_counter()
        lowered.compile()
        user = time.perf_counter() - start
    if len(backend) != 1:
        raise RuntimeError(f"{platform} compiled {len(backend)} programs where it had to compile one")
    return backend[0], user


def medians(program: Program) -> dict[str, Times]:
    """Median times on each platform, in turns. Persistent caches must be off, as they are unless asked for."""
    if jax.config.jax_compilation_cache_dir is not None:
        raise RuntimeError("a compilation cache is configured")
    inputs = {
        platform: [jax.device_put(value, jax.devices(platform)[0]) for value in program.inputs]
        for platform in PLATFORMS
    }
    times: dict[str, list[tuple[float, float]]] = {platform: [] for platform in PLATFORMS}
    with timed_backend() as backend:
        for platform in PLATFORMS:  # what a process does only once is no part of it
            compile_once(program, platform, inputs[platform], backend)
        end = time.perf_counter() + BUDGET
        while len(times["cpu"]) < LEAST or (time.perf_counter() < end and len(times["cpu"]) < MOST):
            for platform in PLATFORMS:
                times[platform].append(compile_once(program, platform, inputs[platform], backend))
    return {
        platform: Times(*(statistics.median(column) for column in zip(*samples, strict=True)))
        for platform, samples in times.items()
    }
