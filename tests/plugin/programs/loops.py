"""Loops over small arrays, as users write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

SIZES = [1, 2, 3, 4, 5, 8, 15, 16, 17, 33, 64, 100, 129]
FEWER = [1, 3, 8, 17, 64, 129]
TYPES = ["float32", "int32", "uint32", "int8", "uint16", "bfloat16", "float16", "bool"]
WIDE_TYPES = ["float64", "int64", "uint64"]

Programs = dict[str, tuple[Callable[..., Any], list[Any]]]


def oscillators(state: jax.Array) -> jax.Array:
    """Coupled oscillators, by Runge and Kutta's method of order 4."""

    def slope(x: jax.Array) -> jax.Array:
        return jnp.roll(x, 1) * 0.3 - x + jnp.sin(x)

    def step(x: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
        k1 = slope(x)
        k2 = slope(x + 0.05 * k1)
        k3 = slope(x + 0.05 * k2)
        k4 = slope(x + 0.1 * k3)
        x = x + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x, x.sum()

    return lax.scan(step, state, None, length=20)


def updates(x: jax.Array) -> jax.Array:
    """Elements and slices that are set, also out of bounds."""

    def step(i: jax.Array, x: jax.Array) -> jax.Array:
        x = x.at[i * 3 - 4].set(x[i % x.size] + 1, mode="drop")
        part = lax.dynamic_slice(x, (i - 2,), (min(3, x.size),))
        return lax.dynamic_update_slice(x, part[::-1], (x.size - i,))

    return lax.fori_loop(0, x.size + 4, step, x)


def collatz(n: jax.Array) -> jax.Array:
    """The number of steps to 1, for each number, as a batch of loops."""

    def steps(n: jax.Array) -> jax.Array:
        def step(carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
            n, count = carry
            return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

        return lax.while_loop(lambda carry: carry[0] > 1, step, (n, jnp.int32(0)))[1]

    return jax.vmap(steps)(n)


def branches(x: jax.Array) -> jax.Array:
    """Branches by an index, of which some are loops."""

    def step(i: jax.Array, x: jax.Array) -> jax.Array:
        double = lambda x: x * 2 - 1  # noqa: E731
        inner = lambda x: lax.fori_loop(0, i, lambda j, x: jnp.where(x > j, x - 1, x + 0.5), x)  # noqa: E731
        return lax.switch(i % 4 - 1, [double, inner, jnp.cos], x)

    return lax.fori_loop(0, 9, step, x)


def walk(x: jax.Array) -> jax.Array:
    """A random walk."""

    def step(carry: tuple[jax.Array, jax.Array], _: None) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        key, x = carry
        key, own = jax.random.split(key)
        x = x + jax.random.normal(own, x.shape) * 0.1
        return (key, x), abs(x).max()

    return lax.scan(step, (jax.random.PRNGKey(0), x), None, length=10)


def newton(x: jax.Array) -> jax.Array:
    """Roots by Newton's method, until all are found."""
    wanted = abs(x) + 1

    def is_far(roots: jax.Array) -> jax.Array:
        return (abs(roots * roots - wanted) > 1e-4 * wanted).any()

    return lax.while_loop(is_far, lambda roots: (roots + wanted / roots) / 2, wanted)


def recurrences(x: jax.Array) -> tuple[jax.Array, ...]:
    """Scans of scalars, forwards and backwards."""
    decayed = lax.scan(lambda c, a: (c * 0.9 + a, c - a), jnp.zeros((), x.dtype), x)
    powers = lax.scan(lambda c, a: (c**0.5 + a, c), jnp.ones((), x.dtype), abs(x), reverse=True)
    counts = lax.scan(lambda c, a: (jnp.where(a > 0, c + 1, c // 2), c), jnp.int32(0), x)
    return *decayed, *powers, *counts


def mixed(x: jax.Array, kind: str) -> jax.Array:
    """Carried values of another type."""
    y = (x * 3).astype(kind)

    def step(i: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        x, y = carry
        z = jnp.where(x > 0, y, jnp.roll(y, 1))
        z = z ^ (y > 0) if kind == "bool" else z + jnp.asarray(i, kind)
        return x - z.astype("float32") * 0.25, jnp.concatenate([z[1:], y[:1]])

    return lax.fori_loop(0, 7, step, (x, y))


def programs(count: int, is_wide: bool = False) -> Programs:
    """All programs over `count` elements, which have 64 bits if `is_wide`."""
    real, integer = ("float64", "int64") if is_wide else ("float32", "int32")
    x = np.random.default_rng(count).standard_normal(count).astype(real)
    found: Programs = {f.__name__: (f, [x]) for f in (oscillators, updates, branches, walk, newton, recurrences)}
    found["collatz"] = (collatz, [np.arange(1, count + 1, dtype=integer)])
    found["gradient"] = (jax.grad(lambda x: (oscillators(x)[0] ** 2).sum()), [x])
    for kind in TYPES + (WIDE_TYPES if is_wide else []):
        found[f"mixed, {kind}"] = (lambda x, kind=kind: mixed(x, kind), [x])
    matrix = np.random.default_rng(count).standard_normal((count, count)).astype(real) / count
    found["power method"] = (lambda a, x: lax.fori_loop(0, 5, lambda _, x: a @ x / jnp.linalg.norm(x), x), [matrix, x])
    return found
