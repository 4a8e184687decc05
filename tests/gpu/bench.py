"""Kernels beside those of `jax.jit` and `torch.compile`, and a call beside one of a handler in C++: `cargo xtask gpu
bench`.

Arguments are the host, `jax` or `torch`, and the page without its suffix. Each run renews the lines of its host.
"""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import sys
import time
from typing import TYPE_CHECKING, Any

from bench import page

import oxcall
from gpu.place import IN_JAX, IN_TORCH, REHEARSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Elements of an array; rows are of 1024, or of all elements of smaller ones.
SIZES = [1 << k for k in ((10, 12) if REHEARSED else range(10, 27, 2))]
REPEATS = 5
# Calls of a program, one after another on its own result.
CHAIN = 100
# The least part of the better kernel's bandwidth.
GOAL = 0.9


def seconds(call: Callable[[], Any], wait: Callable[[], Any]) -> float:
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


def shape(size: int) -> tuple[int, int]:
    """Rows of 1024 elements, or one of fewer."""
    n = min(size, 1024)
    return size // n, n


def bandwidth(op: str, size: int, moved: int, ours: float, other: float) -> dict[str, Any]:
    """A line of the first table, in GB/s."""
    line = {"op": op, "elements": size, "ours": moved / ours / 1e9, "other": moved / other / 1e9}
    print(line, flush=True)
    return line


def in_jax() -> dict[str, Any]:
    """What JAX shows."""
    import jax
    import jax.numpy as jnp

    gallery, device = oxcall.load(os.environ["OXCALL_GPU_LIBRARY"]), jax.devices(IN_JAX)[0]

    def timed(function: Callable[[Any], Any], x: Any) -> float:
        compiled = jax.jit(function).lower(x).compile()
        last = [x]

        def call() -> None:
            last[0] = compiled(x)

        return seconds(call, lambda: last[0].block_until_ready())

    def norm(x: Any) -> Any:
        wide = x.astype(jnp.float32)
        return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)).astype(x.dtype)

    cases = [
        ("rms_norm", gallery.rms_norm, norm, jnp.float32),
        ("softmax", gallery.softmax, jax.nn.softmax, jnp.bfloat16),
    ]

    def bandwidths() -> Iterator[dict[str, Any]]:
        for name, ours, other, dtype in cases:
            for size in SIZES:
                x = jax.device_put(jax.random.normal(jax.random.key(0), shape(size)).astype(dtype), device)
                yield bandwidth(name, size, 2 * x.nbytes, timed(ours, x), timed(other, x))

    ours = oxcall.load(os.environ["OXCALL_GPU_PLAIN"]).copied
    handler = getattr(ctypes.CDLL(os.environ["OXCALL_GPU_PEER"]), f"peer_copied_{IN_JAX}")
    jax.ffi.register_ffi_target("peer_copied", jax.ffi.pycapsule(handler), platform="cpu" if REHEARSED else "CUDA")

    def theirs(x: Any) -> Any:
        return jax.ffi.ffi_call("peer_copied", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    def chain(op: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            for _ in range(CHAIN):
                x = op(x)
            return x

        return run

    x = jax.device_put(jnp.ones(8, jnp.float32), device)
    overhead = [timed(chain(op), x) / CHAIN * 1e6 for op in (ours, theirs)]
    return {
        "version": f"JAX {jax.__version__}",
        "device": device.device_kind,
        "compiler": "jax.jit",
        "bandwidth": list(bandwidths()),
        "overhead": overhead,
    }


def in_torch() -> dict[str, Any]:
    """What torch shows."""
    import torch

    oxcall.load(os.environ["OXCALL_GPU_LIBRARY"])
    ops = torch.ops.custom_op
    wait = (lambda: None) if REHEARSED else torch.cuda.synchronize

    def norm(x: Any) -> Any:
        return x * torch.rsqrt(torch.mean(x * x, -1, keepdim=True) + 1e-5)

    def softmax(x: Any) -> Any:
        return torch.softmax(x, -1)

    cases = [("rms_norm", ops.rms_norm, norm, torch.float32), ("softmax", ops.softmax, softmax, torch.bfloat16)]

    def bandwidths() -> Iterator[dict[str, Any]]:
        for name, ours, other, dtype in cases:
            compiled = torch.compile(other, dynamic=False)
            for size in SIZES:
                x = torch.randn(shape(size), device=IN_TORCH).to(dtype)
                times = [seconds(lambda f=f, x=x: f(x), wait) for f in (ours, compiled)]
                yield bandwidth(name, size, 2 * x.nbytes, *times)

    return {
        "version": f"torch {torch.__version__}",
        "device": "cpu" if REHEARSED else torch.cuda.get_device_name(),
        "compiler": "torch.compile",
        "bandwidth": list(bandwidths()),
    }


HOSTS = {"jax": in_jax, "torch": in_torch}


def text(measured: dict[str, Any]) -> str:
    """The page."""
    hosts = [measured[name] for name in HOSTS if name in measured]
    lines = [
        "# Kernels on a GPU",
        "",
        f"Written by `cargo xtask gpu bench` on {time.strftime('%Y-%m-%d', time.gmtime())}: {hosts[0]['device']},",
        ", ".join(host["version"] for host in hosts) + ".",
        "",
        "The bandwidth of `rms_norm` in `f32` and `softmax` in `bf16`, over rows of 1024 elements: the bytes of the",
        "operand and the result, divided by the least time of a call with as many in flight as the device takes,",
        f"beside the same formula compiled by the host. The goal is a ratio of at least {GOAL}.",
        "",
        "| compiler | op | elements | GB/s | GB/s of the compiler | ratio |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for host in hosts:
        for line in host["bandwidth"]:
            ratio = line["ours"] / line["other"]
            lines.append(
                f"| `{host['compiler']}` | `{line['op']}` | {line['elements']:,} | {line['ours']:.1f} | "
                f"{line['other']:.1f} | {ratio:.2f} |"
            )
    for ours, other in (host["overhead"] for host in hosts if "overhead" in host):
        lines += [
            "",
            "## The cost of a call",
            "",
            "A copy of 8 elements, by a handler in Rust and by one in C++ over the headers of jaxlib, in a program of",
            f"{CHAIN} calls one after another; microseconds of a call, with its launch.",
            "",
            "| Rust | C++ | ratio |",
            "|---:|---:|---:|",
            f"| {ours:.2f} | {other:.2f} | {ours / other:.2f} |",
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measures a host, and renews the page."""
    host, stem = sys.argv[1], pathlib.Path(sys.argv[2])
    kept = stem.with_suffix(".json")
    measured = json.loads(kept.read_text()) if kept.exists() else {}
    measured[host] = HOSTS[host]()
    # Lines of one device only.
    measured = {name: lines for name, lines in measured.items() if lines["device"] == measured[host]["device"]}
    page.write(stem, measured, text(measured))


if __name__ == "__main__":
    main()
