"""Rust source text of attribute defaults, read as Python values where it is a literal."""

from __future__ import annotations

import ast
import re
from typing import Any

_NUMBER = re.compile(
    r"(?P<sign>-?)\s*(?P<number>0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]+)?)"
    r"_?(?P<suffix>[iu](?:8|16|32|64|size)|f(?:16|32|64))?"
)
_STRING = re.compile(r'"(?:[^"\\]|\\[nrt0"\'\\])*"(?:\s*\.\s*(?:into|to_owned|to_string)\(\))?')
_ARRAY = re.compile(r"(?:&\s*|vec!\s*)?\[(?P<items>[^\[\]\"']*)\]", re.DOTALL)


class SourceText:
    """A default that is not a literal: the Rust expression, shown as it is written. The library evaluates it."""

    __slots__ = ("text",)

    def __init__(self, text: str):
        self.text = text

    def __repr__(self) -> str:
        return self.text


def parse_default(text: str) -> Any:
    """The value of a literal (number, bool, string, array of numbers or bools), or the text as :class:`SourceText`."""
    text = text.strip()
    if array := _ARRAY.fullmatch(text):
        items = [parse_default(item) for item in array["items"].split(",") if item.strip()]
        return SourceText(text) if any(isinstance(item, SourceText) for item in items) else items
    value = _scalar(text)
    return SourceText(text) if value is None else value


def _scalar(text: str) -> bool | int | float | str | None:
    if text in ("true", "false"):
        return text == "true"
    if string := _STRING.fullmatch(text):
        # The escapes that the pattern admits mean the same in Python.
        return ast.literal_eval(string[0][: string[0].rindex('"') + 1])
    if number := _NUMBER.fullmatch(text):
        digits = number["number"].replace("_", "")
        is_float = (number["suffix"] or "").startswith("f") or (digits[:2] != "0x" and re.search(r"[.eE]", digits))
        value = float(digits) if is_float else int(digits, 0 if digits[:2] in ("0x", "0o", "0b") else 10)
        return -value if number["sign"] else value
    return None
