"""Whether a module for JAX does what it claims: ``python check_jax.py FOLDER``.

The folder has `rms_norm.py`, and what that loads. Values are compared with the formula in `jax.numpy`, calls on four
devices with calls on one.
"""

import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
sys.path[:0] = [sys.argv[1], str(pathlib.Path(__file__).parents[2])]

import jax
import jax.numpy as jnp
import numpy as np
import rms_norm
import sharded

jax.config.update("jax_platforms", "cpu")

EPS = 1e-3


def formula(x, w):
    return w * x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + EPS)


def norm(x, w):
    return rms_norm.rms_norm(x, w, eps=EPS)


# One function of JAX's own cannot have both rules.
forward_mode = getattr(rms_norm, "rms_norm_forward_mode", None)


def tangent(function):
    return lambda x, w: jax.jvp(function, (x, w), (jnp.cos(x), jnp.sin(w)))


def pushed(x, w):
    return norm(x, w) if forward_mode is None else forward_mode(x, w, EPS)


def check(name, found, expected):
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5, err_msg=name)


x = np.random.default_rng(0).normal(size=(8, 16)).astype(np.float32)
w = np.random.default_rng(1).normal(size=16).astype(np.float32)
check("forward", jax.jit(norm)(x, w), formula(x, w))
check("gradient", jax.jit(jax.grad(sharded.loss(norm), (0, 1)))(x, w), jax.grad(sharded.loss(formula), (0, 1))(x, w))
check("tangent", jax.jit(tangent(pushed))(x, w), tangent(formula)(x, w))
for axes in ((0, None), (1, None)):
    batch = x.reshape(4, 2, 16)
    check("vmap", jax.jit(jax.vmap(norm, axes))(batch, w), jax.vmap(formula, axes)(batch, w))
    each = jax.vmap(jax.grad(sharded.loss(norm), (0, 1)), axes)
    check(
        "vmap of gradient", jax.jit(each)(batch, w), jax.vmap(jax.grad(sharded.loss(formula), (0, 1)), axes)(batch, w)
    )
for mesh in sharded.MESHES:
    for case in ("call", "gradient"):
        sharded.check(norm, mesh, case, 2e-5)
print("forward, gradient, tangent, vmap, sharding: as the formula")
