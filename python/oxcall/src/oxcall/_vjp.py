"""Reverse-mode differentiation of an op through the op that its `vjp` option names."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from oxcall import _jax
from oxcall._errors import CallError
from oxcall._manifest import OpInfo
from oxcall._operands import Operands
from oxcall._pairing import pair
from oxcall._rust import SourceText


def differentiable(
    primal: Callable[..., tuple[Any, ...]],
    forward: OpInfo,
    operands: Operands,
    result_names: Sequence[str],
    attrs: Mapping[str, Any],
    find_backward: Callable[[], tuple[OpInfo, Callable[..., Any]]],
) -> Callable[..., tuple[Any, ...]]:
    """The forward call with its derivative.

    Args:
        primal: the forward call, a function of the operands in wire order.
        forward: the forward op.
        operands: the operands of this call; only their grouping is used.
        result_names: the name of the parameter that each result belongs to.
        attrs: the attributes as the user gave them.
        find_backward: returns the backward op and its callable.
    """

    @jax.custom_vjp
    def call(*arrays: Any) -> tuple[Any, ...]:
        return primal(*arrays)

    def keep(*arrays: Any) -> tuple[tuple[Any, ...], Any]:
        # Itself differentiable: a derivative of the derivative needs that of the results that it was given.
        results = call(*arrays)
        return results, (arrays, results)

    def pull_back(residuals: Any, cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
        backward, backward_call = find_backward()
        pairing = pair(forward, backward)
        arrays, results = residuals
        values = {
            "input": dataclasses.replace(operands, arrays=arrays).of(forward),
            "output": _group(result_names, results),
            "cotangent": _group(result_names, cotangents),
        }
        passed: list[Any] = []
        for param, (kind, name) in zip(backward.operands, pairing.sources, strict=True):
            group = values[kind].get(name, ())
            if param.arity == "optional" and not group:
                passed.append(None)
            passed += [_real(forward, backward, param.name, value) if kind == "cotangent" else value for value in group]
        options = {name: attrs[name] for name in pairing.attrs if name in attrs}
        # The defaults are the forward op's, unless only Rust knows their values; then the two are the same text.
        for attr in forward.attrs:
            if attr.name in pairing.attrs and attr.presence == "default" and not isinstance(attr.default, SourceText):
                options.setdefault(attr.name, attr.default)
        if backward.takes_num_results:
            options["num_results"] = sum(len(values["input"][name]) for name in pairing.cotangents)
        gradients = backward_call(*passed, **options)
        gradients = iter(gradients if isinstance(gradients, tuple) else (gradients,))
        found = {name: [next(gradients, None) for _ in values["input"][name]] for name in pairing.cotangents}
        return tuple(
            _gradient(array, found[name][i] if name in found else None)
            for name, group in values["input"].items()
            for i, array in enumerate(group)
        )

    call.defvjp(keep, pull_back)
    return call


def _group(names: Sequence[str], values: Sequence[Any]) -> dict[str, tuple[Any, ...]]:
    grouped: dict[str, tuple[Any, ...]] = {}
    for name, value in zip(names, values, strict=True):
        grouped[name] = (*grouped.get(name, ()), value)
    return grouped


def _real(forward: OpInfo, backward: OpInfo, name: str, cotangent: Any) -> Any:
    if cotangent.dtype == jax.dtypes.float0:
        raise CallError(
            f"{forward.name}: argument `{name}` of its vjp op `{backward.name}` is the cotangent of an integer result, "
            "which has none; remove it"
        )
    return cotangent


def _gradient(primal: Any, gradient: Any) -> Any:
    zero = _jax.zero_cotangent(primal)
    return zero if gradient is None or zero.dtype == jax.dtypes.float0 else gradient
