"""Counts outcomes per op and dtype, prints what is missing, and writes the table of the documentation."""

from __future__ import annotations

import collections
import pathlib
from collections.abc import Callable
from typing import Any

from conformance import coverage, inputs
from conformance.modules import ELEMENTS
from conformance.runner import Outcome

LEAST = 5  # cases in each cell that applies

_ORDER = {dtype: place for place, dtype in enumerate(("none", *inputs.EVERY, *inputs.INSIDE))}
_SHORT = {"none": "-", "complex64": "c64", "complex128": "c128", "bool": "pred"}

_HEAD = """\
# Conformance of the plugin

Written by `cargo xtask conformance`, which runs programs on the plugin and on stock JAX's CPU backend in one process
and compares their results. Tests are in `tests/conformance`. The command fails for any difference above the tolerance
below, and for any cell of the first table, of an op kind and a dtype that it takes, with fewer than five cases.

{passed} of {count} cases pass.

## Cases per op and dtype

Programs of the ops of StableHLO and CHLO, then JAX's own functions and whole models. A dtype is that of the operand in
question, or of the result where there is none; `-` stands for ops whose values have no dtype.

"""

_TOLERANCES = """
## Tolerances

In units in the last place (ULP) of the result's dtype, either of each element or, where that is said, of the largest
element. The worst difference is what the cases showed. What is not listed agrees exactly, up to the bits of NaN, and
results that are subnormal numbers of `float32` and `float64`, which XLA:CPU flushes to zero.

"""

_ORACLES = """
## References other than stock JAX

"""


class Table:
    """Outcomes per op and dtype."""

    def __init__(self) -> None:
        self.cells: dict[tuple[str, str], list[Outcome]] = collections.defaultdict(list)
        self.inapplicable: list[Outcome] = []

    def add(self, outcome: Outcome) -> None:
        """Counts an outcome, if the case applies."""
        if outcome.applies:
            self.cells[outcome.op, outcome.dtype].append(outcome)
        else:
            self.inapplicable.append(outcome)

    @property
    def count(self) -> int:
        """Cases that apply."""
        return sum(len(outcomes) for outcomes in self.cells.values())

    @property
    def failures(self) -> list[Outcome]:
        """What failed, in the order of the cells."""
        return [outcome for cell in self.cells.values() for outcome in cell if outcome.message]

    def thin(self) -> list[tuple[str, str, int]]:
        """Cells with fewer cases than there must be, those with none included."""
        expected = set(self.cells) | set(coverage.cells())
        counts = ((op, dtype, len(self.cells.get((op, dtype), ()))) for op, dtype in sorted(expected))
        return [(op, dtype, count) for op, dtype, count in counts if count < LEAST]

    def ops(self) -> list[str]:
        """StableHLO's ops, then those of CHLO, then JAX's functions, each in alphabetical order."""
        return sorted({op for op, _ in self.cells}, key=lambda op: (coverage.group(op), op))

    def dtypes(self) -> list[str]:
        """The dtypes that occur."""
        return sorted({dtype for _, dtype in self.cells}, key=lambda dtype: _ORDER[dtype])


def show(table: Table) -> None:
    """Prints cases per op and dtype."""
    for op in table.ops():
        cells = [(dtype, table.cells[op, dtype]) for dtype in table.dtypes() if (op, dtype) in table.cells]
        print(f"{op:28}", " ".join(f"{_short(dtype)}:{_passed(outcomes)}" for dtype, outcomes in cells))


def write(table: Table, path: pathlib.Path) -> None:
    """Writes the documentation's page."""
    passed = table.count - len(table.failures)
    dtypes = table.dtypes()
    lines = [_HEAD.format(passed=passed, count=table.count)]
    lines.append("| op | " + " | ".join(_short(dtype) for dtype in dtypes) + " |\n")
    lines.append("|---|" + "--:|" * len(dtypes) + "\n")
    for op in table.ops():
        cells = (_passed(table.cells[op, dtype]) if (op, dtype) in table.cells else "" for dtype in dtypes)
        lines.append(f"| `{op}` | " + " | ".join(cells) + " |\n")
    lines += [_TOLERANCES, "| op | dtypes | tolerance (ULP) | worst difference | reason |\n", "|---|---|--:|--:|---|\n"]
    for (op, reason, of_largest), outcomes in _grouped(table, _tolerance).items():
        ulp = max(outcome.tolerance.ulp for outcome in outcomes)
        worst = max((outcome.ulp for outcome in outcomes if not outcome.message), default=0.0)
        size = f"{ulp:.3g} of the largest" if of_largest else f"{ulp:.3g}"
        lines.append(f"| `{op}` | {_names(outcomes)} | {size} | {worst:.2g} | {reason} |\n")
    lines += [_ORACLES, "| op | dtypes | cases | reference | reason |\n", "|---|---|--:|---|---|\n"]
    for (op, (name, reason)), outcomes in _grouped(table, _oracle).items():
        lines.append(f"| `{op}` | {_names(outcomes)} | {len(outcomes)} | {name} | {reason} |\n")
    path.write_text("".join(lines))


def _tolerance(outcome: Outcome) -> tuple[str, str, bool] | None:
    tolerance = outcome.tolerance
    return (outcome.op, tolerance.reason, tolerance.of_largest) if tolerance.ulp or tolerance.below else None


def _oracle(outcome: Outcome) -> tuple[str, tuple[str, str]] | None:
    return (outcome.op, outcome.oracle) if outcome.oracle[1] else None


def _grouped(table: Table, key: Callable[[Outcome], Any]) -> dict[Any, list[Outcome]]:
    groups = collections.defaultdict(list)
    for op in table.ops():
        for dtype in table.dtypes():
            for outcome in table.cells.get((op, dtype), ()):
                if (group := key(outcome)) is not None:
                    groups[group].append(outcome)
    return groups


def _names(outcomes: list[Outcome]) -> str:
    return " ".join(sorted({_short(outcome.dtype) for outcome in outcomes}, key=_LONG))


def _short(dtype: str) -> str:
    if dtype in _SHORT:
        return _SHORT[dtype]
    return ELEMENTS[dtype].lower().replace("ui", "u") if not dtype.startswith("int") else f"s{dtype[3:]}"


_PLACES = {_short(dtype): place for dtype, place in _ORDER.items()}
_LONG = _PLACES.__getitem__


def _passed(outcomes: list[Outcome]) -> str:
    good = sum(1 for outcome in outcomes if not outcome.message)
    return str(good) if good == len(outcomes) else f"{good} of {len(outcomes)}"
