"""Times of several forms of one computation, which take turns."""

from __future__ import annotations

import dataclasses
import itertools
import statistics
import time
from collections.abc import Callable

ROUNDS = 15
BATCH_S = 0.02

SIZES = (1 << 10, 1 << 16, 1 << 20, 1 << 24)
SHAPES = ((1024, 1024), (128, 32000))
DTYPES = ("float32", "bfloat16")


@dataclasses.dataclass(frozen=True)
class Times:
    """The medians of the forms, in microseconds, and all rounds."""

    us: dict[str, float]
    rounds: dict[str, list[float]]

    def ratio(self, other: str, ours: str) -> float:
        """How many times as long another form takes as ours: the median of the rounds' ratios."""
        return statistics.median(b / a for a, b in zip(self.rounds[ours], self.rounds[other], strict=True))


def measure(forms: dict[str, Callable[[], object]]) -> Times:
    """Times of one call of each form, which returns when its results are there."""
    for run in forms.values():
        run()
    numbers = {form: max(1, int(BATCH_S / _seconds(run, 3))) for form, run in forms.items()}
    rounds: dict[str, list[float]] = {form: [] for form in forms}
    # Each form comes in each place.
    orders = itertools.cycle([list(forms)[start:] + list(forms)[:start] for start in range(len(forms))])
    for _, order in zip(range(ROUNDS), orders, strict=False):
        for form in order:
            rounds[form].append(_seconds(forms[form], numbers[form]))
    return Times({form: statistics.median(times) * 1e6 for form, times in rounds.items()}, rounds)


def _seconds(run: Callable[[], object], number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        run()
    return (time.perf_counter() - start) / number
