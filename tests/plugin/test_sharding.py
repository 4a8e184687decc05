"""Sharded programs: results and shardings beside those of stock JAX with as many devices, and what is refused."""

import pathlib
import re

import pytest

TEXT = (pathlib.Path(__file__).parent / "programs" / "sharding.py").read_text()
FUNCTIONS = re.findall(r"@program\ndef (\w+)", TEXT)
FOLLOWS = re.findall(r'^    "(\w+)": \(', TEXT.split("FOLLOWS = {")[1].split("\n}")[0], re.MULTILINE)
NAMES = [*(f"follows_{name}" for name in FOLLOWS), *FUNCTIONS]

# XLA's older partitioner, of which the plugin has none, spreads through these in another way than Shardy.
OLDER_DIFFERS = {
    "follows_reverse",
    "follows_top_k",
    "follows_fft",
    "follows_reshape_odd_factors",
    "shard_map_of_some_axes",
}


@pytest.mark.parametrize("devices", [4, 8])
@pytest.mark.parametrize("name", NAMES)
def test_as_stock_jax(outcomes, name, devices):
    assert outcomes("sharding.py", devices)[name] == ""


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OLDER_DIFFERS])
def test_without_shardy(outcomes, name):
    assert outcomes("sharding.py", 8, shardy=False)[name] == ""


def test_calls_of_ops_are_split(fresh, library_path):
    """Each device calls an op on its part of the batch, and sums over the batch are added up."""
    code = """
    import sys
    sys.path.insert(0, {tests!r})
    import jax, jax.numpy as jnp
    import oxcall, sharded

    op = oxcall.load({library!r}).weighted_rms_norm
    for mesh in sharded.MESHES:
        for case in sharded.cases(jnp.add):
            sharded.check(op, mesh, case, 2e-6, devices=jax.devices("oxcall"), collectives=False)
    print(len(jax.devices("oxcall")))
    """
    code = code.format(tests=str(pathlib.Path(__file__).parents[1]), library=str(library_path("custom_ops")))
    assert fresh(code, OXCALL_NUM_DEVICES="4").split() == ["4"]


def test_what_is_refused(fresh):
    code = """
    import jax, jax.numpy as jnp, numpy as np, re
    from jax.sharding import NamedSharding, PartitionSpec as P
    from jaxlib import xla_client

    devices = jax.devices("oxcall")
    client = devices[0].client
    text = '''sdy.mesh @m = <["x"=4]>
    func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<6xf32> {
      return %a : tensor<6xf32>
    }'''

    def error(partitions, assignment, text=text, spmd=True):
        options = xla_client.CompileOptions()
        options.num_partitions = partitions
        options.executable_build_options.use_spmd_partitioning = spmd
        options.device_assignment = xla_client.DeviceAssignment.create(np.array([assignment]))
        try:
            client.compile_and_load(text, devices[:partitions], options)
        except Exception as error:
            return str(error)

    # As on XLA's CPU, the last parts are padded.
    print(error(4, [0, 1, 2, 3]))
    print("has 4 devices, but the program has 2" in error(2, [0, 1]))
    print("device ID" in error(4, [0, 1, 2, 9]), "do not fit" in error(4, [0, 1, 2, 2]))
    print("axis" in error(4, [0, 1, 2, 3], text.replace('{"x"}', '{"z"}')))
    refused = error(4, [0, 1, 2, 3], spmd=False)
    print("num_partitions=4 but SPMD partitioning not enabled: set use_spmd_partitioning" in refused)
    mesh = jax.sharding.Mesh(np.array(devices), "d")
    print(jax.jit(jnp.sin)(jax.device_put(np.ones(8), NamedSharding(mesh, P("d")))).shape)
    """
    assert fresh(code, OXCALL_NUM_DEVICES="4", JAX_PLATFORMS="oxcall").split("\n") == [
        "None",
        "True",
        "True True",
        "True",
        "True",
        "(8,)",
    ]


def test_many_executions_at_once(fresh):
    """Programs on different devices, and on all, from many threads."""
    code = """
    import threading
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import NamedSharding, PartitionSpec as P

    devices = jax.devices("oxcall")
    mesh = jax.sharding.Mesh(np.array(devices), "d")
    everywhere = jax.device_put(np.arange(4096.0), NamedSharding(mesh, P("d")))
    step = jax.jit(lambda x: jnp.sin(x) + x.sum() * 1e-6)
    expected = np.asarray(step(np.arange(4096.0)))
    wrong = []

    def run(index):
        for _ in range(20):
            x = everywhere if index % 2 else jax.device_put(np.arange(4096.0), devices[index % 4])
            if not np.allclose(step(x), expected, rtol=1e-5):
                wrong.append(index)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    print(wrong)
    """
    assert fresh(code, OXCALL_NUM_DEVICES="4", JAX_PLATFORMS="oxcall") == "[]"


def test_memory_is_shared(fresh):
    """Whole arrays and contiguous parts are the same memory; what is copied once is not copied again."""
    code = """
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import NamedSharding, PartitionSpec as P

    devices = jax.devices("oxcall")
    mesh = jax.sharding.Mesh(np.array(devices), "d")
    address = lambda array: [shard.data.unsafe_buffer_pointer() for shard in array.addressable_shards]
    x = jax.device_put(np.zeros((4, 1 << 18), "float32"), NamedSharding(mesh, P("d")))
    y = jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    print(np.diff(address(y)).tolist() == [1 << 20] * 3)
    z = jax.jit(lambda y: (y[0], jnp.float32(1)), out_shardings=NamedSharding(mesh, P()))(y)
    print(len(set(address(z[0]))), len(set(address(z[1]))))
    before = address(y)[0]
    y = jax.jit(lambda x: x * 2, donate_argnums=0)(y)
    print(address(y)[0] == before)
    """
    assert fresh(code, OXCALL_NUM_DEVICES="4", JAX_PLATFORMS="oxcall").split("\n") == ["True", "1 1", "True"]
