"""How many of very many cases run: a few in each run of the tests, more in `cargo xtask test thorough`."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")
_IS_THOROUGH = os.environ.get("OXCALL_TEST_EXTENT") == "thorough"


def pick(usual: T, thorough: T) -> T:
    """The value for this run of the tests."""
    return thorough if _IS_THOROUGH else usual
