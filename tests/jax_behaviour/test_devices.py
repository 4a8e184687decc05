"""Programs over several devices, where devices, meshes or ops are not the usual ones."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental.layout import Format, Layout
from jax.experimental.shard_alike import shard_alike
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P


def mesh_of(shape, names, order=None):
    devices = jax.devices() if order is None else [jax.devices()[index] for index in order]
    return Mesh(np.array(devices[: np.prod(shape)]).reshape(shape), names)


def numbers(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


def put(mesh, array, *spec):
    return jax.device_put(array, NamedSharding(mesh, P(*spec)))


def check_parts(array, expected):
    np.testing.assert_array_equal(array, expected)
    for shard in array.addressable_shards:
        np.testing.assert_array_equal(shard.data, expected[shard.index])


ORDERS = {"reversed": (7, 6, 5, 4, 3, 2, 1, 0), "mixed": (3, 5, 0, 1, 7, 2, 6, 4), "others": (2, 5, 7, 1)}


@pytest.mark.parametrize("name", ORDERS)
def test_devices_in_any_order(name):
    order = ORDERS[name]
    mesh = mesh_of((len(order) // 2, 2), ("x", "y"), order)
    x = numbers(8, 4)
    double, total, transposed = jax.jit(lambda x: (x * 2, x.sum(0), x.T))(put(mesh, x, "x", "y"))
    assert [a.sharding.spec for a in (double, total, transposed)] == [P("x", "y"), P("y"), P("y", "x")]
    for found, expected in [(double, x * 2), (total, x.sum(0)), (transposed, x.T)]:
        check_parts(found, expected)
    places = {device: place for place, device in enumerate(mesh.devices.flat)}
    gathered = jax.jit(
        jax.shard_map(
            lambda x: lax.all_gather(lax.axis_index(("x", "y")) + 0 * x[0, 0], ("x", "y"), tiled=False)[None],
            mesh=mesh,
            in_specs=P("x", "y"),
            out_specs=P(("x", "y")),
        )
    )(put(mesh, x, "x", "y"))
    np.testing.assert_array_equal(gathered, np.broadcast_to(np.arange(len(order)), (len(order),) * 2))
    assert {shard.device: shard.index[0].start for shard in gathered.addressable_shards} == places


def test_several_meshes_in_one_program():
    first, second = mesh_of((4, 2), ("a", "b")), mesh_of((2, 2, 2), ("p", "q", "r"))
    x = numbers(8, 4)
    other = NamedSharding(second, P("p", ("q", "r")))
    f = jax.jit(lambda x, y: (lax.with_sharding_constraint(x * 2, other), x + 1, y * 3))
    found = f(put(first, x, "a", "b"), put(second, x, "p", "q"))
    assert found[0].sharding == other
    assert found[1].sharding == NamedSharding(first, P("a", "b"))
    assert found[2].sharding == NamedSharding(second, P("p", "q"))
    for array, expected in zip(found, (x * 2, x + 1, x * 3), strict=True):
        check_parts(array, expected)


@pytest.mark.parametrize("spec", [P("x"), P("x", "y"), P(None, "x"), P(None, "x", "y")], ids=str)
def test_factors_of_matrices_that_are_split(spec):
    """Calls of linear algebra need whole matrices."""
    lower = np.tril(numbers(8, 4, 4) % 5) + 4 * np.eye(4, dtype="float32")
    matrices = put(mesh_of((2, 2), ("x", "y")), lower @ lower.transpose(0, 2, 1), *spec)
    found = jax.jit(jnp.linalg.cholesky)(matrices)
    # The condition numbers are below 1000: 2^-23 times that, with four sums of four.
    np.testing.assert_allclose(found, lower, rtol=2e-3, atol=2e-3)
    _, values, _ = jax.jit(jnp.linalg.svd)(matrices)
    np.testing.assert_allclose(values, np.linalg.svd(np.asarray(matrices, "float64"))[1], rtol=1e-4, atol=1e-3)


KEEPS = {
    "a part that is set": (lambda x: x.at[1:3].set(0.0), P("x", "y")),
    "parts that are added": (lambda x: x.at[jnp.array([0, 3])].add(1.0), P("x", "y")),
    "a transform": (lambda x: jnp.fft.fft(x, axis=0).real, P(None, "y")),
}


@pytest.mark.parametrize("name", KEEPS)
def test_results_are_split_as_the_operand(name):
    function, spec = KEEPS[name]
    found = jax.jit(function)(put(mesh_of((4, 2), ("x", "y")), numbers(8, 4), *spec))
    assert found.sharding.spec == spec
    np.testing.assert_allclose(found, function(numbers(8, 4) + jnp.zeros(())), rtol=1e-5, atol=1e-4)


ALIKE = {
    "with a constant": lambda x: shard_alike(x * 2, jnp.zeros((8, 4)))[1],
    "with a range": lambda x: shard_alike(x, jnp.arange(32.0).reshape(8, 4))[1],
    "in a loop": lambda x: lax.scan(lambda c, _: (shard_alike(x, c + 1)[1], None), x * 0, None, length=2)[0],
    "per row": lambda x: jax.vmap(lambda row: shard_alike(row, jnp.ones(4))[1])(x),
    "its gradient": lambda x: jax.grad(lambda x: shard_alike(x * x, jnp.ones((8, 4)))[0].sum())(x),
}


@pytest.mark.parametrize("name", ALIKE)
def test_arrays_in_a_group_are_split_alike(name):
    x = put(mesh_of((4, 2), ("x", "y")), numbers(8, 4), "x", "y")
    found = jax.jit(ALIKE[name])(x)
    assert found.sharding.is_equivalent_to(x.sharding, 2)
    np.testing.assert_array_equal(found, ALIKE[name](numbers(8, 4)))


def test_what_one_device_needs():
    x = put(mesh_of((4, 2), ("x", "y")), numbers(8, 4), "x", "y")
    memory = jax.jit(lambda x, y: x + y).lower(x, put(x.sharding.mesh, numbers(4))).compile().memory_analysis()
    # An eighth of the first argument, all of the second.
    assert memory.argument_size_in_bytes == 8 * 4 * 4 // 8 + 4 * 4


COLLECTIVES = {
    "all-reduce": lambda x: lax.psum(x, "i"),
    "all-gather": lambda x: lax.all_gather(x, "i", tiled=True),
    "collective-permute": lambda x: lax.ppermute(x, "i", [(0, 1), (1, 0)]),
    "all-to-all": lambda x: lax.all_to_all(x, "i", 1, 1, tiled=True),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_the_text_of_a_program_has_its_collectives(name):
    body = jax.shard_map(
        COLLECTIVES[name], mesh=mesh_of((4,), ("i",)), in_specs=P("i"), out_specs=P("i"), check_vma=False
    )
    text = jax.jit(body).lower(numbers(8, 8)).compile().as_text()
    found = {opcode for opcode in COLLECTIVES if re.search(rf" {opcode}(-start)?\(", text)}
    assert found == {name}


def test_programs_without_results_on_several_devices():
    seen = []
    nothing = jax.jit(lambda x: jax.debug.callback(seen.append, x))
    assert nothing(put(mesh_of((2,), ("x",)), numbers(4), "x")) is None
    jax.effects_barrier()
    np.testing.assert_array_equal(seen, [numbers(4)])


def test_layouts_of_sharded_arrays():
    sharding = NamedSharding(mesh_of((2, 2), ("x", "y")), P("x", "y"))
    columns = Format(Layout((1, 0)), sharding)
    x = numbers(8, 4)
    there = jax.device_put(x, columns)
    turned = jax.jit(lambda x: (x.T + 1, x * 2), out_shardings=(columns, sharding))
    for source in (there, jax.device_put(x, sharding)):
        plus, double = turned(source)
        check_parts(plus, x.T + 1)
        check_parts(double, x * 2)
        assert plus.format.layout.major_to_minor == (1, 0)
        check_parts(jax.jit(lambda x: x - 1)(plus), x.T)
    check_parts(jax.jit(lambda x: x + x, donate_argnums=0, out_shardings=columns)(there), x * 2)
