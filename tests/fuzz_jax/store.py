"""Programs as JSON, with their Python beside it for readers."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
from conformance import inputs

from fuzz_jax.ops.table import Verbatim
from fuzz_jax.program import Block, Program, Step
from fuzz_jax.render import script

FOLDER = pathlib.Path(__file__).parent / "programs"


def save(program: Program, title: str, path: pathlib.Path) -> None:
    """Writes a program to a file."""
    arguments = [
        {"dtype": value.dtype.name, "shape": list(value.shape), "bytes": value.tobytes().hex()}
        for value in program.inputs
    ]
    data = {
        "title": title,
        "python": script(program, title).splitlines(),
        "x64": program.x64,
        "devices": program.devices,
        "inputs": arguments,
        "block": _block(program.block),
    }
    path.write_text(json.dumps(data, indent=1) + "\n")


def load(path: pathlib.Path) -> Program:
    """Reads what `save` wrote."""
    data = json.loads(path.read_text())
    arguments = [
        np.frombuffer(bytes.fromhex(value["bytes"]), inputs.dtype_of(value["dtype"])).reshape(value["shape"])
        for value in data["inputs"]
    ]
    return Program(_read_block(data["block"]), tuple(arguments), data["x64"], data["devices"])


def _block(block: Block) -> dict[str, Any]:
    steps = [
        {
            "op": step.op,
            "outs": step.outs,
            "args": step.args,
            "params": {key: _param(value) for key, value in step.params},
            "blocks": [_block(inner) for inner in step.blocks],
        }
        for step in block.steps
    ]
    return {"params": block.params, "steps": steps, "outs": block.outs}


def _read_block(data: dict[str, Any]) -> Block:
    steps = tuple(
        Step(
            step["op"],
            tuple(step["outs"]),
            tuple(step["args"]),
            tuple((key, _read_param(value)) for key, value in step["params"].items()),
            tuple(map(_read_block, step["blocks"])),
        )
        for step in data["steps"]
    )
    return Block(tuple(data["params"]), steps, tuple(data["outs"]))


def _param(value: Any) -> Any:
    if isinstance(value, Verbatim):
        return {"text": str(value)}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    return [_param(item) for item in value] if isinstance(value, tuple) else value


def _read_param(value: Any) -> Any:
    if isinstance(value, dict):
        return Verbatim(value["text"]) if "text" in value else complex(*value["complex"])
    return tuple(_read_param(item) for item in value) if isinstance(value, list) else value
