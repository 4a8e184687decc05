"""Programs as functions, and their runs on a platform."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

from fuzz_jax import helpers
from fuzz_jax.ops.table import OPS, Skip
from fuzz_jax.program import Block, Program, Step
from fuzz_jax.render import source
from fuzz_jax.types import Type

NAMES = {"jax": jax, "jnp": jnp, "lax": lax, "np": np, "P": PartitionSpec}
NAMES.update({name: getattr(helpers, name) for name in helpers.__all__})


def function(block: Block, noise: bool = False) -> Any:
    """The Python function of a block."""
    names = dict(NAMES)
    exec(compile(source(block, noise=noise), "<program>", "exec"), names)
    return names["program"]


def run(program: Program, platform: str, jit: bool = True) -> list[np.ndarray]:
    """The results on a platform, as one program or op by op."""
    return call(function(program.block), program.inputs, platform, program.x64, program.devices, jit)


def call(
    function: Any, arguments: Sequence[np.ndarray], platform: str, x64: bool, devices: int = 1, jit: bool = True
) -> list[np.ndarray]:
    """Calls a function that returns a tuple of arrays."""
    device = jax.devices(platform)[0]
    helpers.use(platform, devices)
    with jax.enable_x64(x64), jax.default_device(device):
        arrays = [_put(value, platform, device, devices) for value in arguments]
        if jit:
            return [np.asarray(result) for result in jax.jit(function)(*arrays)]
        with jax.disable_jit(devices == 1):
            return [np.asarray(result) for result in function(*arrays)]


def _put(value: np.ndarray, platform: str, device: jax.Device, devices: int) -> jax.Array:
    """An argument on the device, or over all of them along the first dimension that they divide."""
    if devices == 1:
        return jax.device_put(value, device)
    axis = next((axis for axis, size in enumerate(value.shape) if size and size % devices == 0), None)
    spec = PartitionSpec(*(None,) * axis, "d") if axis is not None else PartitionSpec()
    return jax.device_put(value, NamedSharding(helpers.devices_mesh(), spec))


def infer(step: Step, known: dict[str, Type], x64: bool, devices: int, inside: bool) -> list[Type]:
    """The types of a step's results, ``inside`` of a function on every device or not; ``Skip`` if JAX refuses it."""
    return list(_infer(step, tuple(known.items()), x64, devices, inside))


@functools.lru_cache(maxsize=20000)
def _infer(step: Step, known: tuple[tuple[str, Type], ...], x64: bool, devices: int, inside: bool) -> tuple[Type, ...]:
    outs = ("v0",) if not OPS[step.op].many else ("*v0",)
    block = Block(tuple(name for name, _ in known), (Step(step.op, outs, step.args, step.params, step.blocks),), outs)
    helpers.use("cpu", devices)
    with jax.enable_x64(x64):
        arguments = [jax.ShapeDtypeStruct(type.shape, jnp.dtype(type.dtype)) for _, type in known]
        traced = function(block)
        if inside:
            none = PartitionSpec()
            mesh = helpers.devices_mesh()
            traced = jax.shard_map(traced, mesh=mesh, in_specs=none, out_specs=none, check_vma=False)
        try:
            results = jax.eval_shape(traced, *arguments)
        except Exception as error:
            REFUSED[step.op] = f"{type(error).__name__}: {error}"
            raise Skip from error
    return tuple(Type(result.dtype.name, result.shape) for result in results)


# Why JAX last refused an op: for whoever writes a maker.
REFUSED: dict[str, str] = {}
