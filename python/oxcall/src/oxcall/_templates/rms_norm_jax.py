"""The ops through JAX."""

import jax
import jax.numpy as jnp
import my_ops
import numpy as np
import pytest
from oxcall import CallError
from oxcall.testing import check_op

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


def reference(x, eps=1e-5):
    return x / jnp.sqrt(jnp.mean(jnp.square(x), axis=-1, keepdims=True) + eps)


@pytest.mark.parametrize("transform", [lambda f: f, jax.jit, jax.vmap])
def test_values(transform):
    np.testing.assert_allclose(transform(my_ops.rms_norm)(X), reference(X), rtol=1e-5)


def test_gradient():
    gradient, expected = (jax.grad(lambda x, f=f: (f(x) ** 3).sum())(X) for f in (my_ops.rms_norm, reference))
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)


def test_declarations():
    check_op(my_ops.rms_norm, X, eps=1e-3)


def test_mistakes():
    with pytest.raises(CallError, match="unexpected attribute `epsilon`"):
        my_ops.rms_norm(X, epsilon=1e-3)
