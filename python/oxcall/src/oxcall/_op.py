"""An operation as a JAX function."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from oxcall import _jax
from oxcall._abi import NativeLibrary
from oxcall._attrs import Encoded, check_names, encode_attrs
from oxcall._described import Described
from oxcall._errors import CallError
from oxcall._manifest import OpInfo
from oxcall._operands import Operands, bind_operands, in_order
from oxcall._primitive import Call, OpPrimitive
from oxcall._results import ResultTypes, check_sizes, chosen_dtypes
from oxcall._signature import API_VERSION, DTYPE, NUM_RESULTS, OUT_SHAPE, keyword_operands, option_names
from oxcall._targets import Target


class Op(Described):
    """An operation of a library as a JAX function. Operands are given by position or keyword, attributes by keyword.

    Attributes:
        target: the name under which the typed handler is registered with XLA, and which programs call: that of the op
            behind that of its namespace, and behind both that of the build where the process has several.
    """

    def __init__(
        self, native: NativeLibrary, op: OpInfo, platforms: list[str], operator: Callable[[str], Any], target: Target,
        find: Callable[[str], Op],
    ):  # fmt: skip
        super().__init__(native, op, platforms, operator)
        self._target = target
        self._primitive = OpPrimitive(op, target, find)
        self._by_keyword = keyword_operands(op)
        self._calls: dict[Any, Call] = {}
        self._has_list = any(param.role == "ret" and param.arity != "one" for param in op.results)
        self._options = option_names(op)
        self._results = ResultTypes(native, op)

    @property
    def target(self) -> str:
        return str(self._target)

    def __call__(self, /, *operands: Any, **keywords: Any) -> Any:
        return self._call(operands, keywords)

    def _call(self, operands: tuple[Any, ...], keywords: dict[str, Any], unused: frozenset[str] = frozenset()) -> Any:
        """Calls the op; ``unused`` names results that are not read, whose values may be anything."""
        if any(name in keywords for name in self._by_keyword):
            operands = in_order(self._info, operands, keywords, self._by_keyword)
        key = _key(operands, keywords)
        call = None if key is None else self._calls.get(key)
        if call is None:
            given = operands
            operands, call = self._prepare(operands, keywords)
            if key is not None and all(map(operator.is_, operands, given)):
                if len(self._calls) == _MOST_CALLS:
                    self._calls.clear()
                self._calls[key] = call
        if unused:
            call = dataclasses.replace(call, unused=unused)
        values = self._primitive(_jax.vary_together(operands), call)
        if self._has_list:
            return values
        return {0: None, 1: values[0] if values else None}.get(len(values), values)

    def _prepare(self, operands: Sequence[Any], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], Call]:
        """The operands as arrays, and what follows from them and the keywords."""
        op = self._info
        options = {option: keywords.pop(name, None) for option, name in self._options.items()}
        version = options.get(API_VERSION)
        version = 4 if version is None else version
        if version not in (1, 2, 3, 4):
            raise CallError(f"{op.name}: `{self._options[API_VERSION]}` is {version!r}; it is 1, 2, 3 or 4")
        check_names(op, keywords)  # before a misspelt operand is one too few
        bound = bind_operands(op, operands)
        dtypes = chosen_dtypes(op, bound, options.get(DTYPE))
        attrs = encode_attrs(op, keywords, lambda index, attr: self._type_of(bound, dtypes, index, attr))
        if options.get(OUT_SHAPE) is not None:
            results = self._results.state(bound, options[OUT_SHAPE], dtypes)
        else:
            results = self._results.infer(bound, attrs, dtypes, options.get(NUM_RESULTS))
        names = self._results.names(len(results), bound)
        check_sizes(op, names, results)
        return bound.arrays, Call(tuple(results), Encoded(attrs), version, bound.counts, tuple(names), keywords)

    def _type_of(self, operands: Operands, dtypes: Mapping[str, str], index: int, attr: str) -> str:
        name = self._info.type_params[index].name
        dtype = operands.types.get(index) or dtypes.get(name)
        if dtype is None:
            raise CallError(
                f"{self._info.name}: attribute `{attr}` has type {name}, which no argument gives; use `dtype=`"
            )
        return dtype


def _key(operands: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """What a call is remembered by; ``None`` if it is not: operands are arrays, and keywords plain values."""
    if not all(isinstance(operand, jax.Array) and isinstance(operand.dtype, np.dtype) for operand in operands):
        return None
    # 0.0 is equal to -0.0, and NaN not to itself.
    if not all(type(value) in _PLAIN and value and value == value for value in keywords.values()):
        return None
    plain = tuple((name, type(value), value) for name, value in keywords.items())
    return plain, tuple((operand.dtype, operand.shape) for operand in operands)


_PLAIN = (bool, int, float, str)
_MOST_CALLS = 1024
