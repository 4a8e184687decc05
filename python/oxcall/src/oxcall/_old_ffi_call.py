"""`jax.ffi.ffi_call` for JAX versions whose own lacks input-output aliases and API versions (before 0.4.36).

It takes the arguments of the newest form that this package uses, and batches as the newest form does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import Primitive
from jax.extend.ffi import ffi_lowering
from jax.interpreters import batching, mlir


class _ByValue:
    """An attribute that is hashed by value: arrays and dictionaries cannot be primitive parameters themselves."""

    def __init__(self, value: Any):
        self.value = value
        self._key = _key(value)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByValue) and self._key == other._key


def _key(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, Mapping):
        return tuple((name, _key(entry)) for name, entry in sorted(value.items()))
    return type(value), value


def ffi_call(
    target: str,
    results: Sequence[Any],
    *,
    has_side_effect: bool,
    vmap_method: str | None,
    input_output_aliases: Mapping[int, int],
    custom_call_api_version: int,
    legacy_backend_config: bytes | None,
) -> Callable[..., Sequence[Any]]:
    """See `jax.ffi.ffi_call`."""
    token = jax.core.abstract_token
    avals = tuple(r if r is token else jax.core.ShapedArray(r.shape, r.dtype) for r in results)

    def call(*operands: Any, **attributes: Any) -> Sequence[Any]:
        return _call_p.bind(
            *operands,
            target=target,
            results=avals,
            has_side_effect=has_side_effect,
            vmap_method=vmap_method,
            aliases=tuple(sorted(input_output_aliases.items())),
            api_version=custom_call_api_version,
            config=legacy_backend_config,
            attributes=tuple((name, _ByValue(value)) for name, value in sorted(attributes.items())),
        )

    return call


_call_p = Primitive("oxcall_ffi_call")
_call_p.multiple_results = True
_call_p.def_impl(functools.partial(jax.interpreters.xla.apply_primitive, _call_p))


@_call_p.def_effectful_abstract_eval
def _abstract_eval(*_operands: Any, results: Any, has_side_effect: bool, **_params: Any) -> tuple[Any, Any]:
    # The effect of JAX's own `ffi_call` in these versions: it keeps a call whose results are not used.
    from jax._src.extend.ffi import _FfiEffect

    return results, ({_FfiEffect} if has_side_effect else set())


def _lower(
    ctx: Any, *operands: Any, target: str, has_side_effect: bool, aliases: Any, api_version: int, config: Any,
    attributes: Any, **_params: Any,
) -> Any:  # fmt: skip
    if api_version == 4:
        rule = ffi_lowering(target, has_side_effect=has_side_effect, operand_output_aliases=dict(aliases))
        return rule(ctx, *operands, **{name: value.value for name, value in attributes})
    return mlir.custom_call(
        target,
        result_types=[mlir.aval_to_ir_type(aval) for aval in ctx.avals_out],
        operands=operands,
        backend_config=config or b"",
        has_side_effect=has_side_effect,
        api_version=api_version,
        operand_output_aliases=dict(aliases),
        operand_layouts=[_row_major(aval) for aval in ctx.avals_in],
        result_layouts=[_row_major(aval) for aval in ctx.avals_out],
    ).results


mlir.register_lowering(_call_p, _lower)


def _row_major(aval: Any) -> tuple[int, ...]:
    return tuple(reversed(range(len(getattr(aval, "shape", ())))))


def _batch(args: Sequence[Any], dims: Sequence[int | None], *, vmap_method: str | None, results: Any, **params: Any):
    (size,) = {arg.shape[dim] for arg, dim in zip(args, dims, strict=True) if dim is not None}
    args = [arg if dim is None else batching.moveaxis(arg, dim, 0) for arg, dim in zip(args, dims, strict=True)]
    if vmap_method in ("sequential", "sequential_unrolled"):
        mapped = [dim is not None for dim in dims]

        def step(_carry: Any, moving: Sequence[Any]) -> tuple[Any, Any]:
            moving = iter(moving)
            operands = [next(moving) if is_mapped else arg for arg, is_mapped in zip(args, mapped, strict=True)]
            return (), _call_p.bind(*operands, vmap_method=vmap_method, results=results, **params)

        moving = [arg for arg, is_mapped in zip(args, mapped, strict=True) if is_mapped]
        _, out = jax.lax.scan(step, (), moving, unroll=vmap_method == "sequential_unrolled")
        return out, (0,) * len(out)
    if vmap_method not in ("expand_dims", "broadcast_all", "legacy_vectorized"):
        raise NotImplementedError(
            f"vmap of the custom call `{params['target']}` needs a vmap method, and the operation declares none: "
            'add for example `vmap = "sequential"` to its #[custom_call].'
        )
    if vmap_method != "legacy_vectorized":
        extent = size if vmap_method == "broadcast_all" else 1
        args = [jax.lax.broadcast(arg, (extent,)) if dim is None else arg for arg, dim in zip(args, dims, strict=True)]
    batched = tuple(jax.core.unmapped_aval(size, None, 0, aval) for aval in results)
    out = _call_p.bind(*args, vmap_method=vmap_method, results=batched, **params)
    return out, (0,) * len(out)


batching.primitive_batchers[_call_p] = _batch
