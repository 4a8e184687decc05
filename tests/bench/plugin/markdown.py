"""The page of docs/bench/plugin.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench import machine
from bench.plugin import options, results
from bench.plugin.results import Record

COMPILE_TARGET, CALL_TARGET = 20, 30  # times as fast; ns
PAGE_SET = options.SETS[0]
TITLES = {
    "programs": "One for each kind of work",
    "everyday": "Everyday programs",
    "algorithms": "Simulations and algorithms",
}


def text(stem: str, stored: dict[str, Any]) -> str:
    """The page."""
    lines = [
        "# Programs on the plugin",
        "",
        "Written by `cargo xtask bench plugin`, whose options `--huge-pages` and `--load` renew rows of their own. A",
        "run renews the figures of processors with vectors as wide as its own: the plugin's code for AVX-512 is not",
        "that for AVX2. `--avx2` leaves AVX-512 out on both sides, on a processor that has it.",
        "The same jitted program on XLA:CPU and on the plugin, in turns in one process; medians of one call, dispatch",
        "included. Ratios are XLA:CPU's time by ours: above 1, the plugin is faster. Before it is timed, each program",
        "runs once on both, and the results have to agree. With huge pages, glibc's `malloc` asks for them on both",
        f"sides (`{options.TUNABLE}`); under load, one other process for each core never waits.",
        "",
        *_summaries(stored),
    ]
    for name in options.SETS:
        if any(records(stored, name)):
            title = TITLES[name]
            lines += ["", f"## {title}", "", f"![{title}]({stem}-{name}.svg)", "", *_table(stored, name)]
    compiled = [(vectors, results.ran(found, "backend_ratio")) for vectors, found in records(stored, PAGE_SET)]
    compiled = [(vectors, found) for vectors, found in compiled if found]
    if compiled:
        lines += ["", *_compiling(compiled)]
    calls = [(vectors, stored[vectors]["call_ns"]) for vectors in machine.VECTORS if vectors in stored]
    calls = [(vectors, nanoseconds) for vectors, nanoseconds in calls if nanoseconds]
    if calls:
        lines += ["", *_calls(calls)]
    return "\n".join(lines) + "\n"


def _conditions(stored: dict[str, Any], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """For each kind of vectors, what was measured of a set in each condition."""
    for vectors in (vectors for vectors in machine.VECTORS if vectors in stored):
        conditions = stored[vectors]["conditions"]
        yield vectors, {key: conditions[key][name] for key in options.CONDITIONS if name in conditions.get(key, {})}


def records(stored: dict[str, Any], name: str) -> Iterator[tuple[str, list[Record]]]:
    """For each kind of vectors the records of a set of which programs ran, in the plain condition."""
    for vectors, conditions in _conditions(stored, name):
        found = conditions.get(options.PLAIN, {}).get("programs", [])
        if results.ran(found):
            yield vectors, found


def _summaries(stored: dict[str, Any]) -> list[str]:
    lines = [
        "| set | vectors | condition | programs | geometric mean | below 1 | slowest | measured |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in options.SETS:
        for vectors, conditions in _conditions(stored, name):
            for condition, found in conditions.items():
                if figures := results.summary(found["programs"]):
                    about = found["about"]
                    lines.append(
                        f"| {name} | {vectors} | {condition} | {figures.programs} | {figures.mean:.2f} "
                        f"| {figures.below} | {figures.slowest['ratio']:.2f}, {figures.slowest['name']} "
                        f"| {about['date']}, JAX {about['jax']}, {about['cpu']} |"
                    )
    return lines


def _table(stored: dict[str, Any], name: str) -> list[str]:
    """The programs of a set, the slowest first, with both times and the ratios of each kind of vectors."""
    heads, columns, least, failures = ["program"], [], {}, []
    for vectors, conditions in _conditions(stored, name):
        for condition, found in conditions.items():
            ran = {record["name"]: record for record in results.ran(found["programs"])}
            ratios = {program: f"{record['ratio']:.2f}" for program, record in ran.items()}
            if condition == options.PLAIN:
                times = {
                    program: f"{record['cpu'] * 1e6:.1f} / {record['oxcall'] * 1e6:.1f}"
                    for program, record in ran.items()
                }
                heads += [f"{vectors}: XLA:CPU / plugin (us)", "ratio"]
                columns += [times, ratios]
                for program, record in ran.items():
                    least[program] = min(record["ratio"], least.get(program, record["ratio"]))
                failures += [
                    f"| {record['name']} | {vectors} fails: {record['error'][:80]} |"
                    for record in found["programs"]
                    if "error" in record
                ]
            else:
                heads.append(condition)
                columns.append(ratios)
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for program in sorted(least, key=lambda program: least[program]):
        lines.append(f"| {' | '.join([program, *(column.get(program, '') for column in columns)])} |")
    return [*lines, *(f"{failure}{' |' * (len(heads) - 2)}" for failure in failures)]


def _compiling(compiled: list[tuple[str, list[Record]]]) -> list[str]:
    lines = [
        "## Compiling",
        "",
        "The backend's compile call is what JAX calls for a module that it has lowered; for the plugin it begins with",
        "jaxlib's translation to a portable artifact. `.compile()` is what the user waits for: that call and JAX's own",
        "work. Each measurement lowers the program anew and without caches; medians, in turns.",
    ]
    for vectors, found in compiled:
        lines += [
            "",
            f"{vectors}: geometric means {results.mean(found, 'backend_ratio'):.1f} of the backend's compile call "
            f"(target {COMPILE_TARGET}), {results.mean(found, 'compile_ratio'):.1f} of `.compile()`.",
            "",
            "| program | XLA:CPU (ms) | plugin (ms) | ratio | `.compile()`, XLA:CPU (ms) | plugin (ms) | ratio |",
            "|---|---|---|---|---|---|---|",
        ]
        for record in found:
            cells = [record["name"]]
            for what in ("backend", "compile"):
                cells += [f"{record[f'{what}_{platform}'] * 1e3:.2f}" for platform in ("cpu", "oxcall")]
                cells.append(f"{record[f'{what}_ratio']:.1f}")
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _calls(measured: list[tuple[str, dict[str, float]]]) -> list[str]:
    return [
        "## Custom calls",
        "",
        "What one more call costs in a chain of calls: the slope between a short chain and a long one. The handler",
        "reads and writes one element, with every check on, which takes it [about 2 ns](ffi.md), and is included.",
        "",
        "| vectors | XLA:CPU (ns) | plugin (ns) | target (ns) |",
        "|---|---|---|---|",
        *(
            f"| {vectors} | {nanoseconds['cpu']:.1f} | {nanoseconds['oxcall']:.1f} | {CALL_TARGET} |"
            for vectors, nanoseconds in measured
        ),
    ]
