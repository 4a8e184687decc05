"""Times linear algebra, which JAX lowers to LAPACK on its CPU: ``python -m bench.plugin.linear_algebra OUTPUT``."""

from __future__ import annotations

import functools
import math
import pathlib
import statistics
import sys
import time
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import lu_factor, solve_triangular

from bench import machine
from bench.plugin.program import Program
from bench.plugin.sets import measure

SIZES = (16, 64, 256, 512)
BATCH = (64, 32)  # matrices, and their rows


def _svd(x: jax.Array) -> list[jax.Array]:
    return list(jnp.linalg.svd(x, full_matrices=False))


def programs() -> Iterator[Program]:
    """Each function on one matrix of every size, and on a batch of small ones."""
    rng = np.random.default_rng(0)
    lapack = functools.partial(Program, calls_lapack=True)
    for shape in [*((size, size) for size in SIZES), (*BATCH, BATCH[-1])]:
        size = shape[-1]
        about = f"{size}" if len(shape) == 2 else f"{shape[0]} of {size}"
        square = rng.standard_normal(shape).astype("float32")
        right = rng.standard_normal(shape).astype("float32")
        positive = square @ square.swapaxes(-1, -2) + size * np.eye(size, dtype="float32")
        # Triangles of random numbers are nearly singular.
        triangle = np.tril(square) + size * np.eye(size, dtype="float32")
        yield lapack(f"cholesky, {about}", jnp.linalg.cholesky, [positive])
        yield lapack(f"lu_factor, {about}", lu_factor, [square])
        yield lapack(f"solve, {about}", jnp.linalg.solve, [square, right])
        yield lapack(f"inv, {about}", jnp.linalg.inv, [square])
        yield lapack(f"solve_triangular, {about}", lambda a, b: solve_triangular(a, b, lower=True), [triangle, right])
        yield lapack(f"qr, {about}", jnp.linalg.qr, [square])
        yield lapack(f"eigh, {about}", jnp.linalg.eigh, [positive])
        yield lapack(f"svd, {about}", _svd, [square])
        yield lapack(f"eig, {about}", jnp.linalg.eig, [square])


def main() -> int:
    """Writes a page with a row for each function and a column for each size."""
    [output] = sys.argv[1:]
    ratios: dict[str, dict[str, str]] = {}
    logs = []
    for program in programs():
        function, about = program.name.split(", ")
        record = measure(program)
        logs.append(math.log(record["ratio"]))
        cell = f"{record['ratio']:.2f} ({record['cpu'] * 1e6:.0f} / {record['oxcall'] * 1e6:.0f})"
        ratios.setdefault(function, {})[about] = cell
        print(f"{program.name:28} {cell}", flush=True)
    columns = list(next(iter(ratios.values())))
    lines = [
        "# Linear algebra on the plugin",
        "",
        f"Written by `cargo xtask bench linalg` on {time.strftime('%Y-%m-%d', time.gmtime())}: JAX {jax.__version__}, "
        f"{machine.about()}; `float32`.",
        "XLA:CPU's time by ours, and both in microseconds, as [the other programs](plugin.md): above 1, the plugin is",
        "faster. XLA:CPU calls LAPACK and BLAS; the plugin has `faer`. A column is the number of rows of a square",
        "matrix, or how many matrices of how many rows.",
        "",
        f"Geometric mean: {math.exp(statistics.fmean(logs)):.2f}.",
        "",
        f"| function | {' | '.join(columns)} |",
        "|---|" + "---|" * len(columns),
        *(f"| `{function}` | {' | '.join(cells[about] for about in columns)} |" for function, cells in ratios.items()),
    ]
    pathlib.Path(f"{output}.md").write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
