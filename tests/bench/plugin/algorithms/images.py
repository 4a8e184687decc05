"""Images: drawn, filtered, transformed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.plugin.program import Numbers, Program


def _mandelbrot(points: jax.Array) -> jax.Array:
    def step(_: jax.Array, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        z, count = state
        inside = z.real * z.real + z.imag * z.imag < 4
        return jnp.where(inside, z * z + points, z), count + inside

    return lax.fori_loop(0, 50, step, (jnp.zeros_like(points), jnp.zeros(points.shape, jnp.int32)))[1]


class _Rays(NamedTuple):
    origins: jax.Array
    directions: jax.Array


def _march(rays: _Rays, centres: jax.Array) -> jax.Array:
    def step(_: jax.Array, travelled: jax.Array) -> jax.Array:
        points = rays.origins + travelled[..., None] * rays.directions
        distances = jnp.linalg.norm(points[..., None, :] - centres, axis=-1) - 0.5
        return jnp.minimum(travelled + distances.min(-1), 20)

    return lax.fori_loop(0, 32, step, jnp.zeros(rays.directions.shape[:-1]))


def _median(image: jax.Array) -> jax.Array:
    padded = jnp.pad(image, 1, mode="edge")
    height, width = image.shape
    shifted = [padded[i : i + height, j : j + width] for i in range(3) for j in range(3)]
    return jnp.median(jnp.stack(shifted), 0)


def _low_pass(image: jax.Array) -> jax.Array:
    rows, columns = jnp.fft.fftfreq(image.shape[0]), jnp.fft.rfftfreq(image.shape[1])
    kept = jnp.square(rows)[:, None] + jnp.square(columns) < 0.01
    return jnp.fft.irfft2(jnp.fft.rfft2(image) * kept, image.shape)


def programs(numbers: Numbers) -> Iterator[Program]:
    """Images of 128 to 512 pixels a side."""
    real, imaginary = np.meshgrid(np.linspace(-2, 0.5, 256), np.linspace(-1.25, 1.25, 256))
    yield Program("Mandelbrot set, 256 x 256, 50 steps", _mandelbrot, [(real + 1j * imaginary).astype("complex64")])
    across, down = np.meshgrid(*[np.linspace(-1, 1, 128, dtype="float32")] * 2)
    directions = np.stack([across, down, np.ones_like(across)], -1)
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    rays = _Rays(np.array([0, 0, -4], "float32"), directions)
    yield Program("ray marching, 128 x 128, 8 spheres, 32 steps", _march, [rays, numbers.normal(8, 3)])
    yield Program("median filter 3 x 3, 256 x 256", _median, [numbers.normal(256, 256)])
    yield Program("low pass by fft, 512 x 512", _low_pass, [numbers.normal(512, 512)])
