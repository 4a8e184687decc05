"""What a case is, and how families of cases are collected."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from conformance.compare import EXACT, Tolerance


@dataclasses.dataclass(frozen=True)
class Case:
    """One program with inputs.

    Attributes:
        op: the op kind that it is about, by its name in StableHLO.
        dtype: the dtype that it is about.
        label: what is special, such as a shape.
        function: of the inputs, traceable by JAX.
        inputs: arrays.
        tolerance: how near the results are.
        reference: what stock JAX runs instead, where it cannot run the function itself.
        statistical: results are not compared, only their dtypes and shapes.
    """

    op: str
    dtype: str
    label: str
    function: Callable[..., Any]
    inputs: Sequence[np.ndarray]
    tolerance: Tolerance = EXACT
    statistical: bool = False
    reference: Callable[..., Any] | None = None

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
