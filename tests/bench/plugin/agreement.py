"""Whether both platforms compute the same: what differs is not worth timing."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bench.plugin import running
from bench.plugin.program import Program

# Of the largest magnitude in an array: sums are taken in different orders, and errors grow along loops.
TOLERANCES = {2: 2e-2, 4: 1e-3, 8: 1e-6}


def check(program: Program) -> None:
    """Runs the program once on each platform; raises if the results differ."""
    theirs, ours = (
        jax.tree.leaves_with_path(program.compared(running.on(platform, program)())) for platform in running.PLATFORMS
    )
    for (path, expected), (_, actual) in zip(theirs, ours, strict=True):
        if message := difference(np.asarray(expected), np.asarray(actual)):
            raise ValueError(f"the platforms disagree on the result{jax.tree_util.keystr(path)}: {message}")


def difference(expected: Any, actual: Any) -> str | None:
    """How an array differs from what was expected by more than the tolerance of its type; integers have to be equal."""
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return f"{expected.dtype}{list(expected.shape)} and {actual.dtype}{list(actual.shape)}"
    if not jnp.issubdtype(expected.dtype, jnp.inexact):
        count = np.count_nonzero(expected != actual)
        return f"{count} of {expected.size} elements differ" if count else None
    real = jnp.finfo(expected.dtype).dtype
    wide = np.complex128 if jnp.issubdtype(expected.dtype, jnp.complexfloating) else np.float64
    expected, actual = expected.astype(wide), actual.astype(wide)
    finite = np.isfinite(expected)
    if not np.array_equal(expected[~finite], actual[~finite], equal_nan=True) or not np.isfinite(actual[finite]).all():
        return "infinities or NaNs in different places"
    if not finite.any():
        return None
    worst = np.abs(expected[finite] - actual[finite]).max()
    largest, tolerance = np.abs(expected[finite]).max(), TOLERANCES[real.itemsize]
    return f"{worst:.2g} apart, where {largest:.2g} is the largest" if worst > tolerance * largest else None
