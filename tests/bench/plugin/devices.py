"""Times programs over four devices beside the same work on one, and an all_reduce beside copies of as many bytes:
``python -m bench.plugin.devices OUTPUT``, with ``OXCALL_NUM_DEVICES=4``."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

P = PartitionSpec
DEVICES = 4
DEVICES_LIMIT, ALL_REDUCE_LIMIT = 1.2, 2.0
SECONDS, LEAST_ROUNDS = 3.0, 11
MEGABYTES = 16


@dataclasses.dataclass
class Pair:
    """Two calls whose times are compared."""

    name: str
    ours: Callable[[], Any]
    other: Callable[[], Any]
    limit: float


def medians(pair: Pair) -> tuple[float, float]:
    """The median times of both, in seconds; called in turns."""
    for _ in range(3):
        jax.block_until_ready((pair.ours(), pair.other()))
    times: tuple[list[float], list[float]] = ([], [])
    end = time.perf_counter() + SECONDS
    while len(times[0]) < LEAST_ROUNDS or time.perf_counter() < end:
        for call, into in zip((pair.ours, pair.other), times, strict=True):
            start = time.perf_counter()
            jax.block_until_ready(call())
            into.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1])


def chain(x: jax.Array) -> jax.Array:
    return jnp.tanh(x * 1.5 + 0.5) * x


def step(w: jax.Array, x: jax.Array) -> jax.Array:
    gradient = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
    return w - 0.1 * gradient


def pairs() -> Iterator[Pair]:
    devices = jax.devices("oxcall")[:DEVICES]
    mesh = Mesh(np.array(devices), ("i",))
    rng = np.random.default_rng(0)

    def numbers(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype("float32")

    def split(x: np.ndarray, *spec: str | None) -> jax.Array:
        return jax.device_put(x, NamedSharding(mesh, P(*spec)))

    def on_parts(body: Callable[..., Any], *specs: PartitionSpec, out: PartitionSpec) -> Callable[..., Any]:
        return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=out, check_vma=False))

    one = devices[0]

    def elementwise(megabytes: int) -> Iterator[Pair]:
        x = numbers(megabytes << 18)
        alone, parts = jax.device_put(x, one), split(x, "i")
        run_alone, run_parts = jax.jit(chain), on_parts(chain, P("i"), out=P("i"))
        name = f"element-wise, {megabytes} MB"
        yield Pair(f"{name}, `shard_map`", lambda: run_parts(parts), lambda: run_alone(alone), DEVICES_LIMIT)
        yield Pair(f"{name}, `jit`", lambda: run_alone(parts), lambda: run_alone(alone), DEVICES_LIMIT)

    yield from elementwise(1)
    yield from elementwise(64)
    x, w = numbers(2048, 1024), numbers(1024, 1024)
    alone, weights = jax.device_put(x, one), jax.device_put(w, one)
    parts, copies = split(x, "i"), split(w)
    product = jax.jit(jnp.matmul)
    on_rows = on_parts(jnp.matmul, P("i"), P(), out=P("i"))
    yield Pair(
        "product of 2048 x 1024 x 1024, `shard_map`",
        lambda: on_rows(parts, copies),
        lambda: product(alone, weights),
        DEVICES_LIMIT,
    )
    run_step = jax.jit(step)
    reduced = on_parts(lambda w, x: lax.pmean(step(w, x), "i"), P(), P("i"), out=P())
    yield Pair(
        "training step with `pmean`", lambda: reduced(copies, parts), lambda: run_step(weights, alone), DEVICES_LIMIT
    )
    each = split(numbers(DEVICES * (MEGABYTES << 18)), "i")
    total = on_parts(lambda x: lax.psum(x, "i"), P("i"), out=P("i"))
    copied = on_parts(jnp.copy, P("i"), out=P("i"))
    name = f"`all_reduce` of {DEVICES} x {MEGABYTES} MB beside copying as much"
    yield Pair(name, lambda: total(each), lambda: copied(each), ALL_REDUCE_LIMIT)


def main() -> int:
    """Writes the page."""
    [output] = sys.argv[1:]
    rows = []
    for pair in pairs():
        ours, other = medians(pair)
        rows.append(f"| {pair.name} | {ours * 1e6:.0f} | {other * 1e6:.0f} | {ours / other:.2f} | {pair.limit} |")
        print(rows[-1], flush=True)
    lines = [
        "# Several devices",
        "",
        f"Written by `cargo xtask bench devices` on {time.strftime('%Y-%m-%d', time.gmtime())}: JAX {jax.__version__}, "
        f"{os.cpu_count()} cores.",
        f"The same work on {DEVICES} devices, which share the cores, and on one, in turns in one process; medians of",
        "one call in microseconds, dispatch included. A ratio of 1 means that devices cost nothing. An `all_reduce` is",
        "beside a program that copies as many bytes on the same devices.",
        "",
        "| what | four devices | one device, or copies | ratio | limit |",
        "|---|---|---|---|---|",
        *rows,
    ]
    pathlib.Path(output).with_suffix(".md").write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
