"""What was measured: for each kind of vectors, condition and set the machine and the programs' records.

It is kept beside the page.
"""

from __future__ import annotations

import json
import math
import pathlib
import statistics
from collections.abc import Iterable
from typing import Any, NamedTuple

from bench import machine

Record = dict[str, Any]


class Summary(NamedTuple):
    """Figures of a set."""

    programs: int
    mean: float
    below: int
    slowest: Record


def stored(path: pathlib.Path) -> dict[str, Any]:
    """What earlier runs measured on each kind of vectors, or nothing."""
    measured = json.loads(path.read_text()) if path.exists() else {}
    return {vectors: measured[vectors] for vectors in machine.VECTORS if vectors in measured}


def nothing() -> dict[str, Any]:
    """What is stored for one kind of vectors, before anything was measured."""
    return {"conditions": {}, "call_ns": {}}


def ran(records: Iterable[Record], key: str = "ratio") -> list[Record]:
    """The records with a ratio, the least first."""
    return sorted((record for record in records if key in record), key=lambda record: record[key])


def mean(records: Iterable[Record], key: str = "ratio") -> float:
    """The geometric mean of a ratio over the programs that ran."""
    ratios = [record[key] for record in ran(records, key)]
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan


def summary(records: Iterable[Record]) -> Summary | None:
    """The figures of a set, of which at least one program ran."""
    good = ran(records)
    return Summary(len(good), mean(good), sum(record["ratio"] < 1 for record in good), good[0]) if good else None
