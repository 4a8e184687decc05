"""Times calls of ops from JAX in each of their forms: ``python -m bench.jax LIBRARY ABOUT OUTPUT``.

`LIBRARY` is that of the gallery, `ABOUT` is a JSON object to store along, and `OUTPUT` is a path without suffix.
"""

from __future__ import annotations

import json
import pathlib
import statistics
import sys
import time
from typing import Any

import jax
import numpy as np

import oxcall
from bench.jax import report
from bench.jax.calls import OURS, Case, Run, cases

ROUNDS = 41
BATCH_S = 0.02


def main() -> None:
    """Prints and stores one record for each call."""
    library, about, output = sys.argv[1:]
    records = []
    for case in cases(oxcall.load(library)):
        record = measure(case)
        records.append(record)
        times = ", ".join(f"{form} {value:.1f} us" for form, value in record["us"].items())
        ratios = ", ".join(f"{value:.2f} of {form}" for form, value in record["ratio"].items())
        print(f"{case.name:36} {times}; {ratios}", flush=True)
    details = {**json.loads(about), "jax": jax.__version__, "rounds": ROUNDS}
    report.write(pathlib.Path(output), {"about": details, "calls": records})


def measure(case: Case) -> dict[str, Any]:
    """Medians of the time of one call in each form, and of the rounds' ratios of ours to the others."""
    expected = jax.tree.leaves(case.forms[OURS]())
    if all(isinstance(value, jax.Array) for value in expected):
        for run in case.forms.values():
            for a, b in zip(jax.tree.leaves(run()), expected, strict=True):
                np.testing.assert_array_equal(a, b)
    numbers = {form: max(1, int(BATCH_S / seconds(run, 20))) for form, run in case.forms.items()}
    times: dict[str, list[float]] = {form: [] for form in case.forms}
    order = list(case.forms)
    for _ in range(ROUNDS):
        for form in order:
            times[form].append(seconds(case.forms[form], numbers[form]))
        order.append(order.pop(0))
    return {
        "name": case.name,
        "us": {form: statistics.median(samples) * 1e6 for form, samples in times.items()},
        "ratio": {
            form: statistics.median(mine / other for mine, other in zip(times[OURS], samples, strict=True))
            for form, samples in times.items()
            if form != OURS
        },
        "limit": case.limit,
    }


def seconds(run: Run, number: int) -> float:
    """The time of one of so many calls, until the last result is there."""
    start = time.perf_counter()
    for _ in range(number):
        result = run()
    if isinstance(jax.tree.leaves(result)[0], jax.Array):
        jax.block_until_ready(result)
    return (time.perf_counter() - start) / number


if __name__ == "__main__":
    main()
