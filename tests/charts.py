"""What the plots in docs/bench have in common."""

from __future__ import annotations

import pathlib

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "oxcall"  # Equal numbers give equal files.

import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

OURS, THEIRS = "#b7410e", "#7a8793"


def figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """A figure with a list of plots, row by row."""
    made, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    flat = list(axes.flat)
    for axis in flat:
        axis.spines[["top", "right"]].set_visible(False)
    return made, flat


def save(made: Figure, path: pathlib.Path) -> None:
    """Writes the figure as SVG, without the date."""
    made.savefig(path, format="svg", metadata={"Date": None})
