"""Measures what calls leave behind: ``python -m soak [KIND]... [--calls N] [--markdown FILE]``."""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import pathlib
import platform
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from soak.calls import KINDS
from soak.measure import Slope, measure

GROWTH = 2 * 2**20  # bytes of a process over all calls: heaps move by some hundred KiB, and 100,000 objects are more

HEAD = """# Memory left by calls

Written by `cargo xtask soak`, with jax {jax} on {machine}.

Each kind of call runs in a process of its own; after a quarter of the calls, which fill caches and pools, the memory of
the process is read 40 times while the calls go on. The slope is the median of the slopes of all pairs of readings, in
bytes a call. The command fails if the slope of the plugin's process over all calls is more than {growth} MiB, or if the
device's `bytes_in_use` grows at all. The same calls on JAX's CPU are for comparison; it does not count its buffers.

| call | calls | process, bytes a call | `bytes_in_use`, bytes a call | JAX's CPU: process | date |
|---|--:|--:|--:|--:|---|
"""


def row(name: str, ours: Slope, stock: Slope | None) -> str:
    """A line of the table."""
    other = "-" if stock is None else f"{stock.resident:.2f}"
    date = datetime.date.today().isoformat()
    return f"| {name} | {ours.calls:,} | {ours.resident:.2f} | {ours.in_use:.2f} | {other} | {date} |\n"


def update(file: pathlib.Path, rows: dict[str, str]) -> None:
    """Writes rows to the table of a file, beside those of other kinds that it has."""
    old = file.read_text().splitlines(keepends=True) if file.exists() else []
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in old if line.startswith("| ")} | rows
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    head = HEAD.format(jax=importlib.metadata.version("jax"), machine=machine, growth=GROWTH >> 20)
    file.write_text(head + "".join(rows[name] for name in KINDS if name in rows))


def main() -> int:
    """Runs what the command line asks for; the exit status is 1 if a kind of call leaves something."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; all by default")
    parser.add_argument("--calls", type=int, default=100_000, help="of each kind; slow ones are fewer")
    parser.add_argument("--no-stock", action="store_true", help="without JAX's CPU beside it")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the rows to the table of this file")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    rows, leaks = {}, []
    for name in options.kinds or KINDS:
        ours = measure(name, "oxcall", options.calls)
        stock = None if options.no_stock else measure(name, "cpu", options.calls)
        rows[name] = row(name, ours, stock)
        print(rows[name], end="", flush=True)
        if ours.resident * ours.calls > GROWTH or (ours.in_use or 0) > 0:
            leaks.append(name)
        if options.markdown:
            update(options.markdown, rows)
    for name in leaks:
        print(f"LEAK {name}")
    return int(bool(leaks))


if __name__ == "__main__":
    sys.exit(main())
