"""Simulations in time."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.plugin.program import Numbers, Program


def _bodies(positions: jax.Array, velocities: jax.Array, masses: jax.Array) -> tuple[jax.Array, jax.Array]:
    def step(_: jax.Array, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        positions, velocities = state
        apart = positions[None] - positions[:, None]
        cubes = lax.rsqrt(jnp.square(apart).sum(-1) + 0.1) ** 3
        velocities = velocities + 0.001 * jnp.einsum("ijk,ij,j->ik", apart, cubes, masses)
        return positions + 0.001 * velocities, velocities

    return lax.fori_loop(0, 20, step, (positions, velocities))


def _life(cells: jax.Array) -> jax.Array:
    def step(_: jax.Array, cells: jax.Array) -> jax.Array:
        rows = jnp.roll(cells, 1, 0) + cells + jnp.roll(cells, -1, 0)
        around = jnp.roll(rows, 1, 1) + rows + jnp.roll(rows, -1, 1) - cells
        return ((around == 3) | (cells == 1) & (around == 2)).astype(cells.dtype)

    return lax.fori_loop(0, 20, step, cells)


def _heat(plate: jax.Array) -> jax.Array:
    def step(_: jax.Array, plate: jax.Array) -> jax.Array:
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        return plate.at[1:-1, 1:-1].set(inner + 0.2 * (around - 4 * inner))

    return lax.fori_loop(0, 50, step, plate)


def _adaptive(start: jax.Array) -> jax.Array:
    """Predators and prey, by Bogacki and Shampine's pair of orders 2 and 3, with steps that follow the error."""
    end = 10

    def slope(state: jax.Array) -> jax.Array:
        prey, predators = state
        return jnp.stack([1.5 * prey - prey * predators, prey * predators - 3 * predators])

    def step(carry: tuple[jax.Array, jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        time, h, state = carry
        h = jnp.minimum(h, end - time)
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h * 3 / 4 * k2)
        third = state + h * (2 / 9 * k1 + 1 / 3 * k2 + 4 / 9 * k3)
        second = state + h * (7 / 24 * k1 + 1 / 4 * k2 + 1 / 3 * k3 + 1 / 8 * slope(third))
        error = jnp.abs(third - second).max() / 1e-4
        kept = error <= 1
        factor = jnp.clip(0.9 * (error + 1e-6) ** (-1 / 3), 0.2, 5)
        return jnp.where(kept, time + h, time), h * factor, jnp.where(kept, third, state)

    begin = (jnp.float32(0), jnp.float32(0.01), start)
    return lax.while_loop(lambda carry: carry[0] < end - 1e-4, step, begin)[2]


def _walk(seed: jax.Array) -> tuple[jax.Array, jax.Array]:
    steps = jax.random.bernoulli(jax.random.key(seed), 0.5, (1000, 500))
    places = jnp.cumsum(jnp.where(steps, 1, -1), 1)
    return places[:, -1], jnp.abs(places).max(1)


def programs(numbers: Numbers) -> Iterator[Program]:
    """Some steps of each."""
    positions, velocities = numbers.normal(256, 3), numbers.normal(256, 3)
    yield Program("n-body, 256 bodies, 20 steps", _bodies, [positions, velocities, numbers.uniform(0.5, 1, 256)])
    yield Program("Game of Life, 512 x 512, 20 steps", _life, [numbers.integers(2, 512, 512)])
    yield Program("heat equation, 256 x 256, 50 steps", _heat, [numbers.normal(256, 256)])
    yield Program("adaptive ODE, predators and prey", _adaptive, [np.array([10, 5], "float32")])
    yield Program("random walk, 1000 of 500 steps", _walk, [np.uint32(3)])
