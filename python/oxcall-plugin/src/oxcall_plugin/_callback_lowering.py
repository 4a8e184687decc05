"""The lowering of JAX's callbacks for a plugin: to a custom call with the number of the Python function.

JAX's own lowering serves the platforms that it lists, by data that jaxlib attaches to executions on these only. All of
JAX's rules (`pure_callback`, `io_callback`, `debug_callback`, `debug_print`, `checkify`) go through one function, which
is taken over for the plugins' platforms.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax._src import core
from jax._src.interpreters import mlir

from oxcall_plugin._callbacks import Callback, Callbacks

_served: dict[str, Callbacks] = {}


def serve_platform(platform: str, callbacks: Callbacks) -> None:
    """Lets programs for `platform` call back into Python."""
    _served[platform] = callbacks
    _take_over()
    from jax._src import debugging

    # Older versions have the shardings of devices rather than of a mesh.
    if hasattr(debugging, "inspect_sharding_p") and jax.__version_info__ >= (0, 7):
        mlir.register_lowering(debugging.inspect_sharding_p, lower_inspect_sharding, platform=platform)


@functools.cache
def _take_over() -> None:
    """Puts `_emit` in front of JAX's function, wherever its modules refer to it."""
    import jax.interpreters.mlir

    modules = [mlir, jax.interpreters.mlir]
    try:
        from jax._src import callback

        modules.append(callback)
    except ImportError:
        pass
    original = next(function for module in modules if (function := getattr(module, "emit_python_callback", None)))

    @functools.wraps(original)
    def emit_python_callback(ctx: Any, callback: Any, token: Any, *args: Any, **options: Any) -> Any:
        served = _callbacks_of(ctx)
        if served is None:
            return original(ctx, callback, token, *args, **options)
        return _emit(served, ctx, callback, token, *args, **options)

    for module in modules:
        if getattr(module, "emit_python_callback", None) is original:
            module.emit_python_callback = emit_python_callback


def _callbacks_of(ctx: Any) -> Callbacks | None:
    """Those of the platform that is lowered for; `None` for several, which JAX refuses, and for JAX's own."""
    platforms = tuple(ctx.module_context.platforms)
    return _served.get(platforms[0]) if len(platforms) == 1 else None


def _emit(
    served: Callbacks,
    ctx: Any,
    callback: Callable[..., Any],
    token: Any,
    operands: Sequence[Any],
    operand_avals: Sequence[Any],
    result_avals: Sequence[Any],
    *,
    has_side_effect: bool,
    partitioned: bool = False,
    sharding: Any = None,
    **_options: Any,
) -> tuple[Sequence[Any], Any, Any]:
    """The counterpart of JAX's `emit_python_callback`, which serves its own platforms."""
    if partitioned and result_avals:
        raise ValueError("Partitioned callback not supported with return values.")
    x64 = jax.config.jax_enable_x64

    def function(arrays: Sequence[Any]) -> Sequence[Any]:
        with _enable_x64(x64):
            return _checked(callback(*arrays), result_avals)

    dtypes = [_dtype(aval) for aval in operand_avals], [_dtype(aval) for aval in result_avals]
    number, kept = served.add(Callback(function, *dtypes), _name(callback))
    _keep(ctx, kept, callback)
    types = [_type(aval) for aval in result_avals]
    if token:
        operands, types = [token, *operands], [mlir.ir.Type.parse("!stablehlo.token"), *types]
    results = _custom_call("oxcall_python_callback", number, operands, types, has_side_effect)
    if partitioned:
        # Each device makes the call, with its parts of the operands.
        results.operation.attributes["oxcall.partitioned"] = mlir.ir.UnitAttr.get()
    elif sharding is not None:
        _set_sharding(ctx, results, _with_token(sharding) if token and result_avals else sharding)
    outputs = list(results.results)
    if token:
        token, *outputs = outputs
    return outputs, token, kept


def lower_buffer_callback(
    ctx: Any,
    *operands: Any,
    callback: Any,
    in_tree: Any,
    out_tree: Any,
    has_side_effect: bool,
    input_output_aliases: Sequence[tuple[int, int]],
    **_params: Any,
) -> Any:
    """The rule of `jax.experimental.buffer_callback`."""
    served = _callbacks_of(ctx)
    if served is None:
        raise NotImplementedError("multi-platform lowering for buffer_callback")
    from oxcall_plugin._buffer_callback import call

    def function(operands: Sequence[Any], results: Sequence[Any]) -> None:
        # What is said to share memory begins with the same elements, in memory of its own.
        for operand, result in input_output_aliases:
            np.copyto(results[result], operands[operand])
        call(callback, in_tree, out_tree, operands, results)

    number, kept = served.add(
        Callback(
            function,
            [_dtype(aval) for aval in ctx.avals_in],
            [_dtype(aval) for aval in ctx.avals_out],
            in_place=True,
        ),
        _name(callback),
    )
    _keep(ctx, kept, callback)
    types = [_type(aval) for aval in ctx.avals_out]
    return _custom_call("oxcall_python_buffer_callback", number, operands, types, has_side_effect).results


def lower_inspect_sharding(ctx: Any, value: Any, *, callback: Any) -> Any:
    """The rule of `jax.debug.inspect_array_sharding`: the compiler tells the function how the value is split."""
    from jax._src import debugging

    served = _callbacks_of(ctx)
    devices, mesh = _devices_and_mesh(ctx.module_context.axis_context)
    if served is None or devices is None or len(devices) == 1:
        return debugging._inspect_sharding_lowering_rule(ctx, value, callback=callback)

    def tell(arrays: Sequence[Any]) -> Sequence[Any]:
        proto = debugging.xc.OpSharding()
        proto.ParseFromString(arrays[0].tobytes())
        sharding = debugging.xc.HloSharding.from_proto(proto)
        if mesh.empty:
            callback(debugging.sharding_impls.GSPMDSharding(devices, sharding))
        else:
            spec = debugging.parse_flatten_op_sharding(sharding, mesh)[0]
            callback(debugging.sharding_impls.NamedSharding(mesh, spec))
        return []

    number, kept = served.add(Callback(tell, [np.dtype(np.uint8)], []), _name(callback))
    _keep(ctx, kept, callback)
    _custom_call("oxcall_inspect_sharding", number, [value], [], has_side_effect=True)
    return []


def _devices_and_mesh(context: Any) -> tuple[Any, Any]:
    """The devices that a program is lowered for, and the mesh that they are named by."""
    from jax._src import mesh as meshes

    if (mesh := getattr(context, "mesh", None)) is not None:
        return mesh._flat_devices_tuple, mesh
    devices = getattr(context, "device_assignment", None)
    abstract = getattr(context, "abstract_mesh", None)
    if devices is None or abstract is None:
        return devices, meshes.thread_resources.env.physical_mesh
    return devices, meshes.Mesh(np.array(devices).reshape(abstract.axis_sizes), abstract.axis_names)


def _keep(ctx: Any, kept: Any, callback: Any) -> None:
    """Has the program keep what it calls."""
    ctx.module_context.add_keepalive(kept)
    # With it, JAX knows that the program cannot be stored. Older jaxlibs take objects of their own only.
    if jax.__version_info__ >= (0, 6):
        ctx.module_context.add_host_callback(callback)


def _custom_call(
    target: str,
    number: int,
    operands: Sequence[Any],
    types: Sequence[Any],
    has_side_effect: bool,
) -> Any:
    return mlir.custom_call(
        target,
        operands=list(operands),
        result_types=list(types),
        backend_config={"callback": mlir.ir_attribute(np.uint64(number))},
        has_side_effect=has_side_effect,
        api_version=4,
    )


def _checked(outputs: Any, result_avals: Sequence[Any]) -> Sequence[Any]:
    """The function's results as arrays, which have to be of the types that were announced; the messages are JAX's."""
    if len(outputs) != len(result_avals):
        raise RuntimeError(
            f"Mismatched number of outputs from callback. Expected: {len(result_avals)}, Actual: {len(outputs)}"
        )
    arrays = [_canonical(np.asarray(output)) for output in outputs]
    for index, (array, aval) in enumerate(zip(arrays, map(_physical, result_avals), strict=True)):
        for what in ("shape", "dtype"):
            if (actual := getattr(array, what)) != (expected := getattr(aval, what)):
                raise RuntimeError(
                    f"Incorrect output {what} for return value #{index}: Expected: {expected}, Actual: {actual}"
                )
    return arrays


def _canonical(array: Any) -> Any:
    """An array of a dtype that JAX has, with fewer bits where `jax_enable_x64` is off."""
    from jax._src import dtypes

    if convert := getattr(dtypes, "canonicalize_value", None):
        return np.asarray(convert(array))
    return array.astype(jax.dtypes.canonicalize_dtype(array.dtype), copy=False)


def _enable_x64(value: bool) -> Any:
    """JAX's setting is that of the thread which traced the program."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(value)
    from jax.experimental import enable_x64

    return enable_x64(value)


def _physical(aval: Any) -> Any:
    """The array that stands for a value, such as a random key's data."""
    return core.physical_aval(aval)


def _dtype(aval: Any) -> np.dtype[Any]:
    dtype = _physical(aval).dtype
    return np.dtype(np.bool_) if dtype == jax.dtypes.float0 else np.dtype(dtype)


def _type(aval: Any) -> Any:
    return mlir.ir.RankedTensorType.get(_physical(aval).shape, mlir.dtype_to_ir_type(_dtype(aval)))


def _name(callback: Any) -> str:
    """The user's function, for messages: JAX wraps it several times."""
    for _ in range(8):
        inner = getattr(callback, "callback_func", None) or getattr(callback, "func", None)
        if inner is None and (cells := getattr(callback, "__closure__", None)):
            values = dict(zip(callback.__code__.co_freevars, cells, strict=False))
            inner = values["callback"].cell_contents if "callback" in values else None
        if not callable(inner):
            break
        callback = inner
    return getattr(callback, "__qualname__", None) or repr(callback)


def _set_sharding(ctx: Any, op: Any, sharding: Any) -> None:
    try:
        mlir.set_sharding(ctx.module_context, op, sharding)
    except TypeError:  # before it took the context
        mlir.set_sharding(op, sharding)


def _with_token(sharding: Any) -> Any:
    """The shardings of all results where the first one is a token, which has no dimensions."""
    if not hasattr(sharding, "shardings"):
        return sharding
    from jax._src.sharding_impls import SdyArray

    first = sharding.shardings[0]
    token = SdyArray(mesh_shape=(), dim_shardings=(), logical_device_ids=first.logical_device_ids)
    return type(sharding)((token, *sharding.shardings))
