"""Clusters of points."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
from jax import lax

from bench.plugin.program import Numbers, Program


def _k_means(points: jax.Array, centres: jax.Array) -> jax.Array:
    def step(_: jax.Array, centres: jax.Array) -> jax.Array:
        distances = jnp.square(centres).sum(1) - 2 * points @ centres.T
        nearest = distances.argmin(1)
        sums = jax.ops.segment_sum(points, nearest, centres.shape[0])
        counts = jax.ops.segment_sum(jnp.ones(points.shape[0]), nearest, centres.shape[0])
        return sums / jnp.maximum(counts, 1)[:, None]

    return lax.fori_loop(0, 5, step, centres)


def _mixture(points: jax.Array, means: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Expectation and maximisation for Gaussians with a variance for each dimension."""

    def step(_: jax.Array, state: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        weights, means, variances = state
        apart = jnp.square(points[:, None] - means) / variances
        logits = jnp.log(weights) - 0.5 * (apart + jnp.log(variances)).sum(-1)
        shares = jax.nn.softmax(logits)
        totals = shares.sum(0)[:, None]
        means = shares.T @ points / totals
        variances = shares.T @ jnp.square(points) / totals - jnp.square(means) + 1e-3
        return totals[:, 0] / points.shape[0], means, variances

    count = means.shape[0]
    return lax.fori_loop(0, 5, step, (jnp.full(count, 1 / count), means, jnp.ones_like(means)))


def programs(numbers: Numbers) -> Iterator[Program]:
    """Ten thousand points."""
    points = numbers.normal(10_000, 16)
    yield Program("k-means, 10 k x 16, 32 clusters, 5 steps", _k_means, [points, points[:32].copy()])
    flat = numbers.normal(10_000, 4)
    yield Program("mixture of 8 Gaussians, 10 k x 4, 5 steps", _mixture, [flat, flat[:8].copy()])
