"""How many of very many cases run: a few in each run of the tests, more in `cargo xtask test thorough`."""

from __future__ import annotations

import os

THOROUGH = os.environ.get("OXCALL_TEST_EXTENT") == "thorough"


def one_in(count: int, thorough: int) -> int:
    """Of so many cases, one runs: in each run of the tests, and in thorough ones."""
    return thorough if THOROUGH else count
