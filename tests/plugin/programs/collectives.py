"""Programs whose devices meet at collectives: each is a function of a list of four devices."""

import jax
import jax.numpy as jnp
import numpy as np
from beside_stock import P, main, program, put
from jax import lax
from jax.sharding import Mesh

XY = P("x", "y")


def mesh_of(devices):
    return Mesh(np.asarray(devices).reshape(2, 2), ("x", "y"))


def numbers(*shape, dtype="float32", seed=0):
    return (10 * np.random.default_rng(seed).normal(size=shape)).astype(dtype)


def on_shards(devices, body, *arguments, spec=XY, out=None):
    """`body` on the parts of arrays."""
    mesh = mesh_of(devices)
    arguments = [put(mesh, argument, *spec) for argument in arguments]
    sharded = jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec if out is None else out, check_vma=False)
    return jax.jit(sharded)(*arguments)


@program
def pmap_of_the_guide(devices):
    result = jax.pmap(lambda x: x + lax.psum(x, "i"), axis_name="i", devices=devices)(jnp.arange(4))
    np.testing.assert_array_equal(result, [6, 7, 8, 9])
    return result


@program
def pmap_of_trees_and_static_arguments(devices):
    def step(weights, batch, scale):
        def loss(w):
            return jnp.mean((batch["x"] @ w - batch["y"]) ** 2)

        value, gradient = jax.value_and_grad(loss)(weights)
        return weights - scale * lax.pmean(gradient, "i"), lax.pmean(value, "i"), lax.axis_index("i")

    batch = {"x": numbers(4, 8, 3), "y": numbers(4, 8, seed=1)}
    run = jax.pmap(step, axis_name="i", devices=devices, in_axes=(None, 0, None), static_broadcasted_argnums=2)
    return run(numbers(3, seed=2), batch, 0.01)


@program
def pmap_nested_in_vmap(devices):
    inner = jax.vmap(lambda x: lax.psum(x, ("i", "j")) - lax.pmax(x, "j"), axis_name="j")
    return jax.pmap(inner, axis_name="i", devices=devices)(numbers(4, 3, 5))


@program
def reductions(devices):
    def body(x):
        return lax.psum(x, "x"), lax.pmean(x, ("x", "y")), lax.pmax(x, "y"), lax.pmin(x, ("y", "x"))

    return on_shards(devices, body, numbers(8, 4))


@program
def reductions_of_integers_and_booleans(devices):
    def body(x):
        flags = lax.pmax((x > 0).astype(jnp.int8), "x")
        return lax.psum(x, "y"), flags, lax.psum(x.astype(jnp.uint8), "x"), lax.pmin(x, ("x", "y"))

    return on_shards(devices, body, numbers(4, 6, dtype="int32"))


@program
def reductions_of_narrow_and_complex_numbers(devices):
    def body(x):
        narrow = [lax.psum(x.astype(dtype), ("x", "y")) for dtype in (jnp.bfloat16, jnp.float16)]
        return *narrow, lax.psum(lax.complex(x, -x), "x")

    return on_shards(devices, body, np.round(numbers(4, 4)))


@program
def several_operands_at_once(devices):
    def body(x):
        return lax.psum((x, x[0], jnp.sum(x)[None, None] * 2), "x")

    return on_shards(devices, body, numbers(8, 4), out=(P("x", "y"), P("y"), P("x", "y")))


@program
def groups(devices):
    def body(x):
        return lax.psum(x, "i", axis_index_groups=[[0, 3], [1, 2]]), lax.all_gather(
            x, "i", axis_index_groups=[[0, 1], [2, 3]]
        )

    return jax.pmap(body, axis_name="i", devices=devices)(numbers(4, 3))


@program
def all_gather(devices):
    def body(x):
        return (
            lax.all_gather(x, "x", axis=1, tiled=True),
            lax.all_gather(x, ("y", "x"), axis=0, tiled=True),
            lax.all_gather(x, "y"),
        )

    return on_shards(devices, body, numbers(4, 8), out=(P("x", "y"), P("x", "y"), P(None, "x", "y")))


@program
def reduce_scatter(devices):
    def body(x):
        return (
            lax.psum_scatter(x, "x", scatter_dimension=1, tiled=True),
            lax.psum_scatter(x, ("x", "y"), scatter_dimension=0, tiled=True),
            lax.psum_scatter(x[:2], "y"),
        )

    return on_shards(devices, body, numbers(16, 8), out=(P("x", "y"), P("x", "y"), P("x")))


@program
def all_to_all(devices):
    def body(x):
        return (
            lax.all_to_all(x, "x", 0, 1, tiled=True),
            lax.all_to_all(x, "y", 1, 0, tiled=True),
            lax.all_to_all(x, ("x", "y"), 1, 1, tiled=True),
        )

    return on_shards(devices, body, numbers(8, 16))


@program
def permutations(devices):
    def body(x):
        ring = lax.ppermute(x, ("x", "y"), [(0, 1), (1, 2), (2, 3), (3, 0)])
        return ring, lax.ppermute(x, "x", [(1, 0)]), lax.pshuffle(x, "y", [1, 0])

    return on_shards(devices, body, numbers(4, 4))


@program
def indices(devices):
    def body(x):
        return x + lax.axis_index("x") * 100 + lax.axis_index(("y", "x"))

    return on_shards(devices, body, numbers(4, 4))


@program
def in_loops(devices):
    def body(x):
        def step(carry, i):
            carry = lax.psum(carry, "x") * 0.5 + i
            return lax.ppermute(carry, "y", [(0, 1), (1, 0)]), jnp.sum(carry)

        x, sums = lax.scan(step, x, jnp.arange(7.0, dtype="float32"))
        x = lax.while_loop(lambda x: lax.pmax(jnp.max(x), ("x", "y")) > 1, lambda x: lax.pmean(x, "y") / 2, x)
        return x, lax.pmean(sums, ("x", "y"))

    return on_shards(devices, body, numbers(4, 4), out=(P("x", "y"), P()))


@program
def in_branches(devices):
    def body(x):
        # All devices of a group take the same branch.
        return lax.cond(lax.axis_index("y") == 0, lambda x: lax.psum(x, "x"), lambda x: lax.pmax(x, "x"), x)

    return on_shards(devices, body, numbers(4, 4))


@program
def gradients(devices):
    mesh = mesh_of(devices)

    def loss(w, x):
        def body(w, x):
            return lax.pmean(jnp.sum(jnp.tanh(x @ w) ** 2), ("x", "y"))

        return jax.shard_map(body, mesh=mesh, in_specs=(P(), P(("x", "y"))), out_specs=P())(w, x)

    return jax.jit(jax.value_and_grad(loss))(numbers(3, 5), put(mesh, numbers(8, 3, seed=1) / 10, ("x", "y")))


@program
def matrix_product_in_a_ring(devices):
    mesh = Mesh(np.asarray(devices), ("i",))

    def body(a, b):
        def step(i, state):
            total, b = state
            part = lax.dynamic_slice_in_dim(a, (lax.axis_index("i") + i) % 4 * b.shape[0], b.shape[0], 1)
            return total + part @ b, lax.ppermute(b, "i", [(j, (j - 1) % 4) for j in range(4)])

        return lax.fori_loop(0, 4, step, (jnp.zeros((a.shape[0], b.shape[1]), a.dtype), b))[0]

    sharded = jax.shard_map(body, mesh=mesh, in_specs=(P("i"), P("i")), out_specs=P("i"), check_vma=False)
    a, b = numbers(32, 64), numbers(64, 48, seed=1)
    return jax.jit(sharded)(put(mesh, a, "i"), put(mesh, b, "i"))


@program
def partly_manual(devices):
    mesh = mesh_of(devices)

    @jax.jit
    def f(a, b):
        def body(a):
            return lax.psum(a, "x") @ b + lax.ppermute(a, "x", [(0, 1), (1, 0)]).sum()

        sharded = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}, check_vma=False)
        return sharded(a) * 2

    return np.asarray(f(put(mesh, numbers(8, 4), "x", "y"), put(mesh, numbers(4, 6, seed=1), None, "y")))


@program
def shard_map_amid_a_program(devices):
    mesh = mesh_of(devices)

    @jax.jit
    def f(a):
        sharded = jax.shard_map(
            lambda a: a - lax.pmean(a, ("x", "y")), mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y")
        )
        return lax.fori_loop(0, 3, lambda _, a: sharded(jnp.sin(a)) * 2, a).sum(0)

    return np.asarray(f(put(mesh, numbers(8, 4), "x", "y")))


@program
def more_than_fits_in_caches(devices):
    return on_shards(devices, lambda x: (lax.psum(x, ("x", "y")), lax.all_gather(x, "x")[1]), numbers(1024, 1024))


@program
def donated(devices):
    mesh = mesh_of(devices)
    x = put(mesh, numbers(64, 64), "x", "y")
    sharded = jax.shard_map(lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "y"))
    return jax.jit(sharded, donate_argnums=0)(x)


if __name__ == "__main__":
    main()
