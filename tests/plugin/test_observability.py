"""What people look at: programs as text, dumps and traces."""

import json

import jax
import jax.numpy as jnp
from jax import lax

PROGRAM = """
    import jax, jax.numpy as jnp
    jax.config.update("jax_enable_x64", False)
    with jax.default_device(jax.devices("oxcall")[0]):
        f = jax.jit(lambda x: jnp.sort(jnp.tanh(x) * 2 + 1) @ x)
        x = jnp.ones((8, 8))
        print(float(f(x).sum()), float(f(x).sum()))
"""


def as_text(f, *args):
    return jax.jit(f).lower(*args).compile().as_text()


def test_control_flow_and_regions_are_hlo(on_plugin):
    x = jnp.ones(8, jnp.float32)
    text = as_text(lambda x: lax.fori_loop(0, 9, lambda i, y: jnp.sin(y) + x, x), x)
    assert " while(" in text and " sine(" in text and "condition=" in text
    text = as_text(lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x), x)
    assert " conditional(" in text and " cosine(" in text
    text = as_text(lambda x: (x.sum(), x[::-1], lax.top_k(x, 2)), x)
    assert " reduce(" in text and "dimensions={0}" in text and " reverse(" in text


def test_what_hlo_lacks_is_a_custom_call_with_attributes(on_plugin):
    text = as_text(lambda x, i: x[i], jnp.ones((8, 4)), jnp.zeros(3, jnp.int32))
    assert 'custom_call_target="stablehlo.gather"' in text and "slice_sizes" in text


def test_donations_are_shown(on_plugin):
    compiled = jax.jit(lambda x, y: (x + 1, y * 2), donate_argnums=1).lower(jnp.ones(8), jnp.ones(4)).compile()
    assert "input_output_alias={ {1}: (1, {}, may-alias) }" in compiled.as_text()


def test_texts_of_sharded_programs_say_that_arrays_are_whole(fresh):
    code = """
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import NamedSharding, PartitionSpec as P

    mesh = jax.sharding.Mesh(np.array(jax.devices("oxcall")), "d")
    x = jax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, P("d")))
    summed = lambda x: jax.lax.psum(x, "d")
    programs = [
        (jax.jit(lambda x: x.sum(0)), x),
        (jax.shard_map(summed, mesh=mesh, in_specs=P("d"), out_specs=P()), x),
        (lambda x: x.sum(0), np.ones((8, 4), np.float32)),
    ]
    for function, x in programs:
        head, *text = jax.jit(function).lower(x).compile().as_text().splitlines()
        shapes = [shape for shape in ("f32[8,4]", "f32[4,4]") if any(shape in line for line in text)]
        print('oxcall.partitions="one program for 2 partitions, which runs once, on whole arrays' in head, shapes)
    """
    lines = fresh(code, OXCALL_NUM_DEVICES="2", JAX_PLATFORMS="oxcall").splitlines()
    # What each device runs by itself has the shapes of its parts.
    assert lines == ["True ['f32[8,4]']", "False ['f32[4,4]']", "False ['f32[8,4]']"]


def test_dumps_sort_by_pass(fresh, tmp_path):
    fresh(PROGRAM, OXCALL_DUMP=str(tmp_path / "dump"))
    names = sorted(path.name for path in (tmp_path / "dump").iterdir())
    mine = [name for name in names if "lambda" in name]
    assert mine[0].endswith(".00.read.mlir") and mine[-1].endswith(".plan.txt") and len(mine) > 2, names
    texts = [(tmp_path / "dump" / name).read_text() for name in mine]
    assert all("module @jit" in text for text in texts[:-1]) and "return" in texts[-1]


def test_traces_have_steps_with_bytes_and_types(fresh, tmp_path):
    trace = tmp_path / "trace.json"
    fresh(PROGRAM, OXCALL_TRACE=str(trace))
    events = json.loads(trace.read_text())
    kernels = [event for event in events if event.get("cat") == "kernel"]
    assert any(event["args"]["results"] == ["f32[8,8]"] and event["args"]["bytes"] >= 512 for event in kernels)
    executions = [event for event in events if event.get("cat") == "execution" and "lambda" in event["name"]]
    assert len(executions) == 2


def test_traces_have_the_time_that_callbacks_take(fresh, tmp_path):
    trace = tmp_path / "trace.json"
    code = """
        import time, jax, numpy as np
        def slow(x):
            time.sleep(0.1)
            return np.asarray(x)
        print(float(jax.jit(lambda x: jax.pure_callback(slow, jax.ShapeDtypeStruct((), "float32"), x) + 1)(1.0)))
    """
    assert fresh(code, OXCALL_TRACE=str(trace), JAX_PLATFORMS="oxcall,cpu") == "2.0"
    waits = [event for event in json.loads(trace.read_text()) if event["name"] == "wait for oxcall_python_callback"]
    assert len(waits) == 1 and waits[0]["dur"] >= 100_000 and waits[0]["args"]["results"] == ["f32[]"]
