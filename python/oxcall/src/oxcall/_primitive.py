"""The JAX primitive of an op."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from oxcall import _batching, _jax_primitives
from oxcall._attrs import Encoded
from oxcall._derivative import Derivative
from oxcall._legacy import describe_call
from oxcall._manifest import OpInfo, Param
from oxcall._operands import by_parameter
from oxcall._results import Type
from oxcall._targets import Target

if TYPE_CHECKING:
    from oxcall._op import Op


@dataclasses.dataclass(frozen=True)
class Call:
    """What JAX knows of a call of an op, beside its operands.

    Attributes:
        results: the types of the results.
        attrs: the attributes.
        version: the version of the custom call API.
        counts: the number of arrays of each operand parameter.
        names: the name of the parameter that each result belongs to.
        given: the attributes as the user gave them, from which `attrs` follow.
    """

    results: tuple[Type, ...]
    attrs: Encoded
    version: int
    counts: tuple[int, ...]
    names: tuple[str, ...]
    given: Mapping[str, Any] = dataclasses.field(compare=False)

    def __repr__(self) -> str:
        types = ", ".join(f"{dtype}[{','.join(map(str, shape))}]" for dtype, shape in self.results)
        return f"{self.attrs!r} -> ({types})"

    def batched(self, size: int) -> Call:
        """The same call of a batch."""
        return dataclasses.replace(self, results=tuple((dtype, (size, *shape)) for dtype, shape in self.results))

    def operands_of(self, op: OpInfo, values: Sequence[Any]) -> dict[str, tuple[Any, ...]]:
        """The values of each operand parameter."""
        return by_parameter(op, self.counts, values)

    def results_of(self, op: OpInfo, values: Sequence[Any]) -> dict[str, tuple[Any, ...]]:
        """The values of each result parameter that has some."""
        grouped: dict[str, tuple[Any, ...]] = {}
        for name, value in zip(self.names, values, strict=True):
            grouped[name] = (*grouped.get(name, ()), value)
        return grouped


class OpPrimitive:
    """An op as a primitive of JAX, under its name."""

    def __init__(self, op: OpInfo, target: Target, find: Callable[[str], Op]):
        self._op, self._target = op, target
        self._primitive = _jax_primitives.primitive(
            op.name, abstract=self._types, lower=self._lower, batch=self._batch, jvp=self._jvp
        )
        self._derivative = Derivative(op, self._primitive.bind, find)

    def __call__(self, operands: Sequence[Any], call: Call) -> tuple[Any, ...]:
        """Calls the op on operands that all vary over the same axes of a mesh."""
        return tuple(self._primitive.bind(*operands, call=call))

    def _types(self, *operands: Any, call: Call) -> tuple[Sequence[Any], bool]:
        return _jax_primitives.result_types(call.results, operands), self._op.side_effect

    def _lower(self, ctx: Any, *operands: Any, call: Call) -> Any:
        op = self._op
        given = [_jax_primitives.dtype_and_shape(aval) for aval in ctx.avals_in]
        aliases = self._aliases(call)
        if call.version == 4:
            batch_dims = self._batch_dims(given, call) if op.batch_partitionable else 0
            return _jax_primitives.lower_typed(
                ctx, operands, str(self._target), call.attrs.values, aliases, op.side_effect, batch_dims
            )
        descriptor = describe_call(given, call.results, call.attrs.values, is_operand=call.version < 3)
        # CPU handlers of versions 1 and 2 get no opaque bytes: the descriptor is a leading operand there. GPU handlers
        # of every version read the opaque bytes, so they are sent always.
        leading = np.frombuffer(descriptor, np.uint8) if call.version < 3 else None
        target = f"{self._target}.v{call.version}"
        return _jax_primitives.lower_legacy(
            ctx, operands, target, call.version, descriptor, leading, aliases, op.side_effect
        )

    def _batch(self, operands: Sequence[Any], dims: Sequence[int | None], *, call: Call) -> Any:
        op = self._op
        if op.vmap is None:
            raise NotImplementedError(
                f"{op.name}: vmap needs to know how calls are batched; write for example "
                '`#[custom_call(vmap = "sequential")]`'
            )
        method = op.vmap
        if call.version != 4 and method in _batching.AT_ONCE:
            method = "sequential"  # legacy handlers are called with the shapes that the user gave

        def bind(operands: Sequence[Any], size: int | None) -> Sequence[Any]:
            return self._primitive.bind(*operands, call=call if size is None else call.batched(size))

        whole = [param.role == "inout" for param, number in zip(op.operands, call.counts, strict=True)
                 for _ in range(number)]  # fmt: skip
        return _batching.batch(method, bind, operands, dims, whole)

    def _jvp(self, primals: Sequence[Any], tangents: Sequence[Any], *, call: Call) -> tuple[Any, Any]:
        return self._derivative.jvp(primals, tangents, call=call)

    def _aliases(self, call: Call) -> dict[int, int]:
        """Operand and result indices of parameters that are updated in place."""
        aliases, start = {}, 0
        for param, number in zip(self._op.operands, call.counts, strict=True):
            if param.role == "inout" and number:
                first = call.names.index(param.name)
                aliases.update({start + i: first + i for i in range(number)})
            start += number
        return aliases

    def _batch_dims(self, operands: Sequence[Type], call: Call) -> int:
        """The number of leading batch dimensions that every operand and result has."""
        groups = call.operands_of(self._op, operands).values()
        pairs = [(param, shape) for param, group in zip(self._op.operands, groups, strict=True) for _, shape in group]
        by_name: dict[str, Param] = {param.name: param for param in self._op.results}
        pairs += [(by_name[name], shape) for name, (_, shape) in zip(call.names, call.results, strict=True)]
        return min((min(len(shape), param.batch_dims(len(shape))) for param, shape in pairs), default=0)
