"""The gallery's kernels in JAX, beside its functions for the CPU: in one process, on two of its devices."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gpu.numbers import ulps, values
from gpu.place import IN_JAX, on_a_gpu

CPU, GPU = jax.devices("cpu")[0], jax.devices(IN_JAX)[0]
SHAPES = [(1, 1), (3, 7), (64, 128), (5, 1000), (7, 5000), (1, 70000), (4096, 512)]


def on(device, function, *operands):
    """What a function gives on a device, in float64."""
    given = [jax.device_put(operand, device) for operand in operands]
    results = jax.jit(function)(*given)
    return [np.asarray(result, np.float64) for result in jax.tree.leaves(results)]


def close(function, operands, tolerance):
    """Compares with the size of the largest number: differences of products lose digits where they are near."""
    for found, expected in zip(on(GPU, function, *operands), on(CPU, function, *operands), strict=True):
        scale = np.max(np.abs(expected), initial=0.0)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * scale)


def check(function, operands, bound):
    dtype = str(operands[0].dtype)
    for found, expected in zip(on(GPU, function, *operands), on(CPU, function, *operands), strict=True):
        assert ulps(found, expected, dtype) <= bound


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_rows_are_those_of_the_cpu(gallery, shape, dtype):
    x, dy = (jnp.asarray(values(*shape, seed), dtype) for seed in (0, 1))
    check(gallery.rms_norm, [x], 8)
    if dtype == "bfloat16":
        check(gallery.softmax, [x], 2)

    def gradient(x, dy):
        return jax.vjp(gallery.rms_norm, x)[1](dy)

    tolerance = {"float32": 1e-5, "bfloat16": 2e-2, "float16": 3e-3}[dtype]
    # In a row of one element, the terms cancel.
    if shape != (1, 1):
        close(gradient, [x, dy], tolerance)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    ("name", "operands"),
    [("softplus", 1), ("swiglu", 2), ("huber", 1), ("rope_pair", 3), ("logit_normal_pdf", 3)],
)
def test_pointwise_functions_and_their_derivatives_are_those_of_the_cpu(gallery, name, operands, dtype):
    op = gallery[name]
    given = [jnp.asarray(np.abs(values(64, 129, seed)) / 4.5 + 0.05, dtype) for seed in range(operands)]

    def gradient(*given):
        return jax.grad(lambda *given: sum(jnp.sum(y) for y in jax.tree.leaves(op(*given))), argnums=0)(*given)

    tolerance = 1e-4 if dtype == "float32" else 5e-2
    close(op, given, tolerance / 10)
    close(gradient, given, tolerance)


@pytest.mark.parametrize("shape", [(3, 7), (64, 128), (5, 1000), (7, 5000), (1, 70000)])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    ("name", "operands"), [("softmax_cross_entropy", "rr"), ("layer_norm", "rrr"), ("tempered_softmax", "rn")]
)
def test_functions_of_rows_and_their_derivatives_are_those_of_the_cpu(gallery, name, operands, shape, dtype):
    op = gallery[name]
    given = [jnp.asarray(np.abs(values(*shape, seed)) + 0.25, dtype) for seed in range(len(operands))]
    given = [x if kind == "r" else x[:, 0] for x, kind in zip(given, operands, strict=True)]

    def loss(*given):
        return sum(jnp.sum(jnp.sin(y)) for y in jax.tree.leaves(op(*given)))

    def second(*given):
        return jax.grad(lambda x: jnp.sum(jax.grad(loss)(x, *given[1:]) ** 2))(given[0])

    tolerance = 1e-4 if dtype == "float32" else 5e-2
    for function in (op, jax.grad(loss, argnums=tuple(range(len(given)))), second):
        close(function, given, tolerance)


def test_a_kernel_in_ptx(plain):
    check(lambda x: plain.scaled(x, factor=-1.5), [jnp.asarray(values(37, 211, 0))], 0)


@pytest.mark.parametrize("shape", [(0, 4), (4, 0)])
def test_arrays_without_elements(gallery, shape):
    x = jnp.zeros(shape, jnp.float32)
    assert jax.jit(gallery.rms_norm)(jax.device_put(x, GPU)).shape == shape
    loss = jax.jit(gallery.softmax_cross_entropy)(jax.device_put(x, GPU), jax.device_put(x, GPU))
    np.testing.assert_array_equal(loss, np.zeros(shape[:1], np.float32))


def test_vmap_and_scan(gallery):
    x = values(8, 96, 0).reshape(8, 4, 24)
    check(jax.vmap(gallery.rms_norm), [jnp.asarray(x)], 8)

    def loop(x):
        return jax.lax.scan(lambda carry, _: (gallery.rms_norm(carry) * 0.5, None), x, length=50)[0]

    check(loop, [jnp.asarray(x)], 4096)


def test_a_donated_operand_gives_its_memory_and_keeps_no_value(gallery):
    step = jax.jit(lambda x: gallery.rms_norm(x) + 1, donate_argnums=0)
    x = jax.device_put(values(256, 256, 0), GPU)
    expected = np.asarray(gallery.rms_norm(x)) + 1
    result = step(x)
    assert x.is_deleted()
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-6)


def test_streams_of_many_threads(gallery):
    """Producers and consumers on XLA's streams: a kernel on another stream would read what is not written yet."""
    chain = jax.jit(lambda x: gallery.rms_norm(jnp.sin(gallery.rms_norm(x * 3)) @ x))
    operands = [jax.device_put(values(512, 512, seed), GPU) for seed in range(8)]
    expected = [np.asarray(chain(x)) for x in operands]
    wrong = []

    def work(index):
        for _ in range(50):
            if not np.array_equal(np.asarray(chain(operands[index])), expected[index]):
                wrong.append(index)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@on_a_gpu
def test_calls_leave_nothing_behind(gallery):
    step = jax.jit(lambda x: gallery.swiglu(gallery.rms_norm(x), x))
    x = jax.device_put(values(64, 64, 0), GPU)
    step(x).block_until_ready()
    before = GPU.memory_stats()["bytes_in_use"]
    for _ in range(10_000):
        y = step(x)
    y.block_until_ready()
    del y
    assert GPU.memory_stats()["bytes_in_use"] <= before


@on_a_gpu
def test_an_op_without_a_kernel_says_so(gallery):
    with pytest.raises(Exception, match=r"weighted_rms_norm|No registered implementation|No FFI handler"):
        on(GPU, gallery.weighted_rms_norm, values(4, 8, 0), values(1, 8, 1)[0])
