"""docs/bench/pointwise.{json,md}."""

from __future__ import annotations

import pathlib
from typing import Any

from bench import page
from bench.pointwise.timing import ROUNDS

SIZES = {1 << 10: "1 k", 1 << 16: "64 k", 1 << 20: "1 M", 1 << 24: "16 M"}


def write(stem: pathlib.Path, measured: dict[str, Any]) -> None:
    """Writes both files, which differ in their suffix."""
    page.write(stem, measured, markdown(measured))


_HEAD = (
    "| function | dtype | elements | op on XLA:CPU (us) | XLA / op | unfused / op | op on the plugin (us) "
    "| XLA / op | formula / op |"
)


def _line(record: dict[str, Any], size: str) -> str:
    us, stock, plugin = record["us"], record["op on xla"], record["op on plugin"]
    cells = [record["name"], record["dtype"], size]
    cells += [f"{us['op on xla']:.1f}", f"{stock['xla']:.2f}", f"{stock['unfused']:.2f}"]
    cells += [f"{us['op on plugin']:.1f}", f"{plugin['xla']:.2f}", f"{plugin['plugin']:.2f}"]
    return f"| {' | '.join(cells)} |"


def markdown(measured: dict[str, Any]) -> str:
    """The page."""
    about = measured["about"]
    lines = [
        "# Pointwise functions",
        "",
        f"Written by `{about['command']}` on {about['date']}. {about['cpu']}; {about['os']}.",
        f"{about['rustc']}; jax {about['jax']}; torch {measured['torch']['torch']}.",
        "",
        "Functions of [pointwise.rs](../../tests/bench/ffi/src/pointwise.rs) and the same formulas in `jax.numpy`",
        "([on_jax.py](../../tests/bench/pointwise/on_jax.py)) and torch",
        "([on_torch.py](../../tests/bench/pointwise/on_torch.py)). All take turns in one process, and ratios are of",
        f"another's time to that of our op in the same round, the medians of {ROUNDS} rounds: above 1, the op is",
        "faster.",
        "",
        "## JAX",
        "",
        "On XLA:CPU, the op is a custom call, and the formula one loop that XLA fuses; unfused, each of its functions",
        "is a program of its own. On the plugin, op and formula both become part of a fused loop.",
        "",
        _HEAD,
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [_line(record, SIZES[record["size"]]) for record in measured["jax"]]
    again = measured.get("about of rows")
    if "rows" in measured:
        lines += [
            "",
            "## Functions of rows in JAX",
            "",
            "Functions of [rowwise.rs](../../tests/bench/ffi/src/rowwise.rs), as above.",
            *([f"Measured on {again['date']}. {again['cpu']}; {again['os']}. {again['rustc']}."] if again else []),
            "",
            _HEAD.replace("elements", "shape"),
            "|---|---|--:|--:|--:|--:|--:|--:|--:|",
        ]
        lines += [_line(record, " x ".join(map(str, record["shape"]))) for record in measured["rows"]]
    lines += [
        "",
        "## torch",
        "",
        "`torch.compile` is measured where there is a C++ compiler.",
        "",
        "| function | dtype | elements | op (us) | eager / op | compiled / op |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for record in measured["torch"]["records"]:
        ratios = [f"{record['ratio'][form]:.2f}" if form in record["ratio"] else "" for form in ("eager", "compile")]
        cells = [record["name"], record["dtype"], SIZES[record["size"]], f"{record['us']['op']:.1f}", *ratios]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])
