"""The ops through JAX."""

import jax
import jax.numpy as jnp
import my_ops
import numpy as np
import pytest
from oxcall import CallError
from oxcall.testing import check_op

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


def reference(x, beta=1.0):
    return jnp.logaddexp(beta * x, 0.0) / beta


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit, jax.vmap])
def test_values(transform):
    np.testing.assert_allclose(transform(my_ops.softplus)(X), reference(X), rtol=1e-5)


@pytest.mark.parametrize("derivative", [jax.grad, jax.hessian])
def test_derivatives(derivative):
    functions = (my_ops.softplus, reference)
    found, expected = (derivative(lambda x, f=f: (f(x, beta=2.0) ** 2).sum())(X) for f in functions)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_declarations():
    check_op(my_ops.softplus, X, beta=2.0)


def test_mistakes():
    with pytest.raises(CallError, match="unexpected attribute `bet`"):
        my_ops.softplus(X, bet=2.0)
