"""Compilation ahead of time: lowering, export, stored executables, the persistent cache, topologies."""

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import serialize_executable, topologies
from jax.sharding import SingleDeviceSharding

pytestmark = pytest.mark.usefixtures("on_plugin")
X = np.arange(12, dtype=np.float32).reshape(3, 4)


def function(x, y):
    return jnp.sin(x) @ y.T, {"sum": (x + y).sum()}


def expected(x, y):
    return np.sin(x) @ y.T, {"sum": (x + y).sum()}


def check(results):
    jax.tree.map(lambda ours, theirs: np.testing.assert_allclose(ours, theirs, rtol=1e-5), results, expected(X, X))


def test_lowering_and_compiling():
    traced = jax.jit(function).trace(X, X)
    lowered = traced.lower()
    compiled = lowered.compile()
    check(compiled(X, X))
    assert "stablehlo.sine" in lowered.as_text() and "HloModule jit_function" in compiled.as_text()
    assert compiled.in_tree == lowered.in_tree and compiled.out_tree == lowered.out_tree
    assert [info.shape for info in jax.tree.leaves(lowered.out_info)] == [(3, 3), ()]
    shapes = jax.ShapeDtypeStruct((3, 4), "float32")
    check(jax.jit(function).lower(shapes, shapes).compile()(X, X))
    with pytest.raises(TypeError, match="Function compiled with input pytree"):
        compiled(X)
    with pytest.raises(TypeError, match=r"float64|Argument types differ"):
        compiled(X.astype(np.float64), X)
    assert jax.tree.leaves(compiled.output_shardings)[0].device_set == {jax.devices("oxcall")[0]}
    assert compiled.runtime_executable() is not None
    assert len(compiled.input_formats[0]) == 2


def test_analyses():
    lowered = jax.jit(lambda x: (x @ x, x.sum())).lower(jnp.ones((64, 64), jnp.float32))
    compiled = lowered.compile()
    cost = compiled.cost_analysis()
    assert lowered.cost_analysis() == cost
    assert 2 * 64**3 <= cost["flops"] < 3 * 64**3 and cost["bytes accessed"] >= 64 * 64 * 4
    with jax.default_device(jax.devices("cpu")[0]):
        theirs = jax.jit(lambda x: (x @ x, x.sum())).lower(jnp.ones((64, 64), jnp.float32)).compile().cost_analysis()
    np.testing.assert_allclose(cost["flops"], theirs["flops"], rtol=0.02)
    memory = compiled.memory_analysis()
    assert memory.argument_size_in_bytes == 64 * 64 * 4
    assert memory.output_size_in_bytes >= 64 * 64 * 4 + 4
    assert memory.temp_size_in_bytes >= 0 and memory.alias_size_in_bytes == 0
    donated = jax.jit(lambda x: x + 1, donate_argnums=0).lower(jnp.ones(1000)).compile().memory_analysis()
    assert donated.alias_size_in_bytes == 8000


@pytest.mark.parametrize("platforms", [["oxcall"], ["cpu", "oxcall"]])
def test_exports(platforms):
    pytest.importorskip("flatbuffers")
    exported = jax.export.export(jax.jit(function), platforms=platforms)(X, X)
    assert exported.platforms == tuple(platforms)
    loaded = jax.export.deserialize(exported.serialize())
    check(loaded.call(X, X))
    check(jax.jit(lambda x, y: loaded.call(x, y))(X, X))
    for device in [jax.devices(platform)[0] for platform in platforms]:
        with jax.default_device(device):
            check(loaded.call(*jax.device_put((X, X), device)))


def test_exports_for_other_platforms():
    pytest.importorskip("flatbuffers")
    exported = jax.export.export(jax.jit(function), platforms=["cpu"])(X, X)
    with pytest.raises(ValueError, match="was exported for platforms '\\('cpu',\\)'"):
        jax.export.deserialize(exported.serialize()).call(X, X)
    check_off = [jax.export.DisabledSafetyCheck.platform()]
    free = jax.export.export(jax.jit(function), platforms=["cpu"], disabled_checks=check_off)(X, X)
    check(jax.export.deserialize(free.serialize()).call(X, X))


def test_exported_gradients():
    pytest.importorskip("flatbuffers")
    exported = jax.export.export(jax.jit(lambda x: jnp.sin(x) * x), platforms=["oxcall"])(X)
    loaded = jax.export.deserialize(exported.serialize(vjp_order=2))
    first = jax.grad(lambda x: loaded.call(x).sum())
    np.testing.assert_allclose(first(X), np.cos(X) * X + np.sin(X), rtol=1e-5)
    second = jax.grad(lambda x: first(x).sum())
    np.testing.assert_allclose(second(X), 2 * np.cos(X) - X * np.sin(X), rtol=1e-4, atol=1e-5)


def test_exports_with_symbolic_shapes():
    pytest.importorskip("flatbuffers")
    rows, columns = jax.export.symbolic_shape("b, 2*c")
    shape = jax.ShapeDtypeStruct((rows, columns), "float32")

    def pairs(x):
        halves = x.reshape(x.shape[0], 2, x.shape[1] // 2)
        return jnp.sort(halves.sum(1), axis=-1) / x.shape[0], jnp.arange(x.shape[0])

    loaded = jax.export.deserialize(jax.export.export(jax.jit(pairs), platforms=["oxcall"])(shape).serialize())
    for sizes in ((3, 4), (1, 2), (5, 8)):
        x = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
        ours, numbers = loaded.call(x)
        np.testing.assert_allclose(ours, np.sort(x.reshape(sizes[0], 2, -1).sum(1)) / sizes[0], rtol=1e-6)
        np.testing.assert_array_equal(numbers, np.arange(sizes[0]))
    with pytest.raises(ValueError, match=r"not divisible|does not|Division"):
        loaded.call(np.ones((2, 3), np.float32))


def test_stored_executables(on_plugin):
    payload, in_tree, out_tree = serialize_executable.serialize(jax.jit(function).lower(X, X).compile())
    assert isinstance(payload, bytes)
    loaded = serialize_executable.deserialize_and_load(
        payload, in_tree, out_tree, backend="oxcall", execution_devices=[on_plugin]
    )
    check(loaded(X, X))
    check(loaded(X, X))
    with pytest.raises(Exception, match=r"not an executable|pickle|invalid"):
        serialize_executable.deserialize_and_load(payload[:40] + b"?" * 40, in_tree, out_tree, backend="oxcall")
    check(loaded(X, X))


def test_arguments_of_other_types_are_named(on_plugin):
    executable = jax.jit(lambda x: x + 1).lower(np.ones((2, 3), np.float32)).compile().runtime_executable()
    for wrong, text in ((np.ones((2, 3), np.int32), r"s32\[2, 3\]"), (np.ones(6, np.float32), r"f32\[6\]")):
        message = rf"argument 0 is {text}, but the program jit__lambda takes f32\[2, 3\]"
        with pytest.raises(jax.errors.JaxRuntimeError, match=message):
            executable.execute([jax.device_put(wrong)])


def test_executables_are_stored_for_other_processes(fresh, tmp_path):
    code = """
        import os, pickle, jax, jax.numpy as jnp
        from jax.experimental import serialize_executable
        path, f = os.environ["STORED"], jax.jit(lambda x: jnp.cumsum(x) * 2)
        if os.path.exists(path):
            with open(path, "rb") as file:
                loaded = serialize_executable.deserialize_and_load(*pickle.load(file))
            print(loaded(jnp.arange(4.0)).tolist())
        else:
            with open(path, "wb") as file:
                pickle.dump(serialize_executable.serialize(f.lower(jnp.arange(4.0)).compile()), file)
            print("stored")
    """
    environment = {"STORED": str(tmp_path / "f"), "JAX_PLATFORMS": "oxcall,cpu"}
    assert [fresh(code, **environment) for _ in range(2)] == ["stored", "[0.0, 2.0, 6.0, 12.0]"]


CACHED = """
    import os, jax, jax.numpy as jnp, numpy as np
    from jax._src import monitoring
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    events = []
    monitoring.register_event_listener(lambda event, **_: events.append(event))
    device = jax.devices(os.environ["WHERE"])[0]
    with jax.default_device(device):
        results = [jax.jit(lambda x: jnp.sin(x) @ x)(np.ones((2, 2), np.float32)).sum()]
        results.append(jax.jit(lambda x: jax.pure_callback(lambda x: x * 2, x, x))(np.float32(4)))
    hits = events.count("/jax/compilation_cache/cache_hits")
    print([round(float(x), 3) for x in results], hits > 0, len(os.listdir(os.environ["JAX_COMPILATION_CACHE_DIR"])) > 0)
"""


@pytest.mark.parametrize("platforms", ["oxcall,cpu", "cpu,oxcall"])
def test_the_persistent_cache_serves_processes(fresh, tmp_path, platforms):
    environment = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path), "JAX_PLATFORMS": platforms}
    shown = [fresh(CACHED, WHERE=where, **environment) for where in ("oxcall", "oxcall", "cpu")]
    assert shown[0] == "[6.732, 8.0] False True" and set(shown[1:]) == {"[6.732, 8.0] True True"}


def test_topologies(on_plugin):
    topology = topologies.get_topology_desc("", "oxcall", num_devices=3)
    assert [device.id for device in topology.devices] == [0, 1, 2]
    device = topology.devices[0]
    assert device.platform == "oxcall" and device.device_kind == on_plugin.device_kind
    sharding = SingleDeviceSharding(device)
    shape = jax.ShapeDtypeStruct((4,), "float32", sharding=sharding)
    lowered = jax.jit(lambda x: x * 2).lower(shape)
    assert "stablehlo.multiply" in lowered.as_text()
