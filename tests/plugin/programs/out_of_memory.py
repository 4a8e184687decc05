"""Programs with too little memory: each is run with ever more room for its process, until it succeeds.

Run as `python out_of_memory.py name`. Before that, each run has to raise RESOURCE_EXHAUSTED and leave a process that
computes. The results have to be those of a run without a limit. Prints how many runs failed.
"""

import functools
import resource
import sys

import jax
import jax.numpy as jnp
import numpy as np

MIB = 1 << 20
RANDOM = np.random.default_rng(0)
UNLIMITED = resource.getrlimit(resource.RLIMIT_AS)


def normal(*shape, dtype=np.float32):
    return RANDOM.standard_normal(shape).astype(dtype)


def symmetric(n):
    x = normal(n, n).astype(np.float64)
    return x @ x.T + n * np.eye(n)


def integers(below, *shape):
    return RANDOM.integers(0, below, shape, dtype=np.int32)


def convolution(x, kernel):
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (3, 3), (1, 1), "SAME")


PROGRAMS = {
    "product": (jnp.matmul, lambda: [normal(4096, 256, dtype=jnp.bfloat16), normal(256, 4096, dtype=jnp.bfloat16)]),
    "einsum": (functools.partial(jnp.einsum, "iaj,ibj->ab"), lambda: [normal(64, 512, 96), normal(64, 512, 96)]),
    "sort": (jnp.sort, lambda: [normal(4_000_000)]),
    "argsort": (jnp.argsort, lambda: [normal(2_000_000)]),
    "sort_columns": (functools.partial(jnp.sort, axis=0), lambda: [normal(2000, 1000)]),
    "top_k": (lambda x: jax.lax.top_k(x, 400_000), lambda: [normal(8, 500_000)]),
    "fft": (jnp.fft.fft2, lambda: [normal(2048, 1024) + 1j * normal(2048, 1024)]),
    "irfft": (jnp.fft.irfft2, lambda: [(normal(1024, 1025) + 1j * normal(1024, 1025)).astype(np.complex64)]),
    "convolution": (
        convolution,
        lambda: [normal(8, 96, 96, 32, dtype=np.float16), normal(3, 3, 32, 32, dtype=np.float16)],
    ),
    "scatter": (
        lambda x, i, y: x.at[i].add(y),
        lambda: [normal(3_000_000), integers(3_000_000, 3_000_000), normal(3_000_000)],
    ),
    "gather": (lambda x, i: x[:, i], lambda: [normal(16, 100_000), integers(100_000, 1_000_000)]),
    "cholesky": (jnp.linalg.cholesky, lambda: [symmetric(1200)]),
    "solve": (jnp.linalg.solve, lambda: [symmetric(1000), normal(1000, 1000, dtype=np.float64)]),
    "qr": (jnp.linalg.qr, lambda: [normal(1000, 700)]),
    "eigh": (jnp.linalg.eigvalsh, lambda: [symmetric(700)]),
    "cumsum": (functools.partial(jnp.cumsum, axis=0), lambda: [normal(4, 2_000_000)]),
    "argmax": (functools.partial(jnp.argmax, axis=0), lambda: [normal(4, 4_000_000)]),
    "pool": (pool, lambda: [normal(3000, 2000)]),
    "associative_scan": (lambda x: jax.lax.associative_scan(jnp.maximum, x), lambda: [normal(3_000_000)]),
    "convert": (lambda x: x.astype(jnp.float64), lambda: [normal(8_000_000)]),
    "transfer": (None, lambda: [normal(16_000_000)]),
}


def limit(room):
    """Leaves the process so many bytes."""
    if room is None:
        return resource.setrlimit(resource.RLIMIT_AS, UNLIMITED)
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    return resource.setrlimit(resource.RLIMIT_AS, (used + room, UNLIMITED[1]))


def main(name):
    function, make = PROGRAMS[name]
    arrays = make()
    small = jax.jit(lambda x: jnp.sort(x) @ x)
    numbers = np.arange(8.0, dtype=np.float32)
    if function is None:
        arguments = arrays
        run = functools.partial(jax.device_put, device=jax.devices()[0])
    else:
        arguments = [jax.device_put(array) for array in arrays]
        run = jax.jit(function).lower(*arguments).compile()
    small(numbers).block_until_ready()
    expected = [np.array(each) for each in jax.tree.leaves(run(*arguments))]
    failures, room = 0, 36 * MIB
    while True:
        limit(room)
        try:
            results = jax.block_until_ready(run(*arguments))
            break
        except (jax.errors.JaxRuntimeError, ValueError) as error:
            assert "RESOURCE_EXHAUSTED" in str(error), error
            assert "Out of memory" in str(error) or "out of memory" in str(error), error
        failures += 1
        assert small(numbers) == 140
        limit(None)
        room += room // 8
        assert room < 4096 * MIB, "it fails whatever there is"
    limit(None)
    for result, right in zip(jax.tree.leaves(results), expected, strict=True):
        np.testing.assert_array_equal(np.asarray(result), right)
    print(failures)


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print(*PROGRAMS)
    else:
        main(sys.argv[1])
