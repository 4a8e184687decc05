"""Iterations towards a solution."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.plugin.program import Numbers, Program


def _jacobi(matrix: jax.Array, right: jax.Array) -> jax.Array:
    diagonal = jnp.diagonal(matrix)
    return lax.fori_loop(0, 50, lambda _, x: x + (right - matrix @ x) / diagonal, jnp.zeros_like(right))


def _conjugate_gradient(matrix: jax.Array, right: jax.Array) -> jax.Array:
    return jax.scipy.sparse.linalg.cg(matrix, right, tol=0, maxiter=30)[0]


def _sinkhorn(costs: jax.Array) -> jax.Array:
    """The transport between uniform weights, with logarithms."""
    logits, (rows, columns) = -costs / 0.1, costs.shape

    def step(_: jax.Array, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        f, g = state
        f = -jnp.log(rows) - jax.nn.logsumexp(logits + g, 1)
        return f, -jnp.log(columns) - jax.nn.logsumexp(logits + f[:, None], 0)

    f, g = lax.fori_loop(0, 20, step, (jnp.zeros(rows), jnp.zeros(columns)))
    return jnp.exp(logits + f[:, None] + g)


def programs(numbers: Numbers) -> Iterator[Program]:
    """Matrices of 256 or 512 rows."""
    dominant = numbers.uniform(0, 1, 512, 512) + 512 * np.eye(512, dtype="float32")
    yield Program("Jacobi's method, 512, 50 steps", _jacobi, [dominant, numbers.normal(512)])
    yield Program(
        "conjugate gradients, 256, 30 steps", _conjugate_gradient, [numbers.positive(256, 256), numbers.normal(256)]
    )
    yield Program("Sinkhorn, 256 x 256, 20 steps", _sinkhorn, [numbers.uniform(0, 1, 256, 256)])
