"""Registration with JAX: the one place that knows how its versions differ, from 0.4.38 on."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Mapping
from typing import Any

from jax._src import xla_bridge
from jaxlib import xla_client

from oxcall_plugin import _backend, _callback_lowering, _compilation_cache, _cost_analysis, _transforms
from oxcall_plugin._as_cpu import CPU, cpu_options, take_own_handlers
from oxcall_plugin._dlpack import take_dlpack
from oxcall_plugin._errors import PluginError
from oxcall_plugin._lowerings import share_cpu_rules
from oxcall_plugin._native import NativePlugin
from oxcall_plugin._xla_flags import host_devices

# JAX raises an error of a call at this call, torch_xla at a later step, so the plugin's own default suits torch_xla.
ERRORS_AT_CALL = {"errors_at_call": True}

_registered: dict[str, str] = {}


def register(path: str, name: str | None, priority: int, options: Mapping[str, Any]) -> None:
    """Makes JAX know a plugin: its library, lowering rules, and how custom calls are registered with it."""
    plugin = NativePlugin(path)
    platform = name or plugin.name
    if (known := _registered.get(platform)) is not None:
        if known == path:
            return
        raise PluginError(f"the platform `{platform}` is registered already, by {known}")
    # JAX prints a warning for each platform that it does not list here, also when nobody uses it.
    getattr(xla_bridge, "_nonexperimental_plugins", set()).add(platform)
    _take_handlers(plugin, platform)
    _take_types(plugin, platform)
    _take_batch_partitionable(plugin)
    if platform == CPU:
        priority, options = 0, {**cpu_options(), **options}
        take_own_handlers()
        take_dlpack()
    else:
        if "OXCALL_NUM_DEVICES" not in os.environ:
            options = {**host_devices(), **options}
        _serve_libraries(platform)
    share_cpu_rules(platform)
    _callback_lowering.serve_platform(platform, plugin.callbacks())
    _compilation_cache.serve_platform(platform)
    _cost_analysis.serve_platform(platform)
    _transforms.serve_platform(platform)
    options = {**ERRORS_AT_CALL, **options}
    xla_bridge.register_plugin(platform, priority=priority, library_path=path, options=options)
    _backend.guard(platform, options)
    _share_options_with_topologies(platform, options)
    _registered[platform] = path


def _share_options_with_topologies(platform: str, options: Mapping[str, Any]) -> None:
    """A topology without a client has the devices that the client has, unless it is asked for others."""
    factories = getattr(xla_bridge, "_topology_factories", {})
    if make := factories.get(platform):
        factories[platform] = lambda name="", **given: make(name, **{**_backend.job(), **options, **given})


def _take_handlers(plugin: NativePlugin, platform: str) -> None:
    """`jax.ffi.register_ffi_target(..., platform=...)`, earlier and later calls, goes to the plugin."""

    def handler(name: Any, function: Any, _platform: str, api_version: int = 0, traits: Any = 0) -> None:
        name = name.decode() if isinstance(name, bytes) else name
        bundle = function if isinstance(function, dict) else {"execute": function}
        try:
            stages = {stage: _address(capsule) for stage, capsule in bundle.items() if capsule is not None}
        except ValueError:
            raise PluginError(
                f"the handler `{name}` must be a PyCapsule, or a dictionary of PyCapsules by stage"
            ) from None
        # jaxlib has an enum of traits since 0.4.31, without arithmetic; before 0.5 it passes none.
        plugin.register_handler(name, stages, int(api_version), int(getattr(traits, "value", traits) or 0))

    xla_client.register_custom_call_handler(platform, handler)


def _take_batch_partitionable(plugin: NativePlugin) -> None:
    """The same for `jax.ffi.register_ffi_target_as_batch_partitionable`, which jaxlib keeps for its own partitioner."""
    attribute = "register_custom_call_as_batch_partitionable"
    known = getattr(xla_client, attribute, None)
    if known is None:
        return

    @functools.wraps(known)
    def register(name: str, *args: Any, **kwargs: Any) -> Any:
        plugin.register_batch_partitionable(name)
        return known(name, *args, **kwargs)

    for callback in getattr(xla_bridge, "_plugin_callbacks", ()):
        if getattr(getattr(callback, "func", None), "__name__", None) == attribute:
            plugin.register_batch_partitionable(callback.args[0])
    setattr(xla_client, attribute, register)


def _take_types(plugin: NativePlugin, platform: str) -> None:
    """The same for `jax.ffi.register_ffi_type`; jaxlib has it under two names."""

    def with_info(name: str, info: Any) -> None:
        capsules = info if isinstance(info, dict) else {"type_id": info}
        addresses = {key: _address(capsule) for key, capsule in capsules.items() if capsule is not None}
        plugin.register_type(name, addresses["type_id"], addresses.get("type_info"))

    for function in ("register_custom_type_handler", "register_custom_type_id_handler"):
        if register_handler := getattr(xla_client, function, None):
            register_handler(platform, with_info)
            return


def _serve_libraries(platform: str) -> None:
    """Ops that `oxcall.load` has loaded, or will load, for the CPU are this platform's as well."""
    from oxcall._platforms import serve_platform

    serve_platform(platform)


def _address(capsule: Any) -> int:
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return pointer(capsule, name(capsule))
