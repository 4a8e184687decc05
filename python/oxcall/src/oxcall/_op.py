"""An operation as a JAX function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from oxcall import _jax
from oxcall._abi import NativeLibrary
from oxcall._attrs import encode_attrs
from oxcall._described import Described
from oxcall._errors import CallError
from oxcall._legacy import describe_call
from oxcall._manifest import OpInfo, Param
from oxcall._operands import Operands, bind_operands
from oxcall._results import ResultTypes, Type, check_sizes, chosen_dtypes
from oxcall._signature import API_VERSION, DTYPE, NUM_RESULTS, OUT_SHAPE, option_names
from oxcall._targets import Target
from oxcall._vjp import differentiable


class Op(Described):
    """An operation of a library as a JAX function. Operands are given by position, attributes by keyword.

    Attributes:
        target: the name under which the typed handler is registered with XLA, and which programs call: that of the op
            behind that of its namespace, and behind both that of the build where the process has several.
    """

    def __init__(
        self, native: NativeLibrary, op: OpInfo, platforms: list[str], operator: Callable[[str], Any], target: Target,
        find: Callable[[str], Op],
    ):  # fmt: skip
        super().__init__(op, platforms, operator)
        self._target = target
        self._find = find
        self._options = option_names(op)
        self._results = ResultTypes(native, op)

    @property
    def target(self) -> str:
        return str(self._target)

    def __call__(self, /, *operands: Any, **keywords: Any) -> Any:
        op = self._info
        options = {option: keywords.pop(name, None) for option, name in self._options.items()}
        version = options.get(API_VERSION)
        version = 4 if version is None else version
        if version not in (1, 2, 3, 4):
            raise CallError(f"{op.name}: `{self._options[API_VERSION]}` is {version!r}; it is 1, 2, 3 or 4")
        bound = bind_operands(op, operands)
        dtypes = chosen_dtypes(op, bound, options.get(DTYPE))
        attrs = encode_attrs(op, keywords, lambda index, attr: self._type_of(bound, dtypes, index, attr))
        if options.get(OUT_SHAPE) is not None:
            results = self._results.state(bound, options[OUT_SHAPE], dtypes)
        else:
            results = self._results.infer(bound, attrs, dtypes, options.get(NUM_RESULTS))
        names = self._results.names(len(results), bound)
        check_sizes(op, names, results)
        aliases = _aliases(op, bound, names)
        batch_dims = _batch_dims(op, bound, self._results.params(len(results), bound), results)

        def primal(*arrays: Any) -> tuple[Any, ...]:
            return self._invoke(arrays, results, attrs, aliases, version, batch_dims)

        if op.vjp:
            primal = differentiable(primal, op, bound, names, keywords, self._backward)
        # Operands are cast before the derivative is taken, so that JAX transposes the casts.
        values = primal(*_jax.vary_together(bound.arrays)[0])
        if any(param.role == "ret" and param.arity != "one" for param in op.results):
            return tuple(values)
        return {0: None, 1: values[0] if values else None}.get(len(values), tuple(values))

    def _type_of(self, operands: Operands, dtypes: Mapping[str, str], index: int, attr: str) -> str:
        name = self._info.type_params[index].name
        dtype = operands.types.get(index) or dtypes.get(name)
        if dtype is None:
            raise CallError(
                f"{self._info.name}: attribute `{attr}` has type {name}, which no argument gives; use `dtype=`"
            )
        return dtype

    def _backward(self) -> tuple[OpInfo, Op]:
        backward = self._find(self._info.vjp)
        return backward._info, backward

    def _invoke(
        self, arrays: Sequence[Any], results: Sequence[Type], attrs: Mapping[str, Any], aliases: Mapping[int, int],
        version: int, batch_dims: int,
    ) -> tuple[Any, ...]:  # fmt: skip
        op = self._info
        arrays, axes = _jax.vary_together(arrays)
        types = [_jax.result_type(dtype, shape, axes) for dtype, shape in results]
        if version == 4:
            call = _jax.ffi_call(
                self.target,
                types,
                has_side_effect=op.side_effect,
                vmap_method=op.vmap,
                aliases=aliases,
                batch_dims=batch_dims,
            )
            return tuple(call(*arrays, **attrs))
        given = [(_jax.dtype_of(array), _jax.shape_of(array)) for array in arrays]
        descriptor = describe_call(given, results, attrs, is_operand=version < 3)
        # CPU handlers of versions 1 and 2 get no opaque bytes: the descriptor is a leading operand there. GPU handlers
        # of every version read the opaque bytes, so they are sent always.
        leading = (np.frombuffer(descriptor, np.uint8),) if version < 3 else ()
        call = _jax.ffi_call(
            f"{self.target}.v{version}",
            types,
            has_side_effect=op.side_effect,
            # The descriptor holds the shapes of one call, so a batch is a sequence of calls.
            vmap_method=op.vmap and ("sequential_unrolled" if op.vmap == "sequential_unrolled" else "sequential"),
            aliases={operand + len(leading): result for operand, result in aliases.items()},
            api_version=version,
            backend_config=descriptor,
        )
        return tuple(call(*_jax.vary_together((*leading, *arrays))[0]))


def _aliases(op: OpInfo, operands: Operands, result_names: Sequence[str]) -> dict[int, int]:
    """Operand and result indices of parameters that are updated in place."""
    aliases, start = {}, 0
    for param, number in zip(op.operands, operands.counts, strict=True):
        if param.role == "inout":
            first = result_names.index(param.name) if number else 0
            aliases.update({start + i: first + i for i in range(number)})
        start += number
    return aliases


def _batch_dims(op: OpInfo, operands: Operands, result_params: Sequence[Param], results: Sequence[Type]) -> int:
    """The number of leading batch dimensions of every operand and result, for an op that is batch-partitionable."""
    if not op.batch_partitionable:
        return 0
    groups = operands.of(op)
    ranks = [(param, len(_jax.shape_of(array))) for param in op.operands for array in groups[param.name]]
    ranks += [(param, len(shape)) for param, (_, shape) in zip(result_params, results, strict=True)]
    return min((min(rank, param.batch_dims(rank)) for param, rank in ranks), default=0)
