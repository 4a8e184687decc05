"""What the checks of an op found."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The outcome of one check.

    Attributes:
        check: its name.
        status: "passed", "failed" or "skipped".
        detail: what was compared, why it failed, or why it was skipped.
        declaration: for a failure, what is wrong: ```vjp = rms_norm_vjp```, for example.
    """

    check: str
    status: str
    detail: str
    declaration: str = ""


@dataclasses.dataclass(frozen=True, repr=False)
class Report:
    """The outcomes of the checks of one op.

    Attributes:
        op: the op's name.
        outcomes: one for each check that passed or was skipped, and one or more for each that failed.
    """

    op: str
    outcomes: tuple[Outcome, ...]

    @property
    def failures(self) -> tuple[Outcome, ...]:
        return self._of("failed")

    @property
    def passed(self) -> tuple[str, ...]:
        """The names of the checks that passed."""
        return tuple(outcome.check for outcome in self._of("passed"))

    @property
    def skipped(self) -> dict[str, str]:
        """Why checks were skipped, by their names."""
        return {outcome.check: outcome.detail for outcome in self._of("skipped")}

    def _of(self, status: str) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.status == status)

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(self._of(status))} {status}" for status in ("passed", "failed", "skipped"))
        return "\n".join([f"check_op({self.op}): {counts}", *_lines(self.outcomes)])


def _lines(outcomes: Sequence[Outcome]) -> list[str]:
    return [f"  {outcome.status:8} {outcome.check:10} {outcome.detail}" for outcome in outcomes]


class OpCheckError(AssertionError):
    """An op is not what it declares. The message lists all failures.

    Attributes:
        report: the outcomes of all checks.
    """

    def __init__(self, report: Report):
        self.report = report
        listed = "\n".join(f"- {failure.detail}" for failure in report.failures)
        super().__init__(f"{report.op}: {len(report.failures)} of its checks failed:\n{listed}")


class Skip(Exception):
    """A check does not apply; the message says why."""


class Wrong(Exception):
    """A check failed; the message says what was expected, what came, and what to do."""

    def __init__(self, declaration: str, message: str):
        self.declaration = declaration
        super().__init__(message)
