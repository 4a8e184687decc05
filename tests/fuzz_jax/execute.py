"""Programs as functions, and their runs on a platform."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

from fuzz_jax import helpers
from fuzz_jax.ops.table import OPS, Skip
from fuzz_jax.program import Block, Program, Step, steps_of
from fuzz_jax.render import source
from fuzz_jax.types import NARROW_INTEGERS, Type

T = TypeVar("T")
NAMES = {"jax": jax, "jnp": jnp, "lax": lax, "np": np, "P": PartitionSpec}
NAMES.update({name: getattr(helpers, name) for name in helpers.__all__})
MESHES = ("shard_map", "constrain")  # ops that have devices in their text
QUICK = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}


def function(block: Block, noise: bool = False) -> Any:
    """The Python function of a block."""
    return of_text(source(block, noise=noise))


def of_text(text: str) -> Any:
    """The Python function of a block's text."""
    names = dict(NAMES)
    exec(_compiled(text), names)
    return names["program"]


@functools.lru_cache(maxsize=4096)
def _compiled(text: str) -> CodeType:
    return compile(text, "<program>", "exec")


def quick(program: Program) -> dict[str, Any] | None:
    """XLA's options for a quarter of the time to compile: the older emitters of loops, and none of LLVM's passes.

    Those emitters end the process over some integers narrower than a byte.
    """
    return None if is_narrow(program) else QUICK


def is_narrow(program: Program) -> bool:
    """Whether it has integers narrower than a byte."""
    dtypes = {value.dtype.name for value in program.inputs}
    return not dtypes.isdisjoint(NARROW_INTEGERS) or re.search("int[24]\\b", source(program.block)) is not None


class Traced:
    """A program for runs on several platforms: it is traced once where no platform's devices are part of it."""

    def __init__(self, program: Program) -> None:
        self.program, self.jitted = program, None
        meshes = program.devices > 1 or any(step.op in MESHES for step in steps_of(program.block))
        # JAX's compiled functions refuse arguments narrower than a byte, for a layout that is not theirs.
        if not meshes and not is_narrow(program):
            self.jitted = jax.jit(function(program.block))

    def run(self, platform: str, options: dict[str, Any] | None = None) -> list[np.ndarray]:
        """The results on a platform, compiled with XLA's options."""
        program = self.program
        if self.jitted is None:
            jitted = jax.jit(function(program.block), compiler_options=options)
            return call(jitted, program.inputs, platform, program.x64, program.devices)
        device = jax.devices(platform)[0]
        with jax.enable_x64(program.x64):
            arguments = jax.device_put(program.inputs, device)
            traced = self.jitted.trace(*arguments)  # JAX keeps it for these types
            with jax.default_device(device):  # of results that depend on no argument
                compiled = traced.lower().compile(compiler_options=options)
                return [np.asarray(x) for x in compiled(*arguments)]


def run(program: Program, platform: str) -> list[np.ndarray]:
    """The results on a platform."""
    return Traced(program).run(platform)


def is_traced(program: Program) -> bool:
    """Whether JAX traces the program on stock JAX's devices."""
    jitted = jax.jit(function(program.block))

    def trace(*arguments):
        jitted.trace(*arguments)
        return ()

    try:
        call(trace, program.inputs, "cpu", program.x64, program.devices)
    except Exception:
        return False
    return True


def step_by_step(program: Program) -> list[np.ndarray]:
    """The results of stock JAX, op by op."""
    with jax.disable_jit(program.devices == 1):
        return call(function(program.block), program.inputs, "cpu", program.x64, program.devices)


def call(
    function: Callable[..., Any], arguments: Sequence[np.ndarray], platform: str, x64: bool, devices: int = 1
) -> list[np.ndarray]:
    """Calls a function that returns a tuple of arrays."""
    device = jax.devices(platform)[0]
    helpers.use(platform, devices)
    with jax.enable_x64(x64), jax.default_device(device):
        return [np.asarray(x) for x in function(*(_put(value, platform, device, devices) for value in arguments))]


def _put(value: np.ndarray, platform: str, device: jax.Device, devices: int) -> jax.Array:
    """An argument on the device, or over all of them along the first dimension that they divide.

    All of stock JAX's devices have the whole of it: the maximum of parts drops NaNs there.
    """
    if devices == 1:
        return jax.device_put(value, device)
    divided = (axis for axis, size in enumerate(value.shape) if size and size % devices == 0)
    axis = None if platform == "cpu" else next(divided, None)
    spec = PartitionSpec(*(None,) * axis, "d") if axis is not None else PartitionSpec()
    return jax.device_put(value, NamedSharding(helpers.devices_mesh(), spec))


class Types:
    """What JAX says of the types of results, inside of one trace: one for each step costs more than most steps."""

    def __init__(self, x64: bool, devices: int) -> None:
        self.x64, self.devices = x64, devices
        self.values: dict[Type, jax.Array] = {}

    @classmethod
    def within(cls, use: Callable[[Types], T], x64: bool, devices: int) -> T:
        """What ``use`` makes of these."""
        made: list[T] = []
        helpers.use("cpu", devices)
        with jax.enable_x64(x64):
            jax.eval_shape(lambda: made.append(use(cls(x64, devices))))
        return made[0]

    def of(self, step: Step, known: dict[str, Type], inside: bool) -> tuple[Type, ...]:
        """Those of a step's results, ``inside`` of a function on every device or not; ``Skip`` if JAX refuses it."""
        names = {name: name if step.blocks else f"a{number}" for number, name in enumerate(known)}
        outs = ("v0",) if not OPS[step.op].many else ("*v0",)
        args = tuple(names[name] for name in step.args)
        text = source(Block(tuple(names.values()), (Step(step.op, outs, args, step.params, step.blocks),), outs))
        key = text, tuple(known.values()), self.x64, self.devices, inside
        if key not in _TYPES:
            if len(_TYPES) > 50_000:
                _TYPES.clear()
            _TYPES[key] = self._infer(step.op, text, tuple(known.values()), inside)
        if _TYPES[key] is None:
            raise Skip
        return _TYPES[key]

    def _infer(self, op: str, text: str, types: tuple[Type, ...], inside: bool) -> tuple[Type, ...] | None:
        traced = of_text(text)
        if inside:
            none = PartitionSpec()
            mesh = helpers.devices_mesh()
            traced = jax.shard_map(traced, mesh=mesh, in_specs=none, out_specs=none, check_vma=False)
        try:
            results = [jnp.asarray(result) for result in traced(*map(self._value, types))]
        except Exception as error:
            REFUSED[op] = f"{type(error).__name__}: {error}"
            return None
        return tuple(Type(result.dtype.name, result.shape) for result in results)

    def _value(self, type: Type) -> jax.Array:
        if type not in self.values:
            self.values[type] = lax.full(type.shape, 0, jnp.dtype(type.dtype))
        return self.values[type]


_TYPES: dict[tuple[Any, ...], tuple[Type, ...] | None] = {}
# Why JAX last refused an op: for those who write makers.
REFUSED: dict[str, str] = {}
