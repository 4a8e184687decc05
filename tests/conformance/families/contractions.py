"""Dot products and convolutions."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs, oracles
from conformance.cases import Case, family
from conformance.compare import EXACT
from conformance.tolerances import sums


def _oracle(dtype: str, function: oracles.Function) -> oracles.Oracle:
    """XLA:CPU multiplies no 2-bit integers: products and sums of wider ones have the same low bits."""
    if dtype not in ("int2", "uint2"):
        return oracles.STOCK

    def wider(*operands):
        return function(*(x.astype("int8") for x in operands)).astype(dtype)

    return oracles.other(wider, "XLA:CPU multiplies no 2-bit integers: the low bits of wider ones")


def _near(dtype: str, terms: int):
    return EXACT if dtype in ("bool", *inputs.INTEGERS) else sums(terms)


@family
def dot_general(rng: np.random.Generator) -> Iterator[Case]:
    """Vectors, matrices, batches, several contracted dimensions, nothing to contract."""
    for dtype in inputs.EVERY:
        for label, a, b, dims in (
            ("vectors", (17,), (17,), (((0,), (0,)), ((), ()))),
            ("matrices", (7, 5), (5, 9), (((1,), (0,)), ((), ()))),
            ("transposed", (5, 7), (9, 5), (((0,), (1,)), ((), ()))),
            ("matrix, vector", (7, 5), (5,), (((1,), (0,)), ((), ()))),
            ("batched", (3, 4, 5), (3, 5, 2), (((2,), (1,)), ((0,), (0,)))),
            ("batched inside", (4, 3, 5), (5, 2, 3), (((2,), (0,)), ((1,), (2,)))),
            ("two contracted", (4, 3, 5), (5, 3, 2), (((1, 2), (1, 0)), ((), ()))),
            ("outer", (4,), (3,), (((), ()), ((), ()))),
            ("nothing", (4, 0), (0, 3), (((1,), (0,)), ((), ()))),
            ("empty", (0, 4), (4, 3), (((1,), (0,)), ((), ()))),
        ):
            x, y = inputs.moderate(rng, dtype, a), inputs.moderate(rng, dtype, b)
            dot = lambda x, y, d=dims: lax.dot_general(x, y, d)  # noqa: E731
            yield Case("dot_general", dtype, label, dot, [x, y], _near(dtype, 17), oracle=_oracle(dtype, dot))
    for dtype in ("float32", "bfloat16", "float16", "float64"):
        for m, k, n in ((129, 67, 71), (1, 300, 257), (300, 1, 5), (256, 256, 256)):
            x, y = inputs.moderate(rng, dtype, (m, k)), inputs.moderate(rng, dtype, (k, n))
            yield Case("dot_general", dtype, f"{m}x{k}x{n}", jnp.matmul, [x, y], _near(dtype, k))
            yield Case(
                "dot_general",
                dtype,
                f"{m}x{k}x{n} highest",
                lambda x, y: jnp.matmul(x, y, precision="highest"),
                [x, y],
                _near(dtype, k),
            )
    for source in ("bfloat16", "float16", "int8", "float8_e4m3fn"):
        x, y = inputs.moderate(rng, source, (33, 20)), inputs.moderate(rng, source, (20, 17))
        for target in ("float32", "int32") if source == "int8" else ("float32",):
            wide = inputs.dtype_of(target)
            yield Case(
                "dot_general",
                source,
                f"to {target}",
                lambda x, y, t=wide: jnp.matmul(x, y, preferred_element_type=t),
                [x, y],
                sums(20),
            )


@family
def convolution(rng: np.random.Generator) -> Iterator[Case]:
    """Layouts, groups, dilations and padding; gradients are convolutions with other numbers."""
    plain = {"window_strides": (1, 1), "padding": "SAME", "dimension_numbers": ("NHWC", "HWIO", "NHWC")}
    options = (
        ("same", (2, 7, 8, 3), (3, 3, 3, 5), plain),
        ("strides", (1, 9, 9, 2), (3, 2, 2, 4), {**plain, "window_strides": (2, 3), "padding": "VALID"}),
        ("dilated kernel", (1, 9, 8, 2), (3, 2, 2, 3), {**plain, "rhs_dilation": (2, 3)}),
        ("dilated input", (1, 4, 5, 2), (3, 3, 2, 3), {**plain, "lhs_dilation": (2, 2), "padding": ((1, 2), (2, 1))}),
        ("negative padding", (1, 8, 8, 2), (3, 3, 2, 3), {**plain, "padding": ((-1, 0), (2, -2))}),
        ("groups", (2, 6, 6, 4), (3, 3, 2, 6), {**plain, "feature_group_count": 2}),
        ("depthwise", (1, 6, 6, 4), (3, 3, 1, 4), {**plain, "feature_group_count": 4}),
        ("batch groups", (4, 5, 5, 2), (3, 3, 2, 6), {**plain, "batch_group_count": 2}),
        ("nchw", (2, 3, 6, 7), (5, 3, 3, 3), {**plain, "dimension_numbers": ("NCHW", "OIHW", "NCHW")}),
        (
            "one dimension",
            (2, 11, 3),
            (4, 3, 5),
            {"window_strides": (2,), "padding": "SAME", "dimension_numbers": ("NWC", "WIO", "NWC")},
        ),
        (
            "three dimensions",
            (1, 4, 5, 6, 2),
            (2, 3, 2, 2, 3),
            {"window_strides": (1, 2, 1), "padding": "SAME", "dimension_numbers": ("NDHWC", "DHWIO", "NDHWC")},
        ),
        (
            "no dimensions",
            (3, 4),
            (4, 5),
            {"window_strides": (), "padding": (), "dimension_numbers": ("NC", "IO", "NC")},
        ),
        ("empty", (0, 5, 5, 2), (3, 3, 2, 3), plain),
    )
    for dtype in inputs.EVERY:
        for label, a, b, option in options:
            x, w = inputs.moderate(rng, dtype, a), inputs.moderate(rng, dtype, b)
            terms = int(np.prod(b))
            conv = lambda x, w, o=option: lax.conv_general_dilated(x, w, **o)  # noqa: E731
            yield Case("convolution", dtype, label, conv, [x, w], _near(dtype, terms), oracle=_oracle(dtype, conv))
            if dtype in ("float32", "float64") and label != "empty":

                def loss(x, w, option=option):
                    return jnp.sum(jnp.sin(lax.conv_general_dilated(x, w, **option)))

                yield Case("convolution", dtype, f"gradient of {label}", jax.grad(loss, (0, 1)), [x, w], sums(400))
    x, w = inputs.moderate(rng, "float32", (4, 56, 56, 32)), inputs.moderate(rng, "float32", (3, 3, 32, 64))
    yield Case(
        "convolution", "float32", "large", lambda x, w: lax.conv_general_dilated(x, w, **plain), [x, w], sums(288)
    )


@family
def ragged_dot(rng: np.random.Generator) -> Iterator[Case]:
    """Rows in groups, each with a matrix of its own."""
    for dtype in ("float32", "float64"):
        for m, k, n, sizes in (
            (7, 3, 4, (2, 0, 5)),
            (1, 1, 1, (1,)),
            (11, 5, 2, (3, 4)),
            (0, 3, 2, (0, 0)),
            (16, 8, 8, (16,)),
        ):
            x, w = inputs.moderate(rng, dtype, (m, k)), inputs.moderate(rng, dtype, (len(sizes), k, n))
            operands = [x, w, np.asarray(sizes, "int32")]
            yield Case("ragged_dot", dtype, f"{m}x{k}x{n} {sizes}", lax.ragged_dot, operands, sums(k))
