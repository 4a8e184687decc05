"""Ops: their text, how inexact they are, and how the generator makes them."""

from fuzz_jax.ops import (  # noqa: F401  (they fill the table)
    contractions,
    devices,
    elementwise,
    indexing,
    movement,
    random_numbers,
    reductions,
    structure,
)
