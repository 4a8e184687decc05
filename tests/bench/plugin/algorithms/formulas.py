"""Formulas at many points."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np

from bench.plugin.program import Numbers, Program


def _black_scholes(price: jax.Array, strike: jax.Array, years: jax.Array) -> tuple[jax.Array, jax.Array]:
    rate, volatility = 0.02, 0.3
    spread = volatility * jnp.sqrt(years)
    d1 = (jnp.log(price / strike) + (rate + volatility**2 / 2) * years) / spread
    discounted = strike * jnp.exp(-rate * years)
    cdf = jax.scipy.stats.norm.cdf
    call = price * cdf(d1) - discounted * cdf(d1 - spread)
    return call, call - price + discounted


def _spline(knots: jax.Array, values: jax.Array, at: jax.Array) -> jax.Array:
    """Cubic pieces whose slopes are those of the differences on both sides."""
    slopes = jnp.gradient(values) / jnp.gradient(knots)
    i = jnp.clip(jnp.searchsorted(knots, at) - 1, 0, knots.shape[0] - 2)
    width = knots[i + 1] - knots[i]
    t = (at - knots[i]) / width
    rest = 1 - t
    ends = (1 + 2 * t) * rest**2 * values[i] + t**2 * (3 - 2 * t) * values[i + 1]
    return ends + width * (t * rest**2 * slopes[i] - t**2 * rest * slopes[i + 1])


def programs(numbers: Numbers) -> Iterator[Program]:
    """A hundred thousand points and more."""
    options = [
        numbers.uniform(10, 50, 1_000_000),
        numbers.uniform(10, 50, 1_000_000),
        numbers.uniform(0.2, 2, 1_000_000),
    ]
    yield Program("Black-Scholes, 1 M options", _black_scholes, options)
    knots = np.linspace(0, 1, 1000, dtype="float32")
    yield Program(
        "cubic spline, 100 k of 1000 knots", _spline, [knots, np.sin(9 * knots), numbers.uniform(0, 1, 100_000)]
    )
