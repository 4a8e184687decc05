"""Exported programs: linear algebra without calls that JAX does not know, and shapes with symbolic sizes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

POSITIVE = np.asarray([[5, 1, 0], [1, 4, 2], [0, 2, 3]], np.float32)


@pytest.mark.parametrize(
    "f", [jnp.linalg.solve, jnp.linalg.inv, jnp.linalg.det, jnp.linalg.cholesky, jax.scipy.linalg.expm]
)
def test_linear_algebra_can_be_exported(f):
    g = (lambda a: f(a, a)) if f is jnp.linalg.solve else f
    exported = export.deserialize(export.export(jax.jit(g))(POSITIVE).serialize())
    np.testing.assert_allclose(exported.call(POSITIVE), g(POSITIVE), rtol=1e-4, atol=1e-5)


A = np.random.RandomState(0).randn(3, 4).astype(np.float32)

SYMBOLIC = {
    "sum": lambda x: x.sum(0),
    "reshape": lambda x: x.reshape(-1),
    "iota": lambda x: jnp.arange(x.shape[0] * 2) + x.shape[1],
    "matmul": lambda x: x @ x.T,
    "pad": lambda x: jnp.pad(x, ((1, 2), (0, 0))),
    "gather": lambda x: x[jnp.array([0, -1])],
    "scatter": lambda x: jnp.asarray(x).at[-1].set(5.0),
    "sort": lambda x: jnp.sort(x, 0),
    "argmax": lambda x: jnp.argmax(x, 1),
    "cumsum": lambda x: lax.cumsum(x, axis=1, reverse=True),
    "window": lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 2), (1, 1), "SAME"),
    "scan": lambda x: lax.scan(lambda c, row: (c + row, c * row), jnp.zeros(x.shape[1]), x),
    "grad": lambda x: jax.grad(lambda x: (jnp.sin(x) ** 2).sum())(x),
    "cholesky": lambda x: jnp.linalg.cholesky(x.T @ x + jnp.eye(x.shape[1])),
    "eigh": lambda x: jnp.linalg.eigvalsh(x.T @ x),
    "random": lambda x: jax.random.uniform(jax.random.key(0), x.shape),
    "attention": lambda x: jax.nn.softmax(x @ x.T) @ x,
}


@pytest.mark.parametrize("name", SYMBOLIC)
def test_exported_programs_take_any_sizes(name):
    f = SYMBOLIC[name]
    sizes = jax.ShapeDtypeStruct(export.symbolic_shape("a, b"), np.float32)
    exported = export.deserialize(export.export(jax.jit(f))(sizes).serialize())
    for x in (A, A[:2, 1:]):
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, 2e-4, 2e-4), exported.call(x), f(x))


def test_sizes_that_do_not_fit_are_errors():
    same = (jax.ShapeDtypeStruct(export.symbolic_shape("a"), np.float32),) * 2
    exported = export.export(jax.jit(jnp.add))(*same)
    with pytest.raises(ValueError, match="inconsistency between dimension size"):
        exported.call(np.ones(3, np.float32), np.ones(4, np.float32))
    even = export.export(jax.jit(lambda x: x))(jax.ShapeDtypeStruct(export.symbolic_shape("2*a"), np.float32))
    with pytest.raises(ValueError, match="Division had remainder 1"):
        even.call(np.ones(5, np.float32))
