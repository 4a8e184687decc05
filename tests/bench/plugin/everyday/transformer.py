"""A block of a transformer, forward and backward, and one step of decoding."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
from jax import lax

from bench.plugin.program import Numbers, Program
from bench.plugin.programs import layer_norm

BATCH, LENGTH, WIDTH, HEADS = 2, 128, 256, 8

Weights = dict[str, jax.Array]


def _block(weights: Weights, x: jax.Array) -> jax.Array:
    batch, length, width = x.shape
    q, k, v = jnp.split((layer_norm(x) @ weights["qkv"]).reshape(batch, length, 3 * HEADS, -1), 3, 2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
    causal = jnp.tril(jnp.ones((length, length), bool))
    attention = jax.nn.softmax(jnp.where(causal, scores, -1e9))
    x = x + jnp.einsum("bhqk,bkhd->bqhd", attention, v).reshape(batch, length, width) @ weights["out"]
    return x + jax.nn.gelu(layer_norm(x) @ weights["up"]) @ weights["down"]


def _gradient(weights: Weights, x: jax.Array) -> Weights:
    return jax.grad(lambda weights: jnp.square(_block(weights, x)).mean())(weights)


def _decode(q: jax.Array, k: jax.Array, v: jax.Array, keys: jax.Array, values: jax.Array, at: jax.Array) -> jax.Array:
    keys = lax.dynamic_update_slice(keys, k[:, None], (0, at, 0))
    values = lax.dynamic_update_slice(values, v[:, None], (0, at, 0))
    scores = jnp.einsum("hd,hnd->hn", q, keys) * q.shape[-1] ** -0.5
    seen = jnp.arange(keys.shape[1]) <= at
    return jnp.einsum("hn,hnd->hd", jax.nn.softmax(jnp.where(seen, scores, -jnp.inf)), values)


def programs(numbers: Numbers) -> Iterator[Program]:
    """The block in f32 and in bf16."""
    shapes = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    weights = {name: numbers.normal(*shape) / shape[0] ** 0.5 for name, shape in shapes.items()}
    x = numbers.normal(BATCH, LENGTH, WIDTH)
    for name, dtype in (("f32", jnp.float32), ("bf16", jnp.bfloat16)):
        inputs = [{key: value.astype(dtype) for key, value in weights.items()}, x.astype(dtype)]
        yield Program(f"transformer block, {name}", _block, inputs)
        yield Program(f"gradient of a transformer block, {name}", _gradient, inputs)
    token = [numbers.normal(HEADS, 64) for _ in range(3)]
    cache = [numbers.normal(HEADS, 1024, 64) for _ in range(2)]
    yield Program("decoding step, cache of 8 x 1024 x 64", _decode, [*token, *cache, numbers.integers(1024, 1)[0]])
