"""Programs of rows: what each row, or all of them, repeat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

# Shorter than rows on which machine code runs, around a vector and a block of them, and longer than a tile.
SIZES = [2, 31, 32, 33, 63, 64, 65, 100, 127, 128, 257, 768, 1000, 4097]
FEWER = [31, 33, 100, 768, 4097]


def normalised(x: jax.Array, gain: jax.Array, bias: jax.Array, weights: jax.Array) -> tuple[jax.Array, ...]:
    """Rows of mean 0 and variance 1, scaled and shifted, with the numbers of each row last."""
    centred = x - x.mean(-1, keepdims=True)
    scales = jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)
    scaled = centred * scales * gain * weights[:, None] + bias
    return scaled, scales, scaled.max(-1)


def scaled_by_root(x: jax.Array, gain: jax.Array) -> jax.Array:
    """Rows with a mean square of 1, computed in ``float32``."""
    wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    return (wide * jax.lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-5) * gain).astype(x.dtype)


def losses(x: jax.Array, targets: jax.Array, temperatures: jax.Array) -> tuple[jax.Array, ...]:
    """Cross entropies of rows at temperatures of their own, and what else a training step has of them."""
    logarithms = jax.nn.log_softmax(x / temperatures[:, None])
    return -(logarithms * targets).sum(-1), jnp.exp(logarithms) - targets, logarithms.min(-1)


def programs(row: int, is_wide: bool) -> dict[str, tuple[Callable[..., Any], list[Any]]]:
    """All programs over rows of so many elements."""
    rng = np.random.default_rng(row)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float64 if is_wide else np.float32)  # noqa: E731
    x, gain, bias, weights = draw(19, row), draw(row), draw(row), draw(19)
    x[3, -1], x[5, 0], x[7, row // 2] = np.nan, np.inf, -0.0
    found: dict[str, tuple[Callable[..., Any], list[Any]]] = {
        "normalised": (normalised, [x, gain, bias, weights]),
        "square": (normalised, [x[:, :19], gain[:19], bias[:19], weights]),
        "gradient": (jax.grad(lambda *args: (normalised(*args)[0] ** 3).sum(), (0, 1, 2, 3)), [x, gain, bias, weights]),
        "losses": (losses, [x, abs(draw(19, row)), abs(weights) + 1]),
        "unit": (lambda x: x / jnp.linalg.norm(x, axis=-1, keepdims=True), [x]),
        "shares": (lambda x: (jax.nn.softmax(x) * 100).astype(jnp.int32) + x.argmax(-1, keepdims=True), [x]),
    }
    for dtype in (jnp.bfloat16, np.float16):
        narrow = [each.astype(dtype) for each in (x, gain, bias, weights)]
        found[f"normalised, {np.dtype(dtype).name}"] = (normalised, narrow)
        found[f"root, {np.dtype(dtype).name}"] = (scaled_by_root, narrow[:2])
    return found
