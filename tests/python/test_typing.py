"""The README's program and generated stubs, by mypy in strict mode."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

from oxcall._cli import main

pytestmark = pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")

ROOT = pathlib.Path(__file__).parents[2]
TYPED = """
from typing import TYPE_CHECKING, Any, cast

import jax
import jax.numpy as jnp
import numpy as np

import oxcall

if TYPE_CHECKING:
    from custom_ops import Ops

ops = cast("Ops", oxcall.load(b"target/release/libcustom_ops.so"))
x = jnp.ones((4, 8))
y: jax.Array = ops.rms_norm(x, eps=1e-3)
z: Any = jax.jit(ops.rms_norm)(np.ones((4, 8), np.float32))
pair: tuple[jax.Array, jax.Array] = ops.top_k(x, k=2)
error: jax.Array = ops.fail(x, status="aborted")
affine: jax.Array = ops.affine(x, config={"gains": [1.0], "clip": {"low": 0.0, "high": 1.0}})
"""
MISTAKES = """
ops.rms_norm(x, epsilon=1e-3)
ops.rms_norm(x, eps="small")
ops.fail(x, status="abortd")
missing: str = ops.rms_norm(x)
ops.affine(x, config={"gains": [1.0], "ofset": 1.0})
"""


@pytest.fixture(scope="module")
def stubs(library_path, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stubs")
    for name in ("custom_ops", "test_ops"):
        assert main(["stubs", str(library_path(name)), "-o", str(folder / f"{name}.pyi")]) == 0
    return folder


def mypy(folder, *files):
    """What mypy complains about, each as file, line and code."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-color-output", "--cache-dir", folder / "cache", *files]
    variables = {**os.environ, "MYPYPATH": str(ROOT / "python" / "oxcall" / "src")}
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    found = re.findall(r"(?m)^(\S+?):(\d+): error: .*\[([\w-]+)\]$", done.stdout)
    assert bool(found) == bool(done.returncode), done.stdout
    return [(file, int(line), code) for file, line, code in found]


def test_the_programs_of_readme_and_stubs(stubs):
    blocks = re.findall(r"(?s)```python\n(.*?)```", (ROOT / "README.md").read_text())
    (stubs / "readme.py").write_text(next(block for block in blocks if "oxcall.load" in block))
    (stubs / "typed.py").write_text(TYPED)
    (stubs / "mistaken.py").write_text(TYPED + MISTAKES)
    files = ("readme.py", "typed.py", "mistaken.py", "custom_ops.pyi", "test_ops.pyi")
    last = len((TYPED + MISTAKES).splitlines())
    codes = ("call-arg", "arg-type", "arg-type", "assignment", "arg-type")
    expected = [("mistaken.py", last - 4 + index, code) for index, code in enumerate(codes)]
    assert mypy(stubs, *files) == expected
