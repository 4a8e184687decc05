"""The pairing of a backward op's parameters with those of the forward op, by their names.

With a forward op `f(x, w) -> y`, the backward op's operand `x` or `w` is that input, `y` the output, and `dy` or `d_y`
the output's cotangent; its results `dx` (or `d_x`) and `dw` are the cotangents of the inputs, and an input without one
gets zeros. Attributes of the same name have the same values. The macro has the compiler check the same rules
(`ffi/src/vjp.rs`); what is checked here is for libraries that it did not make.
"""

from __future__ import annotations

import dataclasses

from oxcall._errors import LoadError, listing, nearest
from oxcall._manifest import OpInfo


@dataclasses.dataclass(frozen=True)
class Pairing:
    """The pairing of a backward op's operands and results with those of a forward op."""

    sources: tuple[tuple[str, str], ...]
    """For each backward operand, ("input" | "output" | "cotangent", name of the forward parameter)."""
    cotangents: tuple[str, ...]
    """For each backward result, the forward input whose cotangent it is."""
    attrs: tuple[str, ...]
    """Attributes that both have."""


def pair(forward: OpInfo, backward: OpInfo) -> Pairing:
    """Matches two ops by the names of their parameters.

    Raises:
        LoadError: a name of the backward op fits nothing of the forward op, or it takes no cotangent of a result.
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
            cotangents = [f"d{name}" for name in outputs]
            raise LoadError(
                f"{forward.name}: argument `{param.name}` of its vjp op `{backward.name}` matches nothing: name it "
                f"like an argument ({listing(inputs)}), a result ({listing(outputs)}), or `d` and a result for its "
                f"cotangent ({listing(cotangents)}){nearest(param.name, [*inputs, *outputs, *cotangents])}"
            )
    taken = {name for kind, name in sources if kind == "cotangent"}
    for param in forward.results:
        if param.name not in taken and forward.is_differentiable(param):
            raise LoadError(
                f"{forward.name}: its vjp op `{backward.name}` takes no cotangent of result `{param.name}`, so that "
                f"gradients through it would be zero; add an argument `d{param.name}`"
            )
    cotangents = []
    for param in backward.results:
        # An in-place backward op updates the cotangent `dy` into `dx`; its result is named like its operand.
        if param.name not in by_gradient:
            raise LoadError(
                f"{forward.name}: result `{param.name}` of its vjp op `{backward.name}` matches nothing: name it `d` "
                f"and the argument whose cotangent it is ({listing(f'd{name}' for name in inputs)})"
                f"{nearest(param.name, [f'd{name}' for name in inputs])}"
            )
        cotangents.append(by_gradient[param.name])
    names = {attr.name for attr in forward.attrs}
    lacking = [attr.name for attr in backward.attrs if attr.presence == "required" and attr.name not in names]
    if lacking and not forward.extra_attrs:
        raise LoadError(
            f"{forward.name}: its vjp op `{backward.name}` requires the attribute {listing(lacking)}, which "
            f"`{forward.name}` does not have; give it a default there"
        )
    shared = tuple(attr.name for attr in backward.attrs)
    return Pairing(tuple(sources), tuple(cotangents), shared)
