"""One program on both platforms."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable

import numpy as np

from fuzz_jax import execute, judge, ops  # noqa: F401  (the table of ops)
from fuzz_jax.program import Program


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of a program.

    Attributes:
        kind: ``same``, ``noise`` (other results, no further than stock's own), ``refused`` (stock JAX fails), or what
            is a finding: ``wrong``, ``error``, ``ended`` (the process), ``late``.
        message: what is wrong.
        output: which result.
    """

    kind: str
    message: str = ""
    output: int = 0

    @property
    def is_finding(self) -> bool:
        return self.kind in ("wrong", "error", "ended", "late")


def check(program: Program, platform: str = "oxcall", stage: Callable[[str], None] = lambda _: None) -> Outcome:
    """Runs a program; ``stage`` is told what runs, for the program that ends the process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if program.devices > 1 and execute.is_narrow(program):
            return Outcome("refused", "stock JAX writes past the end of results of parts narrower than a byte")
        stage("stock JAX")
        oracle = _oracle(program)
        try:
            traced = execute.Traced(oracle)
            quick = _quick(traced)
        except Exception as error:
            return Outcome("refused", _line(error))
        stage(platform)
        try:
            ours = (traced if oracle is program else execute.Traced(program)).run(platform)
        except Exception as error:
            # JAX itself may refuse what has parts on several devices.
            refused = oracle is not program and not execute.is_traced(program)
            return Outcome("refused" if refused else "error", _line(error))
        stage("stock JAX")
        try:
            verdict = judge.judge(oracle, ours, quick)
            if verdict.message:  # stock JAX as its users have it decides
                verdict = judge.judge(oracle, ours, traced.run("cpu"))
        except Exception as error:  # of stock JAX, with noise
            return Outcome("refused", f"judging: {_line(error)}")
    if verdict.message:
        return Outcome("wrong", verdict.message, verdict.output)
    return Outcome("noise" if verdict.looked_closer else "same")


def _quick(traced: execute.Traced) -> list[np.ndarray]:
    """The results of stock JAX, compiled in little time, if it does."""
    try:
        return traced.run("cpu", execute.quick(traced.program))
    except Exception:
        return traced.run("cpu")


def _oracle(program: Program) -> Program:
    """The program on one device, if that means the same: XLA's partitioner refuses some programs, and ends others."""
    if program.devices == 1 or any(step.op == "shard_map" for step in program.block.steps):
        return program
    return dataclasses.replace(program, devices=1)


def _line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip() and "traceback" not in line.lower()]
    return f"{type(error).__name__}: {next(iter(lines), '')}"
