"""Runs cases on both platforms, and counts what passes."""

from __future__ import annotations

import collections
import dataclasses
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np

from conformance.cases import Case
from conformance.compare import compare


@dataclasses.dataclass
class Outcome:
    """What came of a case.

    Attributes:
        case: the case.
        applies: whether stock JAX can run it.
        ulp: the worst difference.
        message: what is wrong, or None.
    """

    case: Case
    applies: bool
    ulp: float = 0.0
    message: str | None = None


def run(case: Case, platform: str = "oxcall") -> Outcome:
    """Runs one case on the CPU and on ``platform``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            reference = _on("cpu", case, case.reference or case.function)
        except Exception:  # stock JAX has no such program: nothing to compare with
            return Outcome(case, applies=False)
        try:
            ours = _on(platform, case, case.function)
        except Exception as error:
            return Outcome(case, True, np.inf, f"{type(error).__name__}: {str(error).splitlines()[0]}")
    if jax.tree.structure(ours) != jax.tree.structure(reference):
        return Outcome(case, True, np.inf, "results of another structure")
    worst = 0.0
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(reference), strict=True):
        if case.statistical:
            if (a.dtype, a.shape) != (b.dtype, b.shape):
                return Outcome(case, True, np.inf, f"{a.dtype}{a.shape} instead of {b.dtype}{b.shape}")
            continue
        difference = compare(a, b, case.tolerance)
        worst = max(worst, difference.ulp)
        if difference.message:
            return Outcome(case, True, worst, difference.message)
    return Outcome(case, True, worst)


def _on(platform: str, case: Case, function: Callable[..., Any]) -> Any:
    device = jax.devices(platform)[0]
    inputs = [jax.device_put(value, device) for value in case.inputs]
    with jax.default_device(device):
        return jax.tree.map(np.asarray, jax.jit(function)(*inputs))


class Table:
    """Outcomes per op and dtype."""

    def __init__(self) -> None:
        self.cells: dict[tuple[str, str], list[Outcome]] = collections.defaultdict(list)

    def add(self, outcome: Outcome) -> None:
        """Counts an outcome, if the case applies."""
        if outcome.applies:
            self.cells[outcome.case.op, outcome.case.dtype].append(outcome)

    @property
    def failures(self) -> Iterable[Outcome]:
        """What failed, in the order of the cells."""
        return (outcome for cell in self.cells.values() for outcome in cell if outcome.message)

    def thin(self, least: int) -> list[tuple[str, str]]:
        """Cells with fewer than ``least`` cases."""
        return [cell for cell, outcomes in self.cells.items() if len(outcomes) < least]

    def rows(self) -> Iterable[tuple[str, str, int, int, float]]:
        """Op, dtype, cases that pass, cases, and the worst difference of those that pass."""
        for (op, dtype), outcomes in sorted(self.cells.items()):
            good = [outcome for outcome in outcomes if not outcome.message]
            yield op, dtype, len(good), len(outcomes), max((outcome.ulp for outcome in good), default=0.0)
