"""Kinds of calls, each as a function that makes one call."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import pathlib
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jax.sharding import NamedSharding, PartitionSpec

import oxcall

Call = Callable[[], object]


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of calls.

    Attributes:
        make: prepares them on a platform.
        share: how many of the calls that are asked for are made, for what is slow.
    """

    make: Callable[[str], Call]
    share: float = 1.0


KINDS: dict[str, Kind] = {}


def kind(share: float = 1.0) -> Callable[[Callable[[str], Call]], Callable[[str], Call]]:
    """Registers what prepares calls, by its name."""

    def register(make: Callable[[str], Call]) -> Callable[[str], Call]:
        KINDS[make.__name__.replace("_", " ")] = Kind(make, share)
        return make

    return register


def _x(size: int = 256) -> jax.Array:
    return jnp.linspace(0, 1, size, dtype=jnp.float32)


def _ready(function: Callable[..., object], *arguments: object) -> Call:
    return lambda: jax.block_until_ready(function(*arguments))


def _failing(function: Callable[..., object], *arguments: object) -> Call:
    def call() -> None:
        try:
            jax.block_until_ready(function(*arguments))
        except Exception as error:
            str(error)
        else:
            raise AssertionError("the call was to fail")

    return call


def _gallery() -> oxcall.Library:
    return oxcall.load(pathlib.Path(os.environ["OXCALL_TEST_LIBS"]) / "libcustom_ops.so")


@kind()
def jit_call(platform: str) -> Call:
    return _ready(jax.jit(lambda x: (jnp.sin(x) * 2).sum()), _x())


@kind()
def jit_call_of_many_arrays(platform: str) -> Call:
    return _ready(jax.jit(lambda *xs: [x + 1 for x in xs]), *(_x(n + 1) for n in range(20)))


@kind()
def calls_without_waiting(platform: str) -> Call:
    """A program that takes its own result, a hundred times between waits."""
    step, count, state = jax.jit(lambda x: x * 0.5 + 1), itertools.count(), [_x()]

    def call() -> None:
        state[0] = step(state[0])
        if next(count) % 100 == 99:
            state[0].block_until_ready()

    return call


@kind()
def op_by_op(platform: str) -> Call:
    x = _x()
    return lambda: (x + x).block_until_ready()


@kind()
def loop_and_branch(platform: str) -> Call:
    body = lambda i, x: jax.lax.cond(i % 2 == 0, jnp.sin, jnp.cos, x)  # noqa: E731
    return _ready(jax.jit(lambda x: jax.lax.fori_loop(0, 5, body, x)), _x())


@kind()
def linear_algebra(platform: str) -> Call:
    matrix = jnp.eye(8, dtype=jnp.float32) * 3 + 0.1
    return _ready(jax.jit(lambda a: jnp.linalg.solve(a, a @ a) + jnp.linalg.cholesky(a)), matrix)


@kind()
def donation(platform: str) -> Call:
    step, state = jax.jit(lambda x: x + 1, donate_argnums=0), [_x()]

    def call() -> None:
        state[0] = step(state[0])

    return call


@kind()
def transfer_to_the_device(platform: str) -> Call:
    value = np.arange(1000, dtype=np.float32)
    return lambda: jax.device_put(value).block_until_ready()


@kind()
def transfer_to_the_host(platform: str) -> Call:
    step = jax.jit(lambda x: x + 1)
    x = _x()
    return lambda: np.asarray(step(x))


@kind()
def copy_between_devices(platform: str) -> Call:
    x, other = _x(), jax.devices(platform)[1]
    return lambda: jax.device_put(x, other).block_until_ready()


@kind()
def dlpack(platform: str) -> Call:
    step, x = jax.jit(lambda x: x + 1), _x()
    return lambda: np.from_dlpack(oxcall.to_dlpack(step(x)))


@kind()
def callback(platform: str) -> Call:
    """`pure_callback`."""
    shape = jax.ShapeDtypeStruct((256,), jnp.float32)
    return _ready(jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(x) * 2, shape, x)), _x())


@kind()
def io_callback_in_order(platform: str) -> Call:
    return _ready(jax.jit(lambda x: io_callback(lambda x: None, None, x.sum(), ordered=True)), _x())


@kind(0.1)
def callback_that_fails(platform: str) -> Call:
    def fail(x: object) -> object:
        raise ValueError("on purpose")

    shape = jax.ShapeDtypeStruct((256,), jnp.float32)
    return _failing(jax.jit(lambda x: jax.pure_callback(fail, shape, x)), _x())


@kind()
def custom_call(platform: str) -> Call:
    ops = _gallery()
    return _ready(jax.jit(lambda x: ops.rms_norm(x)), _x().reshape(16, 16))


@kind()
def custom_call_in_place(platform: str) -> Call:
    ops = _gallery()
    return _ready(jax.jit(lambda x: ops.axpy(x, x * 2, alpha=0.5)), _x())


@kind()
def custom_call_async(platform: str) -> Call:
    ops = _gallery()
    return _ready(jax.jit(lambda x: ops.async_scale(x)), _x())


@kind()
def custom_call_with_a_state(platform: str) -> Call:
    ops = _gallery()
    return _ready(jax.jit(lambda x: ops.low_pass(x, cutoff=0.1, taps=31)), _x())


@kind(0.3)
def custom_call_that_fails(platform: str) -> Call:
    ops = _gallery()
    return _failing(jax.jit(lambda x: ops.fail(x)), -_x() - 1)


@kind(0.3)
def custom_call_async_that_fails(platform: str) -> Call:
    ops = _gallery()
    return _failing(jax.jit(lambda x: ops.async_scale(x, factor=float("nan"))), _x())


@kind(0.3)
def custom_call_that_panics(platform: str) -> Call:
    ops = _gallery()
    return _failing(jax.jit(lambda x: ops.panics(x, kind="Message")), _x())


@kind(0.3)
def program_on_every_device(platform: str) -> Call:
    mesh = jax.sharding.Mesh(np.array(jax.devices(platform)), ("d",))
    x = jax.device_put(_x(), NamedSharding(mesh, PartitionSpec("d")))
    mapped = jax.shard_map(
        lambda x: jax.lax.psum(x, "d"), mesh=mesh, in_specs=PartitionSpec("d"), out_specs=PartitionSpec()
    )
    return _ready(jax.jit(mapped), x)


@kind(0.3)
def pmap(platform: str) -> Call:
    count = jax.device_count(platform)
    mapped = jax.pmap(lambda x: jax.lax.psum(x * 2, "d"), "d", devices=jax.devices(platform))
    return _ready(mapped, jnp.ones((count, 16), jnp.float32))


@kind(0.02)
def compilation(platform: str) -> Call:
    """A program that is new each time."""
    count = itertools.count()

    def call() -> None:
        number = float(next(count))
        jax.jit(lambda x: jnp.sin(x) * number + x.sum()).lower(jax.ShapeDtypeStruct((64,), jnp.float32)).compile()
        with contextlib.suppress(AttributeError):
            jax.clear_caches()

    return call


@kind(0.02)
def compilation_that_fails(platform: str) -> Call:
    unknown = jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((256,), jnp.float32))
    return _failing(lambda x: jax.jit(lambda x: unknown(x))(x), _x())


@kind(0.3)
def memory_statistics(platform: str) -> Call:
    device = jax.devices(platform)[0]
    return lambda: device.memory_stats()
