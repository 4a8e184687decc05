"""Derivatives of an op by the ops that its `vjp`, `jvp`, `fwd` and `transpose` options name.

The derivative of an op at its operands is a linear map of tangents, and a primitive of its own. Evaluated, it calls the
jvp op; its transpose calls the vjp op. A linear op is its own derivative.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

from oxcall import _batching, _dtypes, _jax, _jax_primitives
from oxcall._batch_dims import batch_dims
from oxcall._errors import CallError
from oxcall._manifest import OpInfo
from oxcall._operands import counts, operand_names
from oxcall._pairing import Pairing, pair, residual_names
from oxcall._rust import SourceText

if TYPE_CHECKING:
    from oxcall._op import Op
    from oxcall._primitive import Call

_MOST_DERIVATIVES = 2
_Bind = Callable[..., Sequence[Any]]
_Groups = Mapping[str, Sequence[Any]]


class Derivative:
    """The derivative of an op."""

    def __init__(self, op: OpInfo, bind: _Bind, find: Callable[[str], Op]):
        """The derivative of `op`, which `bind` calls; `find` gives an op of the library by its name."""
        self._op, self._bind, self._find = op, bind, find
        self._map = _jax_primitives.primitive(
            f"{op.name}_tangent",
            abstract=self._types,
            lower=_jax_primitives.lower_function(self._evaluate),
            batch=self._batch,
            jvp=self._jvp,
            transpose=self._transpose,
        )
        self._map.def_impl(self._evaluate)

    @functools.cached_property
    def _fwd(self) -> OpInfo | None:
        return None if self._op.fwd is None else self._find(self._op.fwd)._info

    @functools.cached_property
    def _pairings(self) -> dict[str, Pairing]:
        """The pairing of each rule that the op has."""
        op = self._op
        rules = {rule: getattr(op, rule) for rule in ("vjp", "jvp", "fwd", "transpose")}
        return {
            rule: pair(rule, op, self._find(name)._info, self._fwd) for rule, name in rules.items() if name is not None
        }

    @functools.cached_property
    def _linear(self) -> set[str]:
        """The arguments in which the op is linear."""
        return set(self._pairings["transpose"].targets)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], *, call: Call) -> tuple[Any, Any]:
        """The rule for `jax.interpreters.ad.primitive_jvps`."""
        active = self._active(tangents, call)
        inexact = self._inexact(call)
        if not inexact or not active:
            results = self._bind(*primals, call=call)
            return results, [_jax_primitives.zero_tangent(result) for result in results]
        results, residuals = self._forward(primals, call)
        known = [*primals, *results, *residuals]
        moved = iter(self._map.bind(*known, *(tangents[index] for index in active), call=call, active=active))
        tangents_out = [
            next(moved) if index in inexact else _jax_primitives.zero_tangent(result)
            for index, result in enumerate(results)
        ]
        return results, tangents_out

    def _forward(self, primals: Sequence[Any], call: Call) -> tuple[Sequence[Any], Sequence[Any]]:
        """Results and residuals."""
        op = self._op
        if op.fwd is None:
            return self._bind(*primals, call=call), ()
        fwd = self._find(op.fwd)
        values = call_by_name(fwd, call.operands_of(op, primals), options_of(op, fwd._info, call.given))
        results = [value for name in dict.fromkeys(call.names) for value in values[name]]
        for result, (dtype, shape), name in zip(results, call.results, call.names, strict=True):
            if _jax_primitives.dtype_and_shape(_jax_primitives.type_of(result)) != (dtype, tuple(shape)):
                raise CallError(
                    f"{op.name}: its fwd op `{fwd._info.name}` gives result `{name}` as {_shown(result)}, but the op "
                    f"as {dtype}{list(shape)}; give both the same type and `#[dims(...)]`"
                )
        # Policies of `jax.checkpoint` may name residuals.
        return results, [
            checkpoint_name(value, f"{op.name}.{name}")
            for name in residual_names(op, fwd._info)
            for value in values[name]
        ]

    def _active(self, tangents: Sequence[Any], call: Call) -> tuple[int, ...]:
        """The operands whose tangents are not zero."""
        names = operand_names(self._op, call.counts)
        return tuple(
            index for index, (name, tangent) in enumerate(zip(names, tangents, strict=True))
            if not isinstance(tangent, _jax_primitives.Zero) and name not in self._op.nondiff
        )  # fmt: skip

    def _inexact(self, call: Call) -> tuple[int, ...]:
        """The results that have tangents."""
        return tuple(
            index for index, ((dtype, _), name) in enumerate(zip(call.results, call.names, strict=True))
            if _dtypes.is_inexact(dtype) and name not in self._op.nondiff
        )  # fmt: skip

    def _types(self, *operands: Any, call: Call, active: tuple[int, ...]) -> tuple[Sequence[Any], bool]:
        _, results, _, _ = _split(operands, call, active)
        return [results[index] for index in self._inexact(call)], False

    def _evaluate(self, *operands: Any, call: Call, active: tuple[int, ...]) -> Sequence[Any]:
        """The map in forward mode."""
        op = self._op
        primals, results, residuals, tangents = _split(operands, call, active)
        if op.transpose is not None:
            names = operand_names(op, call.counts)
            moved = dict(zip(active, tangents, strict=True))
            self._check_linear({names[index] for index in active}, "tangent")
            given = [
                moved.get(index, _jax.zero_cotangent(primal)) if name in self._linear else primal
                for index, (name, primal) in enumerate(zip(names, primals, strict=True))
            ]
            values = self._bind(*_jax.vary_together(given), call=call)
            return [values[index] for index in self._inexact(call)]
        if op.jvp is None:
            raise self._undeclared("forward")
        moved = dict(zip(active, tangents, strict=True))
        whole = [
            moved.get(index, _jax.zero_cotangent(primal)) if jnp.issubdtype(primal.dtype, jnp.inexact) else None
            for index, primal in enumerate(primals)
        ]
        names = operand_names(op, call.counts)
        given = {names[index] for index in active}
        found = self._call("jvp", primals, results, residuals, {"tangent": call.operands_of(op, whole)}, call, given)
        flat = [value for name in dict.fromkeys(call.names) for value in found.get(name, ())]
        wanted = self._inexact(call)
        if len(flat) != len(wanted):
            raise CallError(
                f"{op.name}: its jvp op `{op.jvp}` gives {len(flat)} tangents of its {len(wanted)} differentiable "
                "results; give one of each"
            )
        for value, index in zip(flat, wanted, strict=True):
            self._check_type("jvp", "tangent", "result", value, results[index], call.names[index])
        return flat

    def _undeclared(self, mode: str) -> CallError:
        op = self._op
        if op.vjp is None and op.jvp is None and op.transpose is None:
            order = sum(attr.name.endswith(("jvp_active", "vjp_active")) for attr in op.attrs)
            function = op.name.rsplit("_", order)[0]
            if order >= _MOST_DERIVATIVES:
                return CallError(
                    f"{op.name}: it cannot be differentiated, since functions under `#[pointwise]` and `#[rowwise]` "
                    f"have derivatives of first and second order; differentiate `{function}` twice at most, or write "
                    "its derivative as a function under the macro of its own, and join both by `jax.custom_jvp`"
                )
            if order or op.broadcast:
                return CallError(
                    f"{op.name}: it cannot be differentiated, since `{function}` is declared with `derivatives = "
                    f"{order}`; write `derivatives = {order + 1}` there, or leave the option out for 2"
                )
            return CallError(
                f"{op.name}: it cannot be differentiated, since it names no op for its derivative; write one, and name "
                f"it: `#[custom_call(vjp = {op.name}_vjp)]`"
            )
        if mode == "forward":
            return CallError(
                f"{op.name}: it has no derivative in forward mode (`jax.jvp`, `jax.jacfwd`, `jax.hessian`), since its "
                f"vjp op `{op.vjp}` computes that of reverse mode; use `jax.grad`, `jax.vjp` or `jax.jacrev`, or "
                f"write an op for forward mode, and name it: `#[custom_call(jvp = {op.name}_jvp)]`"
            )
        return CallError(
            f"{op.name}: it has no derivative in reverse mode (`jax.grad`, `jax.vjp`, `jax.jacrev`), since its jvp op "
            f"`{op.jvp}` computes that of forward mode; use `jax.jvp` or `jax.jacfwd`, or write an op for reverse "
            f"mode, and name it: `#[custom_call(vjp = {op.name}_vjp)]`"
        )

    def _check_linear(self, names: Iterable[str], what: str) -> None:
        """Refuses derivatives with respect to arguments in which an op with a transpose is not linear."""
        op = self._op
        for name in names:
            if name not in self._linear:
                raise CallError(
                    f"{op.name}: argument `{name}` has no {what}, since the transpose op `{op.transpose}` gives no "
                    f"result `d{name}`; use `jax.lax.stop_gradient`, declare `nondiff = [{name}]`, or declare `vjp` "
                    "and `jvp` instead of `transpose`"
                )

    def _batch(
        self, operands: Sequence[Any], dims: Sequence[int | None], *, call: Call, active: tuple[int, ...]
    ) -> Any:  # fmt: skip
        op = self._op
        names = (op.vjp, op.jvp, op.fwd, op.transpose)
        ops = [op, *(self._find(name)._info for name in names if name is not None)]
        if all(other.batch is not None for other in ops):
            if (batched := self._batch_in_place(operands, dims, call, active)) is not None:
                return batched
            at_once = False
        else:
            at_once = all(other.vmap in _batching.AT_ONCE for other in ops)

        def bind(operands: Sequence[Any], size: int | None) -> Sequence[Any]:
            return self._map.bind(*operands, call=call if size is None else call.batched(size), active=active)

        method = "broadcast_all" if at_once else "sequential"
        return _batching.batch(method, bind, operands, dims, (False,) * len(operands))

    def _batch_in_place(
        self, operands: Sequence[Any], dims: Sequence[int | None], call: Call, active: tuple[int, ...]
    ) -> Any:  # fmt: skip
        """One call by the declaration `batch`; ``None`` where it does not allow that."""
        primals, _, residuals, _ = _split(operands, call, active)
        primal_dims, _, residual_dims, _ = _split(dims, call, active)
        shapes = [_batching.without(jnp.shape(operand), dim) for operand, dim in zip(primals, primal_dims, strict=True)]
        found = call.batch_dims(self._op, shapes)
        if found is None:
            return None
        places: list[int | None] = [*found.operands, *found.results]
        if residuals:
            fwd = self._fwd
            assert fwd is not None
            names = residual_names(self._op, fwd)
            shapes_of = [
                _batching.without(value.shape, dim) for value, dim in zip(residuals, residual_dims, strict=True)
            ]
            by_name = list(zip(names, shapes_of, strict=True))
            of_residuals = batch_dims(fwd, call.operands_of(self._op, shapes), by_name)
            if of_residuals is None or any(place is None for place in of_residuals.results):
                return None
            places += of_residuals.results
        places += [found.operands[index] for index in active]

        def bind(operands: Sequence[Any], size: int | None) -> Sequence[Any]:
            return self._map.bind(*operands, call=call.batched(size, found.results), active=active)

        # The map has the results that have tangents, each where the op has its own.
        out_places = [found.results[index] for index in self._inexact(call)]
        if any(place is None for place in found.results):
            return None
        return _batching.batch_in_place(bind, operands, dims, places, out_places)

    def _jvp(
        self, operands: Sequence[Any], tangents: Sequence[Any], *, call: Call, active: tuple[int, ...]
    ) -> tuple[Any, Any]:  # fmt: skip
        known = len(operands) - len(active)
        if any(not isinstance(tangent, _jax_primitives.Zero) for tangent in tangents[:known]):
            # The derivative of the map itself is that of the op that computes it, along what has a tangent.
            moving = [i for i, tangent in enumerate(tangents) if not isinstance(tangent, _jax_primitives.Zero)]

            def evaluate(*values: Any) -> Sequence[Any]:
                given = list(operands)
                for index, value in zip(moving, values, strict=True):
                    given[index] = value
                return tuple(self._evaluate(*given, call=call, active=active))

            return jax.jvp(evaluate, [operands[i] for i in moving], [tangents[i] for i in moving])
        pairs = list(zip(active, tangents[known:], strict=True))
        nonzero = [(index, tangent) for index, tangent in pairs if not isinstance(tangent, _jax_primitives.Zero)]
        values = self._map.bind(*operands, call=call, active=active)
        indices = tuple(index for index, _ in nonzero)
        given = (*operands[:known], *(tangent for _, tangent in nonzero))
        return values, self._map.bind(*given, call=call, active=indices)

    def _transpose(
        self, cotangents: Sequence[Any], *operands: Any, call: Call, active: tuple[int, ...]
    ) -> Sequence[Any]:  # fmt: skip
        op = self._op
        if op.vjp is None and op.transpose is None:
            raise self._undeclared("reverse")
        primals, results, residuals, tangents = _split(operands, call, active)
        by_index = dict(zip(self._inexact(call), cotangents, strict=True))
        whole = [_whole(by_index.get(index), result) for index, result in enumerate(results)]
        names = operand_names(op, call.counts)
        if op.transpose is not None:
            self._check_linear({names[index] for index in active}, "cotangent")
        rule = "vjp" if op.transpose is None else "transpose"
        moved = {"cotangent": call.results_of(op, whole)}
        given = {
            call.names[index] for index, cotangent in by_index.items()
            if not isinstance(cotangent, _jax_primitives.Zero)
        }  # fmt: skip
        wanted = {names[index] for index in active}
        found = self._call(rule, primals, results, residuals, moved, call, given, wanted)
        gradients = self._by_operand(found, call)
        answers: list[Any] = [None] * (len(operands) - len(active))
        for index, tangent in zip(active, tangents, strict=True):
            if not _jax_primitives.is_undefined_primal(tangent):
                answers.append(None)
            elif gradients[index] is None:
                answers.append(_jax_primitives.Zero(tangent.aval))
            else:
                self._check_type(rule, "cotangent", "argument", gradients[index], tangent.aval, names[index])
                answers.append(_jax_primitives.split_like(gradients[index], tangent.aval))
        return answers

    def _by_operand(self, found: _Groups, call: Call) -> list[Any]:
        """The cotangent of each operand; ``None`` for those that are not computed."""
        groups = call.operands_of(self._op, range(sum(call.counts)))
        return [value for name, group in groups.items() for value in found.get(name, (None,) * len(group))]

    def transpose_op(self, cotangents: Sequence[Any], *operands: Any, call: Call) -> Sequence[Any]:
        """The rule for `jax.interpreters.ad.primitive_transposes` of an op that is linear itself."""
        op = self._op
        names = operand_names(op, call.counts)
        wanted = [_jax_primitives.is_undefined_primal(operand) for operand in operands]
        self._check_linear({name for name, is_wanted in zip(names, wanted, strict=True) if is_wanted}, "cotangent")
        whole = [
            _whole(cotangent, jax.ShapeDtypeStruct(shape, _dtypes.numpy_dtype(dtype)))
            for cotangent, (dtype, shape) in zip(cotangents, call.results, strict=True)
        ]
        found = self._call("transpose", operands, (), (), {"cotangent": call.results_of(op, whole)}, call)
        gradients = self._by_operand(found, call)
        return [
            _jax_primitives.split_like(gradient, operand.aval) if is_wanted else None
            for gradient, operand, is_wanted in zip(gradients, operands, wanted, strict=True)
        ]

    def _check_type(self, rule: str, kind: str, what: str, given: Any, expected: Any, name: str) -> None:
        """A tangent has the type of its primal: JAX takes any."""
        if _shown(given) != _shown(expected):
            raise CallError(
                f"{self._op.name}: its {rule} op `{getattr(self._op, rule)}` gives the {kind} of {what} `{name}` as "
                f"{_shown(given)}, but the {what} is {_shown(expected)}; give both the same type and `#[dims(...)]`"
            )

    def _call(
        self, rule: str, primals: Sequence[Any], results: Sequence[Any], residuals: Sequence[Any], moved: _Groups,
        call: Call, given: set[str] | None = None, wanted: set[str] | None = None,
    ) -> dict[str, Sequence[Any]]:  # fmt: skip
        """Calls the op of a rule: what it computes, by the names of what these are the derivatives of.

        If ``given`` is, the tangents or cotangents of other names are zeros. If ``wanted`` is, only derivatives of
        these names are read.
        """
        op, other = self._op, self._find(getattr(self._op, rule))
        pairing = self._pairings[rule]
        inputs = call.operands_of(op, primals)
        outputs = call.results_of(op, results) if results else {}
        if self._fwd is not None:
            outputs |= {name: (value,) for name, value in zip(residual_names(op, self._fwd), residuals, strict=True)}
        values = {"input": inputs, "output": outputs, **moved}
        groups: dict[str, Sequence[Any]] = {}
        for param, (kind, name) in zip(other._info.operands, pairing.sources, strict=True):
            group = values[kind].get(name, ())
            if kind in moved:
                group = [_real(op, rule, other._info, param.name, value) for value in group]
            groups[param.name] = group
        options = options_of(op, other._info, call.given)
        if given is not None:
            options |= _active_option(rule, op, other._info, given)
        if other._info.takes_num_results:
            sides = inputs if rule != "jvp" else outputs
            options["num_results"] = sum(len(sides[name]) for name in pairing.targets)
        targets = list(zip(other._info.results, pairing.targets, strict=True))
        unused = {param.name for param, target in targets if wanted is not None and target not in wanted}
        found = call_by_name(other, groups, options, frozenset(unused))
        return {
            target: found[param.name] for param, target in targets if param.name in found
        }  # fmt: skip


def call_by_name(
    op: Op, groups: _Groups, options: Mapping[str, Any], unused: frozenset[str] = frozenset()
) -> dict[str, Sequence[Any]]:
    """Calls an op with the values of each of its operand parameters: the values of its result parameters."""
    passed: list[Any] = []
    for param in op._info.operands:
        group = groups.get(param.name, ())
        if param.arity == "optional" and not group:
            passed.append(None)
        passed += group
    results = op._call(tuple(passed), dict(options), unused)
    values = list(results) if isinstance(results, tuple | list) else [] if results is None else [results]
    numbers = counts(op._info.results, len(values))
    starts = itertools.accumulate((0, *numbers))
    return {
        param.name: values[start : start + number]
        for param, start, number in zip(op._info.results, starts, numbers, strict=False)
    }


def options_of(op: OpInfo, other: OpInfo, given: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of an op that another one names."""
    names = {attr.name for attr in other.attrs}
    options = {name: given[name] for name in names if name in given}
    # The defaults are the first op's, unless only Rust knows their values; then the two are the same text.
    for attr in op.attrs:
        if attr.name in names and attr.presence == "default" and not isinstance(attr.default, SourceText):
            options.setdefault(attr.name, attr.default)
    return options


def _active_option(rule: str, op: OpInfo, other: OpInfo, given: set[str]) -> dict[str, int]:
    """The attribute by which a derivative that the macros made learns which tangents or cotangents are zeros.

    A zero times a slope that is not finite would be NaN.
    """
    own = {attr.name for attr in op.attrs}
    names = [attr.name for attr in other.attrs if attr.name not in own and attr.name.endswith(f"{rule}_active")]
    params = op.operands if rule == "jvp" else op.results
    # Bits from the 63rd on are the sign.
    zeros = sum(1 << index for index, param in enumerate(params[:63]) if param.name not in given)
    return {name: ~zeros for name in names if zeros}


def _split(
    operands: Sequence[Any], call: Call, active: Sequence[int]
) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any], Sequence[Any]]:  # fmt: skip
    """Operands of the map: those of the op, its results, residuals, and tangents."""
    first, second = sum(call.counts), sum(call.counts) + len(call.results)
    third = len(operands) - len(active)
    return operands[:first], operands[first:second], operands[second:third], operands[third:]


def _whole(cotangent: Any, result: Any) -> Any:
    """The cotangent of a result, or of a type, as an array: of ``float0`` if it is not differentiable."""
    if cotangent is None or isinstance(cotangent, _jax_primitives.Zero):
        return _jax.zero_cotangent(result)
    if hasattr(cotangent, "dtype"):
        return cotangent
    # `jax.vjp` passes Python's numbers on as they are.
    is_weak = _jax.is_weakly_typed(result)
    return _jax.converted(jnp.asarray(cotangent), _dtypes.xla_name(result.dtype.name), is_weak)


def _real(op: OpInfo, rule: str, other: OpInfo, name: str, value: Any) -> Any:
    """A cotangent or tangent, which an integer does not have."""
    if value is None or value.dtype == jax.dtypes.float0:
        what, of = ("cotangent", "result") if rule != "jvp" else ("tangent", "argument")
        raise CallError(
            f"{op.name}: argument `{name}` of its {rule} op `{other.name}` is the {what} of an integer {of}, which has "
            "none; remove it"
        )
    return value


def _shown(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}"
