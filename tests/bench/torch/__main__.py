"""Times every op in each of its forms: ``python -m bench.torch OURS UNBOXED STABLE ABOUT OUTPUT``.

The first three are libraries, `ABOUT` is a JSON object to store along, and `OUTPUT` is a path without suffix.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import torch

from bench.torch import report
from bench.torch.calls import CALLS, Call

# Namespaces of the libraries, ours first.
FORMS = ("bench_ops", "peers_unboxed", "peers_stable")
ROUNDS = 41
BATCH_NS = 20_000_000


def main() -> None:
    """Prints and stores one record for each call."""
    *libraries, about, output = sys.argv[1:]
    for library in libraries:
        torch.ops.load_library(library)
    torch.set_num_threads(1)
    records = []
    print(f"{'call':28} {'ours':>9} {'unboxed':>9} {'stable':>9}   ours/unboxed ours/stable")
    for call in CALLS:
        record = measure(call)
        records.append(record)
        nanoseconds = " ".join(f"{record['ns'][form]:7.0f}ns" for form in FORMS)
        ratios = record["ratio"]
        print(f"{call.name:28} {nanoseconds}   {ratios[FORMS[1]]:12.3f} {ratios[FORMS[2]]:11.3f}", flush=True)
    details = {**json.loads(about), "torch": torch.__version__, "rounds": ROUNDS}
    report.write(pathlib.Path(output), {"about": details, "calls": records})


def measure(call: Call) -> dict[str, Any]:
    """Medians of the thread's CPU time of one call in each form, and of the rounds' ratios of ours to the others."""
    batches = {form: batch(call, form) for form in FORMS}
    results = {form: call.results(operator(call, form)) for form in FORMS}
    for form in FORMS[1:]:
        torch.testing.assert_close(results[form], results[FORMS[0]])
    once = batches[FORMS[0]](1000) / 1000
    number = max(20, int(BATCH_NS / once))
    times: dict[str, list[float]] = {form: [] for form in FORMS}
    # Each form comes first, second and third equally often.
    orders = itertools.cycle(itertools.permutations(FORMS))
    for _, order in zip(range(ROUNDS), orders, strict=False):
        for form in order:
            times[form].append(batches[form](number) / number)
    ours = times[FORMS[0]]
    ratios = {
        form: statistics.median(mine / other for mine, other in zip(ours, times[form], strict=True))
        for form in FORMS[1:]
    }
    return {
        "name": call.name,
        "ns": {form: statistics.median(samples) for form, samples in times.items()},
        "ratio": ratios,
        "limits": {FORMS[1]: call.unboxed_limit, FORMS[2]: call.stable_limit},
    }


def operator(call: Call, form: str) -> Any:
    """The overload itself: what programs call, and what `torch.compile` emits."""
    return getattr(getattr(torch.ops, form), call.op).default


def batch(call: Call, form: str) -> Callable[[int], int]:
    """A function that makes so many calls and gives the nanoseconds that this thread was on the CPU."""
    function, args = operator(call, form), call.arguments()

    def run(number: int) -> int:
        start = time.thread_time_ns()
        for _ in itertools.repeat(None, number):
            function(*args)
        return time.thread_time_ns() - start

    run(1000)
    return run


if __name__ == "__main__":
    main()
