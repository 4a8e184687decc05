"""docs/bench/jax.{json,md}."""

from __future__ import annotations

import pathlib
from typing import Any

from bench import page
from bench.jax.calls import BARE, BY_HAND, OURS


def write(stem: pathlib.Path, measured: dict[str, Any]) -> None:
    """Writes both files, which differ in their suffix."""
    page.write(stem, measured, markdown(measured))


def markdown(measured: dict[str, Any]) -> str:
    """The page."""
    about = measured["about"]
    lines = [
        "# Calls from JAX",
        "",
        f"Written by `{about['command']}` on {about['date']}. {about['cpu']}; {about['os']}.",
        f"{about['rustc']}; jax {about['jax']}.",
        "",
        "The gallery's `weighted_rms_norm` on 8 x 16 floats ([calls.py](../../tests/bench/jax/calls.py)), called by",
        "the package; by `jax.ffi.ffi_call` with the same target; and by a `jax.custom_vjp` over that, as a user",
        "without the package writes it. All three call the same handlers, so what differs is the part of Python and",
        "JAX. The forms take turns, and ratios are of ours to another of the same round, the medians of",
        f"{about['rounds']} rounds.",
        "",
        "| call | ours (us) | ffi_call (us) | custom_vjp (us) | ours / ffi_call | ours / custom_vjp |",
        "|---|---|---|---|---|---|",
    ]
    for record in measured["calls"]:
        times = [f"{record['us'][form]:.1f}" if form in record["us"] else "" for form in (OURS, BARE, BY_HAND)]
        ratios = [f"{record['ratio'][form]:.2f}" if form in record["ratio"] else "" for form in (BARE, BY_HAND)]
        if record["limit"] is not None:
            ratios[0] += f" (limit {record['limit']:.2f})"
        lines.append(f"| {' | '.join([record['name'], *times, *ratios])} |")
    return "\n".join([*lines, ""])
