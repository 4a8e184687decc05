"""docs/bench/plugin.{json,md} and the plots beside them."""

from __future__ import annotations

import pathlib
from typing import Any

from bench import page
from bench.plugin import options, plots, results
from bench.plugin.results import Record

COMPILE_TARGET, CALL_TARGET = 20, 30  # times as fast; ns
PAGE_SET = options.SETS[0]
TITLES = {
    "programs": "One for each kind of work",
    "everyday": "Everyday programs",
    "algorithms": "Simulations and algorithms",
}


def write(stem: pathlib.Path, measured: dict[str, Any]) -> None:
    """Writes the files, whose names begin with the stem's."""
    page.write(stem, measured, markdown(stem.name, measured))
    for name, found in measured["conditions"].get(options.PLAIN, {}).items():
        if not results.ran(found["programs"]):
            continue
        panels = [plots.Panel("running", "ratio", 1)]
        if name == PAGE_SET and results.ran(found["programs"], "backend_ratio"):
            panels.append(plots.Panel("the backend's compile call", "backend_ratio", COMPILE_TARGET))
        plots.write(stem.with_name(f"{stem.name}-{name}.svg"), found["programs"], panels)


def markdown(stem: str, measured: dict[str, Any]) -> str:
    """The page."""
    conditions = measured["conditions"]
    plain = conditions.get(options.PLAIN, {})
    lines = [
        "# Programs on the plugin",
        "",
        "Written by `cargo xtask bench plugin`, whose options `--huge-pages` and `--load` renew rows of their own.",
        "The same jitted program on XLA:CPU and on the plugin, in turns in one process; medians of one call, dispatch",
        "included. Ratios are XLA:CPU's time by ours: above 1, the plugin is faster. Before it is timed, each program",
        "runs once on both, and the results have to agree. With huge pages, glibc's `malloc` asks for them on both",
        f"sides (`{options.TUNABLE}`); under load, one other process for each core never waits.",
        "",
        *_summaries(conditions),
    ]
    for name in (name for name in options.SETS if name in plain):
        lines += ["", f"## {TITLES[name]}", "", f"![{TITLES[name]}]({stem}-{name}.svg)", "", *_table(conditions, name)]
    compiled = results.ran(plain.get(PAGE_SET, {}).get("programs", []), "backend_ratio")
    if compiled:
        lines += ["", *_compiling(compiled)]
    if measured["call_ns"]:
        lines += ["", *_calls(measured["call_ns"])]
    return "\n".join(lines) + "\n"


def _summaries(conditions: dict[str, Any]) -> list[str]:
    lines = [
        "| set | condition | programs | geometric mean | below 1 | slowest | measured |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in options.SETS:
        for condition in options.CONDITIONS:
            found = conditions.get(condition, {}).get(name)
            figures = results.summary(found["programs"]) if found else None
            if figures:
                about = found["about"]
                lines.append(
                    f"| {name} | {condition} | {figures.programs} | {figures.mean:.2f} | {figures.below} "
                    f"| {figures.slowest['ratio']:.2f}, {figures.slowest['name']} "
                    f"| {about['date']}, JAX {about['jax']}, {about['cpu']} |"
                )
    return lines


def _table(conditions: dict[str, Any], name: str) -> list[str]:
    """The programs of a set, the slowest first, with their ratios in the other conditions."""
    others = [condition for condition in options.CONDITIONS[1:] if name in conditions.get(condition, {})]
    ratios = {
        condition: {record["name"]: record["ratio"] for record in results.ran(conditions[condition][name]["programs"])}
        for condition in others
    }
    lines = [
        f"| {' | '.join(['program', 'XLA:CPU (us)', 'plugin (us)', 'ratio', *others])} |",
        "|---|---|---|---|" + "---|" * len(others),
    ]
    records = conditions[options.PLAIN][name]["programs"]
    for record in results.ran(records):
        about = record["name"]
        elsewhere = [f"{ratios[condition][about]:.2f}" if about in ratios[condition] else "" for condition in others]
        cells = [about, f"{record['cpu'] * 1e6:.1f}", f"{record['oxcall'] * 1e6:.1f}", f"{record['ratio']:.2f}"]
        lines.append(f"| {' | '.join([*cells, *elsewhere])} |")
    for record in (record for record in records if "error" in record):
        lines.append(f"| {record['name']} | | | fails: {record['error'][:80]} |{' |' * len(others)}")
    return lines


def _compiling(records: list[Record]) -> list[str]:
    lines = [
        "## Compiling",
        "",
        f"Geometric means: {results.mean(records, 'backend_ratio'):.1f} of the backend's compile call "
        f"(target {COMPILE_TARGET}), {results.mean(records, 'compile_ratio'):.1f} of `.compile()`.",
        "",
        "The backend's compile call is what JAX calls for a module that it has lowered; for the plugin it begins with",
        "jaxlib's translation to a portable artifact. `.compile()` is what the user waits for: that call and JAX's own",
        "work. Each measurement lowers the program anew and without caches; medians, in turns.",
        "",
        "| program | XLA:CPU (ms) | plugin (ms) | ratio | `.compile()`, XLA:CPU (ms) | plugin (ms) | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for record in records:
        cells = [record["name"]]
        for what in ("backend", "compile"):
            cells += [f"{record[f'{what}_{platform}'] * 1e3:.2f}" for platform in ("cpu", "oxcall")]
            cells.append(f"{record[f'{what}_ratio']:.1f}")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _calls(nanoseconds: dict[str, float]) -> list[str]:
    return [
        "## Custom calls",
        "",
        "What one more call costs in a chain of calls: the slope between a short chain and a long one. The handler",
        "reads and writes one element, with every check on, which takes it [about 2 ns](ffi.md), and is included.",
        "",
        "| XLA:CPU (ns) | plugin (ns) | target (ns) |",
        "|---|---|---|",
        f"| {nanoseconds['cpu']:.1f} | {nanoseconds['oxcall']:.1f} | {CALL_TARGET} |",
    ]
