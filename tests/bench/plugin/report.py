"""docs/bench/plugin.{json,md} and the plots beside them."""

from __future__ import annotations

import pathlib
from typing import Any

from bench import page
from bench.plugin import markdown, options, plots, results


def write(stem: pathlib.Path, stored: dict[str, Any]) -> None:
    """Writes the files, whose names begin with the stem's."""
    page.write(stem, stored, markdown.text(stem.name, stored))
    for name in options.SETS:
        panels = []
        for vectors, records in markdown.records(stored, name):
            panels.append(plots.Panel(f"running, {vectors}", "ratio", 1, records))
            if name == markdown.PAGE_SET and results.ran(records, "backend_ratio"):
                title = f"the backend's compile call, {vectors}"
                panels.append(plots.Panel(title, "backend_ratio", markdown.COMPILE_TARGET, records))
        if panels:
            plots.write(stem.with_name(f"{stem.name}-{name}.svg"), panels)
