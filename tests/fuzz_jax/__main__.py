"""Random programs on the plugin and on stock JAX: ``python -m fuzz_jax [PROGRAMS] [--seed S] [--x64 | --no-x64]``."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections import Counter

from fuzz_jax import DEVICES

os.environ["JAX_PLATFORMS"] = "cpu,oxcall"
os.environ["JAX_NUM_CPU_DEVICES"] = os.environ["OXCALL_NUM_DEVICES"] = str(DEVICES)
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# What costs time and changes no result: keys of a cache that is not used, and lines of Python in modules.
os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "0"
os.environ["JAX_TRACEBACK_IN_LOCATIONS_LIMIT"] = "0"

from fuzz_jax import case, session, store
from fuzz_jax.render import script


def main() -> int:
    """Runs what the command line asks for; the exit status is 1 for any finding."""
    parser = argparse.ArgumentParser(prog="fuzz_jax", description=__doc__)
    parser.add_argument("programs", nargs="?", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="of the first program")
    parser.add_argument("--x64", action=argparse.BooleanOptionalAction, help="of every other program by default")
    parser.add_argument("--devices", type=int, choices=range(1, DEVICES + 1), help="of some programs by default")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 8), help="processes")
    parser.add_argument("--platform", default="oxcall", help="the platform that is compared with the CPU")
    parser.add_argument("--findings", type=pathlib.Path, default=pathlib.Path("fuzz_jax_findings"), help="their folder")
    parser.add_argument("--no-shrink", action="store_true", help="keep findings as they are")
    parser.add_argument("--replay", type=pathlib.Path, help="run the program of this file, or those of this folder")
    parser.add_argument("--show", action="store_true", help="print the programs, and run none")
    options = parser.parse_args()
    if options.replay and options.replay.is_file():
        outcome = case.check(store.load(options.replay), options.platform)
        print(f"{outcome.kind} {outcome.message}")
        return int(outcome.is_finding)
    folder, shrinks = options.findings.resolve(), not options.no_shrink
    job = session.Programs(options.platform, options.x64, options.devices, folder, shrinks)
    numbers = range(options.seed, options.seed + options.programs)
    if options.replay:
        files = tuple(sorted(options.replay.resolve().glob("*.json")))
        job = session.Kept(options.platform, None, None, folder, False, files)
        numbers = range(len(files))
    if options.show:
        for number in numbers:
            print(script(job.program(number), f"Program {number}."))
        return 0
    return _report(job, numbers, options.jobs)


def _report(job: session.Programs, numbers: range, jobs: int) -> int:
    counts: Counter[str] = Counter()
    for done in session.run(job, numbers, jobs):
        counts[done.outcome.kind] += 1
        if done.outcome.is_finding:
            print(f"{done.outcome.kind.upper()} {done.number}: {done.outcome.message}\n  {done.file}", flush=True)
        elif done.outcome.kind == "refused":
            print(f"refused {done.number}: {done.outcome.message[:160]}", flush=True)
        if sum(counts.values()) % 100 == 0:
            print(session.summary(counts), flush=True)
    print(session.summary(counts))
    return int(any(counts[kind] for kind in ("wrong", "error", "ended", "late")))


if __name__ == "__main__":
    sys.exit(main())
