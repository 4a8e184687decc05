"""A program's text in Python."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fuzz_jax.ops.table import OPS
from fuzz_jax.program import Block, Program, Step

_INDENT = "    "


def source(block: Block, name: str = "program", noise: bool = False) -> str:
    """The function; with ``noise``, each inexact result goes through ``noisy`` (see `oracle`)."""
    return "\n".join(_function(block, name, noise, 0)) + "\n"


def _function(block: Block, name: str, noise: bool, depth: int) -> list[str]:
    lines = [_INDENT * depth + f"def {name}({', '.join(block.params)}):"]
    for step in block.steps:
        lines += _step(step, noise, depth + 1, block.params if depth == 0 else ())
    lines.append(_INDENT * (depth + 1) + f"return ({', '.join(block.outs)},)")
    return lines


def _step(step: Step, noise: bool, depth: int, given: Sequence[str]) -> list[str]:
    op, lines = OPS[step.op], []
    first = step.outs[0].lstrip("*")
    names = {f"f{number}": f"{first}_f{number}" for number in range(len(step.blocks))}
    for name, block in zip(names.values(), step.blocks, strict=True):
        lines += _function(block, name, noise, depth)
    salt = 131 * int(first[1:])
    ulps = op.ulps if noise else 0
    each = ulps if op.sums else 1
    args = [f"term({arg}, {each}, {salt + 7 * n + 1})" if ulps else arg for n, arg in enumerate(step.args)]
    if ulps and op.poles:
        args[0] = f"at_pole({args[0]}, {ulps})"
    if noise and op.signs:
        args = [arg if arg in given else f"signed({arg})" for arg in args]
    params = {key: repr(value) for key, value in step.params}
    text = op.text.format(*args, **names, **params, all=", ".join(args))
    targets = f"{', '.join(step.outs)}{',' if op.many and len(step.outs) == 1 else ''}"
    lines.append(_INDENT * depth + f"{targets} = {text}")
    if ulps:
        for number, out in enumerate(step.outs):
            lines.append(_INDENT * depth + f"{out} = noisy({out}, {ulps}, {salt + 1000 * number})")
            all_ = ", ".join((out, *step.args))
            lines.append(_INDENT * depth + f"{out} = {'spilled' if op.spills else 'spilled_here'}({all_})")
            small = ", ".join((out, str(salt + 1000 * number + 300), *step.args))
            lines.append(_INDENT * depth + f"{out} = flushed({small})")
            if op.inverts:
                lines.append(_INDENT * depth + f"{out} = inverse_of_flushed({out}, {', '.join(step.args)})")
            if op.sums:
                lines.append(_INDENT * depth + f"{out} = either_zero({out})")
            if op.beside:
                lines.append(_INDENT * depth + f"{out} = beside_{op.beside}({out}, {ulps}, {salt + 700})")
            if op.cancels:
                lines.append(_INDENT * depth + f"{out} = moved({out}, {step.args[0]}, {op.cancels}, {salt + 500})")
    return lines


def script(program: Program, title: str) -> str:
    """A file that has all of a program: `replay` reads it."""
    arguments = ",\n".join(_INDENT + array(value) for value in program.inputs)
    lines = [f'"""{title}"""', "# ruff: noqa", "import jax", "import jax.numpy as jnp", "import numpy as np"]
    lines += [
        "from jax import lax",
        "from jax.sharding import PartitionSpec as P",
        "from fuzz_jax.helpers import *",
        "",
    ]
    lines += [f"X64 = {program.x64}", f"DEVICES = {program.devices}"]
    lines += [f"INPUTS = [\n{arguments},\n]" if program.inputs else "INPUTS = []", "", ""]
    return "\n".join(lines) + "\n" + source(program.block)


def array(value: np.ndarray) -> str:
    """An expression of a NumPy array."""
    dtype = value.dtype.name
    if value.size == 0:
        return f"np.zeros({value.shape!r}, {dtype!r})"
    if dtype == "bool" or np.issubdtype(value.dtype, np.integer):
        items = value.tolist()
    elif np.issubdtype(value.dtype, np.complexfloating):
        items = _nested(value, lambda z: f"complex({_float(z.real)}, {_float(z.imag)})")
    elif value.dtype.kind == "V" and "int" in dtype:
        items = value.astype("int32").tolist()
    else:
        items = _nested(value.astype("float64"), _float)
    return f"np.array({items}).astype({dtype!r})" if value.dtype.kind == "V" else f"np.array({items}, {dtype!r})"


def _nested(value: np.ndarray, show) -> str:
    if value.ndim == 0:
        return show(value[()])
    return "[" + ", ".join(_nested(part, show) for part in value) + "]"


def _float(value: float) -> str:
    value = float(value)
    if math.isnan(value):
        return "np.nan"
    return repr(value) if math.isfinite(value) else ("np.inf" if value > 0 else "-np.inf")
