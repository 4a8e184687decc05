"""Programs that take each element, or each row, by itself."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from bench.plugin.program import Numbers, Program


def _complex(x: jax.Array) -> jax.Array:
    return jnp.exp(x * 0.5) * x + jnp.conj(x) * jnp.abs(x)


def _mask(x: jax.Array) -> jax.Array:
    kept = (x % 7 < 3) & (x // 5 % 2 == 0) | (x > 900_000)
    return jnp.where(kept, x * 3 + 1, x - 2)


def _int8(x: jax.Array, y: jax.Array) -> jax.Array:
    total = x.astype(jnp.int32) * 3 + y.astype(jnp.int32)
    return jnp.clip(total >> 2, -128, 127).astype(jnp.int8)


def _bf16(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.maximum(x * y + x, 0) - y * 0.5


def _rms_norm(x: jax.Array, weight: jax.Array) -> jax.Array:
    wide = x.astype(jnp.float32)
    scale = lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-5)
    return (wide * scale).astype(x.dtype) * weight


def _batch_norm(x: jax.Array, scale: jax.Array, offset: jax.Array) -> jax.Array:
    mean = x.mean((0, 1, 2))
    variance = jnp.square(x - mean).mean((0, 1, 2))
    return jax.nn.relu((x - mean) * lax.rsqrt(variance + 1e-5) * scale + offset)


def _cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    log_probabilities = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(log_probabilities, labels[:, None], 1).mean()


def programs(numbers: Numbers) -> Iterator[Program]:
    """Programs over arrays of about a million elements."""
    million, rows = numbers.normal(1_000_000), numbers.normal(1024, 1024)
    half, half_rows = million.astype(jnp.bfloat16), rows.astype(jnp.bfloat16)
    yield Program("exp, 1 M", jnp.exp, [million])
    yield Program("tanh, 1 M", jnp.tanh, [million])
    yield Program("erf, 1 M", jax.scipy.special.erf, [million])
    waves = (numbers.normal(250_000) + 1j * numbers.normal(250_000)).astype("complex64")
    yield Program("element-wise, complex, 250 k", _complex, [waves])
    yield Program("masks of i32, 1 M", _mask, [numbers.integers(1_000_000, 1_000_000)])
    small = [(numbers.integers(255, 1_000_000) - 127).astype("int8") for _ in range(2)]
    yield Program("element-wise, int8, 1 M", _int8, small)
    yield Program("element-wise, bf16, 1 M", _bf16, [half, half[::-1].copy()])
    yield Program("gelu, bf16, 1 M", jax.nn.gelu, [half])
    yield Program("softmax, bf16, 1024 x 1024", jax.nn.softmax, [half_rows])
    yield Program("rms norm, bf16, 1024 x 1024", _rms_norm, [half_rows, np.ones(1024, half_rows.dtype)])
    image, channels = numbers.normal(8, 56, 56, 64), numbers.normal(64)
    yield Program("batch norm, 8 x 56 x 56 x 64", _batch_norm, [image, channels, channels])
    yield Program("argmax of rows, 1024 x 1024", lambda x: x.argmax(1), [rows])
    vocabulary, labels = numbers.normal(128, 32_000), numbers.integers(32_000, 128)
    yield Program("cross entropy, 128 x 32000", _cross_entropy, [vocabulary, labels])
