"""Ops without any framework, and as PyTorch operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oxcall._errors import CallError
from oxcall._manifest import OpInfo
from oxcall._signature import docstring, signature


class Described:
    """An operation of a library: its signature and documentation."""

    def __init__(self, op: OpInfo, platforms: list[str], operator: Callable[[str], Any]):
        self._info = op
        self._operator = operator
        self.__name__ = self.__qualname__ = op.name
        self.__doc__ = docstring(op, platforms)
        self.__signature__ = signature(op)

    def __repr__(self) -> str:
        return f"<oxcall op {self._info.name}{self.__signature__}>"

    @property
    def torch(self) -> Any:
        """The PyTorch operator, `torch.ops.<namespace>.<name>`. It is a function of tensors and plain values.

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
