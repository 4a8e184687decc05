"""The families of cases; importing this package registers them all."""

from conformance.cases import FAMILIES
from conformance.families import (
    contractions,
    control,
    elementwise,
    fourier,
    indexing,
    linear_algebra,
    modules,
    movement,
    programs,
    random_numbers,
    reductions,
    sorting,
    structure,
)

__all__ = [
    "NAMES",
    "contractions",
    "control",
    "elementwise",
    "fourier",
    "indexing",
    "linear_algebra",
    "modules",
    "movement",
    "programs",
    "random_numbers",
    "reductions",
    "sorting",
    "structure",
]

NAMES = tuple(FAMILIES)
