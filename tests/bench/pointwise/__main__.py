"""Times pointwise functions: ``python -m bench.pointwise OURS TORCH ABOUT OUTPUT``.

`OURS` is the library of ops, `TORCH` what `bench.pointwise.on_torch` printed, `ABOUT` a JSON object to store along, and
`OUTPUT` a path without suffix.
"""

from __future__ import annotations

import json
import pathlib
import sys

import jax

import oxcall
from bench.pointwise import on_jax, report


def main() -> None:
    """Prints and stores one record for each function, dtype and size."""
    library, torch, about, output = sys.argv[1:]
    records = []
    for record in on_jax.records(oxcall.load(library)):
        records.append(record)
        ratios = [
            f"{record['op on xla']['xla']:.2f} on XLA",
            f"{record['op on plugin']['xla']:.2f} and {record['op on plugin']['plugin']:.2f} on the plugin",
        ]
        print(f"{record['name']:40} {record['dtype']:9} {record['size']:9} {', '.join(ratios)}", flush=True)
    details = {**json.loads(about), "jax": jax.__version__}
    report.write(pathlib.Path(output), {"about": details, "jax": records, "torch": json.loads(torch)})


if __name__ == "__main__":
    main()
