"""Batches of calls: the batching rule that an op's `vmap` option names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

Bind = Callable[[Sequence[Any], "int | None"], Sequence[Any]]
"""A call with operands, of one element or, given a number, of a batch of so many: its results."""

Places = Sequence["int | None"]
"""Where each operand or result has its first dimension of a batch; ``None`` for one without."""

AT_ONCE = ("expand_dims", "broadcast_all", "legacy_vectorized")
"""The methods that call the op once for the whole batch."""


def batch(
    method: str, bind: Bind, operands: Sequence[Any], dims: Sequence[int | None], whole: Sequence[bool]
) -> tuple[Sequence[Any], Sequence[int]]:
    """Calls an op on a batch.

    Args:
        method: as in `jax.ffi.ffi_call`.
        bind: the call.
        operands: the operands.
        dims: the batch dimension of each operand; ``None`` for an unbatched one.
        whole: whether an operand has to have a batch dimension of full size even without one, since a result shares
            its memory.

    Returns:
        The results, and their batch dimensions.
    """
    size = next(operand.shape[dim] for operand, dim in zip(operands, dims, strict=True) if dim is not None)
    operands = [
        operand if dim is None else jnp.moveaxis(operand, dim, 0) for operand, dim in zip(operands, dims, strict=True)
    ]
    if method in AT_ONCE:
        results = bind(
            [
                operand if dim is not None else _broadcast(method, operand, size, is_whole)
                for operand, dim, is_whole in zip(operands, dims, whole, strict=True)
            ],
            size,
        )
    else:
        results = _one_by_one(bind, operands, dims, unroll=method == "sequential_unrolled")
    return results, (0,) * len(results)


def batch_in_place(
    bind: Bind, operands: Sequence[Any], dims: Sequence[int | None], operand_places: Places, result_places: Places
) -> tuple[Sequence[Any], Sequence[int]] | None:
    """Calls an op on a batch whose dimension joins those that the op declares to be independent.

    Returns:
        The results and their batch dimensions; ``None`` where one call cannot do it, since an operand without such
        dimensions is batched.
    """
    pairs = list(zip(dims, operand_places, strict=True))
    if any(dim is not None and place is None for dim, place in pairs):
        return None
    size = next(operand.shape[dim] for operand, dim in zip(operands, dims, strict=True) if dim is not None)
    placed = [
        operand if place is None else _place(operand, dim, place, size)
        for operand, (dim, place) in zip(operands, pairs, strict=True)
    ]
    return bind(placed, size), tuple(result_places)


def without(shape: Sequence[Any], dim: int | None) -> Sequence[Any]:
    """A shape without the dimension that is batched."""
    return shape if dim is None else (*shape[:dim], *shape[dim + 1 :])


def _place(operand: Any, dim: int | None, place: int, size: int) -> Any:
    if dim is not None:
        return jnp.moveaxis(operand, dim, place)
    given = jnp.shape(operand)  # of a Python number too
    shape = (*given[:place], size, *given[place:])
    return jnp.broadcast_to(jnp.expand_dims(operand, place), shape)


def _broadcast(method: str, operand: Any, size: int, is_whole: bool) -> Any:
    if method == "broadcast_all" or is_whole:
        return jnp.broadcast_to(operand, (size, *operand.shape))
    return operand if method == "legacy_vectorized" else jnp.expand_dims(operand, 0)


def _one_by_one(bind: Bind, operands: Sequence[Any], dims: Sequence[int | None], *, unroll: bool) -> Sequence[Any]:
    moving = [operand for operand, dim in zip(operands, dims, strict=True) if dim is not None]

    def step(_carry: Any, elements: Sequence[Any]) -> tuple[Any, Any]:
        elements = iter(elements)
        call = [operand if dim is None else next(elements) for operand, dim in zip(operands, dims, strict=True)]
        return (), bind(call, None)

    _, results = jax.lax.scan(step, (), moving, unroll=unroll)
    return results
