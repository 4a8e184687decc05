"""Whether results differ by more than stock JAX's own noise.

Programs differ from stock JAX in the last places, and what comes after may make that as large as it likes: a difference
of near numbers, a comparison, a conversion to integers. So where results are not near enough at a glance, stock JAX
runs the program again: op by op, with 64-bit floats, and several times with an error of a few units in the last place,
of random sign, after each inexact op. What these runs agree upon, the plugin has to give, too.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from conformance.compare import Tolerance, compare, is_float

from fuzz_jax import execute, helpers
from fuzz_jax.program import Program
from fuzz_jax.render import source

NEAR = Tolerance(2, reason="the glance")
RUNS = 6
MORE = range(RUNS, 30)  # seeds of a closer look
FACTOR = 8.0  # how much further than stock's own runs are from each other
_WIDER = {"float16": "float64", "bfloat16": "float64", "float32": "float64", "complex64": "complex128"}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What is wrong, if anything, and how it was found out."""

    message: str | None
    looked_closer: bool
    output: int = 0


def judge(program: Program, ours: Sequence[np.ndarray], stock: Sequence[np.ndarray]) -> Verdict:
    """Compares the results of the plugin with those of stock JAX, as one program each."""
    for number, (a, b) in enumerate(zip(ours, stock, strict=True)):
        if (a.dtype, a.shape) != (b.dtype, b.shape):
            shown = f"{a.dtype}{list(a.shape)} instead of {b.dtype}{list(b.shape)}"
            return Verdict(f"result {number}: {shown}", False, number)
    messages = [compare(a, b, NEAR).message for a, b in zip(ours, stock, strict=True)]
    far = [(number, message) for number, message in enumerate(messages) if message]
    if not far:
        return Verdict(None, False)
    references: list[list[np.ndarray]] = []
    # The cheapest first.
    for others in (lambda: _noisy(program, range(RUNS)), lambda: _otherwise(program), lambda: _noisy(program, MORE)):
        references += others()
        far = [
            (number, message)
            for number, message in far
            if not _within(ours[number], stock[number], [reference[number] for reference in references])
        ]
        if not far:
            return Verdict(None, True)
    number, message = far[0]
    return Verdict(f"result {number}: {message}", True, number)


def _otherwise(program: Program) -> list[list[np.ndarray]]:
    """Results op by op, and with 64-bit floats."""
    wide = _wide(program)
    return [execute.step_by_step(program), *([] if wide is None else [wide])]


def _noisy(program: Program, seeds: range) -> list[list[np.ndarray]]:
    """Results with errors after each inexact op."""
    traced = execute.function(program.block, noise=True)
    if program.devices > 1:
        return [_with_seed(program, traced, seed) for seed in seeds[: 3 * RUNS]]

    def seeded(seed, *arguments):
        helpers.use("cpu", program.devices, seed)
        return traced(*arguments)

    jitted = jax.jit(seeded, compiler_options=execute.quick(program))
    with jax.enable_x64(program.x64), jax.default_device(jax.devices("cpu")[0]):
        arguments = [jnp.asarray(value) for value in program.inputs]
        return [[np.asarray(x) for x in jitted(np.uint32(seed), *arguments)] for seed in seeds]


def _with_seed(program: Program, traced, seed: int) -> list[np.ndarray]:
    def seeded(*arguments):
        helpers.use("cpu", program.devices, seed)
        return traced(*arguments)

    return execute.call(
        jax.jit(seeded, compiler_options=execute.quick(program)), program.inputs, "cpu", program.x64, program.devices
    )


def _wide(program: Program) -> list[np.ndarray] | None:
    """Results with 64-bit floats, in the types of the program; None where they mean something else."""
    text = source(program.block)
    if "bits_as" in text or "random" in text or "nextafter" in text:
        return None
    for narrow, wide in _WIDER.items():
        text = re.sub(rf"\b{narrow}\b", wide, text)
    arguments = [value.astype(_WIDER.get(value.dtype.name, value.dtype.name)) for value in program.inputs]
    try:
        return execute.call(jax.jit(execute.of_text(text)), arguments, "cpu", True, program.devices)
    except Exception:  # an op that has no 64-bit form
        return None


def _within(ours: np.ndarray, stock: np.ndarray, references: Sequence[np.ndarray]) -> bool:
    """Whether a result is as near to stock's as stock's other runs are, element by element."""
    same_type = [reference.astype(stock.dtype) for reference in references if reference.shape == stock.shape]
    if np.issubdtype(stock.dtype, np.complexfloating):
        neither = ~np.isfinite(stock) & ~np.isfinite(ours)
        ours = np.where(neither, stock, ours)
        size = np.abs(np.where(np.isfinite(stock), stock, 0))
        return all(
            _floats_within(part(ours), part(stock), [part(r) for r in same_type], size) for part in (np.real, np.imag)
        )
    if is_float(stock.dtype):
        return _floats_within(ours, stock, same_type, None)
    agreed = np.ones(stock.shape, bool)
    for reference in same_type:
        agreed &= reference == stock
    return bool(np.all((ours == stock) | ~agreed))


def _floats_within(ours, stock, references, size) -> bool:
    info = jnp.finfo(stock.dtype)
    eps, tiny = float(info.eps), max(float(info.tiny), float(jnp.finfo(jnp.float32).tiny))
    if stock.dtype == np.float64:
        tiny = float(info.tiny)
    wide = lambda array: array.astype(np.float64).ravel()  # noqa: E731
    a, b, others = wide(ours), wide(stock), [wide(reference) for reference in references]
    equal = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        spread = np.zeros_like(b)
        free = np.zeros(b.shape, bool)  # elements that stock's runs do not agree upon as finite numbers
        for other in others:
            finite = np.isfinite(other) & np.isfinite(b)
            free |= ~finite & ~((other == b) | (np.isnan(other) & np.isnan(b)))
            spread = np.maximum(spread, np.where(finite, np.abs(other - b), 0))
        magnitude = np.abs(b) if size is None else np.maximum(np.abs(b), wide(size))
        magnitude = np.where(np.isfinite(magnitude), magnitude, 0)
        relative = np.minimum(spread / np.maximum(magnitude, tiny), 1)
        typical = float(np.quantile(relative, 0.75)) if relative.size else 0.0
        least = 8 * eps if spread.any() else 0.0  # nothing inexact leads here
        allowed = FACTOR * np.maximum(spread, typical * magnitude) + least * magnitude + 2 * tiny
        near = np.isfinite(a) & np.isfinite(b) & (np.abs(a - b) <= allowed)
    return bool(np.all(equal | near | free))
