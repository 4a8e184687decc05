"""Ops against formulas of jax.numpy: transforms, and how near results are."""

import jax
import jax.numpy as jnp
import numpy as np


def close(found, expected, tolerance=1e-12):
    found, expected = (jax.tree.leaves(values) for values in (found, expected))
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def loss(function):
    return lambda *args: sum(jnp.sum(jnp.sin(leaf)) for leaf in jax.tree.leaves(function(*args)))


def directions(args):
    return tuple(jnp.cos(arg + index) for index, arg in enumerate(args))


def all_of(n):
    return tuple(range(n))


TRANSFORMS = {
    "value": lambda f, n: f,
    "grad": lambda f, n: jax.grad(loss(f), all_of(n)),
    "jvp": lambda f, n: lambda *args: jax.jvp(f, args, directions(args)),
    "vmap of grad": lambda f, n: jax.vmap(jax.grad(loss(f), all_of(n))),
    "forward over reverse": lambda f, n: lambda *args: jax.jvp(jax.grad(loss(f), all_of(n)), args, directions(args))[1],
    "reverse over reverse": lambda f, n: jax.grad(loss(jax.grad(loss(f), all_of(n))), all_of(n)),
    "forward over forward": lambda f, n: (
        lambda *args: jax.jvp(lambda *args: jax.jvp(f, args, directions(args))[1], args, directions(args))[1]
    ),
    "reverse over forward": lambda f, n: jax.grad(loss(lambda *args: jax.jvp(f, args, directions(args))[1]), all_of(n)),
    "hessian of rows": lambda f, n: jax.vmap(jax.hessian(loss(f), all_of(n))),
}


def check_transform(make, op, formula, args):
    """A transform of an op, eagerly and compiled, against that of the formula."""
    expected = make(formula, len(args))(*args)
    close(make(op, len(args))(*args), expected)
    close(jax.jit(make(op, len(args)))(*args), expected)
