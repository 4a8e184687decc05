"""Runs the conformance cases: ``python -m conformance [--family NAME]... [--every N] [--markdown FILE]``."""

from __future__ import annotations

import argparse
import pathlib
import sys
import time

import jax

LEAST = 5  # cases in each cell that applies


def main() -> int:
    """Runs what the command line asks for; the exit status is non-zero for any failure or thin cell."""
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    parser.add_argument("--family", action="append", default=[], help="only this family; may be repeated")
    parser.add_argument("--every", type=int, default=1, help="every N-th case only")
    parser.add_argument("--platform", default="oxcall", help="the platform that is compared with the CPU")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table to this file")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)

    from conformance import families, runner
    from conformance.cases import all_cases

    cases = list(all_cases(options.family or list(families.NAMES), options.seed))[:: options.every]
    table, start = runner.Table(), time.monotonic()
    for number, case in enumerate(cases, 1):
        outcome = runner.run(case, options.platform)
        table.add(outcome)
        if outcome.message:
            print(f"\r\033[KFAIL {case}: {outcome.message}", flush=True)
        if number % 20 == 0 or number == len(cases):
            left = (time.monotonic() - start) / number * (len(cases) - number)
            print(f"\r\033[K{number}/{len(cases)} cases, {left:.0f} s left", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return report(table, options)


def report(table, options) -> int:
    """Prints cases per op and dtype, and what is missing."""
    rows = list(table.rows())
    for op, dtype, good, count, ulp in rows:
        print(f"{op:28} {dtype:20} {good:4} of {count:4}   {ulp:.3g} ULP")
    if options.markdown:
        lines = ["| op | dtype | cases | worst difference (ULP) |", "|---|---|---|---|"]
        lines += [f"| {op} | {dtype} | {good} of {count} | {ulp:.3g} |" for op, dtype, good, count, ulp in rows]
        options.markdown.write_text("\n".join(lines) + "\n")
    failures = sum(1 for _ in table.failures)
    thin = table.thin(LEAST) if options.every == 1 else []
    for op, dtype in thin:
        print(f"THIN {op}[{dtype}]: fewer than {LEAST} cases")
    passed = sum(row[2] for row in rows)
    print(f"{passed} passed, {failures} failed, {len(thin)} cells with fewer than {LEAST} cases")
    return 1 if failures or thin else 0


if __name__ == "__main__":
    sys.exit(main())
