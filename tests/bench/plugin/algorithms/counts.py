"""Counting and finding."""

from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

from bench.plugin.program import Numbers, Program


def programs(numbers: Numbers) -> Iterator[Program]:
    """Up to a million elements."""
    places = np.sort(numbers.normal(10_000))
    yield Program("searchsorted, 100 k in 10 k", jnp.searchsorted, [places, numbers.normal(100_000)])
    yield Program("bincount, 1 M of 1000", lambda x: jnp.bincount(x, length=1000), [numbers.integers(1000, 1_000_000)])
    yield Program(
        "histogram, 1 M in 100 bins", lambda x: jnp.histogram(x, 100, (-4, 4))[0], [numbers.normal(1_000_000)]
    )
