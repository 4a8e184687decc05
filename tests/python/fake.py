"""Builds the hand-written library in tests/cpp, whose manifest is below."""

import json
import pathlib
import shutil
import subprocess
import sys

import jaxlib

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "cpp" / "fake_oxcall.cpp"
FLOATS = [{"name": "T", "dtypes": ["f32", "f64"]}]


def param(name, role="arg", dtype="f32", rank=None, dims=None, arity="one"):
    return {"role": role, "name": name, "dtype": dtype, "rank": rank, "dims": dims, "arity": arity}


def attr(name, kind, default=None, presence=None):
    presence = presence or ("required" if default is None else "default")
    entry = {"name": name, "type": kind, "presence": presence}
    return entry if default is None else {**entry, "default": default}


def op(name, params, attrs=(), **changes):
    return {
        "name": name, "platform": "Host", "doc": "", "module": "fake::ops", "file": "src/ops.rs", "line": 7,
        "stages": ["execute"], "vmap": None, "vjp": None, "legacy": False, "extra_attrs": False, "type_params": [],
        "traits": {"command_buffer": False, "side_effect": False},
        "params": params, "attrs": sorted(attrs, key=lambda entry: entry["name"]), "shape": "dims", **changes,
    }  # fmt: skip


T = {"var": 0}
FACTOR = attr("factor", "f32", "2.0")
INSPECTED = [
    attr("flag", "pred", "true"),
    attr("small", "s8", "-3"),
    attr("big", "u64", "7"),
    attr("half", "bf16", "0.5"),
    attr("tied", T, "1.0"),
    attr("point", "c64", presence="optional"),
    attr("text", "str", '"a\\"b"'),
    attr("mode", {"enum": [["fast", 0], ["precise", 1]]}, "Mode::Fast"),
    attr("axes", {"array": "s32"}, "[1, 2]"),
    attr("mask", {"array": "pred"}, presence="optional"),
    attr("grid", {"struct": [attr("n", "s64"), attr("inner", {"struct": [attr("w", {"array": "f32"})]})]},
         presence="optional"),
    attr("pointer", "ptr", presence="optional"),
    attr("table", "dict", presence="optional"),
]  # fmt: skip
INSPECT = op("inspect", [param("x"), param("y", "ret")], INSPECTED, type_params=FLOATS, extra_attrs=True)
INSPECT["params"][0]["dtype"] = INSPECT["params"][1]["dtype"] = T
OPS = [
    op("scale", [param("x", dims="..b, n", dtype=T), param("y", "ret", dims="..b, n", dtype=T)], [FACTOR],
       type_params=FLOATS, vmap="broadcast_all", vjp="scale_vjp", legacy=True, doc="Multiplies by a factor."),
    op("scale_vjp", [param("x"), param("y"), param("dy"), param("dx", "ret")], [FACTOR], vmap="broadcast_all"),
    op("increment", [param("x", "inout")]),
    op("total", [param("bias", arity="optional"), param("xs", arity="variadic"), param("y", "ret")]),
    INSPECT,
    {**INSPECT, "platform": "CUDA"},
    op("filled", [param("y", "ret", dtype=T)], [FACTOR], type_params=FLOATS),
    op("unpaired", [param("x"), param("y", "ret")], [FACTOR]),
    op("ordered", [param("t", dtype="token"), param("x"), param("t2", "ret", dtype="token"), param("y", "ret")],
       traits={"command_buffer": False, "side_effect": True}),
    op("rowwise", [param("x", dims="..b, n"), param("y", "ret", dims="..b, n")],
       traits={"command_buffer": True, "side_effect": False}, batch="b"),
]  # fmt: skip


def build(directory, name="libfake.so", errors=(), link=(), ops=OPS, **macros):
    """Compiles a variant of the library and returns its path."""
    compiler = shutil.which("g++")
    command = [compiler] if compiler else [sys.executable, "-m", "ziglang", "c++"]
    manifest = json.dumps({"abi": 1, "oxcall": "0.1.0", "errors": list(errors), "ops": list(ops)})
    include = pathlib.Path(directory, "include")
    include.mkdir(exist_ok=True)
    (include / "fake_manifest.inc").write_text(",".join(str(byte) for byte in manifest.encode()))
    path = pathlib.Path(directory, name)
    headers = pathlib.Path(jaxlib.__file__).parent / "include"
    defines = [f"-D{key}={value}" for key, value in macros.items()]
    temporary = path.with_suffix(".tmp")
    flags = ["-std=c++17", "-shared", "-fPIC", "-O1", f"-I{headers}", f"-I{include}"]
    subprocess.run([*command, *flags, *defines, str(SOURCE), *map(str, link), "-o", str(temporary)], check=True)
    temporary.replace(path)
    return path
