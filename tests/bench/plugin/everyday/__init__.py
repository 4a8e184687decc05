"""Everyday programs: parts of models and of training, draws, and loops over few numbers."""

from __future__ import annotations

from collections.abc import Iterator

from bench.plugin.everyday import elementwise, loops, models, moves, random, transformer
from bench.plugin.program import Numbers, Program

MODULES = (elementwise, moves, random, loops, models, transformer)


def programs() -> Iterator[Program]:
    """All of them."""
    numbers = Numbers()
    for module in MODULES:
        yield from module.programs(numbers)
