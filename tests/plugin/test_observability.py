"""What people look at: programs as text, dumps, machine code and traces."""

import itertools
import json
import pathlib
import re
import shutil
import struct
import subprocess

import jax
import jax.numpy as jnp
import pytest
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
    mine = [name for name in names if "lambda" in name and not name.endswith(".o")]
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


#: A fusion, and a loop.
COMPILED = """
    import os, jax, jax.numpy as jnp
    f = jax.jit(lambda x: jnp.tanh(x) * x + 1)
    g = jax.jit(lambda x: jax.lax.fori_loop(0, 9, lambda i, x: x * 1.5 + i, x))
    print(f(jnp.ones(1000, jnp.float32)).shape, g(jnp.ones(3, jnp.float32)).shape)
    path = f"/tmp/perf-{os.getpid()}.map"
    if os.path.exists(path):
        print(open(path).read())
        os.remove(path)
"""


@pytest.fixture
def has_machine_code():
    if not {"avx2", "fma", "f16c"} <= set(pathlib.Path("/proc/cpuinfo").read_text().split()):
        pytest.skip("this processor has no AVX2")


def test_perf_gets_the_names_of_machine_code(fresh, has_machine_code):
    lines = fresh(COMPILED, JAX_PLATFORMS="oxcall", OXCALL_PERF_MAP="1").splitlines()[1:]
    named = [re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) oxcall (\S+): (.+)", line) for line in lines]
    assert named and all(named), lines
    names = [(each[3], each[4]) for each in named]
    fused = [name for program, name in names if program == "jit__lambda" and "compiled[" in name]
    assert any(re.fullmatch(r"step \d+ compiled\[tanh,multiply,add\]", name) for name in fused), names
    assert any(name.startswith("steps ") and "multiply" in name for _, name in names), names
    # No address has two names.
    ranges = sorted((int(each[1], 16), int(each[2], 16)) for each in named)
    assert all(start + size <= after for (start, size), (after, _) in itertools.pairwise(ranges)), ranges


def test_no_names_unless_asked_for(fresh):
    assert len(fresh(COMPILED, JAX_PLATFORMS="oxcall", OXCALL_PERF_MAP="0").splitlines()) == 1


def object_file(contents: bytes) -> tuple[bytes, list[tuple[int, str]]]:
    """The code of an ELF object file, and its labels with their offsets."""
    assert contents[:6] == b"\x7fELF\x02\x01"
    headers, count = struct.unpack_from("<Q", contents, 40)[0], struct.unpack_from("<H", contents, 60)[0]
    sections = [struct.unpack_from("<IIQQQQIIQQ", contents, headers + 64 * index) for index in range(count)]

    def content(index):
        return contents[sections[index][4] :][: sections[index][5]]

    text = next(index for index, section in enumerate(sections) if section[1] == 1)
    table = next(index for index, section in enumerate(sections) if section[1] == 2)
    names = content(sections[table][6])
    symbols = list(struct.iter_unpack("<IBBHQQ", content(table)))[1:]
    assert all(symbol[3] == text for symbol in symbols)
    return content(text), [(symbol[4], names[symbol[0] :].split(b"\0", 1)[0].decode()) for symbol in symbols]


def test_dumps_have_machine_code_with_its_operations(fresh, tmp_path, has_machine_code):
    fresh(COMPILED, JAX_PLATFORMS="oxcall", OXCALL_DUMP=str(tmp_path))
    found = {}
    for path in tmp_path.glob("*.plan.o"):
        assert path.with_suffix(".txt").exists()
        code, labels = object_file(path.read_bytes())
        offsets = [offset for offset, _ in labels]
        assert offsets == sorted(offsets) and offsets[-1] < len(code), path
        found[path] = [label for _, label in labels]
    name = "compiled[tanh,multiply,add]"
    fusion = next(path for path, labels in found.items() if any(name in each for each in labels))
    labels = found[fusion]
    functions = ("tanh: %", "multiply: %", "add: %")
    first = [next(index for index, each in enumerate(labels) if each.startswith(function)) for function in functions]
    assert first == sorted(first), labels
    assert any(re.match(r"step \d+: %\d+ = multiply ", each) for labels in found.values() for each in labels), found
    objdump = shutil.which("objdump")
    if objdump is None:
        pytest.skip("there is no objdump")
    shown = subprocess.run([objdump, "-d", str(fusion)], capture_output=True, text=True, check=True).stdout
    places = re.findall(r"^([0-9a-f]+) <(.+)>:$", shown, re.MULTILINE)
    assert any("load array" in name for _, name in places), shown[:2000]
    # The last operations of the loop, with their instructions.
    assert re.search(r"<add: %\d+ = add .*>:\n(.*\n)*?.*vaddps", shown), shown[:5000]


def test_plans_have_bytes_and_arithmetic_operations(fresh, tmp_path):
    code = """
        import jax, jax.numpy as jnp
        x = jnp.ones((1024, 1024), jnp.float32)
        print(jax.jit(lambda x: x @ x)(x).shape, jax.jit(lambda x: jnp.tanh(x) * x + 1)(x).shape)
    """
    fresh(code, JAX_PLATFORMS="oxcall", OXCALL_DUMP=str(tmp_path))
    plans = "".join(path.read_text() for path in tmp_path.glob("*.plan.txt"))
    mib = 1 << 20
    product = re.search(r"= dot\[f32\]\(.*\); (\d+) bytes, (\d+) flops", plans)
    assert product, plans
    assert (int(product[1]), int(product[2])) == (3 * 4 * mib, 2 * 1024**3)
    fusion = re.search(r"= \w+\[tanh,multiply,add\]\(.*\); (\d+) bytes, (\d+) flops", plans)
    assert fusion, plans
    assert (int(fusion[1]), int(fusion[2])) == (2 * 4 * mib, 3 * mib)
