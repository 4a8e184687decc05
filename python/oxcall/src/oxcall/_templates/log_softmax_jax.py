"""The ops through JAX, on a GPU too where there is one."""

import jax
import jax.numpy as jnp
import my_ops
import numpy as np
import pytest
from oxcall.testing import check_op

X = np.random.default_rng(0).normal(size=(3, 40)).astype(np.float32)


def devices():
    try:
        return [*jax.devices("cpu")[:1], *jax.devices("gpu")[:1]]
    except RuntimeError:  # there is no GPU
        return jax.devices("cpu")[:1]


@pytest.fixture(params=devices(), ids=str)
def x(request):
    return jax.device_put(X, request.param)


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit, jax.vmap])
def test_values(transform, x):
    np.testing.assert_allclose(transform(my_ops.log_softmax)(x), jax.nn.log_softmax(X), rtol=1e-5, atol=1e-6)


def test_gradient(x):
    functions = (my_ops.log_softmax, jax.nn.log_softmax)
    gradient, expected = (jax.grad(lambda x, f=f: (f(x) ** 2).sum())(x) for f in functions)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-4)


def test_declarations():
    check_op(my_ops.log_softmax, X)


def test_mistakes():
    with pytest.raises(Exception, match="argument `dy` has shape"):
        my_ops.log_softmax_vjp(X, jnp.ones(3))
