"""docs/bench/lines.{json,md}."""

from __future__ import annotations

import pathlib
from typing import Any

from bench import page

SYSTEMS = {
    "oxcall": "oxcall",
    "jax_cpp": "C++ and JAX's FFI",
    "torch_cpp": "a PyTorch extension in C++",
    "triton_torch": "Triton and PyTorch",
}
PARTS = ("forward", "gradient", "tangent", "vmap", "sharding", "build")
# What follows from the declaration of the kernel, and what a system does not offer.
FOLLOWS = {("oxcall", "vmap")}
LACKS = {
    "oxcall": "Nothing of the list. Kernels run on the CPU.",
    "jax_cpp": (
        "One function has either reverse or forward mode; a `custom_jvp` in `jax.numpy`, without kernels for the "
        "derivatives, has both in fewer lines. Calls miss the persistent compilation cache in each new "
        "process. f32 only: each further dtype is a template and a dispatch. No PyTorch."
    ),
    "torch_cpp": (
        "Forward mode, second derivatives and gradients by `torch.func` need an `autograd.Function` in place of "
        "`register_autograd`. f32 only. No JAX. A wheel for each version of PyTorch."
    ),
    "triton_torch": "GPUs only. Forward mode, second derivatives and `torch.func` as in C++. No JAX.",
}


def write(stem: pathlib.Path, measured: dict[str, Any]) -> None:
    """Writes both files, which differ in their suffix."""
    page.write(stem, measured, markdown(measured))


def markdown(measured: dict[str, Any]) -> str:
    """The page."""
    about = measured["about"]
    lines = [
        "# Lines that a user writes",
        "",
        f"Written by `{about['command']}` on {about['date']}, with jax {about['jax']}, torch {about['torch']} and",
        f"{about['cxx']}.",
        "",
        "A root-mean-square norm with a weight, `y = w x / sqrt(mean(x²) + eps)`, as a plain loop over rows: forward,",
        "the derivatives of reverse mode (`gradient`) and forward mode (`tangent`), `vmap` in one call, and calls that",
        "are split among devices without a gather, with a sum for the weight's gradient (`sharding`). The files are in",
        "[tests/bench/lines](../../tests/bench/lines). Lines that are blank or comments are not counted. The command",
        "compiles C++ itself: `CMakeLists.txt` and `setup.py` are counted, and not run.",
        "",
        f"| system | {' | '.join(PARTS)} | all | files |",
        f"|---|{'--:|' * (len(PARTS) + 1)}---|",
    ]
    for system, name in SYSTEMS.items():
        counts = measured["lines"][system]
        cells = [shown(system, part, counts) for part in PARTS]
        files = ", ".join(f"`{file}`" for file in measured["files"][system])
        lines.append(f"| {name} | {' | '.join(cells)} | **{sum(counts.values())}** | {files} |")
    lines += ["", "| system | lacks | checked |", "|---|---|---|"]
    lines += [f"| {name} | {LACKS[system]} | {measured['checked'][system]} |" for system, name in SYSTEMS.items()]
    return "\n".join([*lines, ""])


def shown(system: str, part: str, counts: dict[str, int]) -> str:
    if (system, part) in FOLLOWS:
        return "0"
    return str(counts[part]) if part in counts else "none"
