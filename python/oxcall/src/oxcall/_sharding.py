"""Sharding rules of Shardy for an op whose declaration `batch` says which dimensions may be split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oxcall._batch_dims import BatchDims, Shape
from oxcall._symbolic import is_symbolic

_FIRST_FACTORS = "ijklmnopqrstuvwxyz"


def sharding_rule(found: BatchDims, operands: Sequence[Shape], results: Sequence[Shape]) -> str | None:
    """The rule of a call as MLIR text; ``None`` where a size is not a constant.

    Each dimension of the batch is a factor that the arrays with a batch share. Every other dimension is a factor of
    its own that needs to be whole: without saying so, a rule would let it be split.

    Args:
        found: where the operands and results have the batch.
        operands: the shape of each operand.
        results: the shape of each result.
    """
    if any(is_symbolic(shape) for shape in (*operands, *results)):
        return None
    sizes: dict[str, int] = {}
    whole: list[str] = []

    def factor(size: int) -> str:
        index, letters = len(sizes), len(_FIRST_FACTORS)
        name = _FIRST_FACTORS[index] if index < letters else f"z_{index - letters + 1}"
        sizes[name] = size
        return name

    def factors(shape: Shape, place: int | None) -> str:
        names = []
        for axis, size in enumerate(shape):
            if place is not None and place <= axis < place + found.count:
                names.append(batch[axis - place])
            else:
                names.append(factor(size))
                whole.append(names[-1])
        return f"[{', '.join(names)}]"

    pairs = [list(zip(*side, strict=True)) for side in ((operands, found.operands), (results, found.results))]
    batch = [factor(size) for size in _batch_of(pairs[0], found.count)]
    taken, given = (", ".join(factors(shape, place) for shape, place in side) for side in pairs)
    replicated = f" need_replication={{{', '.join(whole)}}}" if whole else ""
    all_sizes = ", ".join(f"{name}={size}" for name, size in sizes.items())
    return f"#sdy.op_sharding_rule<({taken})->({given}) {{{all_sizes}}}{replicated}, custom>"


def result_specs(found: BatchDims, operands: Sequence[Sequence[Any] | None], results: Sequence[Shape]) -> list[Any]:
    """How the results are split among the axes of an explicit mesh: along the batch, as operands are.

    Args:
        found: where the operands and results have the batch.
        operands: for each dimension of an operand the axes that split it, ``None`` for none; or ``None`` for an operand
            that has no shape.
        results: the shape of each result.
    """
    batch: list[Any] = [None] * found.count
    for spec, place in zip(operands, found.operands, strict=True):
        if spec is None or place is None:
            continue
        for index, axes in enumerate(spec[place : place + found.count]):
            if batch[index] is None and not _shared(axes, batch):
                batch[index] = axes
    return [
        (None,) * len(shape) if place is None
        else (*(None,) * place, *batch, *(None,) * (len(shape) - place - found.count))
        for shape, place in zip(results, found.results, strict=True)
    ]  # fmt: skip


def _batch_of(operands: Sequence[tuple[Shape, int | None]], count: int) -> Shape:
    return next(shape[place : place + count] for shape, place in operands if place is not None)


def _shared(axes: Any, specs: Sequence[Any]) -> bool:
    """Whether some axis splits another dimension already."""
    return bool(_names(axes) & {name for spec in specs for name in _names(spec)})


def _names(axes: Any) -> set[Any]:
    return set() if axes is None else set(axes) if isinstance(axes, tuple) else {axes}
