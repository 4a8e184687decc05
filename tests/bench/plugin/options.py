"""The options of the bench, and what the process needs for them."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Sequence

SETS = ("programs", "everyday", "algorithms")
PLAIN, HUGE_PAGES, LOAD = "plain", "huge pages", "load"
CONDITIONS = (PLAIN, HUGE_PAGES, LOAD)
TUNABLE = "glibc.malloc.hugetlb=1"


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """What was asked for; `condition` and `sets` follow from the options."""
    parser = argparse.ArgumentParser(prog="cargo xtask bench plugin")
    parser.add_argument("gallery", type=pathlib.Path)
    parser.add_argument("bench_ops", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--set", choices=SETS)
    parser.add_argument("--quick", action="store_true")
    # Read by xtask, which builds the plugin for it, and by `bench.machine`.
    parser.add_argument("--avx2", action="store_true")
    condition = parser.add_mutually_exclusive_group()
    for name in (HUGE_PAGES, LOAD):
        flag = f"--{name.replace(' ', '-')}"
        condition.add_argument(flag, dest="condition", action="store_const", const=name, default=PLAIN)
    options = parser.parse_intermixed_args(arguments)
    options.sets = (options.set,) if options.set else SETS
    return options


def is_record(options: argparse.Namespace) -> bool:
    """Whether the page takes the figures: a part of a set, or a quick look, is for looking at."""
    return not options.names and not options.quick


def with_huge_pages() -> None:
    """Starts this process anew with glibc's tunable, which glibc reads before anything else runs."""
    tunables = os.environ.get("GLIBC_TUNABLES", "")
    if TUNABLE not in tunables.split(":"):
        tunables = f"{tunables}:{TUNABLE}".lstrip(":")
        os.execve(sys.executable, sys.orig_argv, {**os.environ, "GLIBC_TUNABLES": tunables})
