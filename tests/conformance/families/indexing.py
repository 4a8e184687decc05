"""Gather and scatter."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs
from conformance.cases import Case, family
from conformance.compare import EXACT
from conformance.modules import integers, single, tensor
from conformance.tolerances import sums

_DTYPES = inputs.EVERY


@family
def gather(rng: np.random.Generator) -> Iterator[Case]:
    """Indexing as numpy does, in every mode, in and out of range."""
    rows = rng.integers(-12, 14, (5, 3))
    for dtype in _DTYPES:
        x = inputs.values(rng, dtype, (9, 4))
        for mode in ("clip", "fill", "wrap"):
            if mode == "fill" and dtype in inputs.SMALL_FLOATS:
                continue
            yield Case("gather", dtype, f"rows {mode}", lambda x, i, m=mode: jnp.take(x, i, axis=0, mode=m), [x, rows])
        yield Case("gather", dtype, "columns", lambda x, i: x[:, i % 4], [x, rows])
        yield Case("gather", dtype, "points", lambda x, i: x[i[:, 0] % 9, i[:, 1] % 4], [x, rows])
        yield Case("gather", dtype, "none", lambda x, i: x[i[:0, 0]], [x, rows])
        yield Case("gather", dtype, "along", lambda x, i: jnp.take_along_axis(x, i[:, :1] % 4, 1), [x[:5], rows])
        yield Case("gather", dtype, "batched", jax.vmap(lambda row, i: row[i % 4]), [x[:5], rows])
    for index in ("int8", "uint8", "int32", "uint32", "int64"):
        x, i = inputs.values(rng, "float32", (7,)), np.arange(7)[::-1].astype(index)
        yield Case("gather", "float32", f"index {index}", lambda x, i: x[i], [x, i])


@family
def scatter(rng: np.random.Generator) -> Iterator[Case]:
    """`x.at[i]` with every combiner, duplicates and indices out of range."""
    where = rng.integers(0, 9, 12)
    outside = rng.integers(-20, 20, 12)
    unique = rng.permutation(9)[:6]
    for dtype in _DTYPES:
        x, u = inputs.moderate(rng, dtype, (9, 4)), inputs.moderate(rng, dtype, (12, 4))
        yield Case("scatter", dtype, "set", lambda x, i, u: x.at[i].set(u[:6]), [x, unique, u])
        yield Case("scatter", dtype, "set drop", lambda x, i, u: x.at[i].set(u[0], mode="drop"), [x, outside, u])
        yield Case("scatter", dtype, "points", lambda x, i, u: x.at[i, i % 4].set(u[:6, 0]), [x, unique, u])
        yield Case(
            "scatter", dtype, "columns", lambda x, i, u: x.at[:, i[:2] % 2 + 2].set(u[:9, :2]), [x, np.array([0, 1]), u]
        )
        yield Case("scatter", dtype, "none", lambda x, i, u: x.at[i[:0]].set(u[:0]), [x, where, u])
        if dtype == "bool":
            continue
        near = sums(12)
        yield Case("scatter", dtype, "add", lambda x, i, u: x.at[i].add(u), [x, where, u], near)
        yield Case("scatter", dtype, "add drop", lambda x, i, u: x.at[i].add(u, mode="drop"), [x, outside, u], near)
        yield Case("scatter", dtype, "multiply", lambda x, i, u: x.at[i].mul(u), [x, where, u], near)
        if dtype not in inputs.COMPLEX:
            yield Case("scatter", dtype, "min", lambda x, i, u: x.at[i].min(u), [x, where, u])
            yield Case("scatter", dtype, "max", lambda x, i, u: x.at[i].max(u), [x, where, u])
        yield Case(
            "scatter",
            dtype,
            "batched",
            jax.vmap(lambda row, i, u: row.at[i % 4].add(u)),
            [x, where[:9], u[:9, 0]],
            near,
        )
    x = inputs.moderate(rng, "float32", (9,))
    yield Case("scatter", "float32", "apply", lambda x, i: x.at[i].apply(jnp.tanh), [x, unique], sums(4))


_POOLS = (
    ((1, 8, 8, 3), (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
    ((2, 9, 7, 1), (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
    ((1, 5, 5, 2), (1, 3, 2, 1), (1, 1, 1, 1), "VALID"),
    ((1, 6, 1, 1), (1, 3, 1, 1), (1, 3, 1, 1), "SAME"),
    ((13,), (4,), (2,), "SAME"),
)


@family
def select_and_scatter(rng: np.random.Generator) -> Iterator[Case]:
    """The gradient of max-pooling."""
    for dtype in inputs.FLOATS:
        for shape, window, strides, padding in _POOLS:
            x = rng.permutation(int(np.prod(shape))).reshape(shape).astype(inputs.dtype_of(dtype))

            def pooled(x, window=window, strides=strides, padding=padding):
                best = lax.reduce_window(x, -jnp.inf, lax.max, window, strides, padding)
                return jnp.sum(jnp.square(best).astype("float32"))

            yield Case("select_and_scatter", dtype, f"{shape} {padding}", jax.grad(pooled), [x], sums(8))


@family
def selected(rng: np.random.Generator) -> Iterator[Case]:
    """`select_and_scatter` itself, with ties, and any select and scatter."""
    for dtype in inputs.EVERY:
        select = "EQ" if dtype in inputs.COMPLEX else "GE"
        scatter = "or" if dtype == "bool" else "add"
        for shape, window, strides, padding in _POOLS:
            pads = lax.padtype_to_pads(shape, window, strides, padding)
            pooled = tuple(
                (size + low + high - width) // stride + 1
                for size, (low, high), width, stride in zip(shape, pads, window, strides, strict=True)
            )
            x, source = inputs.moderate(rng, dtype, shape), inputs.moderate(rng, dtype, pooled)
            of, to, scalar, flag = tensor(dtype, shape), tensor(dtype, pooled), tensor(dtype), tensor("bool")
            held = ", ".join(f"[{low}, {high}]" for low, high in pads)
            attributes = f"""window_dimensions = {integers(window)}, window_strides = {integers(strides)},
              padding = dense<[{held}]> : tensor<{len(shape)}x2xi64>"""
            regions = f"""{{
              ^bb0(%a: {scalar}, %b: {scalar}):
                %c = stablehlo.compare {select}, %a, %b : ({scalar}, {scalar}) -> {flag}
                stablehlo.return %c : {flag}
              }}, {{
              ^bb0(%a: {scalar}, %b: {scalar}):
                %c = stablehlo.{scatter} %a, %b : {scalar}
                stablehlo.return %c : {scalar}
              }}"""
            function = single("stablehlo.select_and_scatter", [of, to, scalar], [of], attributes, regions)
            start = np.asarray(1 if dtype == "float8_e8m0fnu" else 0).astype(x.dtype)  # it has no zero
            near = EXACT if dtype in ("bool", *inputs.INTEGERS) else sums(8)
            operands = [x, source, start]
            yield Case("select_and_scatter", dtype, f"{shape} {padding}", function, operands, near)
