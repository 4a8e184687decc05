"""Times pointwise functions and functions of rows: ``python -m bench.pointwise OURS ABOUT OUTPUT [TORCH]``.

`OURS` is the library of ops, `ABOUT` a JSON object to store along, `OUTPUT` a path without suffix, and `TORCH` what
`bench.pointwise.on_torch` printed; without it only the functions of rows are measured again.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import jax

import oxcall
from bench import machine
from bench.pointwise import on_jax, report


def main() -> None:
    """Prints and stores one record for each function, dtype and size or shape."""
    library, about, output, *torch = sys.argv[1:]
    ops = oxcall.load(library)
    details = {**json.loads(about), "jax": jax.__version__}
    stem = pathlib.Path(output)
    stored = report.stored(stem)
    if torch:
        measured: dict[str, Any] = {"about": details, "torch": json.loads(torch[0])}
        measured["jax"] = [_printed(record) for record in on_jax.records(ops)]
    else:
        before = stored.get(machine.vectors(), {})
        kept = {key: before[key] for key in ("about", "torch", "jax") if key in before}
        measured = {"about": details} | kept | {"about of rows": details}
    measured["rows"] = [_printed(record) for record in on_jax.records_of_rows(ops)]
    report.write(stem, stored | {machine.vectors(): measured})


def _printed(record: dict[str, Any]) -> dict[str, Any]:
    ratios = [
        f"{record['op on xla']['xla']:.2f} on XLA",
        f"{record['op on plugin']['xla']:.2f} and {record['op on plugin']['plugin']:.2f} on the plugin",
    ]
    size = str(record.get("size") or record["shape"])
    print(f"{record['name']:40} {record['dtype']:9} {size:>12} {', '.join(ratios)}", flush=True)
    return record


if __name__ == "__main__":
    main()
