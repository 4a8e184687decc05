"""What newer releases of StableHLO have, sent by jaxlib in the newest release that it and the plugin know."""

import jax
import pytest
from jaxlib.mlir.dialects import chlo, stablehlo

FOUR = {
    "OXCALL_NUM_DEVICES": "4",
    "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
    "JAX_PLATFORMS": "cpu,oxcall",
}

HEAD = """
import functools
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from jaxlib import _jax, xla_client
devices = jax.devices("oxcall")

def run(text, *arguments):
    '''The first result of each replica.'''
    options = xla_client.CompileOptions()
    options.num_replicas = 4
    options.device_assignment = xla_client.DeviceAssignment.create(np.arange(4).reshape(4, 1))
    executable = devices[0].client.compile_and_load(text, _jax.DeviceList(tuple(devices)), options)
    sharding = NamedSharding(Mesh(np.array(devices), "i"), P("i"))
    results = executable.execute_sharded([jax.device_put(argument, sharding) for argument in arguments])
    return [np.asarray(part).tolist() for part in results.disassemble_into_single_device_arrays()[0]]

def program(signature, body):
    return "module attributes {mhlo.num_replicas = 4 : i32} { func.func public @main" + signature + " {" + body + "} }"
"""


def numbers(version):
    return [int(number) for number in version.split(".")]


def test_nothing_of_this_jaxlib_is_kept_back(device):
    """The plugin announces a release as new as that of the installed jaxlib, so JAX never writes for an older."""
    announced = getattr(device.client, "stablehlo_current_version", None)
    if announced is None:
        pytest.skip("this jaxlib does not say what the plugin announces")
    assert list(announced) >= numbers(stablehlo.get_current_version())


@pytest.mark.skipif(not hasattr(jax._src.lax.parallel, "all_gather_start"), reason="a JAX without them")
def test_collectives_that_are_started_and_waited_for(fresh):
    """As `stablehlo.async_start`, or from JAX 0.11.1 on as custom calls."""
    printed = fresh(
        HEAD
        + """
from jax._src.lax import parallel

def both(start, collective, check_vma=False):
    def body(devices, is_async):
        mesh = Mesh(np.array(devices), "i")

        @jax.jit
        @functools.partial(jax.shard_map, mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=check_vma)
        def program(x):
            if not is_async:
                return collective(x)
            future = start(x)
            other = jnp.sin(x).sum()  # what runs meanwhile
            return future.done() + 0 * other

        return np.asarray(program(jnp.arange(32.0, dtype="float32").reshape(16, 2)))

    np.testing.assert_array_equal(body(devices, True), body(jax.devices("cpu"), False))

ring = [(i, (i + 1) % 4) for i in range(4)]
both(lambda x: parallel.all_gather_start(x, "i", tiled=True), lambda x: lax.all_gather(x, "i", tiled=True))
# Without the check, JAX 0.12 gives no future.
both(lambda x: parallel.psum_start(x, "i"), lambda x: lax.psum(x, "i"), check_vma=True)
both(
    lambda x: parallel.psum_scatter_start(x, "i", tiled=True), lambda x: lax.psum_scatter(x, "i", tiled=True)
)
both(
    lambda x: parallel.all_to_all_start(x, "i", 0, 0, tiled=True), lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True)
)
both(lambda x: parallel.ppermute_start(x, "i", ring), lambda x: lax.ppermute(x, "i", ring))
print("ok")
""",
        **FOUR,
    )
    assert printed == "ok"


def test_collectives_that_are_started_by_custom_calls(fresh):
    """What JAX writes from 0.11.1 on, for replicas."""
    printed = fresh(
        HEAD
        + '''
def started(name, config, result, reducer=""):
    config = "{" + config.replace("'", "\\\\22") + "}"
    return run(program("(%x: tensor<4xf32>) -> tensor<" + result + ">", f"""
  %f = stablehlo.custom_call @"{name}-start"(%x) {{
    backend_config = "", {reducer} mhlo.frontend_attributes = {{async_collective_config = "{config}"}}
  }} : (tensor<4xf32>) -> tensor<{result}>
  %y = stablehlo.custom_call @"{name}-done"(%f) {{backend_config = ""}} : (tensor<{result}>) -> tensor<{result}>
  return %y : tensor<{result}>
}}
func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {{
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
"""), np.arange(16.0, dtype="float32"))

add = "called_computations = [@add],"
pairs = "'replica_groups': [[0, 1], [2, 3]]"
print(started("all-gather", "'all_gather_dimension': 0, " + pairs, "8xf32")[3])
print(started("all-reduce", pairs, "4xf32", add)[2])
print(started("reduce-scatter", "'scatter_dimension': 0, 'tiled': true, " + pairs, "2xf32", add)[1])
print(started("all-to-all", "'split_dimension': 0, 'concat_dimension': 0, 'split_count': 2, " + pairs, "4xf32")[0])
print(started("collective-permute", "'permutation': [[0, 3], [3, 0]]", "4xf32"))
''',
        **FOUR,
    )
    assert printed.splitlines() == [
        "[8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]",
        "[20.0, 22.0, 24.0, 26.0]",
        "[8.0, 10.0]",
        "[0.0, 1.0, 4.0, 5.0]",
        "[[12.0, 13.0, 14.0, 15.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 3.0]]",
    ]


def needs(version):
    """Only where jaxlib knows this release."""
    known = numbers(stablehlo.get_current_version()) >= numbers(version)
    return pytest.mark.skipif(not known, reason=f"jaxlib does not know StableHLO {version}")


@needs("1.14.0")
def test_composites_with_regions(fresh):
    printed = fresh(
        HEAD
        + '''
text = program("(%x: tensor<3xf32>) -> tensor<3xf32>", """
  %init = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.composite "my.scan" %x, %init ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {decomposition = @sums} : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
func.func private @sums(%x: tensor<3xf32>, %init: tensor<f32>) -> tensor<3xf32> {
  %0 = "stablehlo.reduce_window"(%x, %init) <{
    window_dimensions = array<i64: 3>, padding = dense<[[2, 0]]> : tensor<1x2xi64>
  }> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
""")
print(run(text, np.arange(12.0, dtype="float32"))[1])
''',
        **FOUR,
    )
    assert printed == "[3.0, 7.0, 12.0]"


SCAN = """
def scan(dims, dimension, reverse, computed_size=False):
    '''Two inputs, two carries and three outputs: the program, and the same in NumPy.'''
    part = [size for dim, size in enumerate(dims) if dim != dimension]
    tensor = lambda dims, element: f"tensor<{'x'.join([*map(str, dims), element])}>"
    whole, ints = tensor(dims, "f32"), tensor(dims, "i32")
    slice, slices = tensor(part, "f32"), tensor(part, "i32")
    size = f"scan_dim_size = {dims[dimension]} : i64," if computed_size else ""
    text = f'''module {{ func.func public @main(%x: {whole}, %y: {ints}, %a: {slice}, %b: {slices})
          -> ({whole}, {ints}, {whole}, {slice}, {slices}) {{
        %0:5 = "chlo.scan"(%x, %y, %a, %b) <{{
          dimension = {dimension} : i64, is_reverse = {str(reverse).lower()}, {size}
          operandSegmentSizes = array<i32: 2, 2>, resultSegmentSizes = array<i32: 3, 2>
        }}> ({{
        ^bb0(%p: {slice}, %q: {slices}, %c: {slice}, %d: {slices}):
          %s = stablehlo.add %p, %c : {slice}
          %t = stablehlo.subtract %q, %d : {slices}
          %u = stablehlo.multiply %p, %s : {slice}
          stablehlo.return %s, %t, %u, %s, %t : {slice}, {slices}, {slice}, {slice}, {slices}
        }}) : ({whole}, {ints}, {slice}, {slices}) -> ({whole}, {ints}, {whole}, {slice}, {slices})
        return %0#0, %0#1, %0#2, %0#3, %0#4 : {whole}, {ints}, {whole}, {slice}, {slices}
      }} }}'''
    x = np.arange(np.prod(dims), dtype="float32").reshape(dims) % 5
    y = np.arange(np.prod(dims), dtype="int32").reshape(dims) % 7
    a, b = np.full(part, 2, "float32"), np.full(part, 3, "int32")
    expected = [np.zeros(dims, "float32"), np.zeros(dims, "int32"), np.zeros(dims, "float32")]
    c, d = a, b
    order = range(dims[dimension])
    for index in reversed(order) if reverse else order:
        at = (*[np.s_[:]] * dimension, index)
        p = x[at]
        c, d = p + c, y[at] - d
        expected[0][at], expected[1][at], expected[2][at] = c, d, p * c
    executable = devices[0].client.compile_and_load(text, _jax.DeviceList((devices[0],)), xla_client.CompileOptions())
    results = executable.execute_sharded([jax.device_put(each, devices[0]) for each in (x, y, a, b)])
    for got, right in zip(results.disassemble_into_single_device_arrays(), [*expected, c, d], strict=True):
        np.testing.assert_array_equal(np.asarray(got[0]), right, err_msg=f"{dims} {dimension} {reverse}")
"""


@pytest.mark.skipif(not hasattr(chlo, "ScanOp"), reason="this jaxlib has no scans in CHLO")
def test_scans(fresh):
    """`chlo.scan`, a composite with a region and a decomposition, which some jaxlibs write with computed slices."""
    printed = fresh(
        HEAD
        + SCAN
        + """
for reverse in (False, True):
    scan([4], 0, reverse)
    scan([3, 5], 0, reverse)
    scan([3, 5], 1, reverse)
    scan([2, 3, 4], 1, reverse)
    scan([1, 2], 0, reverse)
    scan([3, 5], 1, reverse, computed_size=True)
    try:
        scan([3, 0], 1, reverse)
    except jax.errors.JaxRuntimeError as error:
        # For no step at all some jaxlibs make a decomposition that they then refuse.
        assert "CHLO => [StableHLO+Shape] => StableHLO failed" in str(error), error
print("ok")
""",
        **FOUR,
    )
    assert printed == "ok"


@needs("1.16.0")
def test_groups_that_are_axes_of_a_mesh(fresh):
    printed = fresh(
        HEAD
        + '''
def gather(axis):
    return run(program("(%x: tensor<1xf32>) -> tensor<2xf32>", """
  %0 = "stablehlo.all_gather"(%x) <{
    all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<
      mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 4>]>, axes = [AXIS]>
  }> : (tensor<1xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
""".replace("AXIS", axis)), np.arange(4.0, dtype="float32"))
print(gather('#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>'))
print(gather('#stablehlo.axis_ref<name = "x", sub_axis_info = (2)2>'))
''',
        **FOUR,
    )
    assert printed.splitlines() == [
        "[[0.0, 2.0], [1.0, 3.0], [0.0, 2.0], [1.0, 3.0]]",
        "[[0.0, 1.0], [0.0, 1.0], [2.0, 3.0], [2.0, 3.0]]",
    ]


@needs("1.20.0")
def test_roots_that_the_program_computes(fresh):
    printed = fresh(
        HEAD
        + '''
text = program("(%x: tensor<1xf32>) -> tensor<1xf32>", """
  %root = stablehlo.constant dense<2> : tensor<1xi32>
  %0 = "stablehlo.collective_broadcast"(%x, %root) <{
    has_dynamic_root, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>
  }> : (tensor<1xf32>, tensor<1xi32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
""")
print(run(text, np.arange(4.0, dtype="float32")))
''',
        **FOUR,
    )
    assert printed == "[[2.0], [2.0], [2.0], [2.0]]"
