"""HLO transformations that users register with `jax.extend.xla`: the plugin has no HLO to give them."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from oxcall_plugin._as_cpu import CPU

_reported: set[str] = set()


def serve_platform(platform: str) -> None:
    """Warns of each transformation that is registered for `platform`, once: it will not be called."""
    try:
        from jax._src.lib import _xla
    except ImportError:
        return
    attribute = "register_xla_transform" if platform == CPU else "register_xla_transform_c_api"
    register = getattr(_xla, attribute, None)
    if register is None:
        return

    @functools.wraps(register)
    def for_cpu(name: str, *args: Any) -> Any:
        _warn(platform, name)
        # JAX asks later whether it was registered.
        return register(name, *args)

    @functools.wraps(register)
    def for_client(client: Any, name: str, *args: Any) -> Any:
        if client.platform != platform:
            return register(client, name, *args)
        _warn(platform, name)
        return None

    setattr(_xla, attribute, for_cpu if platform == CPU else for_client)


def _warn(platform: str, name: str) -> None:
    if name in _reported:
        return
    _reported.add(name)
    warnings.warn(
        f"the HLO transformation `{name}` is not called for programs of the platform `{platform}`: oxcall compiles "
        "StableHLO without XLA's passes. Register it for other platforms (`platforms=`), or transform the function in "
        "JAX",
        RuntimeWarning,
        stacklevel=2,
    )
