"""JAX's lowering rules for its CPU, for another platform.

JAX has rules that apply on some platforms only: its linear algebra on the CPU calls `lapack_*_ffi` targets, which the
plugin implements. The plugin's platform has all rules of the CPU that nobody registered for it.
"""

from __future__ import annotations

from typing import Any

# Rules that call back into Python through a target that XLA:CPU keeps to itself.
_WITHOUT = frozenset({"debug_callback", "debug_print", "io_callback", "pure_callback", "buffer_callback"})


class _Rules(dict[Any, Any]):
    """The rules of a platform, which falls back to the CPU's, those that are registered later included."""

    def __init__(self, own: dict[Any, Any], cpu: dict[Any, Any]):
        super().__init__(own)
        self._cpu = cpu

    def __contains__(self, primitive: Any) -> bool:
        return super().__contains__(primitive) or (primitive in self._cpu and primitive.name not in _WITHOUT)

    def __missing__(self, primitive: Any) -> Any:
        return self._cpu[primitive]


def share_cpu_rules(platform: str) -> None:
    """Lets `platform` use the CPU's lowering rules and the donation of buffers."""
    from jax._src.interpreters import mlir

    rules = mlir._platform_specific_lowerings
    if not isinstance(rules[platform], _Rules):
        rules[platform] = _Rules(rules[platform], rules["cpu"])
    donating = mlir._platforms_with_donation
    if platform not in donating:
        donating.append(platform)
