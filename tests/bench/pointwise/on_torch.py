"""Each function in torch, by our operator, eagerly and by torch.compile: ``python -m bench.pointwise.on_torch OURS``.

Prints the records as JSON.
"""

from __future__ import annotations

import functools
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch

from bench.pointwise.timing import DTYPES, SIZES, measure

Function = Callable[..., torch.Tensor]


def _chain(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    a = torch.abs(torch.sin(x * 0.5 + y) * torch.cos(y - x * 0.25) + 1.0)
    b = torch.exp(-a * a + 1.0) / (torch.sqrt(a) + 0.5)
    return torch.maximum(torch.tanh(b * x + y * 0.125 - a), b - 2.0)


def records() -> Iterator[dict[str, Any]]:
    """The times of each function for each size and dtype."""
    ops = torch.ops.bench_ops
    functions: dict[str, tuple[Function, Function, int]] = {
        "gelu": (ops.gelu.default, torch.nn.functional.gelu, 1),
        "softplus": (ops.softplus.default, torch.nn.functional.softplus, 1),
        "chain of 20": (ops.chain.default, _chain, 2),
    }
    compiles = any(shutil.which(compiler) for compiler in ("g++", "clang++"))
    for name, (ours, formula, count) in functions.items():
        for dtype in DTYPES:
            for size in SIZES:
                generator = torch.Generator().manual_seed(0)
                args = [torch.randn(size, generator=generator).to(getattr(torch, dtype)) for _ in range(count)]
                forms = {"op": functools.partial(ours, *args), "eager": functools.partial(formula, *args)}
                if compiles:
                    torch._dynamo.reset()
                    forms["compile"] = functools.partial(torch.compile(formula, dynamic=False), *args)
                tolerance = 1e-4 if dtype == "float32" else 0.1
                expected = forms["eager"]()
                for form, run in forms.items():
                    # A few numbers differ more, where a formula cancels.
                    wrong = (~torch.isclose(run(), expected, tolerance, tolerance)).double().mean().item()
                    assert wrong < 1e-2, f"{form}: {wrong:.1%} of the numbers differ"
                times = measure(forms)
                ratios = {form: times.ratio(form, "op") for form in forms if form != "op"}
                yield {"name": name, "dtype": dtype, "size": size, "us": times.us, "ratio": ratios}


def main() -> None:
    """Prints the records, and each of them for people."""
    torch.ops.load_library(sys.argv[1])
    found = []
    for record in records():
        found.append(record)
        ratios = ", ".join(f"{value:.2f} of {form}" for form, value in record["ratio"].items())
        print(
            f"torch: {record['name']:28} {record['dtype']:9} {record['size']:9} {ratios}", file=sys.stderr, flush=True
        )
    print(json.dumps({"torch": torch.__version__, "records": found}))


if __name__ == "__main__":
    main()
