"""Types of a call's results: asked of the library, or as the user states them."""

from __future__ import annotations

import functools
import json
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from oxcall import _dtypes, _jax
from oxcall._abi import NativeLibrary
from oxcall._errors import CallError, count, listing
from oxcall._manifest import OpInfo, Param
from oxcall._operands import Operands, counts, updated
from oxcall._symbolic import is_symbolic, result_shapes

Type = tuple[str, tuple[Any, ...]]
"""A dtype and a shape."""


# What the library asks its caller for, as a keyword here.
_ASKED = {
    "give the shape explicitly": "give it with `out_shape=`",
    "give the number of results explicitly": "give it with `num_results=`",
}


class ResultTypes:
    """The rule for the results of one operation."""

    def __init__(self, native: NativeLibrary, op: OpInfo):
        self.op = op
        self._ask = functools.lru_cache(maxsize=256)(functools.partial(native.infer, op.index))

    def infer(
        self, operands: Operands, attrs: Mapping[str, Any], dtypes: Mapping[str, str], num_results: int | None
    ) -> list[Type]:
        """Types of the results by the library's rule.

        Args:
            operands: the operands.
            attrs: the attributes, encoded.
            dtypes: dtypes that the user chose, by the name of the type parameter or result.
            num_results: the number of results, where the caller chooses it.
        """
        if any(is_symbolic(_jax.shape_of(array)) for array in operands.arrays):
            return self._infer_symbolic(operands, attrs, dtypes)
        request: dict[str, Any] = {
            "args": [
                {"dtype": _jax.dtype_of(array), "dims": list(map(operator.index, _jax.shape_of(array)))}
                for array in operands.arrays
            ],
            "attrs": {name: _json(value) for name, value in attrs.items()},
        }
        if dtypes:
            request["dtypes"] = dtypes
        if num_results is not None:
            request["num_results"] = operator.index(num_results)
        for param in self.op.results:
            if isinstance(param.dtype, int) and self._dtype(param, operands, dtypes) is None:
                raise self._unknown_dtype(param)
        answer = self._ask(json.dumps(request, allow_nan=False))
        if error := answer.get("error"):
            message = error["message"]
            for asked, option in _ASKED.items():
                message = message.replace(asked, option)
            raise CallError(message if message.startswith(self.op.name) else f"{self.op.name}: {message}")
        return [(result["dtype"], tuple(result["dims"])) for result in answer["results"]]

    def _infer_symbolic(
        self, operands: Operands, attrs: Mapping[str, Any], dtypes: Mapping[str, str]
    ) -> list[Type]:  # fmt: skip
        """The same for operands with symbolic dimensions."""
        if self.op.shape != "dims":
            raise CallError(
                f"{self.op.name}: an argument has symbolic dimensions, and a function of the library computes the "
                "shapes of its results, for constant shapes only; export with fixed shapes"
            )
        shapes = {name: [_jax.shape_of(array) for array in group] for name, group in operands.of(self.op).items()}
        return self._with_dtypes(result_shapes(self.op, shapes, attrs), operands, dtypes)

    def names(self, number: int, operands: Operands) -> list[str]:
        """The name of the parameter that each of `number` results belongs to."""
        return [param.name for param in self.params(number, operands)]

    def params(self, number: int, operands: Operands) -> list[Param]:
        """The parameter that each of `number` results belongs to."""
        numbers = counts(self.op.results, number, updated(self.op, operands.counts))
        expanded = [param for param, n in zip(self.op.results, numbers, strict=True) for _ in range(n)]
        if len(expanded) != number:
            raise CallError(
                f"{self.op.name}: {count(number, 'result')} stated, but it has {len(expanded)} "
                f"({listing(param.name for param in self.op.results)})"
            )
        return expanded

    def state(self, operands: Operands, out_shape: Any, dtypes: Mapping[str, str]) -> list[Type]:
        """Types of the results with the shapes that the user gave."""
        return self._with_dtypes(_shapes(self.op, out_shape), operands, dtypes)

    def _with_dtypes(
        self, shapes: Sequence[Sequence[Any]], operands: Operands, dtypes: Mapping[str, str]
    ) -> list[Type]:  # fmt: skip
        types = []
        for param, shape in zip(self.params(len(shapes), operands), shapes, strict=True):
            dtype = self._dtype(param, operands, dtypes)
            if dtype is None:
                raise self._unknown_dtype(param)
            types.append((dtype, tuple(shape)))
        return types

    def _dtype(self, param: Param, operands: Operands, dtypes: Mapping[str, str]) -> str | None:
        if isinstance(param.dtype, int):
            return operands.types.get(param.dtype) or dtypes.get(self.op.type_params[param.dtype].name)
        return param.dtype or dtypes.get(param.name)

    def _unknown_dtype(self, param: Param) -> CallError:
        choices = f": {_dtypes.describe(*self.op.type_params[param.dtype].dtypes)}" if param.dtype is not None else ""
        return CallError(
            f"{self.op.name}: no argument gives the dtype of result `{param.name}`; choose it with `dtype=`{choices}"
        )


def _shapes(op: OpInfo, out_shape: Any) -> list[Sequence[Any]]:
    if isinstance(out_shape, Mapping):
        names = [param.name for param in op.results]
        if set(out_shape) != set(names):
            raise CallError(
                f"{op.name}: `out_shape` has the keys {listing(out_shape)}, but the results are {listing(names)}"
            )
        return [out_shape[name] for name in names]
    if not isinstance(out_shape, Sequence | np.ndarray) or isinstance(out_shape, str):
        raise CallError(f"{op.name}: `out_shape` is a shape, a list of shapes, or a dictionary of them by result name")
    if any(isinstance(entry, Sequence | np.ndarray) for entry in out_shape):
        return list(out_shape)
    return [out_shape]


def check_sizes(op: OpInfo, names: Sequence[str], results: Sequence[Type]) -> None:
    """Refuses shapes that cannot be allocated: XLA aborts the process where a size in bytes overflows 63 bits."""
    for name, (dtype, shape) in zip(names, results, strict=True):
        if not all(isinstance(dim, int | np.integer) for dim in shape):
            continue  # symbolic
        dims = [int(dim) for dim in shape]
        if min(dims, default=0) < 0:
            raise CallError(f"{op.name}: result `{name}` has the shape {dims}; dimensions are not negative")
        # XLA multiplies the dimensions in order, also those before a 0.
        if math.prod(max(dim, 1) for dim in dims) * max(_dtypes.bits(dtype) // 8, 1) >= 2**63:
            raise CallError(
                f"{op.name}: result `{name}` would have the shape {dims}, which is more memory than can be addressed"
            )


def chosen_dtypes(op: OpInfo, operands: Operands, dtype: Any) -> dict[str, str]:
    """The `dtype=` option: dtypes by the name of a type parameter that no operand binds, or of an untyped result."""
    if dtype is None:
        return {}
    free = {param.name: param for i, param in enumerate(op.type_params) if i not in operands.types}
    names = [*free, *(param.name for param in op.results if param.role == "ret" and param.dtype is None)]
    chosen = dtype if isinstance(dtype, Mapping) else dict.fromkeys(names, dtype)
    for name in chosen:
        if name not in names:
            raise CallError(f"{op.name}: `dtype` names `{name}`, but it chooses {listing(names)}")
    dtypes = {name: _xla_dtype(op, value) for name, value in chosen.items()}
    for name, param in free.items():
        if name in dtypes and dtypes[name] not in param.dtypes:
            raise CallError(
                f"{op.name}: `dtype` is {_dtypes.describe(dtypes[name])}, but {name} is "
                f"{_dtypes.describe(*param.dtypes)}"
            )
    return dtypes


def _xla_dtype(op: OpInfo, dtype: Any) -> str:
    try:
        name = dtype if dtype in _dtypes.CODES else _dtypes.xla_name(np.dtype(dtype).name)
    except TypeError:
        name = None
    if name is None:
        raise CallError(f"{op.name}: `dtype` is {dtype!r}, which is not a dtype that XLA's FFI can pass")
    return name


def _json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _json(entry) for name, entry in value.items()}
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list):
        return [_json(entry) for entry in value]
    # JSON has no infinities and NaNs; no shape depends on one.
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
