"""Programs whose devices meet at collectives, beside stock JAX with as many devices; and what goes wrong with them."""

import pathlib
import re

import pytest

NAMES = re.findall(r"@program\ndef (\w+)", (pathlib.Path(__file__).parent / "programs" / "collectives.py").read_text())
FOUR = {
    "OXCALL_NUM_DEVICES": "4",
    "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
    "JAX_PLATFORMS": "cpu,oxcall",
}


@pytest.mark.parametrize("name", NAMES)
def test_programs_give_what_stock_jax_gives(outcomes, name):
    assert outcomes("collectives.py", 4)[name] == ""


HEAD = """
import jax, jax.numpy as jnp, numpy as np
from jax import lax
devices = jax.devices("oxcall")
"""


def test_replicas_of_older_programs(fresh):
    """Programs with `num_replicas`, as `jax.pmap` sent them before it was a `shard_map`."""
    printed = fresh(
        HEAD
        + '''
from jaxlib import _jax, xla_client
text = """module attributes {mhlo.num_replicas = 4 : i32} {
  func.func public @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>) {
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.replica_id : tensor<ui32>
    return %0, %1 : tensor<2xf32>, tensor<ui32>
  }
}"""
options = xla_client.CompileOptions()
options.num_replicas = 4
options.device_assignment = xla_client.DeviceAssignment.create(np.arange(4).reshape(4, 1))
client = devices[0].client
executable = client.compile_and_load(text, _jax.DeviceList(tuple(devices)), options)
from jax.sharding import NamedSharding, PartitionSpec, Mesh
x = jax.device_put(np.arange(8.0, dtype="float32"), NamedSharding(Mesh(np.array(devices), "i"), PartitionSpec("i")))
results = executable.execute_sharded([x]).disassemble_into_single_device_arrays()
print([[np.asarray(part).tolist() for part in result] for result in results])
''',
        **FOUR,
    )
    assert printed == "[[[4.0, 6.0], [8.0, 10.0], [4.0, 6.0], [8.0, 10.0]], [0, 1, 2, 3]]"


def test_a_device_that_fails_fails_all(fresh):
    printed = fresh(
        HEAD
        + """
import oxcall
from jax.sharding import Mesh, PartitionSpec as P
mesh = Mesh(np.array(devices), "i")

def body(x):
    # One device goes round more often than the others.
    n = lax.axis_index("i") + 1
    return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, lax.psum(s[1], "i")), (0, x))[1]

f = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=False))
try:
    jax.block_until_ready(f(jnp.arange(4.0)))
except Exception as error:
    print(type(error).__name__, "do not match" in str(error), "partition 0 has ended" in str(error))
g = jax.jit(jax.shard_map(lambda x: lax.psum(x, "i"), mesh=mesh, in_specs=P("i"), out_specs=P()))
print(g(jnp.arange(4.0)))
""",
        timeout=120,
        **FOUR,
    )
    assert printed.splitlines() == ["JaxRuntimeError True True", "[6.]"]


def test_groups_out_of_range_are_errors_of_compiling(fresh):
    printed = fresh(
        HEAD
        + '''
from jaxlib import _jax, xla_client
text = """func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 9]]> : tensor<1x2xi64>}>
      : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }"""
options = xla_client.CompileOptions()
try:
    devices[0].client.compile_and_load(text, _jax.DeviceList(tuple(devices[:1])), options)
except Exception as error:
    print(error)
''',
        **FOUR,
    )
    assert "stablehlo.collective_permute: a group names replica 9, but the program has 1 replicas" in printed


def test_runs_from_many_threads_do_not_mix(fresh):
    printed = fresh(
        HEAD
        + """
from concurrent.futures import ThreadPoolExecutor
f = jax.pmap(lambda x: x + lax.psum(x, "i"), axis_name="i", devices=devices)
f(jnp.arange(4))
def check(seed):
    x = np.arange(4) * seed
    return bool((np.asarray(f(x)) == x + x.sum()).all())
with ThreadPoolExecutor(8) as pool:
    print(all(pool.map(check, range(200))))
""",
        timeout=120,
        **FOUR,
    )
    assert printed == "True"
