"""Ratios as bars from 1: to the right the plugin is faster."""

from __future__ import annotations

import math
import pathlib
from typing import NamedTuple

from matplotlib.axes import Axes

import charts
from bench.plugin import results
from bench.plugin.results import Record

ROOM = 0.14  # of the axis on each side, for the figures beside the bars


class Panel(NamedTuple):
    """One ratio of all programs, and the value that is wanted of its mean."""

    title: str
    key: str
    target: float
    records: list[Record]


def write(path: pathlib.Path, panels: list[Panel]) -> None:
    """One panel beside the other, each sorted."""
    count = max(len(results.ran(panel.records, panel.key)) for panel in panels)
    figure, axes = charts.figure(1, len(panels), (8 * len(panels), 0.24 * count + 1.2))
    for axis, panel in zip(axes, panels, strict=True):
        _draw(axis, results.ran(panel.records, panel.key), panel)
    charts.save(figure, path)


def _draw(axis: Axes, records: list[Record], panel: Panel) -> None:
    ratios, places = [record[panel.key] for record in records], range(len(records))
    colors = [charts.OURS if ratio >= 1 else charts.THEIRS for ratio in ratios]
    bars = axis.barh(places, [ratio - 1 for ratio in ratios], left=1, color=colors)
    axis.bar_label(bars, [f"{ratio:.2g}" if ratio < 10 else f"{ratio:.0f}" for ratio in ratios], padding=2)
    average = results.mean(records, panel.key)
    axis.set_xscale("log")
    low, high = (math.log(bound) for bound in (min(1, *ratios), max(1, *ratios)))
    room = ROOM * max(high - low, math.log(2))
    axis.set_xlim(math.exp(low - room), math.exp(high + room))
    axis.axvline(1, color="black", linewidth=1)
    axis.axvline(average, color="black", linewidth=0.8, linestyle="dotted")
    axis.set_title(f"{panel.title}: geometric mean {average:.2g}, target {panel.target}")
    axis.set_xlabel("XLA:CPU's time by the plugin's; solid: parity, dotted: the mean")
    axis.set_yticks(places, [record["name"] for record in records])
    axis.set_ylim(-0.6, len(records) - 0.4)
    axis.invert_yaxis()
