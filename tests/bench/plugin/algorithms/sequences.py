"""Sequences: hidden states, alignments, filters."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.plugin.program import Numbers, Program


def _viterbi(transitions: jax.Array, emissions: jax.Array) -> jax.Array:
    def forward(scores: jax.Array, emission: jax.Array) -> tuple[jax.Array, jax.Array]:
        ways = scores[:, None] + transitions
        return ways.max(0) + emission, ways.argmax(0)

    scores, pointers = lax.scan(forward, emissions[0], emissions[1:])

    def back(state: jax.Array, pointer: jax.Array) -> tuple[jax.Array, jax.Array]:
        return pointer[state], state

    first, rest = lax.scan(back, scores.argmax(), pointers, reverse=True)
    return jnp.concatenate([first[None], rest])


def _hidden_markov(transitions: jax.Array, emissions: jax.Array) -> jax.Array:
    def step(scores: jax.Array, emission: jax.Array) -> tuple[jax.Array, None]:
        return jax.nn.logsumexp(scores[:, None] + transitions, 0) + emission, None

    return jax.nn.logsumexp(lax.scan(step, emissions[0], emissions[1:])[0])


def _smith_waterman(left: jax.Array, right: jax.Array) -> jax.Array:
    """The best local alignment's score, diagonal by diagonal: entry i of one is row i of the table."""
    size = left.shape[0]
    rows = jnp.arange(size)

    def step(carry: tuple[jax.Array, ...], diagonal: jax.Array) -> tuple[tuple[jax.Array, ...], None]:
        before, last, best = carry
        columns = diagonal - rows
        inside = (columns >= 0) & (columns < size)
        scores = jnp.where(left == right[jnp.clip(columns, 0, size - 1)], 3, -3)
        from_above = jnp.concatenate([jnp.zeros(1, jnp.int32), last[:-1]])
        from_corner = jnp.concatenate([jnp.zeros(1, jnp.int32), before[:-1]])
        new = jnp.maximum(jnp.maximum(last, from_above) - 2, from_corner + scores)
        new = jnp.where(inside, jnp.maximum(new, 0), 0)
        return (last, new, jnp.maximum(best, new.max())), None

    nothing = jnp.zeros(size, jnp.int32)
    return lax.scan(step, (nothing, nothing, jnp.int32(0)), jnp.arange(2 * size - 1))[0][2]


def _levenshtein(left: jax.Array, right: jax.Array) -> jax.Array:
    """The number of edits, row by row; along a row, an insertion costs 1 for each column."""
    columns = jnp.arange(right.shape[0] + 1)

    def step(row: jax.Array, letter: jax.Array) -> tuple[jax.Array, None]:
        changed = jnp.minimum(row[1:] + 1, row[:-1] + (right != letter))
        new = jnp.concatenate([row[:1] + 1, changed])
        return lax.cummin(new - columns) + columns, None

    return lax.scan(step, columns, left)[0][-1]


def _kalman(observed: jax.Array, move: jax.Array, see: jax.Array) -> jax.Array:
    states, seen = see.shape[1], see.shape[0]

    def step(carry: tuple[jax.Array, jax.Array], y: jax.Array) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        mean, covariance = carry
        mean, covariance = move @ mean, move @ covariance @ move.T + 0.01 * jnp.eye(states)
        spread = see @ covariance @ see.T + 0.1 * jnp.eye(seen)
        gain = jnp.linalg.solve(spread, see @ covariance).T
        mean = mean + gain @ (y - see @ mean)
        return (mean, covariance - gain @ see @ covariance), mean

    return lax.scan(step, (jnp.zeros(states), jnp.eye(states)), observed)[1]


def programs(numbers: Numbers) -> Iterator[Program]:
    """Sequences of 128 to 256."""
    transitions, emissions = [np.asarray(jax.nn.log_softmax(numbers.normal(n, 64))) for n in (64, 200)]
    yield Program("Viterbi, 200 steps of 64 states", _viterbi, [transitions, emissions])
    yield Program("hidden Markov model, 200 steps of 64 states", _hidden_markov, [transitions, emissions])
    letters = [numbers.integers(4, 256) for _ in range(2)]
    yield Program("Smith-Waterman, 256 x 256", _smith_waterman, letters)
    yield Program("Levenshtein distance, 128 x 128", _levenshtein, [word[:128] for word in letters])
    move = np.eye(4, k=2, dtype="float32") * 0.1 + np.eye(4, dtype="float32")
    see = np.eye(2, 4, dtype="float32")
    yield Program(
        "Kalman filter, 200 steps of 4 states", _kalman, [numbers.normal(200, 2), move, see], calls_lapack=True
    )
