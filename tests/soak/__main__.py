"""Measures what calls leave behind: ``python -m soak [KIND]... [--calls N] [--markdown FILE]``."""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from soak.calls import KINDS
from soak.measure import Slope, measure

GROWTH = 2 * 2**20  # bytes of a process over all calls: heaps move by some hundred KiB, and 100,000 objects are more

HEAD = """# What calls leave behind

Written by `cargo xtask soak` on {date}, with jax {jax}. Each kind of call runs in a process of its own; after a quarter
of the calls, which fill caches and pools, the memory of the process is read 40 times while the calls go on. The slope
is the median of the slopes of all pairs of readings, in bytes a call. The command fails if the slope of the plugin's
process over all calls is more than {growth} MiB, or if the device's `bytes_in_use` grows at all. The same calls on
JAX's CPU are for comparison; it does not count its buffers.

| call | calls | process, bytes a call | `bytes_in_use`, bytes a call | JAX's CPU: process |
|---|--:|--:|--:|--:|
"""


def row(name: str, ours: Slope, stock: Slope | None) -> str:
    """A line of the table."""
    other = "-" if stock is None else f"{stock.resident:.2f}"
    return f"| {name} | {ours.calls:,} | {ours.resident:.2f} | {ours.in_use:.2f} | {other} |\n"


def main() -> int:
    """Runs what the command line asks for; the exit status is 1 if a kind of call leaves something."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; all by default")
    parser.add_argument("--calls", type=int, default=100_000, help="of each kind; slow ones are fewer")
    parser.add_argument("--no-stock", action="store_true", help="without JAX's CPU beside it")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table to this file")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    text, leaks = "", []
    for name in options.kinds or KINDS:
        ours = measure(name, "oxcall", options.calls)
        stock = None if options.no_stock else measure(name, "cpu", options.calls)
        text += row(name, ours, stock)
        print(row(name, ours, stock), end="", flush=True)
        if ours.resident * ours.calls > GROWTH or (ours.in_use or 0) > 0:
            leaks.append(name)
    if options.markdown:
        date, jax = datetime.date.today().isoformat(), importlib.metadata.version("jax")
        options.markdown.write_text(HEAD.format(date=date, jax=jax, growth=GROWTH >> 20) + text)
    for name in leaks:
        print(f"LEAK {name}")
    return int(bool(leaks))


if __name__ == "__main__":
    sys.exit(main())
