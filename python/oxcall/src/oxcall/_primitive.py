"""The JAX primitive of an op."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from oxcall import _batching, _jax, _jax_primitives
from oxcall._attrs import Encoded
from oxcall._batch_dims import BatchDims, Shape, batch_dims
from oxcall._derivative import Derivative, call_by_name, options_of
from oxcall._legacy import describe_call
from oxcall._manifest import OpInfo
from oxcall._operands import aliases, by_parameter, operand_names
from oxcall._results import Type
from oxcall._sharding import sharding_rule
from oxcall._targets import WHOLE, Target

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
        unused: the names of results that are not read.
    """

    results: tuple[Type, ...]
    attrs: Encoded
    version: int
    counts: tuple[int, ...]
    names: tuple[str, ...]
    given: Mapping[str, Any] = dataclasses.field(compare=False)
    unused: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        types = ", ".join(f"{dtype}[{','.join(map(str, shape))}]" for dtype, shape in self.results)
        return f"{self.attrs!r} -> ({types})"

    def batched(self, size: int, places: Sequence[int | None] | None = None) -> Call:
        """The same call of a batch, whose dimension each result has at its place: by default, the first.

        A result without a place has the shape that it had.
        """
        places = (0,) * len(self.results) if places is None else places
        results = tuple(
            (dtype, shape if place is None else (*shape[:place], size, *shape[place:]))
            for (dtype, shape), place in zip(self.results, places, strict=True)
        )
        return dataclasses.replace(self, results=results)

    def batch_dims(self, op: OpInfo, operands: Sequence[Shape]) -> BatchDims | None:
        """Where the call has the dimensions that the op declares to be independent."""
        results = [(name, shape) for name, (_, shape) in zip(self.names, self.results, strict=True)]
        return batch_dims(op, self.operands_of(op, operands), results)

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
        self._op, self._target, self._find = op, target, find
        self._primitive = _jax_primitives.primitive(
            op.name, abstract=self._types, lower=self._lower, batch=self._batch, jvp=self._jvp,
            transpose=None if op.transpose is None else self._transpose, sees_producers=op.expands,
        )  # fmt: skip
        self._derivative = Derivative(op, self._primitive.bind, find)
        self._bind_broadcast = _jax_primitives.jit(self._broadcast, static_argnames="call")

    def __call__(self, operands: Sequence[Any], call: Call) -> tuple[Any, ...]:
        """Calls the op on operands that all vary over the same axes of a mesh."""
        if self._op.expands and _jax.is_broadcast(operands):
            # Compiled together, so that no array holds what is repeated.
            return tuple(self._bind_broadcast(*operands, call=call))
        return tuple(self._primitive.bind(*operands, call=call))

    def _broadcast(self, *operands: Any, call: Call) -> Sequence[Any]:
        return self._primitive.bind(*_jax.broadcast(operands), call=call)

    def _types(self, *operands: Any, call: Call) -> tuple[Sequence[Any], bool]:
        given = [_jax_primitives.dtype_and_shape(aval)[1] for aval in operands]
        types = _jax_primitives.result_types(
            call.results, operands, self._split(given, call), self._weak(operands, call)
        )
        return types, self._op.side_effect

    def _weak(self, operands: Sequence[Any], call: Call) -> list[bool]:
        """Which results adopt the dtypes of others: those whose type parameter only such operands give."""
        params = {param.name: param.dtype for param in (*self._op.operands, *self._op.results)}
        names = operand_names(self._op, call.counts)
        is_weak: dict[Any, bool] = {}
        for name, operand in zip(names, operands, strict=True):
            if isinstance(var := params[name], int):
                is_weak[var] = is_weak.get(var, True) and _jax.is_weakly_typed(operand)
        return [is_weak.get(params[name], False) for name in call.names]

    def _lower(self, ctx: Any, *operands: Any, call: Call) -> Any:
        op = self._op
        given = [_jax_primitives.dtype_and_shape(aval) for aval in ctx.avals_in]
        given_counts = [call.names.count(param.name) for param in op.results]
        shared = aliases(op, call.counts, given_counts)
        if call.version == 4:
            target, frontend, rule = str(self._target), {}, None
            if op.expands and _jax_primitives.is_on_one_cpu(ctx):
                ctx, operands = _jax_primitives.before_broadcasts(ctx, operands)
            elif (found := self._split([shape for _, shape in given], call)) is not None:
                if None in found.results and _jax_primitives.is_partly_manual(ctx):
                    # In a group of devices, XLA refuses the all-reduce of a partitioner.
                    target += WHOLE
                else:
                    frontend, rule = _partitioning(found, given, call)
            return _jax_primitives.lower_typed(
                ctx, operands, target, call.attrs.values, shared, op.side_effect, frontend, rule
            )
        descriptor = describe_call(given, call.results, call.attrs.values, is_operand=call.version < 3)
        # CPU handlers of versions 1 and 2 get no opaque bytes: the descriptor is a leading operand there. GPU handlers
        # of every version read the opaque bytes, so they are sent always.
        leading = np.frombuffer(descriptor, np.uint8) if call.version < 3 else None
        target = f"{self._target}.v{call.version}"
        return _jax_primitives.lower_legacy(
            ctx, operands, target, call.version, descriptor, leading, shared, op.side_effect
        )

    def _split(self, operands: Sequence[Shape], call: Call) -> BatchDims | None:
        """The dimensions along which a call is split among devices."""
        is_split = call.version == 4 and self._op.is_partitioned
        return call.batch_dims(self._op, operands) if is_split else None

    def _batch(self, operands: Sequence[Any], dims: Sequence[int | None], *, call: Call) -> Any:
        op = self._op
        if op.vmap is None and op.vmap_op is None and op.batch is None:
            raise NotImplementedError(
                f"{op.name}: vmap needs to know how calls are batched; write for example "
                '`#[custom_call(vmap = "sequential")]`, or `batch = b` if the dimensions `..b` are independent'
            )
        if call.version == 4 and (batched := self._batch_in_place(operands, dims, call)) is not None:
            return batched
        if op.vmap_op is not None:
            return self._batch_by_op(operands, dims, call)
        method = op.vmap or "sequential"
        if call.version != 4 and method in _batching.AT_ONCE:
            method = "sequential"  # legacy handlers are called with the shapes that the user gave

        def bind(operands: Sequence[Any], size: int | None) -> Sequence[Any]:
            return self._primitive.bind(*operands, call=call if size is None else call.batched(size))

        whole = [param.role == "inout" for param, number in zip(op.operands, call.counts, strict=True)
                 for _ in range(number)]  # fmt: skip
        return _batching.batch(method, bind, operands, dims, whole)

    def _batch_in_place(self, operands: Sequence[Any], dims: Sequence[int | None], call: Call) -> Any:
        """One call by the declaration `batch`; ``None`` where it does not allow that."""
        shapes = [_batching.without(np.shape(operand), dim) for operand, dim in zip(operands, dims, strict=True)]
        found = call.batch_dims(self._op, shapes)
        if found is None:
            return None

        def bind(operands: Sequence[Any], size: int | None) -> Sequence[Any]:
            return self._primitive.bind(*operands, call=call.batched(size, found.results))

        if any(
            place is None and name not in call.unused for name, place in zip(call.names, found.results, strict=True)
        ):
            return None
        return _batching.batch_in_place(bind, operands, dims, found.operands, found.results)

    def _batch_by_op(self, operands: Sequence[Any], dims: Sequence[int | None], call: Call) -> Any:
        """One call of the op that `vmap` names, with a leading dimension for all operands."""
        other = self._find(self._op.vmap_op)

        def bind(operands: Sequence[Any], size: int | None) -> Sequence[Any]:
            del size
            groups = call.operands_of(self._op, operands)
            values = call_by_name(other, groups, options_of(self._op, other._info, call.given))
            return [value for name in dict.fromkeys(call.names) for value in values[name]]

        return _batching.batch("broadcast_all", bind, operands, dims, (True,) * len(operands))

    def _jvp(self, primals: Sequence[Any], tangents: Sequence[Any], *, call: Call) -> tuple[Any, Any]:
        return self._derivative.jvp(primals, tangents, call=call)

    def _transpose(self, cotangents: Sequence[Any], *operands: Any, call: Call) -> Sequence[Any]:
        return self._derivative.transpose_op(cotangents, *operands, call=call)


def _partitioning(found: BatchDims, operands: Sequence[Type], call: Call) -> tuple[dict[str, str], str | None]:
    """What partitioners read of a call: frontend attributes, and the sharding rule."""
    sums = ",".join(str(index) for index, place in enumerate(found.results) if place is None)
    shapes = [[shape for _, shape in types] for types in (operands, call.results)]
    return {"oxcall.sums": sums} if sums else {}, sharding_rule(found, *shapes)
