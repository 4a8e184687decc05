"""The bandwidth that kernels reach, beside `jax.jit` and `torch.compile`: `cargo xtask gpu bench`."""

import importlib.util
import os
import time

import oxcall

# Elements of an array; rows are of 1024, or of all elements of smaller ones.
SIZES = [1 << k for k in range(10, 27, 2)]
REPEATS = 5


def seconds(call, wait):
    """The least time of a call, with as many in flight as the device takes."""
    call(), wait()
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        if (elapsed := time.perf_counter() - start) > 0.05:
            break
        count *= 2
    best = elapsed / count
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        best = min(best, (time.perf_counter() - start) / count)
    return best


def shape(size):
    n = min(size, 1024)
    return size // n, n


def report(host, name, size, bytes_moved, ours, theirs):
    rates = [bytes_moved / time / 1e9 for time in (ours, theirs)]
    print(f"| {host} | {name} | {size:,} | {rates[0]:.1f} | {rates[1]:.1f} | {rates[0] / rates[1]:.2f} |", flush=True)


def in_jax(gallery):
    import jax
    import jax.numpy as jnp

    def norm(x):
        wide = x.astype(jnp.float32)
        return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)).astype(x.dtype)

    cases = [
        ("rms_norm", gallery.rms_norm, norm, jnp.float32),
        ("softmax", gallery.softmax, jax.nn.softmax, jnp.bfloat16),
    ]
    for name, ours, theirs, dtype in cases:
        for size in SIZES:
            x = jax.random.normal(jax.random.key(0), shape(size)).astype(dtype)
            last = [x]

            def timed(function, x=x, last=last):
                compiled = jax.jit(function).lower(x).compile()

                def call():
                    last[0] = compiled(x)

                return seconds(call, lambda: last[0].block_until_ready())

            report("JAX", name, size, 2 * x.nbytes, timed(ours), timed(theirs))


def in_torch():
    import torch

    ops = torch.ops.custom_op

    def norm(x):
        return x * torch.rsqrt(torch.mean(x * x, -1, keepdim=True) + 1e-5)

    def softmax(x):
        return torch.softmax(x, -1)

    cases = [("rms_norm", ops.rms_norm, norm, torch.float32), ("softmax", ops.softmax, softmax, torch.bfloat16)]
    for name, ours, theirs, dtype in cases:
        compiled = torch.compile(theirs)
        for size in SIZES:
            x = torch.randn(shape(size), device="cuda").to(dtype)
            times = [seconds(lambda f=f, x=x: f(x), torch.cuda.synchronize) for f in (ours, compiled)]
            report("torch", name, size, 2 * x.nbytes, *times)


def main():
    gallery = oxcall.load(os.environ["OXCALL_GPU_LIBRARY"])
    print("| host | op | elements | GB/s | GB/s of the compiler | ratio |\n|---|---|---:|---:|---:|---:|")
    if importlib.util.find_spec("jax") is not None:
        in_jax(gallery)
    if importlib.util.find_spec("torch") is not None:
        in_torch()


if __name__ == "__main__":
    main()
