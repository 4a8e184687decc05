"""Sharding rules of Shardy for an op whose declaration `batch` says which dimensions may be split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oxcall._manifest import OpInfo, Param
from oxcall._results import Type
from oxcall._symbolic import is_symbolic

_FIRST_FACTORS = "ijklmnopqrstuvwxyz"


def sharding_rule(
    op: OpInfo, operands: Mapping[str, Sequence[Sequence[Any]]], results: Sequence[tuple[str, Type]]
) -> str | None:
    """The rule of a call as MLIR text.

    It is ``None`` where a size is not a constant, or a result has another list of dimensions.

    Each dimension of the batch is a factor that operands and results share. All others need to be whole: without
    saying so, a rule would let them be split.

    Args:
        op: the op, each of whose operands and results begins with the batch.
        operands: the shapes of each operand parameter.
        results: for each result, the name of its parameter and its type.
    """
    factors = _Factors(op)
    by_name = {param.name: param for param in op.results}
    pairs = [(param, tuple(shape)) for param in op.operands for shape in operands[param.name]]
    pairs_out = [(by_name[name], tuple(shape)) for name, (_, shape) in results]
    if any(is_symbolic(shape) for _, shape in (*pairs, *pairs_out)):
        return None
    if any(token.startswith("..") for param, _ in pairs_out for token in op.tokens_of(param)[1:]):
        return None
    taken, given = (", ".join(factors.of(*pair) for pair in side) for side in (pairs, pairs_out))
    whole = f" need_replication={{{', '.join(factors.whole)}}}" if factors.whole else ""
    sizes = ", ".join(f"{name}={size}" for name, size in factors.sizes.items())
    return f"#sdy.op_sharding_rule<({taken})->({given}) {{{sizes}}}{whole}, custom>"


class _Factors:
    """Factors by the dimensions of patterns: one for each dimension of the batch, and one for each other name."""

    def __init__(self, op: OpInfo):
        self._op = op
        self._names: dict[Any, str] = {}
        self.sizes: dict[str, int] = {}
        self.whole: list[str] = []

    def of(self, param: Param, shape: Sequence[int]) -> str:
        """The factors of an array: `[i, j]`."""
        tokens = self._op.tokens_of(param)
        count = len(shape) - (len(tokens) - 1)
        names = [self._factor(("batch", index), size) for index, size in enumerate(shape[:count])]
        for token, size in zip(tokens[1:], shape[count:], strict=True):
            # Expressions and wildcards are tied to nothing.
            key = ("dim", token) if token.isidentifier() and token != "_" else ("own", len(self.sizes))
            names.append(self._factor((*key, size), size))
        return f"[{', '.join(names)}]"

    def _factor(self, key: Any, size: int) -> str:
        if key not in self._names:
            index = len(self._names)
            letters = len(_FIRST_FACTORS)
            name = _FIRST_FACTORS[index] if index < letters else f"z_{index - letters + 1}"
            self._names[key] = name
            self.sizes[name] = size
            if key[0] != "batch":
                self.whole.append(name)
        return self._names[key]
