"""Sorting."""

from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs, oracles
from conformance.cases import Case, family

_CORRUPTS = "XLA:CPU sorts packed elements with their neighbours in the byte, and corrupts its heap: sorted wider"
_PACKED = ("int2", "int4", "uint2", "uint4", "float4_e2m1fn")
_ORDERED = ("bool", *inputs.INTEGERS, *inputs.SMALL_FLOATS, *inputs.FLOATS)


@family
def sort(rng: np.random.Generator) -> Iterator[Case]:
    """One and several operands, stable and not, with NaN, signed zeros and ties."""
    for dtype in (*_ORDERED, *inputs.COMPLEX):
        for shape, axis in (((0,), 0), ((1,), 0), ((101,), 0), ((7, 13), 0), ((7, 13), 1), ((3, 4, 5), 1)):
            x = inputs.values(rng, dtype, shape)
            wide = "float32" if dtype.startswith("float") else "int8"
            if dtype in _PACKED:

                def widened(x, axis=axis, wide=wide):
                    return lax.sort(x.astype(wide), axis).astype(x.dtype)

                yield Case(
                    "sort",
                    dtype,
                    f"{shape} {axis}",
                    lambda x, a=axis: lax.sort(x, a),
                    [x],
                    oracle=oracles.other(widened, _CORRUPTS),
                )
                continue
            yield Case("sort", dtype, f"{shape} {axis}", lambda x, a=axis: lax.sort(x, a), [x])
            if dtype not in inputs.COMPLEX:
                yield Case(
                    "sort", dtype, f"argsort {shape} {axis}", lambda x, a=axis: jnp.argsort(x, a, stable=True), [x]
                )
                yield Case(
                    "sort", dtype, f"down {shape} {axis}", lambda x, a=axis: jnp.sort(x, a, descending=True), [x]
                )


@family
def several(rng: np.random.Generator) -> Iterator[Case]:
    """Several keys and payloads."""
    for dtype in (dtype for dtype in _ORDERED if dtype not in _PACKED):
        key = inputs.moderate(rng, dtype, (97,))
        second, payload = rng.integers(0, 3, 97), np.arange(97, dtype="float32")
        for keys in (1, 2):
            yield Case(
                "sort",
                dtype,
                f"{keys} keys",
                lambda a, b, c, k=keys: lax.sort((a, b, c), num_keys=k),
                [key, second, payload],
            )
    x = rng.standard_normal(200_003).astype("float32")
    yield Case("sort", "float32", "large", jnp.sort, [x])
    yield Case("sort", "float32", "argsort large", lambda x: jnp.argsort(x, stable=True), [x])
    yield Case("sort", "int32", "large", jnp.sort, [rng.integers(-1000, 1000, 200_003).astype("int32")])
    yield Case("sort", "float32", "rows", lambda x: jnp.sort(x, axis=0), [x[:200_000].reshape(400, 500)])
    yield Case("sort", "float32", "unique", lambda x: jnp.unique(jnp.round(x), size=20), [x[:500]])
    yield Case("sort", "float32", "median", lambda x: jnp.quantile(x, jnp.array([0.1, 0.5])), [x[:1001]])


@family
def top_k(rng: np.random.Generator) -> Iterator[Case]:
    """The largest, with ties."""
    for dtype in (*inputs.INTEGERS[2:6], *inputs.INTEGERS[8:], *inputs.FLOATS):
        for shape, k in (((50,), 5), ((50,), 50), ((7, 31), 3), ((4, 1), 1), ((3, 20), 0)):
            x = inputs.moderate(rng, dtype, shape)
            yield Case("top_k", dtype, f"{shape} {k}", lambda x, k=k: lax.top_k(x, k), [x])
