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
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from bench import page

import oxcall
from gpu.place import IN_JAX, IN_TORCH, REHEARSED

if TYPE_CHECKING:
    from collections.abc import Iterator

# Elements of an array; rows are of 1024, or of all elements of smaller ones.
SIZES = [1 << k for k in ((10, 12) if REHEARSED else (10, 14, 18, 20, 22, 24, 26))]
REPEATS = 5
# Calls of a program, each on the result of the one before.
CALLS, CALLS_OF_8 = 10, 100
# The least part of the better kernel's bandwidth.
GOAL = 0.9


class Case(NamedTuple):
    """An op, and the formula beside it: functions of arrays of one shape, of which the first takes the result's place
    in the next call."""

    name: str
    dtype: str
    operands: int
    ours: Callable[..., Any]
    other: Callable[..., Any]


def seconds(call: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """The least time of a call, with as many in flight as the device takes."""
    call(), wait()
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            call()
        wait()
        if (elapsed := time.perf_counter() - start) > 0.02:
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


def bandwidth(case: Case, size: int, bytes_each: int, ours: float, other: float) -> dict[str, Any]:
    """A line of the first table, in GB/s: the bytes of the operands and of the result in the time of a call."""
    moved = (case.operands + 1) * bytes_each / 1e9
    line = {"op": case.name, "dtype": case.dtype, "elements": size, "ours": moved / ours, "other": moved / other}
    print(line, flush=True)
    return line


def in_jax() -> dict[str, Any]:
    """What JAX shows."""
    import jax
    import jax.numpy as jnp

    gallery, device = oxcall.load(os.environ["OXCALL_GPU_LIBRARY"]), jax.devices(IN_JAX)[0]

    def timed(function: Callable[..., Any], calls: int, *operands: Any) -> float:
        """Seconds of a call in a program of several."""

        def program(x: Any, *rest: Any) -> Any:
            for _ in range(calls):
                # Each call is a pass over memory of its own.
                x = jax.lax.optimization_barrier(function(x, *rest))
            return x

        compiled = jax.jit(program).lower(*operands).compile()
        last = [operands[0]]

        def call() -> None:
            last[0] = compiled(*operands)

        return seconds(call, lambda: last[0].block_until_ready()) / calls

    def rms_norm(x: Any) -> Any:
        return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5)

    def layer_norm(x: Any, gain: Any, bias: Any) -> Any:
        centred = x - jnp.mean(x, -1, keepdims=True)
        return centred * jax.lax.rsqrt(jnp.mean(centred * centred, -1, keepdims=True) + 1e-5) * gain + bias

    def derivative(of: Callable[..., Any]) -> Callable[..., Any]:
        return lambda dy, x: jax.vjp(of, x)[1](dy)[0]

    def swiglu(gate: Any, x: Any) -> Any:
        return jax.nn.silu(gate) * x

    cases = [
        Case("rms_norm", "float32", 1, gallery.rms_norm, rms_norm),
        Case("softmax", "bfloat16", 1, gallery.softmax, jax.nn.softmax),
        Case("softplus", "float32", 1, gallery.softplus, jax.nn.softplus),
        Case("gradient of softplus", "bfloat16", 2, derivative(gallery.softplus), derivative(jax.nn.softplus)),
        Case("swiglu", "bfloat16", 2, gallery.swiglu, swiglu),
        Case("layer_norm", "float32", 3, gallery.layer_norm, layer_norm),
        Case("gradient of rms_norm", "float32", 2, derivative(gallery.rms_norm), derivative(rms_norm)),
    ]

    def bandwidths() -> Iterator[dict[str, Any]]:
        for case in cases:
            for size in SIZES:
                random = jax.random.normal(jax.random.key(0), (case.operands, *shape(size)))
                operands = [jax.device_put(x.astype(case.dtype), device) for x in random]
                times = [timed(function, CALLS, *operands) for function in (case.ours, case.other)]
                yield bandwidth(case, size, operands[0].nbytes, *times)

    ours = oxcall.load(os.environ["OXCALL_GPU_PLAIN"]).copied
    handler = getattr(ctypes.CDLL(os.environ["OXCALL_GPU_PEER"]), f"peer_copied_{IN_JAX}")
    jax.ffi.register_ffi_target("peer_copied", jax.ffi.pycapsule(handler), platform="cpu" if REHEARSED else "CUDA")

    def theirs(x: Any) -> Any:
        return jax.ffi.ffi_call("peer_copied", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    x = jax.device_put(jnp.ones(8, jnp.float32), device)
    # In turns, so that neither side has the quieter half.
    turns = [[timed(op, CALLS_OF_8, x) * 1e6 for op in (ours, theirs)] for _ in range(REPEATS)]
    return {
        "version": f"JAX {jax.__version__}",
        "device": device.device_kind,
        "compiler": "jax.jit",
        "bandwidth": list(bandwidths()),
        "overhead": [min(times) for times in zip(*turns, strict=True)],
    }


def in_torch() -> dict[str, Any]:
    """What torch shows."""
    import torch

    oxcall.load(os.environ["OXCALL_GPU_LIBRARY"])
    ops, functional = torch.ops.custom_op, torch.nn.functional
    wait = (lambda: None) if REHEARSED else torch.cuda.synchronize

    def timed(function: Callable[..., Any], *operands: Any) -> float:
        """Seconds of a call in a graph of several."""

        def program() -> Any:
            x, *rest = operands
            for _ in range(CALLS):
                x = function(x, *rest)
            return x

        if REHEARSED:
            return seconds(program, wait) / CALLS
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            program()
        wait()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            program()
        return seconds(graph.replay, wait) / CALLS

    def rms_norm(x: Any) -> Any:
        return x * torch.rsqrt(torch.mean(x * x, -1, keepdim=True) + 1e-5)

    def layer_norm(x: Any, gain: Any, bias: Any) -> Any:
        return functional.layer_norm(x, x.shape[-1:]) * gain + bias

    cases = [
        Case("rms_norm", "float32", 1, ops.rms_norm, rms_norm),
        Case("softmax", "bfloat16", 1, ops.softmax, lambda x: torch.softmax(x, -1)),
        Case("softplus", "float32", 1, ops.softplus, functional.softplus),
        Case("swiglu", "bfloat16", 2, ops.swiglu, lambda gate, x: functional.silu(gate) * x),
        Case("layer_norm", "float32", 3, ops.layer_norm, layer_norm),
    ]

    def bandwidths() -> Iterator[dict[str, Any]]:
        for case in cases:
            compiled = torch.compile(case.other, dynamic=False)
            for size in SIZES:
                dtype = getattr(torch, case.dtype)
                operands = [torch.randn(shape(size), device=IN_TORCH).to(dtype) for _ in range(case.operands)]
                times = [timed(function, *operands) for function in (case.ours, compiled)]
                yield bandwidth(case, size, operands[0].nbytes, *times)

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
        "Bandwidth over rows of 1024 elements: the bytes of the operands and the result, divided by the time of a call",
        f"in a program of {CALLS} calls, each on the result of the one before (a CUDA graph in torch), beside the same",
        f"formula compiled by the host. The goal is a ratio of at least {GOAL}. Arrays of up to some 10 MB stay in the",
        "device's cache.",
        "",
        "| compiler | op | dtype | elements | GB/s | GB/s of the compiler | ratio |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    for host in hosts:
        for line in host["bandwidth"]:
            ratio = line["ours"] / line["other"]
            lines.append(
                f"| `{host['compiler']}` | `{line['op']}` | `{line['dtype']}` | {line['elements']:,} | "
                f"{line['ours']:.1f} | {line['other']:.1f} | {ratio:.2f} |"
            )
    for ours, other in (host["overhead"] for host in hosts if "overhead" in host):
        lines += [
            "",
            "## The cost of a call",
            "",
            "A copy of 8 elements, by a handler in Rust and by one in C++ over the headers of jaxlib, in a program of",
            f"{CALLS_OF_8} calls one after another; microseconds of a call, with its launch.",
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
