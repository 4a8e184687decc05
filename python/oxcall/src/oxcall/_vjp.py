"""Reverse-mode differentiation of an op through the op that its `vjp` option names.

Operands and results of the backward op are matched with those of the forward op by name. With a forward op
`f(x, w) -> y`, the backward op's operand `x` or `w` is that input, `y` the output, and `dy` or `d_y` the output's
cotangent; its results `dx` (or `d_x`) and `dw` are the cotangents of the inputs, and an input without one gets zeros.
Attributes of the same name are passed on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from oxcall import _jax
from oxcall._errors import CallError, listing
from oxcall._manifest import OpInfo
from oxcall._operands import Operands


@dataclasses.dataclass(frozen=True)
class Pairing:
    """How a backward op's operands and results belong to a forward op."""

    sources: tuple[tuple[str, str], ...]
    """For each backward operand, ("input" | "output" | "cotangent", name of the forward parameter)."""
    cotangents: tuple[str, ...]
    """For each backward result, the forward input whose cotangent it is."""
    attrs: tuple[str, ...]
    """Attributes that both have."""


def pair(forward: OpInfo, backward: OpInfo) -> Pairing:
    """Matches two ops by the names of their parameters.

    Raises:
        CallError: a name of the backward op fits nothing of the forward op.
    """
    inputs = [param.name for param in forward.operands]
    outputs = [param.name for param in forward.results]
    by_cotangent = {f"{prefix}{name}": name for name in reversed(outputs) for prefix in ("d_", "d")}
    by_gradient = {f"{prefix}{name}": name for name in reversed(inputs) for prefix in ("d_", "d")}
    sources = []
    for param in backward.operands:
        if param.name in inputs:
            sources.append(("input", param.name))
        elif param.name in outputs:
            sources.append(("output", param.name))
        elif param.name in by_cotangent:
            sources.append(("cotangent", by_cotangent[param.name]))
        else:
            raise CallError(
                f"{forward.name}: argument `{param.name}` of its vjp op `{backward.name}` matches nothing: name it "
                f"like an argument ({listing(inputs)}), a result ({listing(outputs)}), or `d` and a result for its "
                f"cotangent ({listing(f'd{name}' for name in outputs)})"
            )
    cotangents = []
    for param in backward.results:
        # An in-place backward op updates the cotangent `dy` into `dx`; its result is named like its operand.
        if param.name not in by_gradient:
            raise CallError(
                f"{forward.name}: result `{param.name}` of its vjp op `{backward.name}` matches nothing: name it `d` "
                f"and the argument whose cotangent it is ({listing(f'd{name}' for name in inputs)})"
            )
        cotangents.append(by_gradient[param.name])
    names = {attr.name for attr in forward.attrs}
    lacking = [attr.name for attr in backward.attrs if attr.presence == "required" and attr.name not in names]
    if lacking and not forward.extra_attrs:
        raise CallError(
            f"{forward.name}: its vjp op `{backward.name}` requires the attribute {listing(lacking)}, which "
            f"`{forward.name}` does not have; give it a default there"
        )
    shared = tuple(attr.name for attr in backward.attrs)
    return Pairing(tuple(sources), tuple(cotangents), shared)


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
        find_backward: returns the backward op and its callable; called only on differentiation, so that a mistake in
            its names does not disturb the forward op.
    """

    @jax.custom_vjp
    def call(*arrays: Any) -> tuple[Any, ...]:
        return primal(*arrays)

    def keep(*arrays: Any) -> tuple[tuple[Any, ...], Any]:
        results = primal(*arrays)
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
