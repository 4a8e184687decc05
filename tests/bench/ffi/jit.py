"""Times ops inside a jitted loop on stock JAX, ours and the C++ peers in turns: `jit.py OURS.so PEERS.so`, prints JSON.

The cost of one call is the slope between a short and a long loop, so that the cost of the jit call itself drops out.
"""

import ctypes
import json
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import oxcall

SHORT, LONG, REPETITIONS = 1_000, 11_000, 41
FOUR = {"axes": np.array([3, 1, 2], np.int64), "count": np.int64(7), "mode": "precise", "scale": np.float32(0.5)}


def peer(library, name):
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(getattr(library, name)), platform="cpu")

    def call(*args, **attrs):
        return jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(args[0].shape, args[0].dtype))(*args, **attrs)

    return call


def loop(step):
    """A compiled program that calls `step` as often as it is told, each call on the result of the one before."""
    return jax.jit(lambda x, n: jax.lax.fori_loop(0, n, lambda _, x: step(x), x))


def seconds(program, x, n):
    start = time.perf_counter()
    program(x, n).block_until_ready()
    return time.perf_counter() - start


def nanoseconds(programs, x):
    """Median slope of each program, in turns."""
    slopes = [[] for _ in programs]
    for program in programs:
        seconds(program, x, SHORT)
    for _ in range(REPETITIONS):
        for program, found in zip(programs, slopes, strict=True):
            found.append((seconds(program, x, LONG) - seconds(program, x, SHORT)) / (LONG - SHORT) * 1e9)
    return [statistics.median(found) for found in slopes]


def main():
    jax.config.update("jax_enable_x64", True)
    ours, peers = oxcall.load(sys.argv[1]), ctypes.CDLL(sys.argv[2])
    identity, four = peer(peers, "peer_identity"), peer(peers, "peer_four")
    cases = {
        "identity": [ours.identity, identity],
        "four": [lambda x: ours.four(x, x, x, x, **FOUR), lambda x: four(x, x, x, x, **FOUR)],
    }
    x = jnp.linspace(0, 1, 16, dtype=jnp.float32)
    rows = []
    for op, steps in cases.items():
        ours_ns, cpp_ns = nanoseconds([loop(step) for step in steps], x)
        rows.append({"op": op, "ours_ns": ours_ns, "cpp_ns": cpp_ns, "ratio": ours_ns / cpp_ns})
    print(json.dumps({"jax": jax.__version__, "rows": rows}))


if __name__ == "__main__":
    main()
