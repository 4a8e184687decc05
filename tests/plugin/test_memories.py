"""Memory kinds: placements as on JAX's CPU."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.compute_on import compute_on
from jax.sharding import NamedSharding, PartitionSpec, SingleDeviceSharding

KINDS = ["device", "pinned_host", "unpinned_host"]
X = np.arange(8, dtype=np.float32)


@pytest.fixture(params=["oxcall", "cpu"])
def place(request):
    """The plugin's device, and the CPU's, of which the same is expected."""
    device = jax.devices(request.param)[0]
    with jax.default_device(device):
        yield device


def on(device, kind):
    return SingleDeviceSharding(device, memory_kind=kind)


def kinds(arrays):
    return [array.sharding.memory_kind for array in jax.tree.leaves(arrays)]


def test_every_device_has_every_kind(place):
    assert [memory.kind for memory in place.addressable_memories()] == KINDS
    assert place.default_memory() == place.addressable_memories()[0]
    for kind in KINDS:
        memory = place.memory(kind)
        assert memory.kind == kind and memory.platform == place.platform
        assert memory.addressable_by_devices() == [place]
    with pytest.raises(Exception, match="tape"):
        place.memory("tape")


@pytest.mark.parametrize("kind", KINDS)
def test_device_put(place, kind):
    x = jax.device_put(X, on(place, kind))
    for other in KINDS:
        y = jax.device_put(x, on(place, other))
        assert kinds([x, y]) == [kind, other]
        np.testing.assert_array_equal(y, X)
    spread = NamedSharding(jax.make_mesh((1,), ("x",), devices=[place]), PartitionSpec("x"), memory_kind=kind)
    assert kinds(jax.device_put(X, spread)) == [kind]
    assert kinds(jax.device_put(x, jax.memory.Space.Host)) == ["pinned_host"]


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_and_results(place, kind):
    there = on(place, kind)
    move = jax.jit(lambda x: x + 1, out_shardings=there)
    moved = move(X)
    assert kinds(moved) == [kind]
    compiled = move.lower(X).compile()
    assert compiled.output_shardings.memory_kind == kind
    stay = jax.jit(lambda x: (x, x * 2), in_shardings=there, out_shardings=(there, on(place, "device")))
    results = stay(moved)
    assert kinds(results) == [kind, "device"]
    np.testing.assert_array_equal(results[1], (X + 1) * 2)
    jax.tree.map(np.testing.assert_array_equal, jax.jit(lambda x: x + 1)(jax.device_put(X, on(place, "device"))), X + 1)


def test_placements_inside_programs(place):
    def function(x):
        host = jax.device_put(x * 2, jax.memory.Space.Host)
        device = jax.device_put(host, jax.memory.Space.Device)
        return host, device + 1

    results = jax.jit(function)(X)
    assert kinds(results) == ["pinned_host", "device"]
    np.testing.assert_array_equal(results[1], X * 2 + 1)

    def loop(x):
        def step(carry, row):
            return jax.device_put(jax.device_put(carry + row, jax.memory.Space.Host), jax.memory.Space.Device), carry

        return jax.lax.scan(step, jnp.zeros((), x.dtype), x)

    np.testing.assert_array_equal(jax.jit(loop)(X)[1], np.concatenate([[0], np.cumsum(X)[:-1]]))


def test_programs_that_name_a_placement(place):
    """`annotate_device_placement`, which JAX's rules for accelerators have."""
    move = jax.jit(lambda x: jnp.sin(x) + 1, out_shardings=on(place, "pinned_host"))
    assert "annotate_device_placement" in move.lower(X).as_text()
    np.testing.assert_allclose(move(X), np.sin(X) + 1, rtol=1e-6)


def test_compute_on_the_host(place):
    @compute_on("device_host")
    @jax.jit
    def inner(x):
        return x * 3

    def function(x):
        with compute_on("device_host"):
            y = jnp.sin(x) + 1
        return inner(y) - x

    np.testing.assert_allclose(jax.jit(function)(X), (np.sin(X) + 1) * 3 - X, rtol=1e-6)


def test_offloaded_residuals(place):
    """Rematerialisation that keeps named residuals on the host."""
    from jax.ad_checkpoint import checkpoint_name

    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["y"],
        offload_src="device",
        offload_dst="pinned_host",
    )

    def function(x):
        def step(x, _):
            return jnp.sin(checkpoint_name(x * 2, "y")), None

        return jax.lax.scan(jax.checkpoint(step, policy=policy), x, None, length=3)[0].sum()

    expected = jax.grad(lambda x: jnp.sin(2 * jnp.sin(2 * jnp.sin(2 * x))).sum())(X)
    np.testing.assert_allclose(jax.jit(jax.grad(function))(X), expected, rtol=1e-5)


def test_operands_of_two_memories_are_an_error(place):
    with pytest.raises(ValueError, match="memory_space of all inputs"):
        jnp.add(jax.device_put(X, on(place, "device")), jax.device_put(X, on(place, "pinned_host")))


def test_an_unknown_kind_in_a_program_is_an_error():
    from jax._src.interpreters import mlir
    from jaxlib import xla_client
    from jaxlib.mlir import ir

    client = jax.devices("oxcall")[0].client
    text = """func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32> {mhlo.memory_kind = "tape"}) {
      return %x : tensor<2xf32>
    }"""
    with (
        mlir.make_ir_context(),
        pytest.raises(Exception, match="unknown memory kind `tape`; the kinds are device, pin"),
    ):
        options, devices = xla_client.CompileOptions(), xla_client.DeviceList(tuple(client.devices()[:1]))
        client.compile_and_load(ir.Module.parse(text), devices, options)
