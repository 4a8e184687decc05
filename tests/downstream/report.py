"""The table of what passed."""

from __future__ import annotations

import datetime
import importlib.metadata
import textwrap

from downstream.libraries import Library
from downstream.runner import Comparison

HEAD = """# Libraries written in JAX, on the plugin

Written by `cargo xtask downstream` on {date}, with jax {jax}. The tests of these libraries come with their source
distributions. Each file of tests runs in a process of its own with `OXCALL_PLATFORM_NAME=cpu`, which puts the plugin in
the place of JAX's CPU; whatever does not pass runs on stock JAX, too. A test counts as missed if it passes there alone:
others need a package, a file or a network that is not there.

| library | passed | missed |
|---|--:|--:|
"""


def item(test: str, text: str, length: int = 300) -> str:
    """A test and the beginning of its message, as an item of a list."""
    message = " ".join(text.split())[:length]
    return textwrap.fill(f"- `{test}`: {message}", 120, subsequent_indent="  ", break_on_hyphens=False) + "\n"


def markdown(table: dict[Library, Comparison]) -> str:
    """The page."""
    head = HEAD.format(date=datetime.date.today().isoformat(), jax=importlib.metadata.version("jax"))
    rows = [
        f"| {library.name} {library.version} | {found.passed} | {len(found.missed)} |\n"
        for library, found in table.items()
    ]
    missed = [item(test, text) for found in table.values() for test, text in found.missed.items()]
    return head + "".join(rows) + ("\nMissed:\n\n" + "".join(missed) if missed else "")
