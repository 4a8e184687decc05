"""Runs every op of the gallery inside `jax.jit`, beside the same computation written with JAX's own functions.

    python demo.py path/to/libcustom_ops.so

One line an op: what it shows, the largest absolute difference from the reference, the median times of both (called in
turns), and whether the difference is within what the dtypes allow. The exit status is 1 if one is not.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

# XLA:CPU reports every call of a version 1 or 2 target as an error, although it runs; the gallery makes such calls.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import jax.numpy as jnp
import numpy as np

import oxcall

# How long the two sides of one line are timed together, in seconds, and at most how often.
TIMING, ROUNDS = 0.6, 60
# The ratio of times above which a line says why.
SLOWER = 1.1
ROW = "{:17} {:54} {:>8} {:>8} {:>8} {:>6}  {}"


@dataclasses.dataclass(frozen=True)
class Case:
    """One line of the gallery."""

    name: str
    shows: str
    ours: Callable[..., Any]
    reference: Callable[..., Any]
    inputs: tuple[Any, ...]
    tolerance: float = 0.0
    """The largest absolute difference that rounding explains."""
    donated: tuple[int, ...] = ()
    """Inputs whose memory the call may take."""
    cost: str = ""
    """What the call pays for besides its work, which is said where it is slower."""


@dataclasses.dataclass(frozen=True)
class Check:
    """A line without a reference to time: a function that returns whether all is as it should be."""

    name: str
    shows: str
    passes: Callable[[], bool]


def normal(seed: int, *shape: int, dtype: Any = jnp.float32) -> jax.Array:
    return jax.random.normal(jax.random.key(seed), shape, jnp.float32).astype(dtype)


def rms_norm_reference(x: jax.Array, eps: float = 1e-5) -> jax.Array:
    wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + eps)).astype(x.dtype)


def norms(ops: Any) -> Iterator[Case | Check]:
    yield Case(
        "rms_norm f32",
        "one target for every float dtype",
        ops.rms_norm,
        rms_norm_reference,
        (normal(0, 2048, 1024),),
        4e-6,
    )
    yield Case(
        "rms_norm bf16",
        "the same target; sums in float32",
        ops.rms_norm,
        rms_norm_reference,
        (normal(0, 2048, 1024, dtype=jnp.bfloat16),),
        0.04,
    )
    x, dy = normal(1, 2048, 1024), normal(2, 2048, 1024)
    yield Case(
        "rms_norm_vjp",
        "jax.grad through a backward op",
        jax.grad(lambda x, dy: jnp.sum(ops.rms_norm(x) * dy)),
        jax.grad(lambda x, dy: jnp.sum(rms_norm_reference(x) * dy)),
        (x, dy),
        4e-6,
    )
    yield Case(
        "rms_norm vmap",
        "one call for the whole batch under vmap",
        jax.vmap(jax.vmap(ops.rms_norm)),
        rms_norm_reference,
        (normal(3, 32, 64, 512),),
        4e-6,
    )


def legacy(ops: Any) -> Iterator[Case | Check]:
    def same_bits() -> bool:
        x = normal(4, 5, 300)
        calls = [jax.jit(lambda x, v=v: ops.rms_norm(x, eps=1e-3, custom_call_api_version=v)) for v in (1, 2, 3, 4)]
        first, *others = [np.asarray(call(x)).view(np.uint32) for call in calls]
        return all(np.array_equal(first, other) for other in others)

    yield Check("rms_norm v1-v4", "one function under four custom call APIs, equal bits", same_bits)


def states(ops: Any) -> Iterator[Case | Check]:
    def counts() -> bool:
        first, second = jax.jit(lambda: ops.counter()), jax.jit(lambda: ops.counter(start=100))
        return [int(first()), int(first()), int(second()), int(first())] == [1, 2, 101, 3]

    yield Check("counter", "a state for each executable, kept between runs", counts)

    cutoff, taps = 0.05, 63

    def reference(x: jax.Array) -> jax.Array:
        t = np.arange(taps) - (taps - 1) / 2
        response = 2 * cutoff * np.sinc(2 * cutoff * t) * np.hamming(taps)
        response = jnp.asarray(response / response.sum(), jnp.float32)
        return jax.lax.conv_general_dilated(
            x[:, None, :], response[None, None, :], window_strides=(1,), padding="VALID", precision="highest"
        )[:, 0, :]

    yield Case(
        "low_pass",
        "a table computed once, in the instantiate stage",
        lambda x: ops.low_pass(x, cutoff=cutoff, taps=taps),
        reference,
        (normal(5, 16, 16384),),
        1e-5,
    )


def attributes(ops: Any) -> Iterator[Case | Check]:
    gains = np.linspace(0.5, 2, 256)

    def affine_reference(x: jax.Array) -> jax.Array:
        return jax.nn.relu(jnp.clip(x * jnp.asarray(gains, jnp.float32) + 0.25, -2, 2))

    config = {"gains": gains, "offset": 0.25, "clip": {"low": -2, "high": 2}, "activation": "relu"}
    yield Case(
        "affine",
        "a nested struct with an enum, an array, an option",
        lambda x: ops.affine(x, config=config),
        affine_reference,
        (normal(6, 2048, 256),),
        1e-6,
    )
    yield Case(
        "polynomial",
        "attributes of any name, as a dictionary",
        lambda x: ops.polynomial(x, c0=1.0, c1=-0.5, c4=0.25),
        lambda x: 1.0 - 0.5 * x + 0.25 * x**4,
        (normal(7, 1 << 20),),
        1e-4,
    )


def neumaier(total: jax.Array, error: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    new = total + x
    lost = jnp.where(jnp.abs(total) >= jnp.abs(x), (total - new) + x, (x - new) + total)
    return new, error + lost


def compensated_sum(add: Callable[..., Any], terms: jax.Array) -> jax.Array:
    zeros = jnp.zeros(terms.shape[1:])
    (total, error), _ = jax.lax.scan(lambda carry, x: (add(*carry, x), None), (zeros, zeros), terms)
    return total + error


def buffers(ops: Any) -> Iterator[Case | Check]:
    pieces = tuple(normal(i, 512, 64 * i) for i in (1, 2, 3, 4))
    yield Case(
        "concatenate",
        "any number of arguments, a shape function",
        lambda *xs: ops.concatenate(*xs, axis=-1),
        lambda *xs: jnp.concatenate(xs, axis=-1),
        pieces,
    )
    yield Case(
        "axpy",
        "an argument updated in place",
        lambda x, y: ops.axpy(x, y, alpha=0.5),
        lambda x, y: 0.5 * x + y,
        (normal(8, 1 << 20), normal(9, 1 << 20)),
        1e-6,
        donated=(1,),
    )
    yield Case(
        "compensated_add",
        "two arguments updated in place, in a scan",
        functools.partial(compensated_sum, ops.compensated_add),
        functools.partial(compensated_sum, neumaier),
        (normal(10, 1000, 2048) * 10.0 ** jnp.arange(-4, 4).repeat(125)[:, None],),
    )
    yield Case(
        "async_scale",
        "completion from a thread of its own",
        lambda x: ops.async_scale(x, factor=3.0),
        lambda x: 3.0 * x,
        (normal(11, 1 << 20),),
        cost="each call wakes another thread",
    )


def kernels(ops: Any) -> Iterator[Case | Check]:
    group = 32
    packed = jax.random.randint(jax.random.key(12), (1024, 1024), -8, 8, jnp.int8).astype(jnp.int4)
    scales = jnp.abs(normal(13, 1024, 1024 // group))

    def dequantize(w: jax.Array, scales: jax.Array) -> jax.Array:
        return (w.astype(jnp.float32).reshape(*scales.shape, group) * scales[..., None]).reshape(w.shape)

    yield Case(
        "dequantize_int4",
        "packed 4-bit integers",
        lambda w, s: ops.dequantize_int4(w, s, group=group, dtype="float32"),
        dequantize,
        (packed, scales),
        cost="the plugin keeps a byte for each int4, and packs them for the call",
    )
    yield Case(
        "softmax bf16",
        "ndarray views and threads",
        ops.softmax,
        lambda x: jax.nn.softmax(x.astype(jnp.float32), axis=-1).astype(jnp.bfloat16),
        (normal(14, 1024, 1024, dtype=jnp.bfloat16) * 4,),
        0.004,
    )
    # Rounded, so that there are ties; both sides put the lowest index first.
    yield Case(
        "top_k",
        "two results of different dtypes, k from an attribute",
        lambda x: ops.top_k(x, k=16),
        lambda x: jax.lax.top_k(x, 16),
        (jnp.round(normal(15, 256, 4096) * 1000),),
    )
    rows, per_row = 4096, 16
    columns = jax.random.randint(jax.random.key(16), (rows * per_row,), 0, 2048, jnp.int32)
    start = jnp.arange(rows + 1, dtype=jnp.int32) * per_row
    row_of = jnp.repeat(jnp.arange(rows), per_row)
    yield Case(
        "csr_matmul",
        "indices that are checked before they are used",
        lambda values, x: ops.csr_matmul(values, columns, start, x),
        lambda values, x: jax.ops.segment_sum(values[:, None] * x[columns], row_of, rows, indices_are_sorted=True),
        (normal(17, rows * per_row), normal(18, 2048, 32)),
        2e-5,
    )
    n = 1024
    lower, upper = normal(19, 16, n).at[:, 0].set(0), normal(20, 16, n).at[:, -1].set(0)
    diagonal = jnp.abs(lower) + jnp.abs(upper) + 1
    yield Case(
        "tridiagonal_solve",
        "batched systems with named dimensions",
        ops.tridiagonal_solve,
        jax.lax.linalg.tridiagonal_solve,
        (lower, diagonal, upper, normal(21, 16, n, 8)),
        1e-3,
    )


@contextlib.contextmanager
def without_errors() -> Iterator[None]:
    """What Rust writes to standard error when it panics is of no use where a panic is expected."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def failures(ops: Any) -> Iterator[Case | Check]:
    def raises(call: Callable[[jax.Array], jax.Array], *parts: str) -> bool:
        try:
            with without_errors():
                jax.block_until_ready(jax.jit(call)(jnp.array([1.0, -1.0])))
        except jax.errors.JaxRuntimeError as error:
            return all(part in str(error) for part in parts)
        return False

    yield Check(
        "fail",
        "an error with its status code and message",
        lambda: raises(
            lambda x: ops.fail(x, status="out_of_range", message="too cold"), "OUT_OF_RANGE", "fail: too cold"
        ),
    )
    yield Check(
        "panics",
        "a panic is an error, and the process lives on",
        lambda: raises(lambda x: ops.panics(x, kind="index"), "INTERNAL", "panics: panicked at", "failing.rs"),
    )


GALLERY = (norms, legacy, states, attributes, buffers, kernels, failures)


def largest_difference(ours: Any, reference: Any) -> float:
    """The largest absolute difference of two results, infinite where shapes, dtypes or NaNs differ."""
    largest = 0.0
    ours, reference = jax.tree.leaves(ours), jax.tree.leaves(reference)
    if len(ours) != len(reference):
        return float("inf")
    for a, b in zip(ours, reference, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return float("inf")
        a, b = (np.asarray(value.astype(jnp.float32) if value.dtype == jnp.bfloat16 else value) for value in (a, b))
        if not np.array_equal(np.isnan(a), np.isnan(b)):
            return float("inf")
        difference = np.abs(a.astype(np.float64) - b.astype(np.float64))
        largest = max(largest, float(np.nanmax(difference, initial=0)))
    return largest


def in_turns(case: Case, sides: list[Callable[..., Any]]) -> list[float]:
    """The median time of each side in seconds, called alternately so that noise meets both."""
    times: list[list[float]] = [[] for _ in sides]
    end = time.perf_counter() + TIMING
    for _ in range(ROUNDS):
        for call, taken in zip(sides, times, strict=True):
            inputs = [jnp.copy(x) if i in case.donated else x for i, x in enumerate(case.inputs)]
            jax.block_until_ready(inputs)
            begin = time.perf_counter()
            jax.block_until_ready(call(*inputs))
            taken.append(time.perf_counter() - begin)
        if time.perf_counter() > end:
            break
    return [float(np.median(taken)) for taken in times]


def measure(case: Case) -> tuple[bool, list[str], str]:
    """Whether a case is as it should be, its columns, and why it is slower if it is."""
    sides = [jax.jit(f, donate_argnums=case.donated) for f in (case.ours, case.reference)]
    difference = largest_difference(*(call(*map(jnp.copy, case.inputs)) for call in sides))
    times = in_turns(case, sides)
    error = "exact" if difference == 0 else f"{difference:.1e}"
    ratio = times[0] / times[1]
    columns = [error, *(f"{1e3 * t:.3f}" for t in times), f"{ratio:.2f}"]
    return difference <= case.tolerance, columns, case.cost if ratio > SLOWER else ""


def run(line: Case | Check) -> bool:
    """Prints one line; whether it is as it should be."""
    columns, cost = [""] * 4, ""
    try:
        if isinstance(line, Check):
            passed = line.passes()
        else:
            passed, columns, cost = measure(line)
    except Exception:
        traceback.print_exc()
        passed = False
    verdict = f"ok ({cost})" if passed and cost else "ok" if passed else "FAIL"
    print(ROW.format(line.name, line.shows, *columns, verdict), flush=True)
    return passed


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    ops = oxcall.load(sys.argv[1])
    print(f"jax {jax.__version__} on {jax.devices()[0].device_kind}, {os.cpu_count()} cores; times in milliseconds\n")
    print(ROW.format("op", "what it shows", "error", "ours", "jax", "ratio", ""))
    results = [run(line) for group in GALLERY for line in group(ops)]
    failed = results.count(False)
    print(f"\n{len(results)} lines, {failed} failed" if failed else f"\nall {len(results)} lines ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
