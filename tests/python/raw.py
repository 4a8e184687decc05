"""Calls of registered targets through `jax.ffi` alone, which checks nothing that the handler does not check."""

from typing import Any

import jax


def call(target: str, results: Any, *args: Any, options: dict[str, Any] | None = None, **attrs: Any) -> Any:
    """Calls a target inside `jax.jit` and waits for it.

    Args:
        target: the registered name.
        results: a `jax.ShapeDtypeStruct`, or a list of them.
        args: the operands.
        options: options of `jax.ffi.ffi_call`.
        attrs: the attributes, as `jax.ffi` sends them.
    """
    function = jax.ffi.ffi_call(target, results, **(options or {}))
    return jax.block_until_ready(jax.jit(lambda *args: function(*args, **attrs))(*args))
