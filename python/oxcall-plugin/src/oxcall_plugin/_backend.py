"""Making the client for JAX, and what becomes of JAX where that fails.

JAX makes a client of every plugin that is installed, and without `JAX_PLATFORMS` a plugin that fails would leave the
process without any backend. So a failure is an error only for those who ask for the platform, and else a warning.
"""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any, NoReturn

import jax
from jax._src import distributed, xla_bridge

from oxcall_plugin._as_cpu import CPU
from oxcall_plugin._errors import PluginError, PluginWarning
from oxcall_plugin._libraries import with_images

# Client options that take the place of those by which JAX tells of the processes of `jax.distributed`.
ONLY_PROCESS = {"node_id": 0, "num_nodes": 1}


def guard(platform: str, options: dict[str, Any]) -> None:
    """Lets JAX go on without a registered platform if its client cannot be made, unless the user asked for it.

    Args:
        platform: its name.
        options: the client options that it was registered with; the libraries of ops are checked late, and changed.
    """
    registration = xla_bridge._backend_factories[platform]
    make = registration.factory

    def factory() -> Any:
        try:
            _refuse_several_processes(platform, registration.priority)
            options.update(with_images(options))
            return make()
        except Exception as error:
            _warn_unless_asked(platform, error)
            raise

    quiet = platform != CPU
    xla_bridge._backend_factories[platform] = dataclasses.replace(registration, factory=factory, fail_quietly=quiet)


def register_broken(platform: str, error: Exception) -> None:
    """Registers a platform that could not be registered as one whose client cannot be made."""

    def factory() -> NoReturn:
        _warn_unless_asked(platform, error)
        raise error

    getattr(xla_bridge, "_nonexperimental_plugins", set()).add(platform)
    xla_bridge.register_backend_factory(platform, factory, priority=-1000, fail_quietly=platform != CPU)


def _warn_unless_asked(platform: str, error: Exception) -> None:
    if platform != CPU and platform not in _asked_for():
        message = f"the platform `{platform}` is not available, and JAX goes on without it: {error}"
        warnings.warn(message, PluginWarning, stacklevel=3)


def _refuse_several_processes(platform: str, priority: int) -> None:
    """As JAX's default platform, the plugin would let each process of several take itself for the only one."""
    processes = getattr(distributed.global_state, "num_processes", None) or 1
    asked = _asked_for()
    is_default = asked[0] == platform if asked else priority >= 0
    if processes > 1 and is_default:
        raise PluginError(
            f"`jax.distributed` was initialized with {processes} processes, and the devices of `{platform}` are those "
            f"of one process. Use another platform for what the processes do together: with `JAX_PLATFORMS=cpu,"
            f"{platform}`, each has `{platform}` devices of its own beside it"
        )


def _asked_for() -> list[str]:
    """The platforms that the user listed; none if JAX chooses."""
    return [name for name in (jax.config.jax_platforms or "").split(",") if name]
