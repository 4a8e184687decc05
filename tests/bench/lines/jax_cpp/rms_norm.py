"""Root-mean-square norm with a weight, in C++, for JAX.

`rms_norm` has reverse mode and `rms_norm_forward_mode` forward mode: one function cannot have both rules.
"""

# --- forward
import ctypes
import functools
import pathlib

import jax
import numpy as np

# --- sharding
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

# --- forward
library = ctypes.CDLL(str(pathlib.Path(__file__).with_name("librms_norm.so")))
jax.ffi.register_ffi_target("rms_norm", jax.ffi.pycapsule(library.RmsNorm), platform="cpu")


def call(x, w, eps):
    return jax.ffi.ffi_call("rms_norm", jax.ShapeDtypeStruct(x.shape, x.dtype))(x, w, eps=np.float32(eps))


# --- gradient
jax.ffi.register_ffi_target("rms_norm_vjp", jax.ffi.pycapsule(library.RmsNormVjp), platform="cpu")


def call_vjp(x, w, dy, eps):
    results = jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct(w.shape, w.dtype)
    return tuple(jax.ffi.ffi_call("rms_norm_vjp", results)(x, w, dy, eps=np.float32(eps)))


# --- tangent
jax.ffi.register_ffi_target("rms_norm_jvp", jax.ffi.pycapsule(library.RmsNormJvp), platform="cpu")


def call_jvp(x, w, tx, tw, eps):
    result = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.ffi.ffi_call("rms_norm_jvp", result)(x, w, tx, tw, eps=np.float32(eps))


# --- sharding
def split_rows(function, rule):
    """`function` on each device's rows; a second result is a sum over all rows."""

    def partition(eps, mesh, operands, results):
        rows = operands[0].sharding.spec
        axes = [name for axis in rows if axis for name in (axis if isinstance(axis, tuple) else (axis,))]

        def sharding(value):
            return NamedSharding(mesh, P() if len(value.shape) == 1 else rows)

        def each(*args):
            found = function(*args, eps)
            return (found[0], jax.lax.psum(found[1], axes)) if isinstance(found, tuple) else found

        return mesh, each, jax.tree.map(sharding, results), tuple(map(sharding, operands))

    split = custom_partitioning(function, static_argnums=(rule.split("->")[0].count(",") + 1,))
    split.def_partition(partition=partition, sharding_rule=rule, need_replication_factors=("n",))
    return split


call = split_rows(call, "... n, n -> ... n")
call_vjp = split_rows(call_vjp, "... n, n, ... n -> ... n, n")
call_jvp = split_rows(call_jvp, "... n, n, ... n, n -> ... n")


# --- vmap
def one_call(function, eps):
    """`function`, called once for a batch whose weight is not mapped."""
    mapped = jax.custom_batching.custom_vmap(lambda x, w: function(x, w, eps))

    @mapped.def_vmap
    def rule(_, is_mapped, x, w):
        if not is_mapped[1]:
            return mapped(x, w), True
        axes = [0 if flag else None for flag in is_mapped]
        return jax.vmap(jax.custom_batching.sequential_vmap(mapped), axes)(x, w), True

    return mapped


def sequential(function, eps):
    return jax.custom_batching.sequential_vmap(lambda *args: function(*args, eps))


# --- gradient
@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def rms_norm(x, w, eps=1e-5):
    return one_call(call, eps)(x, w)


def forward(x, w, eps):
    return rms_norm(x, w, eps), (x, w)


def backward(eps, residuals, dy):
    return sequential(call_vjp, eps)(*residuals, dy)


rms_norm.defvjp(forward, backward)


# --- tangent
@functools.partial(jax.custom_jvp, nondiff_argnums=(2,))
def rms_norm_forward_mode(x, w, eps=1e-5):
    return one_call(call, eps)(x, w)


@rms_norm_forward_mode.defjvp
def tangent(eps, primals, tangents):
    return rms_norm_forward_mode(*primals, eps), sequential(call_jvp, eps)(*primals, *tangents)
