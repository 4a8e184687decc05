"""Programs of many levels, each of which uses the values of the one before twice.

Whoever follows all paths through such a program never ends: there are 2 ** 48 of them.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

LEVELS = 48


def deep(x, levels=LEVELS):
    """The last of `levels` pairs of sums and halved differences."""
    y = x
    for _ in range(levels):
        x, y = x + y, (x - y) * 0.5
    return x


def mixed(x, levels=LEVELS):
    """The same of integers, by operations on bits."""
    y = x
    for _ in range(levels):
        x, y = x + y, (x ^ (x << 3)) | y
    return x


def normalised(x):
    """Rows without their mean, divided by their deviation."""
    return (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True) + 1)


FLOATS = {
    "mean of rows": lambda x: deep(x).mean(1),
    "deviation of rows": lambda x: deep(x).std(1),
    "softmax": lambda x: jax.nn.softmax(deep(x)),
    "layer norm": lambda x: normalised(deep(x)),
    "sums of columns": lambda x: deep(x).sum(0),
    "argmax": lambda x: jnp.argmax(deep(x), 1),
    "sort": lambda x: jnp.sort(deep(x), 1),
    "stencil": lambda x: deep(x)[1:, 1:] - deep(x)[:-1, :-1],
    "padding": lambda x: jnp.pad(deep(x), 1) + 1,
    "concatenation": lambda x: jnp.concatenate([deep(x), x * 2], 1),
    "transpose": lambda x: deep(x).T + 1,
    "rows by index": lambda x: deep(x)[jnp.array([3, 1, 5, 60])],
    "scatter": lambda x: x.at[jnp.array([1, 5, 7])].add(deep(x)[:3]),
    "update": lambda x: x.at[2:5, 3:9].set(deep(x)[2:5, 3:9]),
    "product": lambda x: deep(x) @ x.T,
    "rows beside columns": lambda x: deep(x[0])[None] * deep(x[:, 0])[:, None],
    "loop": lambda x: lax.fori_loop(0, 5, lambda _, y: deep(y) * 1e-5, x),
    "scan": lambda x: lax.scan(lambda y, row: (deep(y + row, 20) * 1e-5, y.sum()), x[0], x),
    "branches": lambda x: lax.cond(x[0, 0] > 0, deep, lambda x: -deep(x), x),
    "gradient": lambda x: jax.grad(lambda x: deep(x, 24).std(1).sum())(x),
    "complex numbers": lambda x: jnp.abs(deep(x + 1j * x[::-1])).sum(1),
}

INTEGERS = {
    "sums of rows": lambda x: mixed(x).sum(1),
    "ones": lambda x: lax.population_count(mixed(x)).max(1),
    "deviation of rows": lambda x: normalised((mixed(x) & 0xFF).astype(jnp.float32)),
    "indices": lambda x: x[jnp.abs(mixed(x) % 7)],
    "scan": lambda x: lax.scan(lambda y, row: (mixed(y ^ row), y), x[0], x),
}


def check(function, x):
    """The plugin gives what stock JAX gives, within what the order of sums of rows changes."""

    def on(platform):
        with jax.default_device(jax.devices(platform)[0]):
            return [np.asarray(result) for result in jax.tree.leaves(jax.jit(function)(x))]

    for found, expected in zip(on("oxcall"), on("cpu"), strict=True):
        largest = np.abs(expected.astype(np.float64)).max()
        np.testing.assert_allclose(found.astype(np.float64), expected.astype(np.float64), rtol=0, atol=1e-4 * largest)


@pytest.mark.parametrize("name", FLOATS)
def test_floats(name):
    x = np.random.default_rng(1).standard_normal((64, 48)).astype(np.float32)
    check(FLOATS[name], x)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name):
    x = np.random.default_rng(2).integers(-1000, 1000, (64, 48)).astype(np.int32)
    check(INTEGERS[name], x)
