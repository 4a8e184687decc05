"""``python -m downstream [--library NAME]... [--file PART] [--markdown FILE]``: runs the libraries' tests."""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile

from downstream import report
from downstream.libraries import LIBRARIES
from downstream.runner import Comparison, compare, files, source


def main() -> int:
    """Runs what the command line asks for; the exit status is non-zero if the plugin misses a test."""
    parser = argparse.ArgumentParser(prog="downstream", description=__doc__)
    parser.add_argument("--library", action="append", default=[], help="only this library; may be repeated")
    parser.add_argument("--file", default="", help="only files whose path contains this")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds for a file of tests")
    parser.add_argument("--sources", type=pathlib.Path, help="where the source distributions are kept")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table to this file")
    options = parser.parse_args()
    folder = options.sources or pathlib.Path(tempfile.mkdtemp(prefix="downstream"))
    folder.mkdir(parents=True, exist_ok=True)

    table = {}
    for library in LIBRARIES:
        if options.library and library.name not in options.library:
            continue
        root, total = source(library, folder), Comparison()
        for file in files(library, root):
            if options.file in file:
                found = compare(root, file, options.timeout)
                total.add(found)
                print(f"{library.name} {file}: {found.passed} passed, {len(found.missed)} missed", flush=True)
                for test, text in found.missed.items():
                    print(f"MISS {test}: {report.line(text)}", flush=True)
        table[library] = total
    if options.markdown:
        options.markdown.write_text(report.markdown(table))
    missed = sum(len(total.missed) for total in table.values())
    print(f"{sum(total.passed for total in table.values())} passed, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
