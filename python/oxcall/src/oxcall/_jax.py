"""The one place that knows how JAX versions differ, from 0.4.34 on. Importing it imports JAX."""

from __future__ import annotations

import ctypes
import functools
import pathlib
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import xla_bridge
from jax._src.lax.lax import _convert_element_type
from jaxlib import xla_client

from oxcall import _dtypes
from oxcall._errors import CallError, LoadError

OLDEST = (0, 4, 34)


def version() -> tuple[int, ...]:
    """The numbers of JAX's version."""
    return tuple(jax.__version_info__)


if version() < OLDEST:
    raise LoadError(
        f"oxcall needs JAX 0.4.34 or newer, and JAX {jax.__version__} is installed. "
        'Upgrade it with `pip install --upgrade "jax>=0.4.34"`.'
    )

try:
    import jax.ffi as _ffi
except ImportError:  # before 0.5
    import jax.extend.ffi as _ffi

ffi_lowering = _ffi.ffi_lowering

# jaxlib 0.4.34 passes only arrays of signed integers, f32 and f64 as attributes.
HAS_UNSIGNED_ARRAYS = version() > OLDEST

# XLA before jaxlib 0.5.0 aborts the process where a custom call has a token.
HAS_TOKENS = version() >= (0, 5)

# JAX renames "cpu" to "Host" itself; other platforms go by XLA's names.
_PLATFORMS = {"Host": "cpu"}

Tracer = jax.core.Tracer


def capsule(address: int) -> Any:
    """A PyCapsule around the address of a C function that lives as long as the process."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(address, None, None)


def register_typed(target: str, stages: Mapping[str, int], platform: str, traits: int) -> None:
    """Registers a typed FFI target from the addresses of its stages."""
    # Only the dictionary form carries traits: with a bare capsule JAX drops them silently.
    bundle = {stage: capsule(address) for stage, address in stages.items()}
    options = {"traits": traits} if traits else {}
    _ffi.register_ffi_target(target, bundle, platform=_PLATFORMS.get(platform, platform), api_version=1, **options)


def register_legacy(target: str, address: int, platform: str) -> None:
    """Registers an entry point of custom call API version 1, 2 or 3; they share one registry."""
    _ffi.register_ffi_target(target, capsule(address), platform=_PLATFORMS.get(platform, platform), api_version=0)


def is_queued(target: str) -> bool:
    """Whether a target of this name waits for its backend to be created.

    JAX queues registrations until then, and a second one of the same name makes the whole backend fail. The queue is
    private to jaxlib: where it is not found, nothing is queued as far as we know.
    """
    queue = getattr(xla_client, "_custom_callback", None) or {}
    return any(entry[0] in (target, target.encode()) for entries in queue.values() for entry in entries)


def register_partitioner(target: str, partitioner: Any) -> None:
    """Lets XLA ask a partitioner how to split calls of a target, in this process's CPU client and in plugins."""
    register = functools.partial(
        xla_client.register_custom_call_partitioner, target, partitioner.propagate, partitioner.partition,
        partitioner.infer, True,
    )  # fmt: skip
    register()
    xla_bridge.register_plugin_callbacks(register)


@functools.cache
def abstract_token() -> Any:
    """The type of tokens; CallError where this JAX cannot pass them to custom calls."""
    check_tokens()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        token = getattr(jax.core, "abstract_token", None)
    return jax.typeof(jax.lax.create_token()) if token is None else token


def check_tokens() -> None:
    """Raises CallError where this JAX cannot pass tokens to custom calls."""
    if not HAS_TOKENS:
        raise CallError(
            f"JAX {jax.__version__} aborts the process on tokens in custom calls; JAX 0.5 or newer passes them"
        )


def is_token(value: Any) -> bool:
    """Whether an operand is a token rather than an array."""
    if isinstance(value, Tracer):
        return "Token" in type(value.aval).__name__
    return type(value).__name__ == "Token"


def as_operand(value: Any, dtype: str | None = None) -> Any:
    """A value as an operand: arrays and tokens as they are, random keys as their data, others as arrays."""
    if is_token(value):
        check_tokens()
        return value
    if not isinstance(value, jax.Array):
        return jnp.asarray(value, None if dtype is None else _dtypes.numpy_dtype(dtype))
    return jax.random.key_data(value) if is_key(value) else value


def is_key(value: Any) -> bool:
    """Whether a value is an array of random keys."""
    return isinstance(value, jax.Array) and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)


def dtype_of(operand: Any) -> str | None:
    """XLA's name of an operand's dtype; ``None`` for a dtype that XLA's FFI lacks."""
    return "token" if is_token(operand) else _dtypes.xla_name(operand.dtype.name)


def shape_of(operand: Any) -> tuple[Any, ...]:
    """An operand's shape; tokens have rank 0."""
    return () if is_token(operand) else tuple(operand.shape)


def adopts(value: Any, dtype: str) -> bool:
    """Whether a Python scalar or a weakly typed array takes a dtype when it meets an array of it."""
    if isinstance(value, np.ndarray | np.generic) or is_token(value):
        return False
    numpy_dtype = _dtypes.numpy_dtype(dtype)
    is_weak = not hasattr(value, "dtype") or getattr(value, "weak_type", False)
    try:
        return is_weak and numpy_dtype is not None and jnp.result_type(value, numpy_dtype) == numpy_dtype
    except (TypeError, ValueError):
        return False


def result_type(values: Sequence[Any]) -> tuple[str | None, bool]:
    """The dtype to which JAX promotes arrays and Python scalars, and whether it is weak.

    The dtype is ``None`` where JAX refuses, or has no name here.
    """
    if len(values) == 1 and is_token(values[0]):
        return "token", False
    try:
        dtype, is_weak = jax.dtypes.result_type(*values, return_weak_type_flag=True)
    except (TypeError, ValueError, OverflowError):
        return None, False
    return _dtypes.xla_name(dtype.name), is_weak


def inexact(dtype: str) -> str | None:
    """The dtype of what a function of floats in `jax.numpy` gives for arrays of a dtype; ``None`` where it refuses."""
    numpy_dtype = _dtypes.numpy_dtype(dtype)
    return None if numpy_dtype is None else _inexact(numpy_dtype, jnp.result_type(float))


@functools.cache
def _inexact(dtype: Any, of_floats: Any) -> str | None:
    """See `inexact`. JAX's versions differ; the default dtype of floats tells contexts with 64-bit types apart."""
    del of_floats
    try:
        return _dtypes.xla_name(jax.eval_shape(jnp.exp, jax.ShapeDtypeStruct((), dtype)).dtype.name)
    except (TypeError, ValueError):
        return None


def converted(operand: Any, dtype: str, is_weak: bool = False) -> Any:
    """An operand of this dtype, which is weak if the operand is weak already or shall be."""
    if is_weak and not is_weakly_typed(operand):
        return _convert_element_type(operand, _dtypes.numpy_dtype(dtype), weak_type=True)
    if dtype_of(operand) == dtype:
        return operand
    return _convert_element_type(operand, _dtypes.numpy_dtype(dtype), weak_type=is_weak)


def is_weakly_typed(value: Any) -> bool:
    """Whether an array, a tracer or a type adopts the dtypes of others, as a Python scalar does."""
    return getattr(getattr(value, "aval", value), "weak_type", False)


def broadcast(operands: Sequence[Any]) -> Sequence[Any]:
    """Operands of one shape, by NumPy's rules."""
    return jnp.broadcast_arrays(*operands)


def is_broadcast(operands: Sequence[Any]) -> bool:
    """Whether operands have several shapes."""
    return any(shape_of(operand) != shape_of(operands[0]) for operand in operands[1:])


def vary_together(operands: Sequence[Any]) -> tuple[Any, ...]:
    """Operands of one call inside shard_map, all of which vary over the same mesh axes.

    JAX wants all operands of a custom call to vary over the same axes, so those that are equal on all devices are cast.
    Outside shard_map, and before JAX tracked this, there are no such axes.
    """
    axes = frozenset().union(*map(_varying_axes, operands))
    return tuple(_vary(operand, axes - _varying_axes(operand)) for operand in operands)


def _varying_axes(operand: Any) -> frozenset[Any]:
    aval = getattr(operand, "aval", None)
    return getattr(aval, "vma", None) or getattr(getattr(aval, "mat", None), "varying", None) or frozenset()


def _vary(operand: Any, axes: frozenset[Any]) -> Any:
    if not axes or is_token(operand):
        return operand
    if hasattr(jax.lax, "pcast"):
        return jax.lax.pcast(jnp.asarray(operand), tuple(axes), to="varying")
    return jax.lax.pvary(jnp.asarray(operand), tuple(axes))


def zero_cotangent(primal: Any) -> Any:
    """A cotangent of zeros: of dtype float0 where the primal is not differentiable."""
    if jnp.issubdtype(primal.dtype, jnp.inexact):
        return vary_together((jnp.zeros_like(primal), primal))[0]
    return np.zeros(primal.shape, jax.dtypes.float0)


def default_device() -> Any:
    """The device where arrays go if nothing is said."""
    device = jax.config.jax_default_device
    if isinstance(device, str):
        return jax.local_devices(backend=device)[0]
    return device or jax.local_devices()[0]


def view_of_dlpack(external: Any, device: Any) -> Any:
    """An array on the memory of an object with `__dlpack__`, on a device that uses the CPU's memory.

    `jax.dlpack.from_dlpack` is for devices of JAX's own platforms; the function that it calls takes others.
    """
    if device.platform == "cpu":
        return jax.dlpack.from_dlpack(external, device, copy=False)
    kind, _ = external.__dlpack_device__()
    if kind != 1:
        raise BufferError(f"the memory is that of a device of DLPack's type {kind}, not of the CPU")
    array = xla_client._xla.dlpack_managed_tensor_to_buffer(external.__dlpack__(), device, None)
    return jnp.asarray(array, dtype=jax.dtypes.canonicalize_dtype(array.dtype))


def api_version() -> str | None:
    """The version of XLA's FFI API, from the header that jaxlib installs."""
    header = pathlib.Path(_ffi.include_dir(), "xla", "ffi", "api", "c_api.h")
    if not header.exists():
        return None
    numbers = re.findall(r"#define XLA_FFI_API_(?:MAJOR|MINOR) (\d+)", header.read_text())
    return ".".join(numbers) or None


def enable_x64() -> Any:
    """A context with 64-bit types, which leaves the user's setting as it is."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64  # before 0.8

    return enable_x64()
