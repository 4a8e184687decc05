"""Runs one case on the plugin and compares it with its oracle."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from conformance import oracles, workers
from conformance.cases import Case, all_cases
from conformance.compare import Tolerance, compare


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of a case.

    Attributes:
        op: the case's.
        dtype: the case's.
        label: the case's.
        tolerance: the case's.
        oracle: the name of the case's oracle, and why it is not stock JAX.
        applies: whether the oracle has an answer.
        ulp: the worst difference.
        message: what is wrong, or None.
    """

    op: str
    dtype: str
    label: str
    tolerance: Tolerance
    oracle: tuple[str, str]
    applies: bool = True
    ulp: float = 0.0
    message: str | None = None

    @classmethod
    def of(cls, case: Case, **fields: Any) -> Outcome:
        """The outcome of a case."""
        oracle = (case.oracle.name, case.oracle.reason)
        return cls(case.op, case.dtype, case.label, case.tolerance, oracle, **fields)

    def __str__(self) -> str:
        return f"{self.op}[{self.dtype}] {self.label}"


def run(case: Case, platform: str = "oxcall", stage: Callable[[str], None] = lambda _: None) -> Outcome:
    """Runs one case; ``stage`` is told what is about to run, for the case that it ends the process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stage(case.oracle.name)
        try:
            reference = case.oracle.compute(case.function, case.inputs)
        except Exception as error:  # there is nothing to compare with
            return Outcome.of(case, applies=False, message=_line(error))
        stage(platform)
        try:
            ours = oracles.on(platform, case.function, case.inputs)
        except Exception as error:
            return Outcome.of(case, ulp=np.inf, message=_line(error))
    if jax.tree.structure(ours) != jax.tree.structure(reference):
        return Outcome.of(case, ulp=np.inf, message="results of another structure")
    worst = 0.0
    for a, b in zip(jax.tree.leaves(ours), map(np.asarray, jax.tree.leaves(reference)), strict=True):
        if case.statistical:
            if (a.dtype, a.shape) != (b.dtype, b.shape):
                return Outcome.of(case, ulp=np.inf, message=f"{a.dtype}{a.shape} instead of {b.dtype}{b.shape}")
            continue
        difference = compare(a, b, case.tolerance, case.oracle.subnormal)
        worst = max(worst, difference.ulp)
        if difference.message:
            return Outcome.of(case, ulp=worst, message=difference.message)
    return Outcome.of(case, ulp=worst)


@dataclasses.dataclass(frozen=True)
class Cases(workers.Job):
    """The cases of some families."""

    families: Sequence[str]
    seed: int
    platform: str

    def prepare(self) -> workers.Runner:
        jax.config.update("jax_enable_x64", True)
        return lambda number, stage: run(self._all[number], self.platform, stage)

    def failed(self, number: int, stage: str, message: str) -> Outcome:
        return Outcome.of(self._all[number], ulp=np.inf, message=message)

    @functools.cached_property
    def _all(self) -> Sequence[Case]:
        from conformance import families  # noqa: F401  (registers them)

        return list(all_cases(self.families, self.seed))


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
