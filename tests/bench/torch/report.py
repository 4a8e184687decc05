"""docs/bench/torch.{json,md,svg}."""

from __future__ import annotations

import pathlib
import textwrap
from typing import Any

import charts
from bench import page
from bench.torch.calls import FLOOR, IN_PLACE

OURS, UNBOXED, STABLE = "bench_ops", "peers_unboxed", "peers_stable"
NAMES = {OURS: "ours", UNBOXED: "TORCH_LIBRARY", STABLE: "stable ABI"}


def write(stem: pathlib.Path, measured: dict[str, Any]) -> None:
    """Writes the three files, which differ in their suffix."""
    page.write(stem, measured, markdown(measured))
    plot(measured["calls"], stem.with_suffix(".svg"))


def markdown(measured: dict[str, Any]) -> str:
    """The page."""
    about = measured["about"]
    lines = [
        "# Operators of PyTorch",
        "",
        f"Written by `{about['command']}` on {about['date']}. {about['cpu']}; {about['os']}.",
        f"{about['rustc']}; {about['cxx']}; torch {about['torch']}.",
        "",
        "The same ops in Rust ([torch.rs](../../tests/bench/ffi/src/torch.rs)); in C++ with `TORCH_LIBRARY`, whose",
        "kernels torch calls unboxed and whose binary fits one torch",
        "([torch_unboxed.cc](../../tests/cpp/torch_unboxed.cc)); and in C++ with the headers of the stable ABI",
        "([torch_stable.cc](../../tests/cpp/torch_stable.cc)), whose binary fits several torches, as ours does. The",
        "C++ is compiled with `-O3`; ours has every check on.",
        "",
        "A call is `torch.ops.namespace.op.default(...)` in a Python loop, whose own 20 ns are counted. Times are",
        "those that the thread was on the CPU. The three take turns, and ratios are of ours to another of the same",
        f"round, the medians of {about['rounds']} rounds.",
        "",
        "![Operators of PyTorch](torch.svg)",
        "",
        "| call | ours (ns) | TORCH_LIBRARY (ns) | stable ABI (ns) | ours / TORCH_LIBRARY | ours / stable ABI |",
        "|---|---|---|---|---|---|",
    ]
    for record in measured["calls"]:
        times = " | ".join(f"{record['ns'][form]:.0f}" for form in NAMES)
        ratios = " | ".join(shown(record, form) for form in (UNBOXED, STABLE))
        lines.append(f"| {record['name']} | {times} | {ratios} |")
    return "\n".join([*lines, "", *floor(measured["calls"]), ""])


def floor(calls: list[dict[str, Any]]) -> list[str]:
    """What of the time is the interface's own, which no kernel of ours can save."""
    by_name = {record["name"]: record["ns"] for record in calls}
    look, in_place = by_name[FLOOR.name], by_name[IN_PLACE.name]
    extra = look[STABLE] - look[UNBOXED]
    least = 1 + extra / in_place[UNBOXED]
    stable = in_place[STABLE] / in_place[UNBOXED]
    above = in_place[OURS] - in_place[UNBOXED] - extra
    text = (
        f"`{FLOOR.name}` is a floor. Its C++ for the stable ABI asks torch for the rank, sizes, strides, dtype and "
        "address by five calls and deletes its argument by a sixth, which every kernel has to; it checks and computes "
        f"nothing. That takes {extra:.0f} ns more than unboxed, where they are loads. So `{IN_PLACE.name}` could be at "
        f"{least:.2f} of unboxed C++ at the least; with the stable ABI's own headers it is at {stable:.2f}. What ours "
        f"has above the floor ({above:.0f} ns) are the checks of dtype, alignment and aliases, the call frame, and the "
        "update of the tensor's version, by which autograd notices it; the C++ ops have none of the last three."
    )
    return textwrap.wrap(text, 115, break_long_words=False, break_on_hyphens=False)


def shown(record: dict[str, Any], form: str) -> str:
    """A ratio, and the most that it is meant to be."""
    limit = record["limits"][form]
    return f"{record['ratio'][form]:.2f}" + ("" if limit is None else f" (limit {limit:.2f})")


def plot(calls: list[dict[str, Any]], path: pathlib.Path) -> None:
    """Bars of the short calls: one call of a million floats would hide them."""
    figure, (axis,) = charts.figure(1, 1, (9, 3.4))
    small = [record for record in calls if record["ns"][OURS] < 20_000]
    styles = {OURS: charts.OURS, UNBOXED: charts.THEIRS, STABLE: "#b9c3cb"}
    for shift, (form, color) in enumerate(styles.items()):
        positions = [place + 0.27 * (shift - 1) for place in range(len(small))]
        bars = axis.bar(positions, [record["ns"][form] for record in small], 0.25, color=color, label=NAMES[form])
        axis.bar_label(bars, fmt="%.0f", fontsize=7)
    axis.set_xticks(range(len(small)), [record["name"] for record in small], fontsize=8)
    axis.set_ylabel("ns per call from Python")
    axis.legend(frameon=False, fontsize=8)
    charts.save(figure, path)
