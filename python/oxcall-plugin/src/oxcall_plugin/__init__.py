"""The PJRT plugin of oxcall: JAX programs, torch_xla, and Rust custom calls on the platform `oxcall`.

JAX finds the plugin by itself once this package is installed::

    import jax

    jax.devices("oxcall")  # [OxcallDevice(id=0)]
    with jax.default_device(jax.devices("oxcall")[0]):
        jax.jit(lambda x: x * 2)(1.0)

The default platform stays what it was. ``JAX_PLATFORMS=oxcall,cpu`` makes the plugin the default of a process.

torch_xla finds it too: ``PJRT_DEVICE=OXCALL``.

Options are read when the framework makes the client, from :func:`configure` or from the environment:

============== ======================= =======================================================================
option         variable                meaning
============== ======================= =======================================================================
num_devices    ``OXCALL_NUM_DEVICES``  how many devices share the machine's cores (default 1)
num_threads    ``OXCALL_NUM_THREADS``  threads that programs use (default: the cores this process has)
max_inflight   ``OXCALL_MAX_INFLIGHT`` programs in flight on a device; one more waits (default 32)
interrupt      ``OXCALL_INTERRUPT``    whether Ctrl-C ends the programs that run (default 0: it does not)
jit            ``OXCALL_JIT``          whether fused ops become machine code (default 1); results are the same
inline         ``OXCALL_INLINE``       whether calls of pointwise functions are fused (default 1)
libraries      ``OXCALL_LIBRARIES``    libraries of ops to load, separated by ``:``
memory_cache   ``OXCALL_MEMORY_CACHE`` how much freed memory is kept, and for how long (default ``25%,2``)
============== ======================= =======================================================================
Without the first, ``XLA_FLAGS=--xla_force_host_platform_device_count=4`` says the number, as for JAX's CPU.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable
from typing import Any

from oxcall_plugin._errors import PluginError, PluginWarning

# Tracebacks show the names by which users catch them.
PluginError.__module__ = PluginWarning.__module__ = __name__

__all__ = ["PluginError", "PluginWarning", "client_options", "configure", "initialize", "library_path", "register"]

_PRIORITY = -100  # below the CPU's 0: the user's default platform stays
_options: dict[str, str | int] = {}


def library_path() -> str:
    """The plugin's shared library, for other PJRT clients.

    It lies beside this module, or where the environment variable ``OXCALL_PLUGIN_LIBRARY`` says.
    """
    return os.environ.get("OXCALL_PLUGIN_LIBRARY") or str(pathlib.Path(__file__).with_name("liboxcall_plugin.so"))


def configure(
    *,
    num_devices: int | None = None,
    num_threads: int | None = None,
    max_inflight: int | None = None,
    interrupt: bool | None = None,
    libraries: Iterable[str | os.PathLike[str]] | None = None,
    memory_cache: str | int | None = None,
) -> None:
    """Sets options of the client that JAX or torch_xla makes when it first looks for devices.

    Args:
        num_devices: how many devices share the machine's cores.
        num_threads: how many threads programs use.
        max_inflight: how many programs a device may have in flight. A call that starts one more waits.
        interrupt: whether Ctrl-C ends the programs that run, with an error. The plugin then handles the signal SIGINT,
            and calls the handler that was there before.
        libraries: paths of libraries of ops, to which programs may refer by their targets.
        memory_cache: how much freed memory is kept: bytes, as ``512M``, or a share of the memory, as ``25%``; and after
            a comma, for how many seconds, or ``inf``.

    Raises:
        PluginError: a framework has made its clients already, or an option has a value that it cannot have.
    """
    given: dict[str, str | int | None] = {
        "num_devices": num_devices,
        "num_threads": num_threads,
        "max_inflight": max_inflight,
        "interrupt": interrupt,
        "libraries": None if libraries is None else os.pathsep.join(os.fspath(path) for path in libraries),
        "memory_cache": memory_cache,
    }
    for name in ("num_devices", "num_threads", "max_inflight"):
        value = given[name]
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise PluginError(f"`{name}` is {value!r}; expected a positive integer")
    if interrupt is not None and not isinstance(interrupt, bool):
        raise PluginError(f"`interrupt` is {interrupt!r}; expected True or False")
    if _is_initialized():
        raise PluginError("JAX has made its clients already: call `oxcall_plugin.configure` before `jax.devices()`")
    if _is_torch_xla_initialized():
        raise PluginError(
            "torch_xla has made its client already: call `oxcall_plugin.configure` before `torch_xla.device()`"
        )
    _options.update({name: value for name, value in given.items() if value is not None})


def client_options() -> dict[str, str | int]:
    """The options that :func:`configure` has set, by name."""
    return dict(_options)


def initialize() -> None:
    """Registers the bundled plugin with JAX, which calls this when it looks for plugins.

    If that fails, JAX goes on with a warning, unless `JAX_PLATFORMS` asks for the platform.
    """
    try:
        register(library_path(), options=client_options())
    except Exception as error:
        from oxcall_plugin._backend import register_broken

        register_broken(os.environ.get("OXCALL_PLATFORM_NAME") or "oxcall", error)


def register(
    library: str | os.PathLike[str],
    name: str | None = None,
    *,
    priority: int = _PRIORITY,
    options: dict[str, Any] | None = None,
) -> None:
    """Registers a plugin that was built with Rust's ``oxcall_plugin::plugin!``.

    Args:
        library: the path of the shared library.
        name: the platform's name; by default the one that the library was built with.
        priority: among JAX's platforms; the CPU's is 0, and the highest is the default.
        options: for the client that JAX makes, by name.

    Raises:
        PluginError: there is no such library, it is no plugin of oxcall, or its ops have mistakes.
    """
    from oxcall_plugin._jax import register

    register(os.fspath(library), name, priority, options or {})


def _is_initialized() -> bool:
    import sys

    bridge = sys.modules.get("jax._src.xla_bridge")
    return bridge is not None and bool(getattr(bridge, "_backends", None))


def _is_torch_xla_initialized() -> bool:
    import sys

    extension = sys.modules.get("_XLAC")
    return extension is not None and bool(extension._xla_runtime_is_initialized())
