"""Arrays in other layouts than row-major, as `jax.experimental.layout` asks for them."""

import ctypes

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.layout import Format, Layout, with_layout_constraint

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
ORDER = (1, 2, 0)


@pytest.fixture
def format_of(device):
    """The format of an order of dimensions, the slowest in memory first, on the plugin's device."""
    return lambda *order: Format(Layout(order), jax.sharding.SingleDeviceSharding(device))


def order_of(array):
    return array.format.layout.major_to_minor


@pytest.mark.parametrize("dtype", ["float32", "bool", "int4", "complex64"])
def test_results_have_the_layout_that_is_asked_for(on_plugin, format_of, dtype):
    y = jax.jit(lambda x: x.astype(dtype), out_shardings=format_of(*ORDER))(X % 3)
    assert order_of(y) == ORDER
    host = np.asarray(y)
    np.testing.assert_array_equal(host, (X % 3).astype(host.dtype))
    if dtype == "float32":
        memory = (ctypes.c_float * X.size).from_address(y.unsafe_buffer_pointer())
        np.testing.assert_array_equal(memory, (X % 3).transpose(ORDER).ravel())


def test_arguments_keep_their_layout(on_plugin, format_of):
    x = jax.device_put(X, format_of(*ORDER))
    assert order_of(x) == ORDER
    np.testing.assert_array_equal(np.asarray(x), X)
    doubled = jax.jit(lambda x: 2 * x)(x)
    assert order_of(doubled) == (0, 1, 2)
    np.testing.assert_array_equal(np.asarray(doubled), 2 * X)
    kept = jax.jit(lambda x: jnp.flip(x, 1), in_shardings=format_of(*ORDER), out_shardings=format_of(*ORDER))(x)
    assert order_of(kept) == ORDER
    np.testing.assert_array_equal(np.asarray(kept), X[:, ::-1])
    with pytest.raises(ValueError, match="does not match the layout"):
        jax.jit(lambda x: x, in_shardings=format_of(*ORDER))(doubled)


def test_donated_memory_of_another_layout(on_plugin, format_of):
    x = jax.device_put(X, format_of(*ORDER))
    for order in (ORDER, (0, 1, 2), (2, 1, 0)):
        y = jax.jit(lambda x: x + 1, donate_argnums=0, out_shardings=format_of(*order))(x)
        assert x.is_deleted() and order_of(y) == order
        np.testing.assert_array_equal(np.asarray(y), X + 1)
        x = jax.device_put(X, format_of(*ORDER))


def test_layouts_that_are_left_to_the_platform(on_plugin, format_of):
    any_layout = Format(Layout.AUTO, format_of(0).sharding)
    compiled = jax.jit(lambda x: x.T, in_shardings=any_layout, out_shardings=any_layout).lower(X).compile()
    assert compiled.output_formats.layout.major_to_minor == (2, 1, 0)
    constrained = jax.jit(lambda x: with_layout_constraint(x * 2, Layout(ORDER)))(X)
    assert order_of(constrained) == ORDER
    np.testing.assert_array_equal(np.asarray(constrained), 2 * X)


def test_copies_and_stored_programs_keep_layouts(on_plugin, format_of):
    from jax.experimental import serialize_executable

    compiled = jax.jit(lambda x: x + 1, out_shardings=format_of(*ORDER)).lower(X).compile()
    loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled), backend="oxcall")
    y = loaded(X)
    assert order_of(y) == ORDER and order_of(y.copy()) in (ORDER, (0, 1, 2))
    np.testing.assert_array_equal(np.asarray(y.copy()), X + 1)


def test_tiles_are_refused(on_plugin, format_of):
    tiled = Format(Layout((0, 1, 2), tiling=((8, 128),)), format_of(0).sharding)
    with pytest.raises(Exception, match=r"result 0.*tiles"):
        jax.jit(lambda x: x, out_shardings=tiled)(X)


def test_any_layout_is_one_that_moves_no_elements(on_plugin, device):
    auto = Format(Layout.AUTO)
    arguments = [jax.ShapeDtypeStruct(X.shape, X.dtype), jax.ShapeDtypeStruct((4,), X.dtype)]

    def function(x, y):
        return x.transpose(2, 0, 1), x + y, jnp.outer(y, y).T

    compiled = jax.jit(function, in_shardings=auto, out_shardings=auto).lower(*arguments).compile()
    formats, _ = compiled.input_formats
    assert [format.layout.major_to_minor for format in formats] == [(0, 1, 2), (0,)]
    orders = [format.layout.major_to_minor for format in compiled.output_formats]
    assert orders == [(1, 2, 0), (0, 1, 2), (1, 0)]
    y = np.arange(4, dtype=np.float32)
    results = compiled(*(jax.device_put(value, format) for value, format in zip((X, y), formats, strict=True)))
    assert [order_of(result) for result in results] == orders
    for result, expected in zip(results, function(X, y), strict=True):
        np.testing.assert_array_equal(np.asarray(result), expected)
    # The memory of the transposed argument is as it was.
    memory = (ctypes.c_float * X.size).from_address(results[0].unsafe_buffer_pointer())
    np.testing.assert_array_equal(memory, X.ravel())


def test_constraints_of_layouts_let_shardings_through(fresh):
    code = """
    import jax, jax.numpy as jnp, numpy as np
    from jax.experimental.layout import Format, Layout, with_layout_constraint
    from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

    mesh = jax.make_mesh((4,), ("x",), (AxisType.Auto,), devices=jax.devices("oxcall"))
    split = NamedSharding(mesh, P("x"))
    x = np.arange(32.0, dtype=np.float32).reshape(8, 4)

    @jax.jit
    def constrained(x):
        return jax.lax.with_sharding_constraint(x * 2, Format(Layout((1, 0)), split)) + 1

    @jax.jit
    def only_the_layout(x):
        return with_layout_constraint(x * 2, Layout((1, 0))) + 1

    for y in constrained(x), only_the_layout(jax.device_put(x, split)):
        np.testing.assert_array_equal(np.asarray(y), x * 2 + 1)
        print(tuple(y.sharding.spec), {shard.data.shape for shard in y.addressable_shards})
    """
    lines = fresh(code, OXCALL_NUM_DEVICES="4", JAX_PLATFORMS="oxcall,cpu").splitlines()
    assert lines == ["('x',) {(2, 4)}"] * 2
