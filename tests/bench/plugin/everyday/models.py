"""Parts of models, and steps of training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.plugin.program import Numbers, Program


def _mlp(x: jax.Array, layers: Any) -> jax.Array:
    for weight, bias in layers:
        x = jax.nn.relu(x @ weight + bias)
    return x


def _lstm(xs: jax.Array, wx: jax.Array, wh: jax.Array) -> jax.Array:
    def step(carry: tuple[jax.Array, jax.Array], x: jax.Array) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
        h, c = carry
        i, f, g, o = jnp.split(x @ wx + h @ wh, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    start = jnp.zeros((xs.shape[1], wh.shape[0]), xs.dtype)
    return lax.scan(step, (start, start), xs)[1]


def _adam(params: Any, grads: Any, first: Any, second: Any, step: jax.Array) -> Any:
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, grads)
    scale1, scale2 = 1 / (1 - 0.9**step), 1 / (1 - 0.999**step)
    params = jax.tree.map(
        lambda p, m, v: p - 1e-3 * (m * scale1) / (jnp.sqrt(v * scale2) + 1e-8), params, first, second
    )
    return params, first, second


def _clip(grads: Any) -> Any:
    norm = jnp.sqrt(sum(jnp.square(g).sum() for g in grads))
    return [g * jnp.minimum(1, 1 / norm) for g in grads]


def _depthwise(x: jax.Array, w: jax.Array) -> jax.Array:
    return lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=x.shape[-1]
    )


def programs(numbers: Numbers) -> Iterator[Program]:
    """Programs of models of modest size."""
    layers = [(numbers.normal(256, 256) / 16, numbers.normal(256)) for _ in range(4)]
    yield Program("MLP of one row, 4 layers of 256", _mlp, [numbers.normal(1, 256), layers])
    weights = numbers.normal(64, 256) / 8
    yield Program("LSTM, 100 steps of 8 x 64", _lstm, [numbers.normal(100, 8, 64), weights, weights])
    tensors = [[numbers.normal(64, 64) for _ in range(100)] for _ in range(3)]
    state = [*tensors, [np.square(tensor) for tensor in tensors[0]], np.float32(10)]
    yield Program("Adam, 100 tensors of 64 x 64", _adam, state)
    yield Program("clipping by the norm of 20 gradients", _clip, [[numbers.normal(128, 128) for _ in range(20)]])
    yield Program(
        "depthwise convolution, 4 x 56 x 56 x 32",
        _depthwise,
        [numbers.normal(4, 56, 56, 32), numbers.normal(3, 3, 1, 32)],
    )
