"""The families of cases; importing this package registers them all."""

from conformance.cases import FAMILIES
from conformance.families import (
    contractions,
    control,
    elementwise,
    fourier,
    indexing,
    jax_harnesses,
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
    "jax_harnesses",
    "linear_algebra",
    "modules",
    "movement",
    "programs",
    "random_numbers",
    "reductions",
    "sorting",
    "structure",
]

# Those that run unless others are asked for.
NAMES = tuple(name for name in FAMILIES if name != jax_harnesses.__name__.rpartition(".")[2])
