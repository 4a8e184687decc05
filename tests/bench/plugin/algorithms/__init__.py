"""Simulations and algorithms: programs that are no models, and that nothing was tuned to."""

from __future__ import annotations

from collections.abc import Iterator

from bench.plugin.algorithms import (
    clusters,
    counts,
    formulas,
    graphs,
    images,
    sampling,
    sequences,
    simulations,
    solvers,
)
from bench.plugin.program import Numbers, Program

MODULES = (simulations, images, clusters, formulas, counts, sequences, graphs, solvers, sampling)


def programs() -> Iterator[Program]:
    """All of them."""
    numbers = Numbers()
    for module in MODULES:
        yield from module.programs(numbers)
