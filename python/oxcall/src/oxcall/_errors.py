"""Exceptions of the package, and the wording that they share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class OxcallError(Exception):
    """Base class of the errors that this package raises."""


class LoadError(OxcallError, RuntimeError):
    """A library could not be loaded or registered."""


class CallError(OxcallError, ValueError):
    """An operation was called with operands, attributes or options that it does not take."""


class BuildError(OxcallError, RuntimeError):
    """A project could not be made, or its library or wheel not be built."""


class OxcallWarning(UserWarning):
    """Something works, but perhaps not as the user expects: a reloaded library, for example."""


def nearest(name: str, candidates: Iterable[str]) -> str:
    """``" (did you mean `x`?)"`` for the nearest candidate, or an empty string."""
    close = difflib.get_close_matches(name, list(candidates), n=1, cutoff=0.6)
    return f" (did you mean `{close[0]}`?)" if close else ""


def listing(names: Iterable[str], *, none: str = "none", last: str = "and") -> str:
    """Names in backquotes, joined as in a sentence."""
    quoted = [f"`{name}`" for name in names]
    if not quoted:
        return none
    if len(quoted) == 1:
        return quoted[0]
    return ", ".join(quoted[:-1]) + f" {last} {quoted[-1]}"


def plural(noun: str, names: Sequence[str]) -> str:
    """A noun in the number of the names that follow it: ``"attribute"``, ``"attributes"``."""
    return noun if len(names) == 1 else f"{noun}s"


def count(number: int, noun: str) -> str:
    """``"1 argument"``, ``"2 arguments"``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
