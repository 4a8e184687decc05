"""Functions of the components of many short vectors, and their gradients, beside stock JAX."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

ROWS = 700


def on_both(function, *arguments):
    """The results of stock JAX and of the plugin."""

    def on(platform):
        with jax.default_device(jax.devices(platform)[0]):
            return [np.asarray(result) for result in jax.tree.leaves(jax.jit(function)(*arguments))]

    return on("cpu"), on("oxcall")


def vectors(*dims, dtype="float32"):
    """Numbers, among them zeros of both signs, infinities, and NaN."""
    rng = np.random.default_rng(len(dims))
    array = rng.normal(size=dims)
    for value in (0.0, -0.0, np.inf, -np.inf, np.nan):
        array[tuple(rng.integers(0, size, 40) for size in dims)] = value
    return array.astype(dtype)


def quaternion_product(p, q):
    (a, b, c, d), (e, f, g, h) = (jnp.moveaxis(x, -1, 0) for x in (p, q))
    parts = [a * e - b * f, a * f + b * e, c * g - d * h, c * h + d * g]
    return jnp.stack(parts, -1)


GRADIENTS = {
    "one component": (lambda x: x[:, 1] ** 2, [(ROWS, 3)]),
    "all components": (lambda x: x[:, 0] * x[:, 1] + x[:, 2], [(ROWS, 3)]),
    "components used twice": (lambda x: x[:, 0] * x[:, 1] + x[:, 0] * 3, [(ROWS, 4)]),
    "parts of rows": (lambda x: x[:, :1] * x[:, 1:], [(ROWS, 4)]),
    "every other component": (lambda x: x[:, ::2] * x[:, 1::2], [(ROWS, 6)]),
    "determinants": (lambda a: a[:, 0, 0] * a[:, 1, 1] - a[:, 0, 1] * a[:, 1, 0], [(ROWS, 2, 2)]),
    "matrices of vectors": (lambda x: x[..., 0] - x[..., 2], [(20, 35, 3)]),
    "cross products": (jnp.cross, [(ROWS, 3), (ROWS, 3)]),
    "quaternions": (quaternion_product, [(ROWS, 4), (ROWS, 4)]),
    "long rows": (lambda x: x[:, 3] * x[:, 20], [(ROWS, 33)]),
    "few rows": (lambda x: x[:, 0] * x[:, 1], [(5, 3)]),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name, dtype):
    function, shapes = GRADIENTS[name]
    arguments = [vectors(*dims, dtype=jnp.dtype(dtype)) for dims in shapes]
    total = lambda *xs: (function(*xs) * 1.5).sum()  # noqa: E731
    expected, found = on_both(jax.grad(total, argnums=tuple(range(len(shapes)))), *arguments)
    tolerance = 2e-2 if dtype == "bfloat16" else 1e-5
    for left, right in zip(expected, found, strict=True):
        wide = [x.astype("float64") for x in (left, right)]
        np.testing.assert_allclose(wide[1], wide[0], rtol=tolerance, atol=tolerance)


def padded_by_numpy(x, value, low, high, interior):
    spread = np.full((len(x), (x.shape[1] - 1) * (interior + 1) + 1), value, x.dtype)
    spread[:, :: interior + 1] = x
    around = np.pad(spread, [(0, 0), (max(low, 0), max(high, 0))], constant_values=value)
    return around[:, max(-low, 0) : around.shape[1] - max(-high, 0)]


def check_bits(found, expected):
    """Asserts that bits are the same, but for those of NaN."""
    is_nan = np.isnan(expected)
    assert (is_nan == np.isnan(found)).all()
    assert (found[~is_nan].view("u4") == expected[~is_nan].view("u4")).all()


@pytest.mark.parametrize("low, high, interior", [(0, 2, 0), (2, 0, 0), (1, 1, 0), (1, 0, 1), (-1, 3, 0), (3, -1, 0)])
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("value", [0.0, -0.0, 2.5, np.nan])
def test_padding_has_the_bits_of_numpy(low, high, interior, size, value, on_plugin):
    """XLA:CPU leaves out the sum with 0, which makes +0 of -0."""
    x, value = vectors(ROWS, size), np.float32(value)

    def results(one):
        return one, one + one[:, ::-1], -one * np.float32(3), one + np.float32(0)

    found = jax.jit(lambda x, value: results(lax.pad(x, value, [(0, 0, 0), (low, high, interior)])))(x, value)
    with np.errstate(all="ignore"):
        expected = results(padded_by_numpy(x, value, low, high, interior))
    for left, right in zip(found, expected, strict=True):
        check_bits(np.asarray(left), right)


@pytest.mark.parametrize("places", [(0, 1), (1, 1), (2, 0, 1), (0, 2, 0)])
def test_sums_of_columns_have_the_bits_of_numpy(places, on_plugin):
    """-0 and a +0 that is added to it are +0; where no zero is added, -0 stays."""
    columns = [vectors(ROWS, 1), np.full((ROWS, 1), -0.0, np.float32), vectors(ROWS, 1) * 3][: len(places)]

    def sums(columns):
        pad = lambda x, low: lax.pad(x, np.float32(0), [(0, 0, 0), (low, 2 - low, 0)])  # noqa: E731
        first, *rest = (pad(x, low) for x, low in zip(columns, places, strict=True))
        return sum(rest, start=first)

    first, *rest = (padded_by_numpy(x, 0, low, 2 - low, 0) for x, low in zip(columns, places, strict=True))
    with np.errstate(all="ignore"):
        check_bits(np.asarray(jax.jit(sums)(columns)), sum(rest, start=first))


TOTALS = {"sum": (lax.cumsum, np.add), "product": (lax.cumprod, np.multiply), "maximum": (lax.cummax, np.maximum)}


@pytest.mark.parametrize("op", TOTALS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dims, axis", [((ROWS, 2), 1), ((ROWS, 8), 1), ((3, ROWS), 0), ((20, 4, 35), 1), ((5, 3), 1)])
def test_short_running_totals_have_the_bits_of_numpy(op, reverse, dims, axis, on_plugin):
    function, exact = TOTALS[op]
    x = vectors(*dims)
    if op == "maximum":  # of two zeros, NumPy takes the first
        x = np.where(x == 0, np.float32(0), x)
    turned = np.flip(x, axis) if reverse else x
    with np.errstate(all="ignore"):
        expected = exact.accumulate(turned, axis)
    found = jax.jit(lambda x: function(x, axis=axis, reverse=reverse))(x)
    expected = np.flip(expected, axis) if reverse else expected
    # The total begins with 0, which makes +0 of -0.
    expected = expected + np.float32(0) if op == "sum" else expected
    check_bits(np.asarray(found), expected)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8", "float16"])
def test_short_running_totals_of_other_types(dtype):
    x = np.random.default_rng(0).integers(0, 6, (ROWS, 4)).astype(dtype)
    totals = lambda x: (jnp.cumsum(x, 1, dtype=dtype), lax.cummin(x, 1), lax.cumprod(x, 1))  # noqa: E731
    for left, right in zip(*on_both(totals, x), strict=True):
        np.testing.assert_array_equal(right, left)


def test_piecewise_functions():
    x = vectors(ROWS)

    def function(x):
        pieces = jnp.piecewise(x, [x < -1, x >= 1], [lambda x: -x, lambda x: x * x, lambda x: 3 * x])
        return pieces, jnp.select([x < -1, x < 1], [x, x * 2], 5)

    for left, right in zip(*on_both(function, x), strict=True):
        np.testing.assert_array_equal(right, left)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "float64", "complex64"])
@pytest.mark.parametrize("equation", ["ib,bi->b", "bi,ib->b", "ib,ib->b", "bi,ij,bj->b", "ibc,cbi->bc", "aib,bai->ab"])
def test_products_of_vectors_that_are_columns(equation, dtype):
    """Small integers, whose sums of products are exact in any order."""
    sizes = {"a": 3, "b": 120, "c": 9, "i": 40, "j": 30}
    rng = np.random.default_rng(3)
    names = equation.split("->")[0].split(",")
    arrays = [rng.integers(-1, 2, [sizes[name] for name in each]) for each in names]
    expected, found = on_both(functools.partial(jnp.einsum, equation), *(jnp.asarray(x).astype(dtype) for x in arrays))
    np.testing.assert_array_equal(found, expected)
