"""The sets of programs: measured, one after another, and reported."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import jax

import oxcall
from bench import machine
from bench.plugin import agreement, algorithms, calls, compiling, everyday, options, programs, report, results, running
from bench.plugin.program import Program

QUICK = 0.05  # seconds of each program


def run(chosen: argparse.Namespace) -> int:
    """Prints and stores one record for each program; 1 if one failed."""
    gallery = oxcall.load(chosen.gallery)
    record = options.is_record(chosen)
    page = chosen.page if record else chosen.scratch
    stored = results.stored(page.with_suffix(".json")) if record else {}
    measured = stored.setdefault(machine.vectors(), results.nothing())
    kept = measured["conditions"].setdefault(chosen.condition, {})
    for name in chosen.sets:
        found = [program for program in _programs(name, gallery) if _asked(program, chosen.names)]
        if not found:
            continue
        kept[name] = _measured(name, found, chosen)
    if chosen.condition == options.PLAIN and _asked_calls(chosen):
        call_ns = measured["call_ns"] = calls.nanoseconds(oxcall.load(chosen.bench_ops))
        print(f"one custom call: {call_ns['cpu']:.1f} ns on XLA:CPU, {call_ns['oxcall']:.1f} ns on the plugin")
    if not kept and not measured["call_ns"]:
        raise SystemExit(f"no program of {', '.join(chosen.sets)} has {' or '.join(chosen.names)} in its name")
    report.write(page, stored)
    print(f"written: {page}.json, {page}.md, and a plot for each set")
    return int(any("error" in record for name in chosen.sets if name in kept for record in kept[name]["programs"]))


def _measured(name: str, found: list[Program], chosen: argparse.Namespace) -> dict[str, Any]:
    """The records of a set's programs, printed on the way."""
    # What compiling takes does not depend on the condition, and is told for the page's set.
    compiles = name == options.SETS[0] and chosen.condition == options.PLAIN and not chosen.quick
    print(f"{name:48} {'XLA:CPU':>11} {'oxcall':>11} {'ratio':>6} {'backend':>8} {'.compile()':>10}")
    records = [_record(program, compiles, QUICK if chosen.quick else running.BUDGET) for program in found]
    if figures := results.summary(records):
        print(
            f"{name}, {chosen.condition}: geometric mean {figures.mean:.2f}, {figures.below} of {figures.programs} "
            f"below 1, slowest {figures.slowest['ratio']:.2f} ({figures.slowest['name']})"
        )
    return {"about": _about(), "programs": records}


def measure(program: Program) -> dict[str, Any]:
    """All times of one program, in seconds, and the ratios."""
    return {**_running(program, running.BUDGET), **_compiling(program)}


def _programs(name: str, gallery: Any) -> Iterator[Program]:
    return {
        "programs": lambda: programs.programs(gallery),
        "everyday": everyday.programs,
        "algorithms": algorithms.programs,
    }[name]()


def _asked(program: Program, names: list[str]) -> bool:
    return not names or any(name in program.name for name in names)


def _asked_calls(chosen: argparse.Namespace) -> bool:
    return "call" in chosen.names or (options.is_record(chosen) and options.SETS[0] in chosen.sets)


def _record(program: Program, compiles: bool, budget: float) -> dict[str, Any]:
    """What was measured, or the error."""
    try:
        agreement.check(program)
        record = _running(program, budget)
        if compiles:
            record |= _compiling(program)
    except Exception as error:  # a program that fails must not hide the others
        message = str(error).splitlines()[0]
        print(f"{program.name:48} failed: {message[:120]}", flush=True)
        return {"name": program.name, "error": message}
    compiled = f" {record['backend_ratio']:7.1f}x {record['compile_ratio']:9.1f}x" if compiles else ""
    times = f"{record['cpu'] * 1e6:10.1f}u {record['oxcall'] * 1e6:10.1f}u {record['ratio']:6.2f}"
    print(f"{program.name:48} {times}{compiled}", flush=True)
    return record


def _running(program: Program, budget: float) -> dict[str, Any]:
    times = running.medians(program, budget)
    return {"name": program.name, **times, "ratio": times["cpu"] / times["oxcall"], "floor": program.floor}


def _compiling(program: Program) -> dict[str, Any]:
    compiled = compiling.medians(program)
    record: dict[str, Any] = {}
    for name, part in (("backend", "backend"), ("compile", "user")):
        for platform in running.PLATFORMS:
            record[f"{name}_{platform}"] = getattr(compiled[platform], part)
        record[f"{name}_ratio"] = record[f"{name}_cpu"] / record[f"{name}_oxcall"]
    return record


def _about() -> dict[str, Any]:
    """The machine, the version of JAX, and the date."""
    return {"jax": jax.__version__, "cpu": machine.about(), "date": time.strftime("%Y-%m-%d", time.gmtime())}
