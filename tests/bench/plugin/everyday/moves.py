"""Programs that move elements: slices, layouts, gathers, scatters."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
from jax import lax

from bench.plugin.program import Numbers, Program


def _rope(x: jax.Array) -> jax.Array:
    length, width = x.shape[-3], x.shape[-1] // 2
    angles = jnp.arange(length)[:, None] * 10_000.0 ** (-jnp.arange(width) / width)
    sine, cosine = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
    left, right = x[..., :width], x[..., width:]
    return jnp.concatenate([left * cosine - right * sine, right * cosine + left * sine], -1)


def _concat_pad_slice(x: jax.Array, y: jax.Array) -> jax.Array:
    joined = jnp.concatenate([x, y * 2], 1)
    padded = jnp.pad(joined, ((1, 1), (2, 2)))
    return padded[1:-1, :-4] + padded[1:-1, 4:]


def _segment_sum(values: jax.Array, segments: jax.Array) -> jax.Array:
    return jax.ops.segment_sum(values, segments, 1000)


def _embedding_gradient(table: jax.Array, tokens: jax.Array) -> jax.Array:
    return jax.grad(lambda table: jnp.square(table[tokens]).sum())(table)


def _one_hot(labels: jax.Array, table: jax.Array) -> jax.Array:
    return jax.nn.one_hot(labels, table.shape[0]) @ table


def _beam_step(scores: jax.Array, log_probabilities: jax.Array, tokens: jax.Array) -> tuple[jax.Array, jax.Array]:
    beams, words = log_probabilities.shape[1:]
    best, chosen = lax.top_k((scores[..., None] + log_probabilities).reshape(-1, beams * words), beams)
    kept = jnp.take_along_axis(tokens, (chosen // words)[..., None], 1)
    return best, jnp.concatenate([kept, (chosen % words)[..., None]], -1)


def programs(numbers: Numbers) -> Iterator[Program]:
    """Programs of sizes that models have."""
    yield Program("rotary embedding, 256 x 8 x 64", _rope, [numbers.normal(256, 8, 64)])
    yield Program("concatenate, pad and slice, 512 x 1024", _concat_pad_slice, [numbers.normal(512, 512)] * 2)
    yield Program(
        "segment sum, 100 k in 1000", _segment_sum, [numbers.normal(100_000), numbers.integers(1000, 100_000)]
    )
    yield Program(
        "associative scan, 64 x 4096",
        lambda x: lax.associative_scan(jnp.multiply, x, axis=1),
        [numbers.uniform(0.99, 1.01, 64, 4096)],
    )
    tokens = numbers.integers(8000, 1024)
    yield Program("gradient of an embedding, 8000 x 128", _embedding_gradient, [numbers.normal(8000, 128), tokens])
    yield Program(
        "one-hot product, 256 of 1000 x 64", _one_hot, [numbers.integers(1000, 256), numbers.normal(1000, 64)]
    )
    beams = [numbers.normal(8, 4), jax.nn.log_softmax(numbers.normal(8, 4, 8000)), numbers.integers(8000, 8, 4, 16)]
    yield Program("beam search step, 8 x 4 of 8000", _beam_step, beams)
    heads = numbers.normal(4, 128, 8, 64)
    yield Program("einsum of heads, bqhd,bkhd->bhqk", lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k), [heads, heads])
    yield Program(
        "einsum to other layouts, abc,dc->dba",
        lambda x, w: jnp.einsum("abc,dc->dba", x, w),
        [numbers.normal(16, 64, 128), numbers.normal(128, 128)],
    )
