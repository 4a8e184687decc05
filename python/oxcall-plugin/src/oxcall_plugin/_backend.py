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
from oxcall_plugin._errors import PluginWarning
from oxcall_plugin._libraries import with_images


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
            options.update(with_images(options))
            if job().get("num_nodes", 1) > 1 and _is_default(platform, registration.priority):
                options["global_devices"] = True
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


def job() -> dict[str, int]:
    """The client options by which JAX tells a plugin of the processes of `jax.distributed`."""
    state = distributed.global_state
    return {} if state.client is None else {"node_id": state.process_id, "num_nodes": state.num_processes}


def _is_default(platform: str, priority: int) -> bool:
    """Whether `jax.devices()` are this platform's: JAX then counts the job's processes by their devices."""
    asked = _asked_for()
    return asked[0] == platform if asked else priority >= 0


def _asked_for() -> list[str]:
    """The platforms that the user listed; none if JAX chooses."""
    return [name for name in (jax.config.jax_platforms or "").split(",") if name]
