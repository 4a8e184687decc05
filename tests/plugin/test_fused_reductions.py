"""Reductions with what computes their operand: sums, extremes and norms along every dimension, beside float64."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("on_plugin")

SHAPES = [(5000,), (64, 64), (301, 7), (7, 4099), (4, 9001), (3, 70, 80), (40, 50, 3), (1100, 1, 128), (3, 1, 4, 700)]
# Sums of n terms in pairs of chains of 32 are off by less than 16 ULP of the sum of their magnitudes.
EPS = {"float32": 16 * 2.0**-23, "float64": 16 * 2.0**-52, "bfloat16": 2.0**-7, "int32": 0.0}


def _axes(rank: int):
    return [axes for count in range(1, rank + 1) for axes in itertools.combinations(range(rank), count)]


def _inputs(shape, dtype):
    rng = np.random.default_rng([*shape, len(dtype)])
    make = (lambda dims: rng.integers(-9, 9, dims)) if dtype == "int32" else rng.standard_normal
    return [jnp.asarray(make(dims), dtype) for dims in (shape, shape[-1:], shape[:1])]


def _close(found, expected, scale, eps):
    found, expected, scale = (np.asarray(x, np.float64) for x in (found, expected, scale))
    assert found.shape == expected.shape
    assert np.all(np.abs(found - expected) <= eps * scale)


@pytest.mark.parametrize("dtype", EPS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_and_extremes_of_products(shape, dtype):
    x, row, column = _inputs(shape, dtype)
    column = column.reshape(-1, *[1] * (len(shape) - 1))
    for axes in _axes(len(shape)):

        @jax.jit
        def reduced(x, row, column, axes=axes):
            y = (x - row) * x + column
            return y.sum(axes), y.max(axes), jnp.abs(y).min(axes), y * 2

        total, largest, least, twice = reduced(x, row, column)
        y = (np.asarray(x, np.float64) - np.asarray(row, np.float64)) * np.asarray(x, np.float64)
        y += np.asarray(column, np.float64)
        # The terms are rounded before they are added.
        terms = np.asarray(twice, np.float64) / 2
        step = 0 if dtype == "int32" else 4 * float(jnp.finfo(dtype).eps)
        _close(terms, y, np.abs(y) + np.abs(np.asarray(x, np.float64)) * 8 + 8, step)
        exact = terms if dtype != "bfloat16" else y
        _close(total, exact.sum(axes), np.abs(exact).sum(axes) + 1, max(EPS[dtype], step))
        _close(largest, exact.max(axes), np.abs(exact).max(axes) + 8, step if dtype == "bfloat16" else 0)
        _close(least, np.abs(exact).min(axes), np.abs(exact).max(axes) + 8, step if dtype == "bfloat16" else 0)


@pytest.mark.parametrize("count", [2, 3, 5, 8, 9])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_distances_of_points(axis, count):
    rng = np.random.default_rng(count)
    points, others = (np.moveaxis(rng.standard_normal((n, count)), 1, 0) for n in (61, 37))
    arrays = [jnp.asarray(x, "float32") for x in (points, others)]

    def distances(a, b):
        difference = jnp.moveaxis(a[:, :, None] - b[:, None, :], 0, axis)
        return jnp.sqrt((difference * difference).sum(axis)), jnp.abs(difference).max(axis)

    exact = points[:, :, None] - others[:, None, :]
    near, far = jax.jit(distances)(*arrays)
    # Differences of rounded numbers: 4 ULP of numbers up to 8.
    np.testing.assert_allclose(near, np.sqrt((exact**2).sum(0)), rtol=8e-7, atol=4e-6)
    np.testing.assert_allclose(far, np.abs(exact).max(0), rtol=8e-7, atol=4e-6)
    gradient = jax.jit(jax.grad(lambda a, b: distances(a, b)[0].sum()))(*arrays)
    expected = (exact / np.sqrt((exact**2).sum(0))).sum(2)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-4)
    # Over batches.
    batched = jax.jit(jax.vmap(distances))(*[jnp.stack([x, 2 * x]) for x in arrays])[0]
    np.testing.assert_allclose(batched[1], 2 * np.asarray(near), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_empty_and_single_dimensions(dim, size):
    shape = tuple(size if index == dim else 70 for index in range(3))
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    for axes in _axes(3):
        total = jax.jit(lambda x, axes=axes: (x * x + 1).sum(axes))(x)
        np.testing.assert_allclose(total, (x.astype("float64") ** 2 + 1).sum(axes), rtol=4e-6)


def test_values_that_are_not_numbers():
    x = np.ones((3000, 5), "float32")
    x[17, 1], x[2000, 2], x[5, 3] = np.nan, np.inf, -np.inf
    y = 2 * x
    total, largest = jax.jit(lambda x: ((x + x).sum(0), (x + x).max(0)))(x)
    np.testing.assert_array_equal(largest, y.max(0))
    np.testing.assert_array_equal(total, y.astype("float64").sum(0).astype("float32"))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "complex64", "float64"])
@pytest.mark.parametrize(
    "spec", ["i,j->ij", "ij,j->ij", "ij,i->ji", "bi,bj->bji", "ia,ja->ija", "ik,kj->ij", ",ij->ji"]
)
def test_products_that_sum_nothing(spec, dtype):
    rng = np.random.default_rng(1)
    sizes = {"i": 33, "j": 65, "b": 5, "a": 3, "k": 1}
    names = spec.split("->")[0].split(",")
    operands = [rng.integers(-9, 9, [sizes[name] for name in each]) / 4 for each in names]
    if dtype == "int8":
        operands = [x * 4 for x in operands]
    if dtype == "complex64":
        operands = [x + 1j * x[::-1] if x.ndim else x for x in operands]
    found = jax.jit(lambda *x: jnp.einsum(spec, *x))(*[jnp.asarray(x, dtype) for x in operands])
    # All numbers are small fractions: exact.
    np.testing.assert_array_equal(np.asarray(found, complex), np.einsum(spec, *operands).astype(dtype).astype(complex))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "float64"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("size", [2, 9, 31, 33])
def test_short_sorts(size, axis, dtype):
    rng = np.random.default_rng(size)
    shape = [6, 70, 5]
    shape[axis] = size
    x = rng.integers(0, 20, shape).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        x[rng.random(shape) < 0.1] = np.nan
        x[rng.random(shape) < 0.1] = -0.0
    ascending, median = jax.jit(lambda x: (jnp.sort(x, axis), jnp.sort(x, axis, descending=True)))(x)
    np.testing.assert_array_equal(ascending, np.sort(x, axis))
    expected = np.flip(np.sort(x, axis), axis)
    nans = np.isnan(expected) if np.issubdtype(dtype, np.floating) else np.zeros(shape, bool)
    np.testing.assert_array_equal(np.sort(median, axis), np.sort(expected, axis))
    assert np.isnan(np.asarray(median, np.float64)).sum() == nans.sum()


FUNCTIONS = {
    "add": (jax.lax.add, np.add, 0),
    "multiply": (jax.lax.mul, np.multiply, 1),
    "maximum": (jax.lax.max, np.maximum, 3),
    "minimum": (jax.lax.min, np.minimum, 3),
    "and": (jax.lax.bitwise_and, np.bitwise_and, 5),
    "or": (jax.lax.bitwise_or, np.bitwise_or, 2),
    "xor": (jax.lax.bitwise_xor, np.bitwise_xor, 1),
}


NARROW = [
    *itertools.product(["int8", "uint8", "int16", "uint16"], FUNCTIONS),
    *itertools.product(["float16", "bfloat16"], ["add", "multiply", "maximum", "minimum"]),
    *itertools.product(["bool"], ["maximum", "minimum", "and", "or", "xor"]),
]


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
@pytest.mark.parametrize(("dtype", "function"), NARROW)
@pytest.mark.parametrize(
    ("shape", "axes"), [((37, 300), (1,)), ((300, 37), (0,)), ((400, 8), (1,)), ((3, 5, 7), (0, 2)), ((0, 4), (0,))]
)
def test_narrow_numbers(shape, axes, dtype, function):
    is_float, is_bool = "float" in dtype, dtype == "bool"
    combine, expected, init = FUNCTIONS[function]
    rng = np.random.default_rng(len(shape) + shape[0])
    # Products of powers of two, and sums of small integers, are exact.
    x = 2.0 ** rng.integers(-1, 2, shape) if is_float and function == "multiply" else rng.integers(-90, 90, shape)
    x = np.asarray(jnp.asarray(x).astype(dtype)) if not is_bool else x > 0
    init = np.asarray(init).astype(x.dtype)
    found = jax.jit(lambda x: jax.lax.reduce(x, init, combine, axes))(x)
    assert found.dtype == x.dtype
    if not is_float:
        np.testing.assert_array_equal(found, expected.reduce(x, axes, dtype=x.dtype, initial=init))
        return
    # Narrow floats are rounded once, at the end.
    exact = expected.reduce(x.astype("float64"), axes, initial=np.float64(init))
    np.testing.assert_array_equal(np.asarray(found), exact.astype("float32").astype(x.dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize(
    ("shape", "repeated"),
    [
        ((3, 700, 4), (3, 1, 4)),
        ((3, 70, 11, 4), (3, 1, 1, 4)),
        ((3, 300, 2, 4), (3, 1, 2, 1)),
        ((2, 3, 97, 60), (2, 1, 1, 60)),
        ((2, 3, 97, 60), (1, 3, 1, 60)),
        ((5, 40, 13), (5, 1, 13)),
        ((1, 5000, 3), (1, 1, 3)),
    ],
)
def test_numbers_that_repeat_in_a_part(shape, repeated, dtype):
    """A mean of each image and channel, or group of channels, is repeated along what is between these."""
    rng = np.random.default_rng(len(shape))
    x, mean, gain = (rng.integers(-8, 8, dims).astype(dtype) for dims in (shape, repeated, shape[-1:]))
    axes = tuple(range(1, len(shape) - 1))

    @jax.jit
    def normalized(x, mean, gain):
        centred = x - mean
        return centred * gain + mean, (centred * centred).sum(axes), (centred * gain).max(axes)

    centred = x - mean
    for found, expected in zip(
        normalized(x, mean, gain),
        (centred * gain + mean, (centred * centred).sum(axes), (centred * gain).max(axes)),
        strict=True,
    ):
        # Small integers are exact in any order.
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shape", [(4, 50), (3, 100), (7, 40), (2, 3, 50), (5, 7, 11)], ids=str)
def test_numbers_that_repeat_in_small_arrays(shape):
    """Beside results that are broadcast or joined, in domains that are shorter than the copies of a long row."""
    rng = np.random.default_rng(len(shape))
    x, row, column = (
        rng.integers(-8, 8, dims).astype("float32") for dims in (shape, shape[-1:], (shape[0], *[1] * (len(shape) - 1)))
    )

    @jax.jit
    def results(x, row, column):
        wide, shifted = jnp.broadcast_to(column, x.shape), jnp.concatenate([x[:1], x[:-1]])
        return x * row + wide, wide, x * row + shifted, shifted

    wide, shifted = np.broadcast_to(column, shape), np.concatenate([x[:1], x[:-1]])
    for found, expected in zip(
        results(x, row, column), (x * row + wide, wide, x * row + shifted, shifted), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("count", [5, 6, 8])
@pytest.mark.parametrize("dtype", ["float32", "bool", "int16"])
def test_short_rows_of_what_is_computed(count, dtype):
    rng = np.random.default_rng(count)
    x = rng.integers(-8, 8, (3, 200, count)).astype(dtype)
    weights = np.arange(count).astype("int32")
    found = jax.jit(lambda x: (x.astype("int32") * weights).sum(-1))(x)
    np.testing.assert_array_equal(found, (x.astype("int32") * weights).sum(-1))
