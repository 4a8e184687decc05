"""Linear algebra. Factors that are unique up to signs are compared by what they multiply to."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax import lax

from conformance import inputs
from conformance.cases import Case, family
from conformance.compare import Tolerance

_NEAR = Tolerance(
    512, of_largest=True, reason="another algorithm; errors grow with the size and condition of the matrix"
)
_DTYPES = ("float32", "float64", "complex64", "complex128")
_SHAPES = ((4, 4), (1, 1), (2, 3, 3), (13, 13), (0, 0), (33, 33))


def _positive(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    x = inputs.moderate(rng, dtype, shape)
    return (x @ np.conj(np.swapaxes(x, -1, -2)) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def _product(*factors):
    result = factors[0]
    for factor in factors[1:]:
        result = jnp.matmul(result, factor, precision="highest")
    return result


def _svd(x):
    u, s, v = jnp.linalg.svd(x, full_matrices=False)
    return s, _product(u * s[..., None, :], v)


def _eigh(x):
    w, v = jnp.linalg.eigh(x)
    return w, _product(v * w[..., None, :].astype(v.dtype), jnp.conj(jnp.swapaxes(v, -1, -2)))


def _qr(x):
    q, r = jnp.linalg.qr(x)
    return _product(q, r), _product(jnp.conj(jnp.swapaxes(q, -1, -2)), q)


def _lu(x):
    factors, pivots, permutation = lax.linalg.lu(x)
    return factors, pivots, permutation


def _eig(x):
    w, v = jnp.linalg.eig(x)
    return _product(x.astype(v.dtype), v) - v * w[..., None, :], jnp.sort(jnp.abs(w))


def _schur(x):
    t, z = jsl.schur(x)
    return _product(z, t, jnp.conj(z.T))


@family
def factorisations(rng: np.random.Generator) -> Iterator[Case]:
    """Decompositions and solvers."""
    square = {
        "cholesky": (jnp.linalg.cholesky, _positive),
        "lu": (_lu, inputs.moderate),
        "qr": (_qr, inputs.moderate),
        "svd": (_svd, inputs.moderate),
        "eigh": (_eigh, _positive),
        "det": (jnp.linalg.det, inputs.moderate),
        "solve": (lambda x: jnp.linalg.solve(x, x[..., :1] + 1), _positive),
        "inv": (jnp.linalg.inv, _positive),
    }
    for op, (function, make) in square.items():
        for dtype in _DTYPES:
            for shape in _SHAPES:
                yield Case(op, dtype, f"{shape}", function, [make(rng, dtype, shape)], _NEAR)
    for dtype in _DTYPES:
        for shape in ((7, 3), (3, 7), (2, 5, 4), (1, 6), (20, 11)):
            x = inputs.moderate(rng, dtype, shape)
            yield Case("qr", dtype, f"{shape}", _qr, [x], _NEAR)
            yield Case("svd", dtype, f"{shape}", _svd, [x], _NEAR)
            yield Case("pinv", dtype, f"{shape}", jnp.linalg.pinv, [x], _NEAR)
            yield Case("lu", dtype, f"{shape}", lambda x: lax.linalg.lu(x)[::2], [x], _NEAR)
        for shape in ((3, 3), (1, 1), (8, 8), (5, 5), (12, 12)):
            x = inputs.moderate(rng, dtype, shape)
            yield Case("schur", dtype, f"{shape}", _schur, [x], _NEAR)
            yield Case("eig", dtype, f"{shape}", lambda x: _eig(x)[1], [x], _NEAR)
            yield Case("expm", dtype, f"{shape}", jsl.expm, [x / 4], _NEAR)
            yield Case(
                "hessenberg",
                dtype,
                f"{shape}",
                lambda x: (lambda h, q: _product(q, h, jnp.conj(q.T)))(*jsl.hessenberg(x, calc_q=True)),
                [x],
                _NEAR,
            )
            yield Case(
                "tridiagonal", dtype, f"{shape}", lambda x: lax.linalg.tridiagonal(x @ jnp.conj(x.T))[1], [x], _NEAR
            )
        yield Case("cholesky", dtype, "not positive", jnp.linalg.cholesky, [-_positive(rng, dtype, (3, 3))])


@family
def triangular_solve(rng: np.random.Generator) -> Iterator[Case]:
    """Every side and transposition."""
    for dtype in _DTYPES:
        a, b = _positive(rng, dtype, (2, 5, 5)), inputs.moderate(rng, dtype, (2, 5, 3))
        for left in (False, True):
            for lower in (False, True):
                for transpose in (0, 1, 2):
                    for unit in (False, True):

                        def solve(a, b, left=left, lower=lower, transpose=transpose, unit=unit):
                            b = b if left else jnp.swapaxes(b, -1, -2)
                            return lax.linalg.triangular_solve(
                                a,
                                b,
                                left_side=left,
                                lower=lower,
                                transpose_a=transpose > 0,
                                conjugate_a=transpose == 2,
                                unit_diagonal=unit,
                            )

                        yield Case(
                            "triangular_solve", dtype, f"{left} {lower} {transpose} {unit}", solve, [a / 5, b], _NEAR
                        )
        yield Case(
            "triangular_solve",
            dtype,
            "gradient",
            jax.grad(lambda a: jnp.abs(jsl.solve_triangular(a, jnp.ones_like(a[:, 0]), lower=True)).sum()),
            [a[0]],
            _NEAR,
        )
