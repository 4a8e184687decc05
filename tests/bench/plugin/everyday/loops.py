"""Loops over few numbers, and many small matrices."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.plugin.program import Numbers, Program
from bench.plugin.programs import tiny_steps


def _lorenz(state: jax.Array) -> jax.Array:
    def slope(state: jax.Array) -> jax.Array:
        x, y, z = state
        return jnp.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    def step(_: jax.Array, state: jax.Array) -> jax.Array:
        h = 0.002
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return lax.fori_loop(0, 500, step, state)


def _scalar_scan(xs: jax.Array) -> jax.Array:
    def step(average: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        average = 0.9 * average + 0.1 * x
        return average, average

    return lax.scan(step, jnp.float32(0), xs)[1]


def _newton(x: jax.Array) -> jax.Array:
    return lax.while_loop(lambda root: jnp.abs(root * root - x) > 1e-3, lambda root: (root + x / root) / 2, x)


def _kv_loop(cache: jax.Array, keys: jax.Array) -> jax.Array:
    def step(i: jax.Array, cache: jax.Array) -> jax.Array:
        return cache.at[i].set(keys[i] * 0.5)

    return lax.fori_loop(0, keys.shape[0], step, cache)


def programs(numbers: Numbers) -> Iterator[Program]:
    """Programs that take some 10 to 1000 steps, and batches of small matrices."""
    yield Program("loop of 1000 steps over f32[8]", tiny_steps, [numbers.normal(8)])
    yield Program("Lorenz ODE, RK4, 500 steps", _lorenz, [np.array([1, 1, 1], "float32")])
    yield Program("scan of 1000 scalars", _scalar_scan, [numbers.normal(1000)])
    yield Program("Newton's method on a scalar", _newton, [np.float32(1000)])
    yield Program("loop of 64 cache updates", _kv_loop, [numbers.normal(64, 64), numbers.normal(64, 64)])
    positive = numbers.positive(1000, 8, 8)
    yield Program("Cholesky, 1000 of 8 x 8", jnp.linalg.cholesky, [positive], calls_lapack=True)
    yield Program("solve, 1000 of 8 x 8", jnp.linalg.solve, [positive, numbers.normal(1000, 8, 1)], calls_lapack=True)
