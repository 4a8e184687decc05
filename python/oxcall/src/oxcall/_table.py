"""Tables of ops for terminals: columns where they fit, else an op to a paragraph with a wrapped signature."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from oxcall._manifest import OpInfo
from oxcall._signature import one_line

_INDENT = "    "
_HEAD = ("name", "platform", "signature", "source")


def ops_table(ops: Sequence[OpInfo], width: int | None) -> str:
    """Name, platform, signature and source of ops.

    Args:
        ops: the ops.
        width: columns of the terminal; `None` keeps each op on one line, whatever its length.
    """
    rows = [_HEAD, *((op.name, op.platform, one_line(op), f"{op.file}:{op.line}") for op in ops)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    if width is None or max(map(len, lines)) <= width:
        return "\n".join(lines)
    paragraphs = (
        "\n".join([*wrapped(f"{name}  {platform}  {source}", width), *wrapped(text, width, _INDENT)])
        for name, platform, text, source in rows[1:]
    )
    return "\n\n".join(paragraphs)


def wrapped(text: str, width: int | None, indent: str = "") -> list[str]:
    """Lines of a signature or schema: broken between parameters, and in a parameter only where it is too long itself.

    Lines after the first are indented further.
    """
    if width is None or len(indent + text) <= width:
        return [indent + text]
    inner = indent + _INDENT
    lines = [indent]
    for piece in _pieces(text):
        if len((lines[-1] + piece).rstrip()) <= width:
            lines[-1] += piece
        elif len((inner + piece).rstrip()) <= width:
            lines.append(inner + piece)
        else:
            start = lines.pop()
            lines += textwrap.wrap(
                piece,
                max(width, len(inner) + 1),
                initial_indent=start,
                subsequent_indent=inner,
                break_on_hyphens=False,
                break_long_words=False,
            )
            lines[-1] += piece[len(piece.rstrip()) :]
    return [line.rstrip() for line in lines if line.strip()]


def _pieces(text: str) -> list[str]:
    """A signature in pieces that stay whole: parameters, each with the comma and space behind it, and results."""
    pieces, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        ends = character == " " and (
            (depth <= 1 and text[place - 1] == ",") or (depth == 0 and text[place + 1 : place + 3] == "->")
        )
        if ends:
            pieces.append(text[start : place + 1])
            start = place + 1
    return [*pieces, text[start:]]
