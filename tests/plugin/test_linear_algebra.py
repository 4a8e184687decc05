"""Linear algebra beside LAPACK: Schur forms in its order, elements of extreme sizes, narrow floats."""

import functools
import os
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

DTYPES = ("float32", "float64", "complex64", "complex128")


def draw(dtype, *shape, seed=0):
    rng = np.random.default_rng([seed, *shape])
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if dtype.startswith("complex") else x).astype(dtype)


def on(platform, function, *arguments):
    with jax.default_device(jax.devices(platform)[0]):
        return jax.tree.map(np.asarray, jax.jit(function)(*arguments))


def near(ours, stock, factor=200.0):
    """Asserts that arrays are equal up to rounding, in units of the largest element."""
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(stock), strict=True):
        size = max(np.abs(b).max(), np.finfo(b.dtype).tiny) if b.size else 1
        np.testing.assert_allclose(a / size, b / size, rtol=0, atol=factor * float(np.finfo(b.dtype).eps))


def subspaces(t, z):
    """The projections to the spaces of the first columns of `z`, up to the end of each block of `t`."""
    ends = [k for k in range(1, len(t) + 1) if k == len(t) or t[k, k - 1] == 0]
    return [z[:, :k] @ z[:, :k].conj().T for k in ends]


def same_forms(matrix, factor=2e4):
    """Asserts that the Schur forms of the plugin and of LAPACK have their eigenvalues in one order, and then the same
    invariant subspaces.

    That is all that the algorithm decides. Signs and phases of columns, and a quarter turn of two columns with a
    complex pair, are decided by the last bits of elements that are next to zero.
    """
    t, z = on("oxcall", jax.scipy.linalg.schur, matrix)
    lapack_t, lapack_z = on("cpu", jax.scipy.linalg.schur, matrix)
    near(z @ t @ z.conj().T, matrix, factor=200 * max(len(matrix), 1))
    near(np.diag(t), np.diag(lapack_t), factor)
    assert (np.diag(t, -1) != 0).tolist() == (np.diag(lapack_t, -1) != 0).tolist()
    near(subspaces(t, z), subspaces(lapack_t, lapack_z), factor)
    products = [np.diag(form, -1) * np.diag(form, 1) for form in (t, lapack_t)]
    near(products[0], products[1], factor)


# LAPACK has another algorithm for more than 75 rows, whose order of eigenvalues is its own; in single precision
# rounding decides the order of many.
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 8, 13, 30])
def test_schur_forms_are_in_the_order_of_lapack(dtype, n):
    if n > 13 and dtype in ("float32", "complex64"):
        pytest.skip("rounding decides")
    for seed in range(5):
        same_forms(draw(dtype, n, n, seed=seed))


@pytest.mark.parametrize("dtype", DTYPES)
def test_schur_forms_of_special_matrices(dtype):
    x = draw(dtype, 6, 6)
    rotation = np.array([[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 3, 1], [0, 0, -1, 3]], dtype)
    companion = np.eye(5, k=-1, dtype=dtype)
    companion[0, -1] = 1
    blocks = np.zeros((6, 6), dtype)
    blocks[:3, :3], blocks[3:, 3:] = x[:3, :3], x[3:, 3:]
    descending = np.diag(np.arange(5)[::-1]).astype(dtype)
    for matrix in (descending, np.triu(x), np.tril(x), x + x.conj().T, rotation, companion, blocks):
        same_forms(matrix)
    for matrix in (np.zeros((3, 3), dtype), np.eye(4, dtype=dtype), np.diag(np.arange(5)).astype(dtype)):
        for ours, exact in zip(
            on("oxcall", jax.scipy.linalg.schur, matrix), (matrix, np.eye(len(matrix))), strict=True
        ):
            np.testing.assert_array_equal(ours, exact)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_complex_forms_of_real_ones(dtype, n):
    for seed in range(3):
        t, z = on("cpu", jax.scipy.linalg.schur, draw(dtype, n, n, seed=seed))
        near(on("oxcall", jax.scipy.linalg.rsf2csf, t, z), on("cpu", jax.scipy.linalg.rsf2csf, t, z), factor=2e3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_schur_forms_of_many_rows_are_schur_forms(dtype):
    x = draw(dtype, 90, 90)
    t, z = on("oxcall", jax.scipy.linalg.schur, x)
    near(z @ t @ z.conj().T, x, factor=2e3)
    near(z @ z.conj().T, np.eye(90, dtype=dtype), factor=2e3)
    assert np.abs(np.tril(t, -2)).max() == 0


# Each function with the power of the matrix's scale that its results have.
SCALED = {
    "singular values": (lambda x: jnp.linalg.svd(x, compute_uv=False), 1),
    "singular vectors": (lambda x: jnp.abs(jnp.linalg.svd(x)[0]), 0),
    "eigenvalues of hermitian matrices": (lambda x: jnp.linalg.eigvalsh(x + jnp.conj(x.T)), 1),
    "their eigenvectors": (lambda x: jnp.abs(jnp.linalg.eigh(x + jnp.conj(x.T))[1]), 0),
    "eigenvalues": (lambda x: jnp.sort(jnp.abs(jnp.linalg.eigvals(x))), 1),
    "eigenvectors": (lambda x: jnp.sort(jnp.abs(jnp.linalg.eig(x)[1]).ravel()), 0),
    "schur": (lambda x: jax.scipy.linalg.schur(x)[0], 1),
    "schur vectors": (lambda x: jax.scipy.linalg.schur(x)[1], 0),
    "r of qr": (lambda x: jnp.linalg.qr(x)[1], 1),
    "q of qr": (lambda x: jnp.linalg.qr(x)[0], 0),
    "solve": (lambda x: jnp.linalg.solve(x + 8 * x[:1, :1] * jnp.eye(6, dtype=x.dtype), x[:, :1]), 0),
    "triangular solve": (
        lambda x: lax.linalg.triangular_solve(x + 8 * x[:1, :1] * jnp.eye(6, dtype=x.dtype), x[:, :2], left_side=True),
        0,
    ),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SCALED)
def test_elements_of_extreme_sizes(dtype, name):
    function, power = SCALED[name]
    x = draw(dtype, 6, 6)
    x[0, 0] = 1
    exponents = (-110, -60, 60, 110) if dtype in ("float32", "complex64") else (-1000, -600, 600, 1000)
    expected = on("oxcall", function, x)
    for exponent in exponents:
        scale = np.array(2.0**exponent, x.real.dtype)
        found = on("oxcall", function, x * scale)
        near(found / scale if power else found, expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("left, lower, transposed, unit", [(1, 1, 0, 0), (1, 0, 1, 0), (0, 1, 1, 0), (0, 0, 0, 1)])
def test_triangular_systems_of_narrow_floats(dtype, left, lower, transposed, unit):
    rng = np.random.default_rng(0)
    a = (rng.standard_normal((2, 5, 5)) / 4 + 2 * np.eye(5)).astype(dtype)
    b = rng.standard_normal((2, 5, 3) if left else (2, 3, 5)).astype(dtype)
    solve = functools.partial(
        lax.linalg.triangular_solve,
        left_side=bool(left),
        lower=bool(lower),
        transpose_a=bool(transposed),
        unit_diagonal=bool(unit),
    )
    ours = on("oxcall", solve, a, b)
    exact = on("cpu", solve, a.astype(np.float64), b.astype(np.float64))
    assert ours.dtype == a.dtype
    # Computed in float32, and rounded once.
    np.testing.assert_array_equal(ours, exact.astype(np.float32).astype(dtype))


def positive(a):
    """A positive definite matrix."""
    return a @ a.T / len(a) + jnp.eye(len(a), dtype=a.dtype)


def from_eigenvectors(a):
    values, vectors = jnp.linalg.eigh(a + a.T)
    return (vectors * values) @ vectors.T, a + a.T


def from_singular_vectors(a):
    u, s, vt = jnp.linalg.svd(a)
    return (u * s) @ vt, a


def from_triangles(a):
    permutation, lower, upper = jax.scipy.linalg.lu(a)
    return permutation @ lower @ upper, a


def from_cholesky_factor(a):
    factor = jnp.linalg.cholesky(positive(a))
    return factor @ factor.T, positive(a)


def from_orthogonal(a):
    q, r = jnp.linalg.qr(a)
    return q @ r, a


def from_solution(a):
    return positive(a) @ jnp.linalg.solve(positive(a), a), a


# What factors are multiplied to, beside what they are factors of, and so many rows that several threads take part.
LARGE = {
    from_eigenvectors: 300,
    from_singular_vectors: 260,
    from_triangles: 900,
    from_cholesky_factor: 960,
    from_orthogonal: 700,
    from_solution: 900,
}


@pytest.mark.parametrize("function", LARGE)
def test_several_threads_factor_a_large_matrix(function):
    rows = LARGE[function]
    near(*on("oxcall", function, draw("float64", rows, rows, seed=rows)), factor=2e5)
    if len(os.sched_getaffinity(0)) > 1:
        names = [path.read_text() for path in pathlib.Path("/proc/self/task").glob("*/comm")]
        assert any(name.startswith("oxcall-linalg") for name in names), names
