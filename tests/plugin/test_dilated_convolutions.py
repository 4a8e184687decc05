"""Transposed convolutions, and gradients of strided ones, beside stock JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

CASES = [
    # The sizes of input, kernel and dilation, and the padding, along each dimension.
    ([(16, 4, 2, (2, 2)), (13, 4, 2, (1, 3))]),
    ([(9, 3, 2, (1, 1)), (10, 5, 3, (4, 4))]),
    ([(12, 2, 3, (0, 2)), (12, 1, 2, (0, 0))]),
    ([(20, 7, 4, (5, -2)), (8, 3, 1, (1, 1))]),
    ([(30, 3, 2, (-3, 1))]),
    ([(6, 3, 2, (1, 2)), (5, 2, 2, (1, 0)), (7, 3, 1, (0, 0))]),
]
SPATIAL = "DHW"


def layout(rank, is_last):
    """The letters of the dimensions of input, kernel and result."""
    letters = SPATIAL[-rank:]
    data, kernel = (f"N{letters}C", f"{letters}IO") if is_last else (f"NC{letters}", f"OI{letters}")
    return data, kernel, data


def on(platform, function, *operands):
    with jax.default_device(jax.devices(platform)[0]):
        return jax.tree.map(np.asarray, jax.jit(function)(*operands))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("is_last", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int32"])
@pytest.mark.parametrize("case", CASES)
def test_dilated_inputs(case, dtype, is_last, groups):
    """Products of small integers, whose sums are exact in any order."""
    features, out, batch = 32, 24, 3
    sizes, kernel, dilation, padding = zip(*case, strict=True)
    names = layout(len(case), is_last)

    def numbers(names, spatial, **others):
        known = others | dict(zip(SPATIAL[-len(case) :], spatial, strict=True))
        return np.random.default_rng(0).integers(-3, 4, [known[letter] for letter in names])

    x = numbers(names[0], sizes, N=batch, C=features)
    w = numbers(names[1], kernel, I=features // groups, O=out)

    def convolution(x, w):
        strides = [1] * len(case)
        return lax.conv_general_dilated(
            x, w, strides, padding, dilation, dimension_numbers=names, feature_group_count=groups
        )

    operands = [jnp.asarray(array).astype(dtype) for array in (x, w)]
    # Stock JAX has no convolutions of integers in several groups.
    exact = [jnp.asarray(array).astype("float64") for array in (x, w)]
    found, expected = on("oxcall", convolution, *operands), on("cpu", convolution, *exact)
    np.testing.assert_array_equal(found, np.asarray(jnp.asarray(expected).astype(dtype)))


@pytest.mark.parametrize("strides", [(2, 2), (3, 1), (1, 4)])
@pytest.mark.parametrize("size", [1, 3, 4])
def test_gradients_of_strided_convolutions(strides, size):
    rng = np.random.default_rng(1)
    x, w = rng.integers(-3, 4, (2, 21, 26, 16)), rng.integers(-3, 4, (size, size, 16, 24))

    def loss(x, w):
        return lax.conv_general_dilated(x, w, strides, "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")).sum()

    operands = [array.astype("float32") for array in (x, w)]
    found, expected = (on(platform, jax.grad(loss, (0, 1)), *operands) for platform in ("oxcall", "cpu"))
    jax.tree.map(np.testing.assert_array_equal, found, expected)
