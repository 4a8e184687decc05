"""Samples of distributions."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.plugin.program import Numbers, Program


def _metropolis(seed: jax.Array, start: jax.Array) -> jax.Array:
    """The mean square of chains in a double well."""

    def energy(x: jax.Array) -> jax.Array:
        return jnp.square(x * x - 1)

    def step(x: jax.Array, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        move, accept = jax.random.split(key)
        proposed = x + 0.5 * jax.random.normal(move, x.shape)
        taken = jnp.log(jax.random.uniform(accept, x.shape)) < energy(x) - energy(proposed)
        x = jnp.where(taken, proposed, x)
        return x, jnp.square(x).mean()

    return lax.scan(step, start, jax.random.split(jax.random.key(seed), 100))[1]


def _top_p(seed: jax.Array, logits: jax.Array) -> jax.Array:
    order = jnp.argsort(-logits)
    sorted_logits = jnp.take_along_axis(logits, order, 1)
    before = jnp.cumsum(jax.nn.softmax(sorted_logits), 1) - jax.nn.softmax(sorted_logits)
    chosen = jax.random.categorical(jax.random.key(seed), jnp.where(before < 0.9, sorted_logits, -jnp.inf))
    return jnp.take_along_axis(order, chosen[:, None], 1)


def programs(numbers: Numbers) -> Iterator[Program]:
    """Chains, and tokens of a vocabulary."""
    yield Program("Metropolis, 1000 chains of 100 steps", _metropolis, [np.uint32(5), numbers.normal(1000)])
    yield Program("top-p sampling, 32 x 32000", _top_p, [np.uint32(7), 3 * numbers.normal(32, 32_000)])
