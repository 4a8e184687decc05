"""Runs the conformance cases: ``python -m conformance [--family NAME]... [--every N] [--markdown FILE]``."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys

# XLA warns of programs with annotations of an older kind, which are meant here.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import jax


def main() -> int:
    """Runs what the command line asks for; the exit status is non-zero for any failure or thin cell."""
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    parser.add_argument(
        "--family", action="append", default=[], help="only this family; may be repeated; cells are not counted then"
    )
    parser.add_argument("--every", type=int, default=1, help="every N-th case only; cells are not counted then")
    parser.add_argument("--case", default="", help="only cases whose name contains this; cells are not counted then")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 8), help="processes")
    parser.add_argument("--platform", default="oxcall", help="the platform that is compared with the CPU")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table to this file")
    parser.add_argument("--verbose", action="store_true", help="show the cases that have no reference, too")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)

    from conformance import families, progress, report, runner, workers
    from conformance.cases import all_cases

    names = options.family or list(families.NAMES)
    cases = list(all_cases(names, options.seed))
    chosen = [number for number in range(0, len(cases), options.every) if options.case in str(cases[number])]
    complete = len(chosen) == len(cases) and not options.family
    table, bar = report.Table(), progress.Bar(len(chosen))
    job = runner.Cases(names, options.seed, options.platform)
    for outcome in workers.run(job, chosen, options.jobs):
        table.add(outcome)
        if outcome.message and (outcome.applies or options.verbose):
            bar.line(f"{'FAIL' if outcome.applies else 'NONE'} {outcome}: {outcome.message}")
        bar.step()
    bar.end()
    report.show(table)
    if options.markdown:
        report.write(table, options.markdown)
    failures, thin = table.failures, table.thin() if complete else []
    for op, dtype, count in thin:
        print(f"THIN {op}[{dtype}]: {count} cases instead of at least {report.LEAST}")
    passed = table.count - len(failures)
    print(f"{passed} passed, {len(failures)} failed, {len(thin)} cells with fewer than {report.LEAST} cases")
    return 1 if failures or thin else 0


if __name__ == "__main__":
    sys.exit(main())
