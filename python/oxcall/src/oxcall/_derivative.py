"""Derivatives of an op by the op that its `vjp` option names.

The derivative of an op at its operands is a linear map of tangents, and a primitive of its own. Its transpose calls the
backward op. Reverse mode never evaluates the map itself, which needs a forward-mode rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax

from oxcall import _batching, _dtypes, _jax, _jax_primitives
from oxcall._errors import CallError
from oxcall._manifest import OpInfo
from oxcall._pairing import Pairing, pair
from oxcall._rust import SourceText

if TYPE_CHECKING:
    from oxcall._op import Op
    from oxcall._primitive import Call

_Bind = Callable[..., Sequence[Any]]


class Derivative:
    """The derivative of an op."""

    def __init__(self, op: OpInfo, bind: _Bind, find: Callable[[str], Op]):
        """The derivative of `op`, which `bind` calls; `find` gives an op of the library by its name."""
        self._op, self._bind, self._find = op, bind, find
        self._pairing: Pairing | None = None
        self._map = _jax_primitives.primitive(
            f"{op.name}_tangent",
            abstract=self._types,
            lower=self._refuse,
            batch=self._batch,
            jvp=self._jvp,
            transpose=self._transpose,
        )
        self._map.def_impl(self._refuse)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], *, call: Call) -> tuple[Any, Any]:
        """The rule for `jax.interpreters.ad.primitive_jvps`."""
        results = self._bind(*primals, call=call)
        inexact = _inexact(call)
        if not inexact:
            return results, [_jax_primitives.zero_tangent(result) for result in results]
        active = _active(tangents)
        moved = iter(self._apply(primals, results, tangents, active, call))
        tangents_out = [
            next(moved) if index in inexact else _jax_primitives.zero_tangent(result)
            for index, result in enumerate(results)
        ]
        return results, tangents_out

    def _apply(
        self, primals: Sequence[Any], results: Sequence[Any], tangents: Sequence[Any], active: tuple[int, ...],
        call: Call,
    ) -> Sequence[Any]:  # fmt: skip
        """The tangents of the inexact results, from those of the operands that `active` lists."""
        return self._map.bind(*primals, *results, *(tangents[index] for index in active), call=call, active=active)

    def _types(self, *operands: Any, call: Call, active: tuple[int, ...]) -> tuple[Sequence[Any], bool]:
        _, results, _ = _split(operands, call)
        return [results[index] for index in _inexact(call)], False

    def _refuse(self, *_args: Any, **_params: Any) -> Any:
        """Where the map is evaluated or transposed rather than dropped, as by `jax.lax.stop_gradient`."""
        op = self._op
        if op.vjp is None:
            raise CallError(
                f"{op.name}: it cannot be differentiated, since it names no op for its derivative; write one, and name "
                f"it: `#[custom_call(vjp = {op.name}_vjp)]`"
            )
        raise CallError(
            f"{op.name}: it has no derivative in forward mode (`jax.jvp`, `jax.jacfwd`, `jax.hessian`), since its vjp "
            f"op `{op.vjp}` computes that of reverse mode; use `jax.grad`, `jax.vjp` or `jax.jacrev`"
        )

    def _batch(
        self, operands: Sequence[Any], dims: Sequence[int | None], *, call: Call, active: tuple[int, ...]
    ) -> Any:  # fmt: skip
        ops = [self._op] if self._op.vjp is None else [self._op, self._find(self._op.vjp)._info]
        at_once = all(op.vmap in _batching.AT_ONCE for op in ops)

        def bind(operands: Sequence[Any], size: int | None) -> Sequence[Any]:
            return self._map.bind(*operands, call=call if size is None else call.batched(size), active=active)

        method = "broadcast_all" if at_once else "sequential"
        return _batching.batch(method, bind, operands, dims, (False,) * len(operands))

    def _jvp(
        self, operands: Sequence[Any], tangents: Sequence[Any], *, call: Call, active: tuple[int, ...]
    ) -> tuple[Any, Any]:  # fmt: skip
        primals, results, _ = _split(operands, call)
        known = len(primals) + len(results)
        if any(not isinstance(tangent, _jax_primitives.Zero) for tangent in tangents[:known]):
            self._refuse()
        by_index = dict(zip(active, tangents[known:], strict=True))
        nonzero = tuple(index for index in active if not isinstance(by_index[index], _jax_primitives.Zero))
        values = self._map.bind(*operands, call=call, active=active)
        return values, self._apply(primals, results, by_index, nonzero, call)

    def _transpose(
        self, cotangents: Sequence[Any], *operands: Any, call: Call, active: tuple[int, ...]
    ) -> Sequence[Any]:  # fmt: skip
        if self._op.vjp is None:
            self._refuse()
        primals, results, tangents = _split(operands, call)
        whole = dict(zip(_inexact(call), cotangents, strict=True))
        whole = [_whole(whole.get(index), result) for index, result in enumerate(results)]
        gradients = self._gradients(primals, results, whole, call)
        found: list[Any] = [None] * (len(primals) + len(results))
        for index, tangent in zip(active, tangents, strict=True):
            if not _jax_primitives.is_undefined_primal(tangent):
                found.append(None)
            elif gradients[index] is None:
                found.append(_jax_primitives.Zero(tangent.aval))
            else:
                found.append(self._checked(gradients[index], tangent.aval, index, call))
        return found

    def _checked(self, gradient: Any, expected: Any, index: int, call: Call) -> Any:
        """The cotangent of an operand, which has the operand's type: JAX takes any."""
        given, wanted = (f"{x.dtype}{list(x.shape)}" for x in (gradient, expected))
        if given == wanted:
            return gradient
        groups = call.operands_of(self._op, range(sum(call.counts)))
        name = next(name for name, group in groups.items() if index in group)
        raise CallError(
            f"{self._op.name}: its vjp op `{self._op.vjp}` gives the cotangent of argument `{name}` as {given}, but "
            f"the argument is {wanted}; give both the same type and `#[dims(...)]`"
        )

    def _gradients(
        self, primals: Sequence[Any], results: Sequence[Any], cotangents: Sequence[Any], call: Call
    ) -> Sequence[Any]:  # fmt: skip
        """The cotangent of each operand, from the backward op; ``None`` for those that it does not compute."""
        forward, backward_op = self._op, self._find(self._op.vjp)
        backward = backward_op._info
        pairing = self._pairing = self._pairing or pair(forward, backward)
        inputs = call.operands_of(forward, primals)
        values = {
            "input": inputs,
            "output": call.results_of(forward, results),
            "cotangent": call.results_of(forward, cotangents),
        }
        passed: list[Any] = []
        for param, (kind, name) in zip(backward.operands, pairing.sources, strict=True):
            group = values[kind].get(name, ())
            if param.arity == "optional" and not group:
                passed.append(None)
            passed += [_real(forward, backward, param.name, value) if kind == "cotangent" else value for value in group]
        options = _options(forward, pairing, call.given)
        if backward.takes_num_results:
            options["num_results"] = sum(len(inputs[name]) for name in pairing.cotangents)
        gradients = backward_op(*passed, **options)
        gradients = iter(gradients if isinstance(gradients, tuple) else (gradients,))
        found = {name: [next(gradients, None) for _ in inputs[name]] for name in pairing.cotangents}
        return [found[name][i] if name in found else None for name, group in inputs.items() for i in range(len(group))]


def _options(forward: OpInfo, pairing: Pairing, given: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of the backward op."""
    options = {name: given[name] for name in pairing.attrs if name in given}
    # The defaults are the forward op's, unless only Rust knows their values; then the two are the same text.
    for attr in forward.attrs:
        if attr.name in pairing.attrs and attr.presence == "default" and not isinstance(attr.default, SourceText):
            options.setdefault(attr.name, attr.default)
    return options


def _split(operands: Sequence[Any], call: Call) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
    """Operands of the map: those of the op, its results, and tangents."""
    first, second = sum(call.counts), sum(call.counts) + len(call.results)
    return operands[:first], operands[first:second], operands[second:]


def _inexact(call: Call) -> tuple[int, ...]:
    """The results that have tangents."""
    return tuple(index for index, (dtype, _) in enumerate(call.results) if _dtypes.is_inexact(dtype))


def _active(tangents: Sequence[Any]) -> tuple[int, ...]:
    return tuple(i for i, tangent in enumerate(tangents) if not isinstance(tangent, _jax_primitives.Zero))


def _whole(cotangent: Any, result: Any) -> Any:
    """The cotangent of a result as an array: of ``float0`` if the result is not differentiable."""
    if cotangent is None or isinstance(cotangent, _jax_primitives.Zero):
        return _jax.zero_cotangent(result)
    return cotangent


def _real(forward: OpInfo, backward: OpInfo, name: str, cotangent: Any) -> Any:
    if cotangent.dtype == jax.dtypes.float0:
        raise CallError(
            f"{forward.name}: argument `{name}` of its vjp op `{backward.name}` is the cotangent of an integer result, "
            "which has none; remove it"
        )
    return cotangent
