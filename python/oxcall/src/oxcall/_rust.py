"""Rust source text of attribute defaults, read as Python values where it is a literal."""

from __future__ import annotations

import ast
import math
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


class Unknown:
    """A default of which Python knows only that there is one."""

    def __repr__(self) -> str:
        return "..."


UNKNOWN = Unknown()


def variant(text: str) -> str | None:
    """The name, in snake case as attributes have it, of the enum's variant that a path ends in: `Mode::VeryFast`."""
    path = re.fullmatch(r"(?:\w+\s*::\s*)*(?:r#)?([A-Z]\w*)", text.strip())
    return path and re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", path[1]).lower()


def constant(text: str) -> int | float | None:
    """The value of a constant of Rust's numbers: `f32::EPSILON`, `std::f64::consts::PI`."""
    path = re.fullmatch(
        r"(?:(?:std|core)::)?(?P<kind>[iuf])(?P<bits>8|16|32|64)::(?P<name>[A-Z_:a-z0-9]+)", _close(text)
    )
    if path is None:
        return None
    bits = int(path["bits"])
    if path["kind"] == "f":
        return _FLOATS.get(bits, {}).get(path["name"])
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if path["kind"] == "i" else (0, (1 << bits) - 1)
    return {"MIN": low, "MAX": high}.get(path["name"])


def _close(text: str) -> str:
    return re.sub(r"\s*::\s*", "::", text.strip())


def _floats(digits: int, exponent: int) -> dict[str, float]:
    """The constants of a type by the digits of its significand and its greatest exponent."""
    greatest = (2.0 - 2.0 ** (1 - digits)) * 2.0 ** (exponent - 1)
    return {
        "EPSILON": 2.0 ** (1 - digits),
        "MIN_POSITIVE": 2.0 ** (2 - exponent),
        "MAX": greatest,
        "MIN": -greatest,
        "INFINITY": math.inf,
        "NEG_INFINITY": -math.inf,
        "NAN": math.nan,
        "consts::PI": math.pi,
        "consts::TAU": math.tau,
        "consts::E": math.e,
    }


_FLOATS = {32: _floats(24, 128), 64: _floats(53, 1024)}


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
