"""Linear algebra: every function of jnp.linalg, jax.scipy.linalg and lax.linalg, and the ops of StableHLO.

Factors that are unique up to signs or order are compared by what they multiply to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax import lax

from conformance import inputs
from conformance.cases import Case, family
from conformance.compare import EXACT, Tolerance
from conformance.modules import single, tensor

_NEAR = Tolerance(
    512, of_largest=True, reason="another algorithm; errors grow with the size and condition of the matrix"
)
_DTYPES = ("float32", "float64", "complex64", "complex128")
_REAL = ("float32", "float64")
_SQUARE = ((4, 4), (1, 1), (2, 3, 3), (13, 13), (0, 0), (33, 33))
_SMALL = ((3, 3), (1, 1), (8, 8), (5, 5), (12, 12))
_TALL = ((7, 3), (2, 5, 4), (20, 11), (4, 4), (6, 1), (3, 0))
_ANY = (*_TALL, (3, 7), (1, 6))
_VECTORS = ((5,), (1,), (2,), (7,), (11,))
_SIZES = (1, 2, 3, 4, 8)
# Of complex128, XLA:CPU is 9.8e-14 of the largest element off the exact function of 8 x 8, and the plugin 5.3e-14.
_RECURRENCE = Tolerance(
    2048, of_largest=True, reason="Parlett's recurrence divides by differences of eigenvalues, on both sides"
)

Make = Callable[[np.random.Generator, str, tuple[int, ...]], np.ndarray]


def positive(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Positive definite matrices, far from singular."""
    x = inputs.moderate(rng, dtype, shape)
    return (x @ np.conj(np.swapaxes(x, -1, -2)) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def _triangle(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    return np.tril(positive(rng, dtype, shape)) / shape[-1]


def _quarter(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    return (inputs.moderate(rng, dtype, shape) / 4).astype(dtype)


def _adjoint(x: Any) -> Any:
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def product(*factors: Any) -> Any:
    """The matrix product of all, as precisely as there is."""
    result = factors[0]
    for factor in factors[1:]:
        result = jnp.matmul(result, factor.astype(result.dtype), precision="highest")
    return result


def _of_svd(u: Any, s: Any, v: Any) -> Any:
    return s, product(u * s[..., None, :].astype(u.dtype), v)


def _of_eigh(w: Any, v: Any) -> Any:
    return w, product(v * w[..., None, :].astype(v.dtype), _adjoint(v))


def _of_qr(q: Any, r: Any) -> Any:
    return product(q, r), product(_adjoint(q), q)


def _sorted(w: Any) -> Any:
    return jnp.sort(jnp.abs(w))


def _residual(x: Any, w: Any, v: Any) -> Any:
    """The eigenvalues by size, and how well the vectors belong to them, as a number near 1."""
    return _sorted(w), 1 + jnp.abs(product(x.astype(v.dtype), v) - v * w[..., None, :]).max(initial=0.0)


def _of_schur(t: Any, z: Any) -> Any:
    return product(z, t, _adjoint(z)), product(_adjoint(z), z)


def _rank_one(x: Any) -> Any:
    return x + x[..., :1] @ jnp.conj(jnp.swapaxes(x[..., :1], -1, -2))


_solved = lambda x: jnp.ones((*x.shape[:-1], 2), x.dtype) + x[..., :1]  # noqa: E731

# Of each function: programs of one array, what makes the array, its shapes, and the dtypes.
NUMPY: dict[str, tuple[Callable[..., Any], Make, tuple[tuple[int, ...], ...], tuple[str, ...]]] = {
    "cholesky": (jnp.linalg.cholesky, positive, _SQUARE, _DTYPES),
    "cond": (jnp.linalg.cond, positive, _SMALL, _DTYPES),
    "cross": (
        lambda x: jnp.linalg.cross(x, x[::-1]),
        inputs.moderate,
        ((4, 3), (1, 3), (7, 3), (0, 3), (2, 5, 3)),
        _DTYPES,
    ),
    "det": (jnp.linalg.det, inputs.moderate, _SQUARE, _DTYPES),
    "diagonal": (jnp.linalg.diagonal, inputs.moderate, _ANY, _DTYPES),
    "eig": (lambda x: _residual(x, *jnp.linalg.eig(x)), inputs.moderate, _SMALL, _DTYPES),
    "eigh": (lambda x: _of_eigh(*jnp.linalg.eigh(x)), positive, _SQUARE, _DTYPES),
    "eigvals": (lambda x: _sorted(jnp.linalg.eigvals(x)), inputs.moderate, _SMALL, _DTYPES),
    "eigvalsh": (jnp.linalg.eigvalsh, positive, _SQUARE, _DTYPES),
    "inv": (jnp.linalg.inv, positive, _SQUARE, _DTYPES),
    "lstsq": (
        lambda x: jnp.linalg.lstsq(x, x[:, :1] + 1)[0],
        inputs.moderate,
        ((7, 3), (3, 7), (4, 4), (20, 11), (6, 1)),
        _DTYPES,
    ),
    "matmul": (lambda x: jnp.linalg.matmul(x, jnp.swapaxes(x, -1, -2)), inputs.moderate, _ANY, _DTYPES),
    "matrix_norm": (jnp.linalg.matrix_norm, inputs.moderate, _ANY, _DTYPES),
    "matrix_power": (
        lambda x: (jnp.linalg.matrix_power(x, 3), jnp.linalg.matrix_power(x, -2)),
        positive,
        _SMALL,
        _DTYPES,
    ),
    "matrix_rank": (jnp.linalg.matrix_rank, inputs.moderate, ((7, 3), (3, 7), (4, 4), (20, 11), (6, 1)), _DTYPES),
    "matrix_transpose": (jnp.linalg.matrix_transpose, inputs.moderate, _ANY, _DTYPES),
    "multi_dot": (
        lambda x: jnp.linalg.multi_dot([x, x.T, x]),
        inputs.moderate,
        ((7, 3), (3, 7), (4, 4), (20, 11), (6, 1)),
        _DTYPES,
    ),
    "norm": (lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, 1, axis=-1)), inputs.moderate, _ANY, _DTYPES),
    "outer": (lambda x: jnp.linalg.outer(x, x + 1), inputs.moderate, (*_VECTORS, (0,)), _DTYPES),
    "pinv": (jnp.linalg.pinv, inputs.moderate, _ANY[:5] + _ANY[6:], _DTYPES),
    "qr": (lambda x: _of_qr(*jnp.linalg.qr(x)), inputs.moderate, _ANY, _DTYPES),
    "slogdet": (jnp.linalg.slogdet, inputs.moderate, _SQUARE, _DTYPES),
    "solve": (lambda x: jnp.linalg.solve(x, _solved(x)), positive, _SQUARE[:4] + _SQUARE[5:], _DTYPES),
    "svd": (lambda x: _of_svd(*jnp.linalg.svd(x, full_matrices=False)), inputs.moderate, _ANY, _DTYPES),
    "svdvals": (jnp.linalg.svdvals, inputs.moderate, _ANY, _DTYPES),
    "tensordot": (lambda x: jnp.linalg.tensordot(x, x, axes=((0,), (0,))), inputs.moderate, _ANY, _DTYPES),
    "tensorinv": (lambda x: jnp.linalg.tensorinv(x.reshape(x.shape[0], 1, x.shape[1]), 1), positive, _SMALL, _DTYPES),
    "tensorsolve": (lambda x: jnp.linalg.tensorsolve(x, x[0] + 1), positive, _SMALL, _DTYPES),
    "trace": (jnp.linalg.trace, inputs.moderate, _ANY, _DTYPES),
    "vecdot": (lambda x: jnp.linalg.vecdot(x, x + 1), inputs.moderate, _ANY, _DTYPES),
    "vector_norm": (
        lambda x: (jnp.linalg.vector_norm(x), jnp.linalg.vector_norm(x, ord=3)),
        inputs.moderate,
        _TALL[:5],
        _DTYPES,
    ),
}

SCIPY = {
    "block_diag": (lambda x: jsl.block_diag(x, x[:1], x.T), inputs.moderate, _SMALL, _DTYPES),
    "cho_factor": (lambda x: jnp.tril(jsl.cho_factor(x, lower=True)[0]), positive, _SMALL, _DTYPES),
    "cho_solve": (lambda x: jsl.cho_solve(jsl.cho_factor(x), _solved(x)), positive, _SMALL, _DTYPES),
    "cholesky": (jsl.cholesky, positive, _SMALL, _DTYPES),
    "circulant": (jsl.circulant, inputs.moderate, _VECTORS, _DTYPES),
    "companion": (lambda x: jsl.companion(x + 1), inputs.moderate, ((5,), (3,), (2,), (7,), (11,)), _DTYPES),
    "convolution_matrix": (lambda x: jsl.convolution_matrix(x, 4), inputs.moderate, _VECTORS, _DTYPES),
    "det": (jsl.det, inputs.moderate, _SMALL, _DTYPES),
    "eigh": (lambda x: _of_eigh(*jsl.eigh(x)), positive, _SMALL, _DTYPES),
    "eigh_tridiagonal": (
        lambda x: jsl.eigh_tridiagonal(x, x[1:] * 0.5 + 0.1, eigvals_only=True),
        inputs.moderate,
        ((5,), (3,), (2,), (7,), (11,)),
        _REAL,
    ),
    "expm": (jsl.expm, _quarter, _SMALL, _DTYPES),
    "expm_frechet": (lambda x: jsl.expm_frechet(x, x.T), _quarter, _SMALL, _REAL),
    "fiedler": (jsl.fiedler, inputs.moderate, _VECTORS, _REAL),
    "fiedler_companion": (
        lambda x: jsl.fiedler_companion(x + 3),
        inputs.moderate,
        ((5,), (3,), (2,), (7,), (11,)),
        _REAL,
    ),
    "funm": (
        lambda x: jsl.funm(x, jnp.cos, disp=False)[0],
        positive,
        ((3, 3), (2, 2), (8, 8), (5, 5), (4, 4)),
        _DTYPES,
    ),
    "hankel": (lambda x: jsl.hankel(x, x[::-1]), inputs.moderate, _VECTORS, _DTYPES),
    "hessenberg": (
        lambda x: (lambda h, q: (product(q, h, _adjoint(q)), product(_adjoint(q), q)))(*jsl.hessenberg(x, calc_q=True)),
        inputs.moderate,
        _SMALL,
        _DTYPES,
    ),
    "inv": (jsl.inv, positive, _SMALL, _DTYPES),
    "leslie": (lambda x: jsl.leslie(x, x[1:]), inputs.moderate, ((5,), (3,), (2,), (7,), (11,)), _REAL),
    "lu": (jsl.lu, inputs.moderate, _SMALL, _DTYPES),
    "lu_factor": (jsl.lu_factor, inputs.moderate, _SMALL, _DTYPES),
    "lu_solve": (lambda x: jsl.lu_solve(jsl.lu_factor(x), _solved(x)), positive, _SMALL, _DTYPES),
    "polar": (jsl.polar, positive, _SMALL, _DTYPES),
    "qr": (lambda x: _of_qr(*jsl.qr(x, mode="economic")), inputs.moderate, _SMALL, _DTYPES),
    "qr_multiply": (lambda x: jnp.abs(jsl.qr_multiply(x, jnp.ones_like(x))[0]), inputs.moderate, _SMALL, _DTYPES),
    "rsf2csf": (lambda x: _of_schur(*jsl.rsf2csf(*jsl.schur(x))), inputs.moderate, _SMALL, _REAL),
    "schur": (lambda x: _of_schur(*jsl.schur(x)), inputs.moderate, _SMALL, _DTYPES),
    "solve": (lambda x: jsl.solve(x, _solved(x)), positive, _SMALL, _DTYPES),
    "solve_sylvester": (
        lambda x: jsl.solve_sylvester(x, x + jnp.eye(x.shape[0], dtype=x.dtype), x.T),
        positive,
        _SMALL,
        _DTYPES,
    ),
    "solve_triangular": (lambda x: jsl.solve_triangular(x, _solved(x), lower=True), _triangle, _SMALL, _DTYPES),
    "sqrtm": (jsl.sqrtm, positive, _SMALL, _DTYPES),
    "svd": (lambda x: _of_svd(*jsl.svd(x, full_matrices=False)), inputs.moderate, _SMALL, _DTYPES),
    "toeplitz": (lambda x: jsl.toeplitz(x, x + 1), inputs.moderate, _VECTORS, _DTYPES),
}

# Functions of a size instead.
SCIPY_SIZES = {
    "dft": lambda n: jsl.dft(n),
    "hadamard": lambda n: jsl.hadamard(1 << (n // 2)),
    "helmert": lambda n: jsl.helmert(n + 1),
    "hilbert": lambda n: jsl.hilbert(n),
    "invhilbert": lambda n: jsl.invhilbert(n),
    "invpascal": lambda n: jsl.invpascal(n),
    "pascal": lambda n: jsl.pascal(n),
}

LAX = {
    "cholesky": (lax.linalg.cholesky, positive, _SQUARE, _DTYPES),
    "cholesky_update": (
        lambda x: lax.linalg.cholesky_update(jnp.linalg.cholesky(x).T, x[0] / 4),
        positive,
        _SMALL,
        _REAL,
    ),
    "eig": (
        lambda x: _residual(x, *lax.linalg.eig(x, compute_left_eigenvectors=False)),
        inputs.moderate,
        _SMALL,
        _DTYPES,
    ),
    "eigh": (lambda x: _of_eigh(*lax.linalg.eigh(x)[::-1]), positive, _SQUARE, _DTYPES),
    "hessenberg": (lambda x: lax.linalg.hessenberg(x), inputs.moderate, _SMALL, _DTYPES),
    "householder_product": (
        lambda x: lax.linalg.householder_product(x, x[..., 0, :] / 8),
        inputs.moderate,
        _TALL[:4],
        _DTYPES,
    ),
    "lu": (lax.linalg.lu, inputs.moderate, _SQUARE, _DTYPES),
    "lu_pivots_to_permutation": (
        lambda x: lax.linalg.lu_pivots_to_permutation(lax.linalg.lu(x)[1], x.shape[-1] + 1),
        inputs.moderate,
        _SMALL,
        _DTYPES,
    ),
    "ormqr": (lambda x: lax.linalg.ormqr(x, x[..., 0, :] / 8, jnp.ones_like(x)), inputs.moderate, _TALL[:4], _DTYPES),
    "qdwh": (lambda x: lax.linalg.qdwh(x)[:2], positive, _SMALL, _DTYPES),
    "qr": (lambda x: _of_qr(*lax.linalg.qr(x, full_matrices=False)), inputs.moderate, _ANY, _DTYPES),
    "schur": (lambda x: _of_schur(*lax.linalg.schur(x)), inputs.moderate, _SMALL, _DTYPES),
    "svd": (
        lambda x: (lambda u, s, v: _of_svd(u[..., : s.shape[-1]], s, v[..., : s.shape[-1], :]))(*lax.linalg.svd(x)),
        inputs.moderate,
        _ANY,
        _DTYPES,
    ),
    "symmetric_product": (
        lambda x: lax.linalg.symmetric_product(x, x @ x.T, alpha=0.5, beta=2.0),
        inputs.moderate,
        _SMALL,
        _REAL,
    ),
    "tridiagonal": (lambda x: lax.linalg.tridiagonal(x)[1:3], positive, _SMALL, _DTYPES),
    "tridiagonal_solve": (
        lambda x: lax.linalg.tridiagonal_solve(x, x + 4, x, x[:, None]),
        _quarter,
        ((5,), (3,), (2,), (7,), (11,)),
        _DTYPES,
    ),
}


def _cases(rng: np.random.Generator, name: str, table: dict[str, Any]) -> Iterator[Case]:
    for op, (function, make, shapes, dtypes) in table.items():
        for dtype in dtypes:
            for shape in shapes:
                near = _RECURRENCE if op == "funm" else _NEAR
                yield Case(f"{name}.{op}", dtype, f"{shape}", function, [make(rng, dtype, shape)], near)


@family
def numpy_linalg(rng: np.random.Generator) -> Iterator[Case]:
    """jnp.linalg."""
    yield from _cases(rng, "jnp.linalg", NUMPY)
    for dtype in _DTYPES:
        label, x = "not positive", -positive(rng, dtype, (3, 3))
        yield Case("jnp.linalg.cholesky", dtype, label, jnp.linalg.cholesky, [x])


@family
def scipy_linalg(rng: np.random.Generator) -> Iterator[Case]:
    """jax.scipy.linalg."""
    yield from _cases(rng, "jax.scipy.linalg", SCIPY)
    for op, function in SCIPY_SIZES.items():
        for size in _SIZES:
            yield Case(f"jax.scipy.linalg.{op}", "float64", f"{size}", lambda n=size, f=function: f(n), [], _NEAR)


@family
def lax_linalg(rng: np.random.Generator) -> Iterator[Case]:
    """jax.lax.linalg."""
    yield from _cases(rng, "lax.linalg", LAX)
    for dtype in _DTYPES:
        for shape in ((9, 2), (5, 5)):
            x = inputs.moderate(rng, dtype, shape)
            for op in ("householder_product", "ormqr"):
                yield Case(f"lax.linalg.{op}", dtype, f"{shape}", LAX[op][0], [x], _NEAR)
        a, b = positive(rng, dtype, (2, 5, 5)), inputs.moderate(rng, dtype, (2, 5, 3))
        for left, lower, transpose, unit in _ways():

            def solve(a, b, left=left, lower=lower, transpose=transpose, unit=unit):
                return lax.linalg.triangular_solve(
                    a,
                    b if left else jnp.swapaxes(b, -1, -2),
                    left_side=left,
                    lower=lower,
                    transpose_a=transpose != "NO_TRANSPOSE",
                    conjugate_a=transpose == "ADJOINT",
                    unit_diagonal=unit,
                )

            label = f"left {left}, lower {lower}, {transpose}, unit {unit}"
            yield Case("lax.linalg.triangular_solve", dtype, label, solve, [a / 5, b], _NEAR)
        gradient = jax.grad(lambda a: jnp.abs(jsl.solve_triangular(a, jnp.ones_like(a[:, 0]), lower=True)).sum())
        yield Case("lax.linalg.triangular_solve", dtype, "gradient", gradient, [a[0]], _NEAR)


def _ways() -> Iterator[tuple[bool, bool, str, bool]]:
    for left in (False, True):
        for lower in (False, True):
            for transpose in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
                for unit in (False, True):
                    yield left, lower, transpose, unit


@family
def triangular(rng: np.random.Generator) -> Iterator[Case]:
    """`cholesky` and `triangular_solve` themselves: JAX lowers its functions to custom calls on a CPU."""
    for dtype in _DTYPES:
        for shape in (*_SQUARE, (2, 1, 5, 5)):
            for lower in (True, False):
                x, of = positive(rng, dtype, shape), tensor(dtype, shape)
                inner = single("stablehlo.cholesky", [of], [of], f"lower = {str(lower).lower()}")
                half = lambda x, inner=inner, lower=lower: jnp.tril(inner(x)) if lower else jnp.triu(inner(x))  # noqa: E731
                yield Case("cholesky", dtype, f"{shape} lower {lower}", half, [x], _NEAR)
        for left, lower, transpose, unit in _ways():
            for shape in ((2, 5, 5), (1, 1), (0, 0)) if transpose == "NO_TRANSPOSE" else ((3, 3),):
                a = (positive(rng, dtype, shape) / max(shape[-1], 1)).astype(dtype)
                other = (*shape[:-1], 3) if left else (*shape[:-2], 3, shape[-1])
                b, types = inputs.moderate(rng, dtype, other), (tensor(dtype, shape), tensor(dtype, other))
                flags = {"left_side": left, "lower": lower, "unit_diagonal": unit}
                attributes = ", ".join(f"{name} = {str(value).lower()}" for name, value in flags.items())
                attributes += f", transpose_a = #stablehlo<transpose {transpose}>"
                function = single("stablehlo.triangular_solve", types, types[1:], attributes)
                label = f"{shape} left {left}, lower {lower}, {transpose}, unit {unit}"
                near = _NEAR if shape != (0, 0) else EXACT
                yield Case("triangular_solve", dtype, label, function, [a, b], near)
