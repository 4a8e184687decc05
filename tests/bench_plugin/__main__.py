"""Times every program on both platforms: ``python -m bench_plugin LIBRARY OUTPUT [NAME]...``."""

from __future__ import annotations

import json
import math
import os
import pathlib
import statistics
import sys
import time
from typing import Any

import jax

import oxcall
from bench_plugin.programs import Program, programs

PLATFORMS = ("cpu", "oxcall")
BUDGET, LEAST, MOST = 1.5, 7, 300  # seconds and rounds of each program


def main() -> int:
    """Prints and stores one record for each program."""
    library, output, *names = sys.argv[1:]
    chosen = [p for p in programs(oxcall.load(library)) if not names or any(name in p.name for name in names)]
    records = []
    print(f"{'program':36} {'XLA:CPU':>10} {'oxcall':>10} {'ratio':>7} {'compile':>9}")
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
            f"{record['compile_ratio']:8.1f}x",
            flush=True,
        )
    mean = compiled = float("nan")
    good = [record for record in records if "ratio" in record]
    if good:
        mean = math.exp(statistics.fmean(math.log(record["ratio"]) for record in good))
        compiled = math.exp(statistics.fmean(math.log(record["compile_ratio"]) for record in good))
        print(f"geometric means: {mean:.2f} of running, {compiled:.1f} of compiling ({len(good)} of {len(chosen)})")
    about = {"jax": jax.__version__, "cores": os.cpu_count(), "date": time.strftime("%Y-%m-%d", time.gmtime())}
    pathlib.Path(f"{output}.json").write_text(json.dumps({"about": about, "programs": records}, indent=1) + "\n")
    pathlib.Path(f"{output}.md").write_text(report(about, records, mean, compiled))
    return 0


def report(about: dict[str, Any], records: list[dict[str, Any]], mean: float, compiled: float) -> str:
    """The records as a page."""
    lines = [
        "# Programs on the plugin",
        "",
        f"Written by `cargo xtask bench plugin` on {about['date']}: JAX {about['jax']}, {about['cores']} cores.",
        "The same jitted program on XLA:CPU and on the plugin, in turns in one process; medians of one call, dispatch",
        "included. Ratios are XLA:CPU's time by ours: above 1, the plugin is faster. Compiling is `.compile()`.",
        "",
        f"Geometric means: {mean:.2f} of running, {compiled:.1f} of compiling.",
        "",
        "| program | XLA:CPU (us) | plugin (us) | ratio | compiling |",
        "|---|---|---|---|---|",
    ]
    for record in records:
        if "error" in record:
            lines.append(f"| {record['name']} | | | fails: {record['error'][:80]} | |")
            continue
        times = f"{record['cpu'] * 1e6:.1f} | {record['oxcall'] * 1e6:.1f}"
        lines.append(f"| {record['name']} | {times} | {record['ratio']:.2f} | {record['compile_ratio']:.1f} |")
    return "\n".join(lines) + "\n"


def measure(program: Program) -> dict[str, Any]:
    """Median times of one call, including its dispatch and the wait for its results, and of `.compile()`."""
    runs, compiling = {}, {}
    for platform in PLATFORMS:
        device = jax.devices(platform)[0]
        inputs = [jax.device_put(value, device) for value in program.inputs]
        with jax.default_device(device):
            lowered = jax.jit(program.function).lower(*inputs)
            start = time.perf_counter()
            compiled = lowered.compile()
            compiling[platform] = time.perf_counter() - start

        def run(compiled: Any = compiled, inputs: Any = inputs) -> Any:
            return jax.block_until_ready(compiled(*inputs))

        run()
        runs[platform] = run
    times: dict[str, list[float]] = {platform: [] for platform in PLATFORMS}
    end = time.perf_counter() + BUDGET
    while len(times["cpu"]) < LEAST or (time.perf_counter() < end and len(times["cpu"]) < MOST):
        for platform, run in runs.items():
            start = time.perf_counter()
            run()
            times[platform].append(time.perf_counter() - start)
    medians = {platform: statistics.median(samples) for platform, samples in times.items()}
    return {
        "name": program.name,
        **medians,
        "ratio": medians["cpu"] / medians["oxcall"],
        "floor": program.floor,
        "compile_cpu": compiling["cpu"],
        "compile_oxcall": compiling["oxcall"],
        "compile_ratio": compiling["cpu"] / compiling["oxcall"],
    }


if __name__ == "__main__":
    sys.exit(main())
