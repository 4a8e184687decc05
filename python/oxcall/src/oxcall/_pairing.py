"""The pairing of the parameters of an op with those of the ops that its rules name, by their names.

With an op `f(x, w) -> y`, an operand `x` or `w` of its vjp op is that input, `y` the output, and `dy` or `d_y` the
output's cotangent; the results `dx` (or `d_x`) and `dw` are the cotangents of the inputs. A jvp op takes the tangents
`tx` and `tw` and gives `ty`. Both may take what the forward op gives beside `y`, its residuals, by their names.
Attributes of the same name have the same values. The macro has the compiler check the same rules (`ffi/src/rules`);
what is checked here is for libraries that it did not make.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from oxcall._errors import LoadError, listing, nearest
from oxcall._manifest import OpInfo

RULES = ("vjp", "jvp", "fwd", "transpose", "vmap_op")
"""The fields of an op that name others."""

_LETTER = {"cotangent": "d", "tangent": "t"}
Source = tuple[str, str]
"""A kind ("input", "output", "cotangent" or "tangent") and the name of a parameter."""


@dataclasses.dataclass(frozen=True)
class Pairing:
    """The pairing of another op's operands and results with those of an op."""

    sources: tuple[Source, ...]
    """What each of its operands is."""
    targets: tuple[str, ...]
    """For each of its results, the parameter whose value, cotangent or tangent it is."""

    def names(self, kind: str) -> set[str]:
        """The parameters whose values of a kind it takes."""
        return {name for source, name in self.sources if source == kind}


def pair(rule: str, op: OpInfo, other: OpInfo, fwd: OpInfo | None = None) -> Pairing:
    """Matches two ops by the names of their parameters.

    Args:
        rule: the field of `op` that names `other`.
        op: the op that has the rule.
        other: the op that the rule names.
        fwd: the forward op of `op`, if it names one.

    Raises:
        LoadError: a name of `other` fits nothing of `op`, or it lacks a cotangent or tangent.
    """
    inputs, outputs = ([param.name for param in params] for params in (op.operands, op.results))
    residuals = [] if fwd is None else residual_names(op, fwd)
    values = {name: ("input", name) for name in inputs}
    for name in (*outputs, *residuals):
        values.setdefault(name, ("output", name))
    if rule == "jvp":
        taken, given = ("tangent", inputs), ("tangent", outputs)
    elif rule in ("vjp", "transpose"):
        taken, given = ("cotangent", outputs), ("cotangent", inputs)
    else:
        taken, given = None, ("", [*outputs, *residuals])
        values = {name: ("input", name) for name in inputs}
    sources = {**values, **{name: source for name, source in _derivatives(taken).items() if name not in values}}
    targets = {name: target for name, (_, target) in _derivatives(given).items()}
    shown = f"its {option(rule)} op `{other.name}`"
    found = Pairing(
        tuple(_find(op, shown, "argument", param.name, sources) for param in other.operands),
        tuple(_find(op, shown, "result", param.name, targets) for param in other.results),
    )
    if taken is not None:
        kind, names = taken
        letter, outward = _LETTER[kind], kind == "cotangent"
        for param in op.results if outward else op.operands:
            lacks = param.name not in found.names(kind) and param.name not in op.nondiff
            if lacks and op.is_differentiable(param):
                raise LoadError(
                    f"{op.name}: {shown} takes no {kind} of {'result' if outward else 'argument'} `{param.name}`, so "
                    f"that derivatives {'through' if outward else 'with respect to'} it would be zero; add an argument "
                    f"`{letter}{param.name}`"
                )
    names = {attr.name for attr in op.attrs}
    lacking = [attr.name for attr in other.attrs if attr.presence == "required" and attr.name not in names]
    if lacking and not op.extra_attrs:
        raise LoadError(
            f"{op.name}: {shown} requires the attribute {listing(lacking)}, which `{op.name}` does not have; give it a "
            "default there"
        )
    return found


def option(rule: str) -> str:
    """The option of the macro that sets the field of a rule."""
    return "vmap" if rule == "vmap_op" else rule


def residual_names(op: OpInfo, fwd: OpInfo) -> list[str]:
    """What a forward op gives beside the results of the op."""
    outputs = {param.name for param in op.results}
    return [param.name for param in fwd.results if param.name not in outputs]


def check_rules(ops: Mapping[str, OpInfo]) -> None:
    """Refuses ops that name others that would give wrong derivatives or batches.

    Raises:
        LoadError: an op is not there, or does not fit.
    """
    for op in ops.values():
        for rule in RULES:
            name = getattr(op, rule)
            if name is not None and name not in ops:
                raise LoadError(
                    f"{op.name}: its {option(rule)} op `{name}` is not in this library; link the crate that has it"
                )
        fwd = None if op.fwd is None else ops[op.fwd]
        for rule in RULES:
            if (name := getattr(op, rule)) is not None:
                pair(rule, op, ops[name], fwd)


def _derivatives(values: tuple[str, Sequence[str]] | None) -> dict[str, Source]:
    """Parameters by the names of their tangents or cotangents, of which the first parameter has the first claim."""
    if values is None:
        return {}
    kind, names = values
    letter = _LETTER.get(kind)
    if letter is None:
        return {name: (kind, name) for name in names}
    found: dict[str, Source] = {}
    for name in names:
        for prefix in (letter, f"{letter}_"):
            found.setdefault(f"{prefix}{name}", (kind, name))
    return found


def _find(op: OpInfo, shown: str, what: str, name: str, known: Mapping[str, object]) -> object:
    if name not in known:
        # Of `dx` and `d_x`, the message shows one.
        names = [other for other in known if not other.startswith(("d_", "t_"))] or list(known)
        raise LoadError(
            f"{op.name}: {what} `{name}` of {shown} matches nothing; expected {listing(names)}{nearest(name, names)}"
        )
    return known[name]
