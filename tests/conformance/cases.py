"""What a case is, and how families of cases are collected."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from conformance.compare import EXACT, Tolerance
from conformance.oracles import STOCK, Oracle


@dataclasses.dataclass(frozen=True)
class Case:
    """One program with inputs.

    Attributes:
        op: the op kind that it is about, by its name in StableHLO, or the JAX function.
        dtype: the dtype that it is about.
        label: what is special, such as a shape.
        function: of the inputs, traceable by JAX.
        inputs: arrays.
        tolerance: how near the results are.
        statistical: results are not compared, only their dtypes and shapes.
        oracle: where the expected results come from.
    """

    op: str
    dtype: str
    label: str
    function: Callable[..., Any]
    inputs: Sequence[np.ndarray]
    tolerance: Tolerance = EXACT
    statistical: bool = False
    oracle: Oracle = STOCK

    def __str__(self) -> str:
        return f"{self.op}[{self.dtype}] {self.label}"


Family = Callable[[np.random.Generator], Iterator[Case]]
FAMILIES: dict[str, Family] = {}


def family(function: Family) -> Family:
    """Registers a generator of cases under its name."""
    FAMILIES[function.__name__] = function
    return function


def all_cases(names: Sequence[str] = (), seed: int = 0) -> Iterator[Case]:
    """The cases of these families, or of all; the same ones for the same seed, whatever else is chosen."""
    for name in names or FAMILIES:
        yield from FAMILIES[name](np.random.default_rng([seed, *name.encode()]))
