"""JAX's lowering rules for its CPU, for another platform.

JAX has rules that apply on some platforms only: its linear algebra on the CPU calls `lapack_*_ffi` targets, which the
plugin implements. The plugin's platform has all rules of the CPU that nobody registered for it.
"""

from __future__ import annotations

from typing import Any

from oxcall_plugin._function_lowering import register_functions

_sharing: set[str] = set()

# Primitives whose rules in JAX refuse platforms that it does not list, or need its own client. Functions that say
# in Python how they are to be partitioned, which no plugin can call back, are lowered as what they compute, on whole
# arrays. Callbacks with buffers are calls of the plugin's own handler.
_OWN = frozenset({"buffer_callback", "custom_partitioning"})


class _Rules(dict[Any, Any]):
    """The rules of a platform, which falls back to the CPU's, those that are registered later included."""

    def __init__(self, platform: str, own: dict[Any, Any], cpu: dict[Any, Any]):
        super().__init__(own)
        self._platform = platform
        self._cpu = cpu

    def __contains__(self, primitive: Any) -> bool:
        return super().__contains__(primitive) or primitive in self._cpu or primitive.name in _OWN

    def __missing__(self, primitive: Any) -> Any:
        if primitive.name not in _OWN:
            return self._cpu[primitive]
        _register_own(self._platform, primitive)
        return super().__getitem__(primitive)


def _register_own(platform: str, primitive: Any) -> None:
    from jax._src.interpreters import mlir

    if primitive.name == "buffer_callback":
        from oxcall_plugin._callback_lowering import lower_buffer_callback as lower
    else:
        lower = _lower_inlined
    mlir.register_lowering(primitive, lower, platform=platform)


def _register_all_own(platform: str) -> None:
    """Where the rules are the CPU's own, which are not asked for what they lack."""
    from jax._src import custom_partitioning

    _register_own(platform, custom_partitioning.custom_partitioning_p)
    try:
        from jax._src.buffer_callback import buffer_callback_p
    except ImportError:  # before JAX had it
        return
    _register_own(platform, buffer_callback_p)


def _lower_inlined(ctx: Any, *values: Any, call: Any, **_: Any) -> Any:
    """The result of `call`."""
    from jax._src import core
    from jax._src.interpreters import mlir

    return mlir.lower_fun(core.jaxpr_as_fun(call), multiple_results=True)(ctx, *values)


def share_cpu_rules(platform: str) -> None:
    """Lets `platform` use the CPU's lowering rules and the donation of buffers."""
    from jax._src.interpreters import mlir

    rules = mlir._platform_specific_lowerings
    if platform not in _sharing:
        _sharing.add(platform)
        if rules[platform] is not rules["cpu"]:
            rules[platform] = _Rules(platform, rules[platform], rules["cpu"])
        else:
            _register_all_own(platform)
        _register_pivots(platform)
        register_functions(platform)
    donating = mlir._platforms_with_donation
    if platform not in donating:
        donating.append(platform)


def _register_pivots(platform: str) -> None:
    """Lets LU's exchanges of rows become a permutation in one call, as JAX has it on GPUs, rather than in a loop."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    primitive = linalg.lu_pivots_to_permutation_p
    loop = mlir._lowerings[primitive]
    call = _ffi_lowering()("lu_pivots_to_permutation")

    def lower(ctx: Any, pivots: Any, **params: Any) -> Any:
        static = all(isinstance(size, int) for aval in (*ctx.avals_in, *ctx.avals_out) for size in aval.shape)
        # JAX exports programs with those calls only that it knows to be stable.
        exported = getattr(ctx.module_context.lowering_parameters, "for_export", False)
        if exported or not static or any(aval.dtype != "int32" for aval in (*ctx.avals_in, *ctx.avals_out)):
            return getattr(loop, "rule", loop)(ctx, pivots, **params)
        return call(ctx, pivots)

    mlir.register_lowering(primitive, lower, platform=platform)


def _ffi_lowering() -> Any:
    """`jax.ffi.ffi_lowering`, which was in `jax.extend` before JAX 0.5."""
    try:
        from jax.ffi import ffi_lowering
    except ImportError:
        from jax.extend.ffi import ffi_lowering
    return ffi_lowering
