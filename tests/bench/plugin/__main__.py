"""Times every program on both platforms: ``python -m bench.plugin GALLERY BENCH_OPS OUTPUT [NAME]...``."""

from __future__ import annotations

import os
import pathlib
import sys
import time
from typing import Any

import jax

import oxcall
from bench.plugin import calls, compiling, report, running
from bench.plugin.programs import Program, programs


def main() -> int:
    """Prints and stores one record for each program."""
    gallery, bench_ops, output, *names = sys.argv[1:]
    every = list(programs(oxcall.load(gallery)))
    chosen = [program for program in every if not names or any(name in program.name for name in names)]
    records = []
    print(f"{'program':36} {'XLA:CPU':>10} {'oxcall':>10} {'ratio':>7} {'backend':>9} {'.compile()':>10}")
    for program in chosen:
        try:
            record = measure(program)
        except Exception as error:  # a program that fails must not hide the others
            print(f"{program.name:36} failed: {str(error).splitlines()[0][:120]}")
            records.append({"name": program.name, "error": str(error).splitlines()[0]})
            continue
        records.append(record)
        print(
            f"{program.name:36} {record['cpu'] * 1e6:9.1f}u {record['oxcall'] * 1e6:9.1f}u {record['ratio']:7.2f} "
            f"{record['backend_ratio']:8.1f}x {record['compile_ratio']:9.1f}x",
            flush=True,
        )
    print("geometric means:", report.summary(records))
    call_ns = {} if names and "call" not in names else calls.nanoseconds(oxcall.load(bench_ops))
    if call_ns:
        print(f"one custom call: {call_ns['cpu']:.1f} ns on XLA:CPU, {call_ns['oxcall']:.1f} ns on the plugin")
    about = {"jax": jax.__version__, "cores": os.cpu_count(), "date": time.strftime("%Y-%m-%d", time.gmtime())}
    report.write(pathlib.Path(output), {"about": about, "programs": records, "call_ns": call_ns})
    return 0


def measure(program: Program) -> dict[str, Any]:
    """All times of one program, in seconds, and the ratios."""
    run = running.medians(program)
    compiled = compiling.medians(program)
    record: dict[str, Any] = {"name": program.name, **run, "ratio": run["cpu"] / run["oxcall"], "floor": program.floor}
    for name, part in (("backend", "backend"), ("compile", "user")):
        for platform in running.PLATFORMS:
            record[f"{name}_{platform}"] = getattr(compiled[platform], part)
        record[f"{name}_ratio"] = record[f"{name}_cpu"] / record[f"{name}_oxcall"]
    return record


if __name__ == "__main__":
    sys.exit(main())
