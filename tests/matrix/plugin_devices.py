"""Checks of the plugin with four devices, beside stock JAX with as many, and of what leaves a device.

They are a process of their own, since the number of devices is a process's.
"""

import os

os.environ["OXCALL_NUM_DEVICES"] = "4"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import functools

import checks
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

try:
    from jax import shard_map as jax_shard_map
except ImportError:  # before jax 0.8
    from jax.experimental.shard_map import shard_map as jax_shard_map

P = PartitionSpec
X = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)


def parts(array):
    """The parts of an array by the places of their devices in the mesh."""
    shards = sorted(array.addressable_shards, key=lambda shard: shard.device.id)
    return [(shard.index, np.asarray(shard.data)) for shard in shards]


def same(run):
    """Checks that ``run``, given a mesh of 2 x 2 devices, gives the same parts on both platforms."""
    results = []
    for platform in ("oxcall", "cpu"):
        mesh = Mesh(np.array(jax.devices(platform)).reshape(2, 2), ("x", "y"))
        results.append([parts(leaf) for leaf in jax.tree_util.tree_leaves(run(mesh))])
    for ours, expected in zip(*results, strict=True):
        for (index, a), (expected_index, b) in zip(ours, expected, strict=True):
            assert index == expected_index, (index, expected_index)
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def pmap():
    def run(mesh):
        devices = list(mesh.devices.flat)
        f = jax.pmap(lambda x: x + jax.lax.psum(x, "i"), axis_name="i", devices=devices)
        return f(jnp.arange(4))

    same(run)
    f = jax.pmap(lambda x: x + jax.lax.psum(x, "i"), axis_name="i", devices=jax.devices("oxcall"))
    assert np.asarray(f(np.arange(4))).tolist() == [6, 7, 8, 9]


def shard_map():
    def body(x):
        along = jax.lax.all_gather(x, "x", axis=0, tiled=True)
        turned = jax.lax.ppermute(x, "y", [(0, 1), (1, 0)])
        return jax.lax.psum_scatter(along, "x", tiled=True) + turned + jax.lax.pmax(x, "y")

    def run(mesh):
        x = jax.device_put(X, NamedSharding(mesh, P("x", "y")))
        f = functools.partial(jax_shard_map, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(body)
        return jax.jit(f)(x), jax.jit(lambda x: jnp.tanh(f(x * 2)) @ x)(x)

    same(run)


def started_collectives():
    """Collectives that are started and waited for: ops of StableHLO or custom calls, by the version of JAX."""
    parallel = jax._src.lax.parallel
    if jax.__version_info__ < (0, 10):  # they are missing, or not implemented
        return

    def started(x):
        futures = [
            parallel.all_gather_start(x, "x", tiled=True),
            parallel.psum_scatter_start(x, "y", tiled=True),
            parallel.all_to_all_start(x, "y", 0, 1, tiled=True),
            parallel.ppermute_start(x, "x", [(0, 1), (1, 0)]),
        ]
        return tuple(future.done() for future in futures)

    def at_once(x):
        return (
            jax.lax.all_gather(x, "x", tiled=True),
            jax.lax.psum_scatter(x, "y", tiled=True),
            jax.lax.all_to_all(x, "y", 0, 1, tiled=True),
            jax.lax.ppermute(x, "x", [(0, 1), (1, 0)]),
        )

    def run(mesh):
        # JAX 0.10's CPU compiles none that are started.
        body = at_once if mesh.devices.flat[0].platform == "cpu" else started
        x = jax.device_put(X, NamedSharding(mesh, P("x", "y")))
        specs = {"in_specs": P("x", "y"), "out_specs": (P("x", "y"),) * 4, "check_vma": False}
        return jax.jit(jax_shard_map(body, mesh=mesh, **specs))(x)

    same(run)


def sharded_jit():
    def run(mesh):
        x = jax.device_put(X, NamedSharding(mesh, P("x", None)))
        y = jax.device_put(X, NamedSharding(mesh, P(None, "y")))
        step = jax.jit(jax.grad(lambda w, x: jnp.sum(jnp.tanh(x @ w) ** 2)))
        constraint = jax.jit(lambda x: jax.lax.with_sharding_constraint(x + 1, NamedSharding(mesh, P("y", "x"))))
        return jax.jit(jnp.matmul)(x, y), step(y, x), constraint(x)

    same(run)


def callbacks():
    from jax.experimental import io_callback

    seen = []
    with jax.default_device(jax.devices("oxcall")[0]):
        shape = jax.ShapeDtypeStruct((3,), np.float32)
        f = jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(x) ** 3, shape, x) + 1)
        assert np.asarray(f(jnp.arange(3.0))).tolist() == [1, 2, 9]
        jax.jit(lambda x: jax.debug.callback(lambda x: seen.append(int(x)), x))(5)
        counted = jax.jit(lambda: io_callback(lambda: np.int32(7), jax.ShapeDtypeStruct((), np.int32), ordered=True))
        assert int(counted()) == 7
        jax.effects_barrier()
    assert seen == [5]


def memories():
    from jax.sharding import SingleDeviceSharding

    device = jax.devices("oxcall")[0]
    host = SingleDeviceSharding(device, memory_kind="pinned_host")
    x = jax.device_put(X, host)
    assert x.sharding.memory_kind == "pinned_host"
    np.testing.assert_array_equal(np.asarray(jax.device_put(x, SingleDeviceSharding(device, memory_kind="device"))), X)


def dlpack():
    import oxcall

    x = jax.device_put(X, jax.devices("oxcall")[0])
    seen = np.from_dlpack(oxcall.to_dlpack(x))
    assert seen.__array_interface__["data"][0] == x.unsafe_buffer_pointer()
    np.testing.assert_array_equal(seen, X)


if __name__ == "__main__":
    checks.exit_with(checks.run([pmap, shard_map, started_collectives, sharded_jit, callbacks, memories, dlpack]))
