"""The ops through JAX."""

import jax
import jax.numpy as jnp
import my_ops
import numpy as np
import pytest
from oxcall.testing import check_op

X = np.random.default_rng(0).normal(size=(3, 9)).astype(np.float32)


def reference(x, taps):
    weights = jnp.sin(jnp.pi * jnp.arange(1, taps + 1) / (taps + 1)) ** 2
    return jnp.apply_along_axis(lambda row: jnp.convolve(row, weights / weights.sum(), mode="valid"), -1, x)


@pytest.mark.parametrize("taps", [1, 4, 9])
def test_values(taps):
    smooth = jax.jit(my_ops.smooth, static_argnames="taps")
    np.testing.assert_allclose(smooth(X, taps=taps), reference(X, taps), rtol=1e-4, atol=1e-6)


def test_gradient():
    gradient, expected = (jax.grad(lambda x, f=f: (f(x, taps=4) ** 2).sum())(X) for f in (my_ops.smooth, reference))
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)


def test_declarations():
    check_op(my_ops.smooth, X, taps=3)


def test_mistakes():
    with pytest.raises(Exception, match="attribute `taps` is 0, expected at least 1"):
        my_ops.smooth(X, taps=0)
