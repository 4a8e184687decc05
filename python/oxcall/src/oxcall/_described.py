"""Ops without any framework, and as PyTorch operators."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from oxcall._abi import NativeLibrary
from oxcall._errors import CallError
from oxcall._manifest import OpInfo
from oxcall._signature import docstring, signature


class Described:
    """An operation of a library: its signature and documentation."""

    def __init__(self, native: NativeLibrary, op: OpInfo, platforms: list[str], operator: Callable[[str], Any]):
        self._native = native
        self._info = op
        self._operator = operator
        self.__name__ = self.__qualname__ = op.name
        self.__doc__ = docstring(op, platforms)
        self.__signature__ = signature(op)

    def __repr__(self) -> str:
        return f"<oxcall op {self._info.name}{self.__signature__}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _loaded, (self._native.path, self._info.name)

    @functools.cached_property
    def torch(self) -> Any:
        """The PyTorch operator, `torch.ops.<namespace>.<name>`. It is a function of tensors and plain values.

        An attribute as soon as PyTorch has the operators: `torch.compile` would not trace how it is found.

        Raises:
            LoadError: PyTorch is missing or too old, or cannot have this op; the message says why.
        """
        return self._operator(self._info.name)


class OpWithoutJax(Described):
    """An operation in a process that has PyTorch and no JAX."""

    def __call__(self, /, *_operands: Any, **_keywords: Any) -> Any:
        name = self._info.name
        raise CallError(
            f"{name}: this is a JAX function, and JAX is not installed; `.torch` is the PyTorch operator: "
            f"`ops.{name}.torch(...)`"
        )


def _loaded(path: str, name: str) -> Described:
    """The op of the library at a path, which is loaded if it is not."""
    from oxcall._library import load

    return load(path)[name]
