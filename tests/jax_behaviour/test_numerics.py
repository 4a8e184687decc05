"""Values at the edges: functions outside of their domains, singular and empty operands, mixed types of contractions."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

FLOATS = ("float16", "bfloat16", "float32", "float64")
LINALG = ("float32", "float64", "complex64", "complex128")


@pytest.fixture(autouse=True)
def wide(x64):
    """Every type is there."""


def arange(shape, dtype):
    return (np.arange(np.prod(shape)) % 5 - 1).reshape(shape).astype(jnp.dtype(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("function", "outside"),
    [
        (jnp.arccosh, [-1e4, -212.0, -1.0, 0.0, 0.5]),
        (jnp.arccos, [-1e4, -2.0, 1.5]),
        (jnp.arctanh, [-1e4, -1.5, 2.0]),
        (jnp.log, [-1e4, -1.0]),
        (jnp.log1p, [-1e4, -2.0]),
        (jnp.sqrt, [-1e4, -1.0]),
    ],
)
def test_there_is_no_value_outside_of_the_domain(function, outside, dtype):
    outside = np.asarray([*outside, -np.inf, np.nan], jnp.dtype(dtype))
    assert np.isnan(np.asarray(jax.jit(function)(outside), np.float64)).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_integers_divide_and_shift_at_their_limits(dtype):
    limits = jnp.iinfo(dtype)
    values = np.array(sorted({limits.min, limits.max, 0, 1, 2, *([-1] if limits.min else [])}), dtype)
    x, y = (side.ravel() for side in np.meshgrid(values, values))
    quotient, rest = jax.jit(lambda x, y: (jax.lax.div(x, y), jax.lax.rem(x, y)))(x, y)
    for a, b, q, r in zip(x.tolist(), y.tolist(), quotient.tolist(), rest.tolist(), strict=True):
        if b == 0:
            # As XLA has it: all bits are set, and everything is left.
            expected = limits.max if limits.min == 0 else -1, a
        elif a == limits.min and b == -1:
            expected = a, 0
        else:
            whole = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            expected = whole, a - whole * b
        assert (q, r) == expected, (a, b)
    bits = limits.bits
    by = np.array([0, 1, bits - 1, bits, bits + 1], dtype)
    shifted = jax.jit(jax.vmap(lambda by: jax.lax.shift_left(values, jnp.full_like(values, by))))(by)
    expected = [(np.left_shift(values, n) if n < bits else np.zeros_like(values)) for n in by]
    np.testing.assert_array_equal(shifted, np.stack(expected))


# The narrowest and the widest of each kind, and what a kind may be asked to give.
CONTRACTIONS = [
    ("bool", None),
    ("bool", "int32"),
    ("bool", "float32"),
    ("bool", "complex64"),
    ("int4", "int32"),
    ("uint8", "float32"),
    ("int8", "int32"),
    ("float8_e4m3fn", "float32"),
    ("bfloat16", "float32"),
    ("float32", "float64"),
    ("complex64", "complex128"),
]


@pytest.mark.parametrize(("dtype", "preferred"), CONTRACTIONS)
def test_contractions_give_the_preferred_type(mode, dtype, preferred):
    if mode == "stock" and dtype == "int4":
        pytest.skip("XLA's CPU has no products of numbers narrower than a byte")
    x, y = arange((4, 3), dtype), arange((3, 5), dtype)
    found = jnp.matmul(x, y, preferred_element_type=preferred)
    wide = np.complex128 if dtype.startswith("complex") else np.float64
    expected = x.astype(wide) @ y.astype(wide)
    if preferred is None:
        expected = expected != 0
    assert found.dtype == (preferred or dtype)
    # Products and sums of small integers are exact.
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", LINALG)
@pytest.mark.parametrize("zero", [0, 1, 3])
def test_lu_of_matrices_without_a_pivot(dtype, zero):
    matrix = np.random.default_rng(zero).normal(size=(4, 4)).astype(dtype)
    matrix[:, zero] = 0
    permutation, lower, upper = jax.scipy.linalg.lu(matrix)
    # Four products a sum, each rounded, of numbers up to about 4.
    tolerance = 32 * float(jnp.finfo(dtype).eps)
    np.testing.assert_allclose(permutation @ lower @ upper, matrix, rtol=tolerance, atol=tolerance)
    assert upper[zero, zero] == 0
    assert jnp.linalg.det(matrix) == 0


@pytest.mark.parametrize("dtype", LINALG)
def test_lu_of_zeros(dtype):
    lu, pivots, _ = jax.lax.linalg.lu(jnp.zeros((3, 3), dtype))
    np.testing.assert_array_equal(lu, np.zeros((3, 3)))
    np.testing.assert_array_equal(pivots, [0, 1, 2])


@pytest.mark.parametrize("lower", [True, False])
def test_eigh_reads_real_parts_of_the_diagonal(lower):
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(5, 5)) + 1j * rng.normal(size=(5, 5))
    values = jnp.linalg.eigh(matrix, UPLO="L" if lower else "U", symmetrize_input=False)[0]
    expected = np.linalg.eigvalsh(matrix, UPLO="L" if lower else "U")
    # The condition number of eigenvalues of hermitian matrices is 1; the norm is about 5.
    np.testing.assert_allclose(values, expected, atol=100 * np.finfo(np.float64).eps)


@pytest.mark.parametrize("function", ["irfft", "hfft"])
def test_transforms_to_no_numbers(function):
    # One number is the half of none, by the default of the length.
    assert getattr(jnp.fft, function)(jnp.ones((3, 1))).shape == (3, 0)


EMPTY = {
    "cholesky": jnp.linalg.cholesky,
    "det": jnp.linalg.det,
    "eigh": jnp.linalg.eigh,
    "inv": jnp.linalg.inv,
    "qr": jnp.linalg.qr,
    "slogdet": jnp.linalg.slogdet,
    "solve": functools.partial(jnp.linalg.solve, b=jnp.ones((0, 2))),
    "svd": jnp.linalg.svd,
    "sort": jnp.sort,
    "cumsum": functools.partial(jnp.cumsum, axis=0),
    "fftn": jnp.fft.fftn,
}


@pytest.mark.parametrize("name", EMPTY)
def test_empty_operands(name):
    found = jax.tree.leaves(EMPTY[name](jnp.ones((0, 0))))
    expected = {
        "solve": lambda x: np.linalg.solve(x, np.ones((0, 2))),
        "sort": np.sort,
        "cumsum": functools.partial(np.cumsum, axis=0),
        # NumPy refuses to transform nothing.
        "fftn": lambda x: x.astype(complex),
    }.get(name) or getattr(np.linalg, name)
    expected = expected(np.ones((0, 0)))
    for x, y in zip(found, expected if isinstance(expected, tuple) else [expected], strict=True):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("dtype", ["float8_e5m2", "float8_e4m3fn", "bfloat16", "int8", "uint32", "float64", "bool"])
def test_top_k_of_every_width(dtype):
    x = np.array([[3, 0, 1, 3], [0, 2, 1, 2]]).astype(jnp.dtype(dtype))
    values, indices = jax.lax.top_k(x, 3)
    # Of equal elements those that come first.
    expected = np.argsort(-x.astype(np.float64), axis=1, kind="stable")[:, :3]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(x, expected, 1))
