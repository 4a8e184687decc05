"""The programs of the page: one for each kind of work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.plugin.program import Numbers, Program


def layer_norm(x: jax.Array) -> jax.Array:
    """Each row without its mean, of variance 1."""
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5)


def _attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    return jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) * q.shape[-1] ** -0.5) @ v


def _conv(x: jax.Array, w: jax.Array) -> jax.Array:
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _pool(x: jax.Array) -> jax.Array:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def _rnn(xs: jax.Array, wx: jax.Array, wh: jax.Array) -> jax.Array:
    def step(h: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        h = jnp.tanh(x @ wx + h @ wh)
        return h, h

    return lax.scan(step, jnp.zeros((xs.shape[1], wh.shape[0]), xs.dtype), xs)[1]


def _mlp_step(params: Any, x: jax.Array, y: jax.Array) -> Any:
    def loss(params: Any) -> jax.Array:
        h = x
        for w, b in params[:-1]:
            h = jax.nn.relu(h @ w + b)
        w, b = params[-1]
        return jnp.mean((h @ w + b - y) ** 2)

    grads = jax.grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads)


def tiny_steps(x: jax.Array) -> jax.Array:
    """A product and a sum, 1000 times."""
    return lax.fori_loop(0, 1000, lambda i, x: x * 1.0001 + 0.5, x)


def _chain(x: jax.Array) -> jax.Array:
    for _ in range(5):
        x = x * 1.5 + 0.25
        x = jnp.where(x > 1, x - 1, x)
    return x


def programs(gallery: Any) -> Iterator[Program]:
    """All of them; ``gallery`` is the library of examples/custom_ops."""
    numbers = Numbers()
    draw = numbers.normal
    million, matrix, square = draw(1_000_000), draw(1024, 1024), draw(256, 256)
    yield Program("chain of element-wise ops, 4 M", _chain, [draw(4_000_000)])
    yield Program("gelu, 1 M", jax.nn.gelu, [million])
    yield Program("softmax, 1024 x 1024", jax.nn.softmax, [matrix])
    yield Program("layer norm, 1024 x 1024", layer_norm, [matrix])
    yield Program("sum of all, 1 M", jnp.sum, [million])
    yield Program("sum over rows, 1024 x 1024", lambda x: x.sum(1), [matrix])
    yield Program("sum over columns, 1024 x 1024", lambda x: x.sum(0), [matrix])
    yield Program("transpose, 1024 x 1024", lambda x: x.T + 0, [matrix])
    yield Program("matmul 256, f32", jnp.matmul, [square, square])
    yield Program("matmul 1024, f32", jnp.matmul, [matrix, matrix])
    yield Program("matmul 256, bf16", jnp.matmul, [draw(256, 256, dtype="bfloat16")] * 2)
    yield Program("matmul 1024, bf16", jnp.matmul, [draw(1024, 1024, dtype="bfloat16")] * 2)
    yield Program("batched matmul, 64 x 64 x 64 x 64", jnp.matmul, [draw(64, 64, 64)] * 2)
    yield Program("matrix by vector, 2048 x 2048", jnp.matmul, [draw(2048, 2048), draw(2048)])
    yield Program("attention, 8 heads of 256 x 64", _attention, [draw(8, 256, 64)] * 3)
    image, kernel = draw(8, 56, 56, 32), draw(3, 3, 32, 32)
    yield Program("convolution 3 x 3", _conv, [image, kernel])
    yield Program("gradient of the convolution", jax.grad(lambda x, w: _conv(x, w).sum(), (0, 1)), [image, kernel])
    yield Program("max-pool 2 x 2", _pool, [image])
    yield Program("sort, 1 M", jnp.sort, [million])
    yield Program("argsort, 1 M", jnp.argsort, [million])
    yield Program("top 50 of 1 M", lambda x: lax.top_k(x, 50), [million])
    yield Program("cumsum, 1 M", jnp.cumsum, [million])
    rows, indices = draw(100_000, 64), numbers.integers(100_000, 100_000)
    yield Program("gather 100 k rows of 64", lambda x, i: x[i], [rows, indices])
    yield Program("scatter-add 100 k rows of 64", lambda x, i: jnp.zeros_like(x).at[i].add(x), [rows, indices])
    yield Program(
        "normal random numbers, 1 M", lambda s: jax.random.normal(jax.random.key(s), (1_000_000,)), [np.uint32(1)]
    )
    yield Program("fft, 64 x 4096", jnp.fft.fft, [draw(64, 4096).astype("complex64")])
    positive = square @ square.T + 256 * np.eye(256, dtype="float32")
    yield Program("Cholesky, 256", jnp.linalg.cholesky, [positive], calls_lapack=True)
    yield Program("eigh, 256", jnp.linalg.eigh, [positive], calls_lapack=True, compared=lambda results: results[0])
    yield Program(
        "SVD, 256",
        lambda x: jnp.linalg.svd(x, full_matrices=False),
        [square],
        calls_lapack=True,
        compared=lambda r: r[1],
    )
    yield Program(
        "RNN scan, 100 steps of 32 x 128", _rnn, [draw(100, 32, 128), draw(128, 128) / 16, draw(128, 128) / 16]
    )
    yield Program("loop of 1000 tiny steps", tiny_steps, [np.float32(1)], 0.2)
    layers = [(draw(256, 256) / 16, draw(256)) for _ in range(3)]
    yield Program("MLP training step", _mlp_step, [layers, draw(128, 256), draw(128, 256)])
    yield Program("one tiny add", lambda x: x + 1, [np.float32(1)])

    def calls(x: jax.Array) -> jax.Array:
        for _ in range(100):
            x = gallery.rms_norm(x)
        return x

    yield Program("chain of 100 custom calls", calls, [draw(4, 16)])
