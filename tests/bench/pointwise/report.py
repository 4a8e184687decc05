"""docs/bench/pointwise.{json,md}."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from typing import Any

from bench import machine, page
from bench.pointwise.timing import ROUNDS

SIZES = {1 << 10: "1 k", 1 << 16: "64 k", 1 << 20: "1 M", 1 << 24: "16 M"}


def stored(stem: pathlib.Path) -> dict[str, Any]:
    """What earlier runs measured, for each kind of vectors."""
    path = stem.with_suffix(".json")
    measured = json.loads(path.read_text()) if path.exists() else {}
    return {vectors: measured[vectors] for vectors in machine.VECTORS if vectors in measured}


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
    return "\n".join([*_introduction(), *_jax(measured), *_rows(measured), *_torch(measured), ""])


def _introduction() -> list[str]:
    return [
        "# Pointwise functions",
        "",
        "Functions of [pointwise.rs](../../tests/bench/ffi/src/pointwise.rs) and the same formulas in `jax.numpy`",
        "([on_jax.py](../../tests/bench/pointwise/on_jax.py)) and torch",
        "([on_torch.py](../../tests/bench/pointwise/on_torch.py)). All take turns in one process, and ratios are of",
        f"another's time to that of our op in the same round, the medians of {ROUNDS} rounds: above 1, the op is",
        "faster. A run renews the figures of processors with vectors as wide as its own.",
    ]


def _parts(measured: dict[str, Any], key: str) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """What each kind of vectors has under a key, with the lines that say where it was measured."""
    for vectors in (vectors for vectors in machine.VECTORS if key in measured.get(vectors, {})):
        found = measured[vectors]
        # The functions of rows can be measured again without the others.
        about = found.get("about of rows", found["about"]) if key == "rows" else found["about"]
        versions = f"jax {about['jax']}" if key != "torch" else f"torch {found['torch']['torch']}"
        yield (
            found[key],
            [
                "",
                f"### {vectors}",
                "",
                f"By `{about['command']}` on {about['date']}. {about['cpu']}; {about['os']}.",
                f"{about['rustc']}; {versions}.",
                "",
            ],
        )


def _jax(measured: dict[str, Any]) -> Iterator[str]:
    yield from (
        "",
        "## JAX",
        "",
        "On XLA:CPU, the op is a custom call, and the formula one loop that XLA fuses; unfused, each of its functions",
        "is a program of its own. On the plugin, op and formula both become part of a fused loop.",
    )
    for records, about in _parts(measured, "jax"):
        yield from (*about, _HEAD, "|---|---|--:|--:|--:|--:|--:|--:|--:|")
        yield from (_line(record, SIZES[record["size"]]) for record in records)


def _rows(measured: dict[str, Any]) -> Iterator[str]:
    yield from (
        "",
        "## Functions of rows in JAX",
        "",
        "Functions of [rowwise.rs](../../tests/bench/ffi/src/rowwise.rs), as above.",
    )
    for records, about in _parts(measured, "rows"):
        yield from (*about, _HEAD.replace("elements", "shape"), "|---|---|--:|--:|--:|--:|--:|--:|--:|")
        yield from (_line(record, " x ".join(map(str, record["shape"]))) for record in records)


def _torch(measured: dict[str, Any]) -> Iterator[str]:
    yield from ("", "## torch", "", "`torch.compile` is measured where there is a C++ compiler.")
    for found, about in _parts(measured, "torch"):
        yield from (
            *about,
            "| function | dtype | elements | op (us) | eager / op | compiled / op |",
            "|---|---|--:|--:|--:|--:|",
        )
        for record in found["records"]:
            ratio = record["ratio"]
            ratios = [f"{ratio[form]:.2f}" if form in ratio else "" for form in ("eager", "compile")]
            cells = [record["name"], record["dtype"], SIZES[record["size"]], f"{record['us']['op']:.1f}", *ratios]
            yield f"| {' | '.join(cells)} |"
