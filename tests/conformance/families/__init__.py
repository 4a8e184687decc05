"""The families of cases; importing this package registers them all."""

from conformance.cases import FAMILIES
from conformance.families import (
    contractions,
    control,
    elementwise,
    fourier,
    indexing,
    linear_algebra,
    movement,
    programs,
    random_numbers,
    reductions,
    sorting,
)

__all__ = [
    "NAMES",
    "contractions",
    "control",
    "elementwise",
    "fourier",
    "indexing",
    "linear_algebra",
    "movement",
    "programs",
    "random_numbers",
    "reductions",
    "sorting",
]

NAMES = tuple(FAMILIES)
