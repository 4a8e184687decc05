"""A page of docs/bench, with what was measured beside it."""

from __future__ import annotations

import json
import pathlib
from typing import Any


def write(stem: pathlib.Path, measured: dict[str, Any], markdown: str) -> None:
    """Writes what was measured as JSON, and the page: two files that differ in their suffix."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    stem.with_suffix(".json").write_text(json.dumps(measured, indent=1) + "\n")
    stem.with_suffix(".md").write_text(markdown)
