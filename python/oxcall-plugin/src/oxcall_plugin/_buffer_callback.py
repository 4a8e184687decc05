"""`jax.experimental.buffer_callback` on the plugin: functions that work on the memory of programs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np


class Buffer:
    """Memory of an operand or a result while the function runs, with the interface of JAX's `Buffer` on the CPU."""

    def __init__(self, array: np.ndarray[Any, Any]):
        self._array = array

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._array.dtype

    @property
    def ndim(self) -> int:
        return self._array.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    @property
    def writeable(self) -> bool:
        return self._array.flags.writeable

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if dtype is not None and np.dtype(dtype) != self.dtype:
            return self._array.astype(dtype)
        return self._array.copy() if copy else self._array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


@dataclasses.dataclass(frozen=True)
class ExecutionContext:
    """The attributes of JAX's `ExecutionContext`."""

    stage: Any

    @property
    def stream(self) -> int:
        raise jax.errors.JaxRuntimeError("UNIMPLEMENTED: there are no streams on the CPU")


def call(
    callback: Callable[..., Any], in_tree: Any, out_tree: Any, operands: Sequence[Any], results: Sequence[Any]
) -> None:
    """Calls the user's function as JAX does."""
    from jax.experimental.buffer_callback import ExecutionStage

    args, kwargs = jax.tree_util.tree_unflatten(in_tree, map(Buffer, operands))
    out = jax.tree_util.tree_unflatten(out_tree, map(Buffer, results))
    if callback(ExecutionContext(ExecutionStage.EXECUTE), out, *args, **kwargs) is not None:
        raise ValueError("buffer_callback callback must not return any values.")
