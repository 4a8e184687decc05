"""The dimensions `..b` that an op declares to be independent (`batch = b`), in the arrays of a call."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from oxcall._manifest import OpInfo

Shape = Sequence[Any]


@dataclasses.dataclass(frozen=True)
class BatchDims:
    """Where the dimensions of the batch are.

    Attributes:
        operands: for each operand, the place of the first one; ``None`` for an operand without them.
        results: for each result.
        count: how many there are.
    """

    operands: tuple[int | None, ...]
    results: tuple[int | None, ...]
    count: int


def batch_dims(
    op: OpInfo, operands: Mapping[str, Sequence[Shape]], results: Sequence[tuple[str, Shape]]
) -> BatchDims | None:
    """The dimensions of a call.

    Args:
        op: the op.
        operands: the shapes of each operand parameter; without any, the batch is found by the results.
        results: for each result, the name of its parameter and its shape.

    Returns:
        The dimensions; ``None`` where the op declares none, or where they are not found by counting.
    """
    if op.batch is None:
        return None
    token = f"..{op.batch}"
    by_name = {param.name: param for param in op.results}
    given = [(op.tokens_of(param), shape) for param in op.operands for shape in operands.get(param.name, ())]
    made = [(op.tokens_of(by_name[name]), shape) for name, shape in results]
    # Only a result may have another list beside the batch.
    counts = [
        len(shape) - (len(tokens) - 1) for tokens, shape in (*given, *made)
        if [other for other in tokens if other.startswith("..")] == [token]
    ]  # fmt: skip
    if not counts:
        return None
    try:
        places = [[_place(tokens, token, len(shape), counts[0]) for tokens, shape in side] for side in (given, made)]
    except _Unknown:
        return None
    return BatchDims(tuple(places[0]), tuple(places[1]), counts[0])


class _Unknown(Exception):
    """Lists stand on both sides of the batch."""


def _place(tokens: Sequence[str], token: str, rank: int, count: int) -> int | None:
    if token not in tokens:
        return None
    index = tokens.index(token)
    before, after = tokens[:index], tokens[index + 1 :]
    if not any(other.startswith("..") for other in before):
        return index
    if not any(other.startswith("..") for other in after):
        return rank - len(after) - count
    raise _Unknown
