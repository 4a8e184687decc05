"""Platforms of plugins that use the CPU's memory, for which ops of the CPU are registered too.

It imports little, since a plugin that is installed and not used imports it whenever JAX looks for devices.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

_lock = threading.RLock()
_platforms: list[str] = []
# What registers an op that is loaded for one of them.
_ops: list[Callable[[str], None]] = []


def serve_platform(platform: str) -> None:
    """Registers the CPU's ops of all libraries, loaded now or later, for another platform on the CPU's memory.

    A PJRT plugin calls this when it is registered with JAX. Ops that have an implementation for that very platform
    keep it.
    """
    with _lock:
        if platform not in _platforms:
            _platforms.append(platform)
            for register in _ops:
                register(platform)


def serve_op(register: Callable[[str], None]) -> None:
    """Registers an op of the CPU for these platforms, known now or later; ``register`` does so for one of them."""
    with _lock:
        for platform in _platforms:
            register(platform)
        _ops.append(register)
