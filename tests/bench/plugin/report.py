"""docs/bench/plugin.{json,md,svg}."""

from __future__ import annotations

import json
import math
import pathlib
import statistics
from typing import Any

import charts

COMPILE_TARGET, CALL_TARGET = 20, 30  # times as fast; ns


def mean(records: list[dict[str, Any]], key: str) -> float:
    """The geometric mean of a ratio over the programs that ran."""
    ratios = [record[key] for record in records if key in record]
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan


def summary(records: list[dict[str, Any]]) -> str:
    """The three geometric means."""
    return (
        f"{mean(records, 'ratio'):.2f} of running, {mean(records, 'backend_ratio'):.1f} of the backend's compile call "
        f"(target {COMPILE_TARGET}), {mean(records, 'compile_ratio'):.1f} of `.compile()`"
    )


def write(stem: pathlib.Path, measured: dict[str, Any]) -> None:
    """Writes the three files, which differ in their suffix."""
    stem.with_suffix(".json").write_text(json.dumps(measured, indent=1) + "\n")
    stem.with_suffix(".md").write_text(markdown(measured))
    plot(measured["programs"], stem.with_suffix(".svg"))


def markdown(measured: dict[str, Any]) -> str:
    """The page."""
    about, records, calls = measured["about"], measured["programs"], measured["call_ns"]
    lines = [
        "# Programs on the plugin",
        "",
        f"Written by `cargo xtask bench plugin` on {about['date']}: JAX {about['jax']}, {about['cores']} cores.",
        "The same jitted program on XLA:CPU and on the plugin, in turns in one process; medians of one call, dispatch",
        "included. Ratios are XLA:CPU's time by ours: above 1, the plugin is faster.",
        "",
        f"Geometric means: {summary(records)}.",
        "",
        "![Programs on the plugin](plugin.svg)",
        "",
        "| program | XLA:CPU (us) | plugin (us) | ratio |",
        "|---|---|---|---|",
    ]
    for record in records:
        if "error" in record:
            lines.append(f"| {record['name']} | | | fails: {record['error'][:80]} |")
            continue
        lines.append(
            f"| {record['name']} | {record['cpu'] * 1e6:.1f} | {record['oxcall'] * 1e6:.1f} | {record['ratio']:.2f} |"
        )
    lines += [
        "",
        "## Compiling",
        "",
        "The backend's compile call is what JAX calls for a module that it has lowered; for the plugin it begins with",
        "jaxlib's translation to a portable artifact. `.compile()` is what the user waits for: that call and JAX's own",
        "work. Each measurement lowers the program anew and without caches; medians, in turns.",
        "",
        "| program | XLA:CPU (ms) | plugin (ms) | ratio | `.compile()`, XLA:CPU (ms) | plugin (ms) | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for record in (record for record in records if "backend_ratio" in record):
        cells = [record["name"]]
        for what in ("backend", "compile"):
            cells += [f"{record[f'{what}_{platform}'] * 1e3:.2f}" for platform in ("cpu", "oxcall")]
            cells.append(f"{record[f'{what}_ratio']:.1f}")
        lines.append(f"| {' | '.join(cells)} |")
    if calls:
        lines += [
            "",
            "## Custom calls",
            "",
            "What one more call costs in a chain of calls: the slope between a short chain and a long one. The handler",
            "reads and writes one element, with every check on, which takes it [about 2 ns](ffi.md), and is included.",
            "",
            "| XLA:CPU (ns) | plugin (ns) | target (ns) |",
            "|---|---|---|",
            f"| {calls['cpu']:.1f} | {calls['oxcall']:.1f} | {CALL_TARGET} |",
        ]
    return "\n".join(lines) + "\n"


def plot(records: list[dict[str, Any]], path: pathlib.Path) -> None:
    """The ratios as bars from 1: to the right the plugin is faster."""
    good = [record for record in records if "ratio" in record]
    figure, axes = charts.figure(1, 2, (11, 0.24 * len(good) + 1.2))
    panels = (("running", "ratio", 1), ("the backend's compile call", "backend_ratio", COMPILE_TARGET))
    for axis, (title, key, target) in zip(axes, panels, strict=True):
        found = [record[key] for record in good]
        colors = [charts.OURS if ratio >= 1 else charts.THEIRS for ratio in found]
        bars = axis.barh(range(len(good)), [ratio - 1 for ratio in found], left=1, color=colors)
        axis.bar_label(bars, [f"{ratio:.2g}" if ratio < 10 else f"{ratio:.0f}" for ratio in found], padding=2)
        axis.set_xscale("log")
        axis.axvline(1, color="black", linewidth=0.8)
        axis.axvline(mean(records, key), color="black", linewidth=0.8, linestyle="dotted")
        axis.set_title(f"{title}: geometric mean {mean(records, key):.2g}, target {target}")
        axis.set_xlabel("XLA:CPU's time by the plugin's")
        axis.set_yticks(range(len(good)), [record["name"] for record in good])
        axis.invert_yaxis()
        axis.margins(x=0.12, y=0.01)
    axes[1].tick_params(labelleft=False)
    charts.save(figure, path)
