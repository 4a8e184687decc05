"""Graphs, as lists of edges or as tables of distances."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.plugin.program import Numbers, Program


def _page_rank(sources: jax.Array, targets: jax.Array, nodes: jax.Array) -> jax.Array:
    count = nodes.shape[0]
    degrees = jax.ops.segment_sum(jnp.ones(sources.shape[0]), sources, count)

    def step(_: jax.Array, ranks: jax.Array) -> jax.Array:
        given = (ranks / jnp.maximum(degrees, 1))[sources]
        return 0.15 / count + 0.85 * jax.ops.segment_sum(given, targets, count)

    return lax.fori_loop(0, 10, step, nodes)


def _components(sources: jax.Array, targets: jax.Array, nodes: jax.Array) -> jax.Array:
    """The least node of each component: it goes along the edges, both ways, until nothing changes."""

    def step(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        labels, _ = state
        new = labels.at[targets].min(labels[sources]).at[sources].min(labels[targets])
        new = new[new]
        return new, (new != labels).any()

    return lax.while_loop(lambda state: state[1], step, (nodes, jnp.bool_(True)))[0]


def _attention(
    x: jax.Array, weights: jax.Array, vectors: jax.Array, sources: jax.Array, targets: jax.Array
) -> jax.Array:
    count = x.shape[0]
    h = x @ weights
    given, taken = vectors @ h.T
    scores = jax.nn.leaky_relu(given[sources] + taken[targets], 0.2)
    highest = jax.ops.segment_max(scores, targets, count)
    shares = jnp.exp(scores - highest[targets])
    totals = jax.ops.segment_sum(shares, targets, count)
    shares = shares / totals[targets]
    return jax.nn.elu(jax.ops.segment_sum(shares[:, None] * h[sources], targets, count))


def _shortest_paths(distances: jax.Array) -> jax.Array:
    """By Floyd and Warshall."""

    def step(k: jax.Array, distances: jax.Array) -> jax.Array:
        return jnp.minimum(distances, distances[:, k, None] + distances[k])

    return lax.fori_loop(0, distances.shape[0], step, distances)


def programs(numbers: Numbers) -> Iterator[Program]:
    """Thousands of nodes, ten edges for each."""
    edges = [numbers.integers(10_000, 100_000) for _ in range(2)]
    yield Program("PageRank, 100 k edges, 10 steps", _page_rank, [*edges, np.full(10_000, 1e-4, "float32")])
    few = [numbers.integers(10_000, 15_000) for _ in range(2)]
    yield Program("components by labels, 15 k edges", _components, [*few, np.arange(10_000, dtype="int32")])
    links = [numbers.integers(2000, 20_000) for _ in range(2)]
    inputs = [numbers.normal(2000, 64), numbers.normal(64, 64) / 8, numbers.normal(2, 64) / 8, *links]
    yield Program("graph attention, 20 k edges of 64", _attention, inputs)
    yield Program("all shortest paths, 128 nodes", _shortest_paths, [numbers.uniform(0, 1, 128, 128)])
