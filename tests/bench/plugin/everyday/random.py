"""Draws of random numbers."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from bench.plugin.program import Numbers, Program

MILLION = (1_000_000,)


def _dropout(seed: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.where(jax.random.bernoulli(jax.random.key(seed), 0.9, x.shape), x / 0.9, 0)


def programs(numbers: Numbers) -> Iterator[Program]:
    """Draws from a seed."""
    seed = np.uint32(1)
    yield Program("random bits, 1 M", lambda s: jax.random.bits(jax.random.key(s), MILLION), [seed])
    yield Program("uniform random numbers, 1 M", lambda s: jax.random.uniform(jax.random.key(s), MILLION), [seed])
    yield Program("dropout, 1 M", _dropout, [seed, numbers.normal(*MILLION)])
    yield Program(
        "categorical, 64 x 8000",
        lambda s, x: jax.random.categorical(jax.random.key(s), x),
        [seed, numbers.normal(64, 8000)],
    )
    yield Program("permutation, 100 k", lambda s: jax.random.permutation(jax.random.key(s), 100_000), [seed])
