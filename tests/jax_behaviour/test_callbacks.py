"""Host callbacks on one and several devices."""

import collections
import functools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax.experimental import io_callback
from jax.experimental.buffer_callback import buffer_callback
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

KINDS = {
    "pure": jax.pure_callback,
    "io": functools.partial(io_callback, ordered=False),
    "ordered": functools.partial(io_callback, ordered=True),
}
DTYPES = [
    "bool",
    "int8",
    "uint16",
    "int32",
    "float16",
    "bfloat16",
    "float32",
    "complex64",
    "int4",
    "uint2",
    "float8_e5m2",
]


@pytest.fixture(params=KINDS)
def call(request):
    yield KINDS[request.param]
    jax._src.dispatch.runtime_tokens.clear()


def settled(x):
    jax.effects_barrier()
    return jax.tree.map(np.asarray, x)


def mesh(*shape):
    names = "xy"[: len(shape)]
    return Mesh(np.array(jax.devices()).reshape(shape), tuple(names))


@pytest.mark.parametrize("name", DTYPES)
def test_elements_of_every_width_go_both_ways(call, name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    x = (np.arange(24) % 2).astype(dtype).reshape(2, 3, 4)
    taken = []

    def transposed(x):
        taken.append((x.dtype, x.shape))
        return np.asfortranarray(x), np.zeros((0, 2), dtype)

    shapes = jax.ShapeDtypeStruct(x.shape, dtype), jax.ShapeDtypeStruct((0, 2), dtype)
    y, empty = settled(jax.jit(lambda x: call(transposed, shapes, x))(x))
    np.testing.assert_array_equal(y, x)
    assert empty.shape == (0, 2) and taken == [(dtype, x.shape)]


def test_loops_and_branches(call):
    def add(x):
        return call(lambda x: np.asarray(x) + np.float32(1), jax.ShapeDtypeStruct((), "float32"), x)

    def program(x):
        x = jax.lax.while_loop(lambda x: x < 10, add, x)
        x, _ = jax.lax.scan(lambda x, _: (jax.lax.cond(x > 12, lambda x: x, add, x), None), x, None, length=5)
        return x

    assert settled(jax.jit(program)(np.float32(0))) == 13


MISTAKES = {
    "wrong shape": (lambda x: np.float32(1), "Incorrect output shape"),
    "another number of results": (lambda x: (x, x), "Mismatched number of outputs"),
    "raises": (lambda x: 1 / 0, "division by zero"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_errors_of_the_program(call, mistake):
    function, message = MISTAKES[mistake]
    with pytest.raises(jax.errors.JaxRuntimeError, match=message):
        settled(jax.jit(lambda x: call(function, jax.ShapeDtypeStruct((2,), "float32"), x))(np.ones(2, np.float32)))


@pytest.mark.parametrize("devices", [1, 8])
def test_each_device_has_an_order_of_its_own(devices):
    """The tokens of ordered calls go through the computation per device."""
    taken = collections.defaultdict(list)

    def take(index, x):
        taken[index.item()].append(np.asarray(x).tolist())

    def program(index, x):
        for step in range(3):
            io_callback(take, None, index, x + step, ordered=True)

    whole = Mesh(np.array(jax.devices()[:devices]), ("x",))
    program = jax.shard_map(program, mesh=whole, in_specs=P("x"), out_specs=None)
    jax.jit(program)(jnp.arange(devices), jnp.arange(2 * devices))
    jax.effects_barrier()
    assert taken == {i: [[2 * i + step, 2 * i + 1 + step] for step in range(3)] for i in range(devices)}


def test_a_mapped_program_without_results(capsys):
    jax.pmap(lambda x: jax.debug.print("{}", x))(jnp.arange(8))
    jax.effects_barrier()
    assert sorted(capsys.readouterr().out.split()) == list("01234567")


@pytest.mark.parametrize("spec", [P("x", "y"), P("x"), P(None, "y"), P(("x", "y"))], ids=str)
@pytest.mark.parametrize("partitioned", [False, True])
def test_partitioned_callbacks_get_the_parts_of_each_device(spec, partitioned):
    whole = np.arange(64, dtype=np.float32).reshape(8, 8)
    x = jax.device_put(whole, NamedSharding(mesh(4, 2), spec))
    taken = []

    @jax.jit
    def program(x):
        jax.debug.callback(lambda x: taken.append(np.asarray(x).tolist()), x * 2, partitioned=partitioned)
        return x

    program(x)
    jax.effects_barrier()
    parts = [2 * whole[shard.index] for shard in x.addressable_shards] if partitioned else [2 * whole]
    assert sorted(taken) == sorted(part.tolist() for part in parts)


def test_buffer_callbacks_begin_with_what_they_share():
    def add(_, out, x):
        np.asarray(out)[...] += 1

    call = buffer_callback(add, jax.ShapeDtypeStruct((3,), "float32"), input_output_aliases={0: 0})
    np.testing.assert_array_equal(jax.jit(call)(jnp.arange(3.0)), [1, 2, 3])
