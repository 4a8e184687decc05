"""Arrays of which each device has a summand: `unreduced` in specs, and what becomes of it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, reshard
from jax.sharding import PartitionSpec as P

# Sums of few products of small integers are exact.
X, XY = {"x"}, {"x", "y"}


@pytest.fixture
def mesh():
    mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    with jax.set_mesh(mesh):
        yield mesh


def numbers(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape) - 3


def put(array, *spec):
    return jax.device_put(array, P(*spec))


def parts(array):
    """What devices have, in their order."""
    shards = sorted(array.addressable_shards, key=lambda shard: shard.device.id)
    return [np.asarray(shard.data) for shard in shards]


PRODUCTS = {
    "contracted": ("ab,bc->ac", (4, 6), P(None, "x"), (6, 2), P("x", None), P(None, None, unreduced=X)),
    "and split": ("ab,bc->ac", (4, 6), P("y", "x"), (6, 2), P("x", None), P("y", None, unreduced=X)),
    "batched": ("nab,nbc->nac", (2, 4, 6), P("y", None, "x"), (2, 6, 2), P("y", "x"), P("y", None, None, unreduced=X)),
    "both": ("ab,b->a", (4, 8), P(None, ("x", "y")), (8,), P(("x", "y")), P(None, unreduced=XY)),
    "two dimensions": ("abc,abc->", (4, 3, 2), P("x", None, "y"), (4, 3, 2), P("x", None, "y"), P(unreduced=XY)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(mesh, name):
    subscripts, left, left_spec, right, right_spec, spec = PRODUCTS[name]
    a, b = numbers(*left), numbers(*right)
    product = jax.jit(lambda a, b: jnp.einsum(subscripts, a, b, out_sharding=spec))
    found = product(jax.device_put(a, left_spec), jax.device_put(b, right_spec))
    assert found.sharding == NamedSharding(mesh, spec)
    # Each device multiplies the parts that it has.
    indices = [
        NamedSharding(mesh, each).devices_indices_map(of.shape) for each, of in ((left_spec, a), (right_spec, b))
    ]
    for device, part in zip(mesh.devices.flat, parts(found), strict=True):
        np.testing.assert_array_equal(part, np.einsum(subscripts, a[indices[0][device]], b[indices[1][device]]))
    expected = np.einsum(subscripts, a, b)
    full = P(*spec.partitions)
    np.testing.assert_array_equal(reshard(found, full), expected)
    twice = jax.jit(lambda s: s + s)(found)
    np.testing.assert_array_equal(reshard(twice, full), 2 * expected)
    np.testing.assert_array_equal(jax.jit(lambda s: reshard(s + s, full))(found), 2 * expected)


@pytest.mark.parametrize(
    ("shape", "spec", "axes"),
    [
        ((), P(), X),
        ((4,), P(), XY),
        ((4,), P("x"), X),
        ((4, 2), P("x", "y"), XY),
        ((4, 2), P("x", "y"), {"y"}),
        ((4, 4), P(None, ("x", "y")), XY),
    ],
)
def test_an_array_is_where_it_was(mesh, shape, spec, axes):
    """A part stays with its device; copies become one and zeros."""
    array = numbers(*shape)
    left = [None if name is None else tuple(n for n in np.ravel(name) if n not in axes) for name in spec]
    there = reshard(jax.device_put(array, spec), P(*left, unreduced=axes))
    split = [axis for name in spec if name is not None for axis in np.ravel(name)]
    indices = [NamedSharding(mesh, each).devices_indices_map(shape) for each in (spec, P(*left))]
    for place, part in zip(np.ndindex(2, 2), parts(there), strict=True):
        device = mesh.devices[place]
        first = all(index == 0 for index, axis in zip(place, "xy", strict=True) if axis in axes and axis not in split)
        expected = np.zeros_like(array)
        expected[indices[0][device]] = first * array[indices[0][device]]
        np.testing.assert_array_equal(part, expected[indices[1][device]])
    np.testing.assert_array_equal(reshard(there, spec), array)


def test_sums_of_parts(mesh):
    a = put(numbers(8, 2), "x", "y")
    total = jax.jit(lambda a: lax.reduce_sum(a, (0,), out_sharding=P("y", unreduced=X)))
    found = total(a)
    np.testing.assert_array_equal(np.concatenate(parts(found)), numbers(8, 2).reshape(2, 4, 2).sum(1).ravel())
    np.testing.assert_array_equal(reshard(found, P()), numbers(8, 2).sum(0))


LINEAR = {
    "joined": lambda s: jnp.concatenate([s, s]),
    "taken apart": lambda s: lax.split(s, (3, 5))[1],
    "reshaped": lambda s: s.reshape(2, 4),
    "summed": lambda s: lax.reduce_sum(s, (0,)),
    "in a loop": lambda s: lax.fori_loop(0, 3, lambda _, t: t + t, s),
}


@pytest.mark.parametrize("name", LINEAR)
def test_what_keeps_sums(mesh, name):
    array = numbers(8)
    found = jax.jit(LINEAR[name])(reshard(jnp.asarray(array), P(unreduced=X)))
    assert found.sharding.spec.unreduced == X
    np.testing.assert_array_equal(reshard(found, P()), LINEAR[name](reshard(array, P())))


def test_gradients_of_what_all_devices_have(mesh):
    """That of an array which is reduced over an axis is a sum over it."""
    a, w = numbers(4, 2), numbers(2, 3)
    loss = jax.jit(lambda w, a: jnp.sin(a @ w).sum())
    found = jax.jit(jax.grad(loss))(jax.device_put(w, P(reduced=X)), put(a, "x"))
    assert found.sharding.spec.unreduced == X
    expected = a.T.astype("float64") @ np.cos(a.astype("float64") @ w)
    # Rounding of sums of four cosines below 3.
    np.testing.assert_allclose(reshard(found, P()), expected, rtol=0, atol=4 * 2**-21)


def test_shard_map_gives_and_takes_summands(mesh):
    a, b = numbers(4, 6), numbers(6, 2)
    product = jax.shard_map(
        lambda a, b: lax.pcast(a @ b, "x", to="unreduced"),
        in_specs=(P(None, "x"), P("x")),
        out_specs=P(None, unreduced=X),
    )
    found = jax.jit(product)(put(a, None, "x"), put(b, "x"))
    for index, part in enumerate(parts(found)):
        own = slice(3 * (index // 2), 3 * (index // 2) + 3)
        np.testing.assert_array_equal(part, a[:, own] @ b[own])
    total = jax.shard_map(lambda s: lax.psum(s, "x"), in_specs=P(None, unreduced=X), out_specs=P())
    np.testing.assert_array_equal(jax.jit(total)(found), a @ b)
    np.testing.assert_array_equal(jax.jit(lambda a, b: total(product(a, b)))(put(a, None, "x"), put(b, "x")), a @ b)
