"""The report of `python -m oxcall doctor`: what is installed, whether it fits, and whether libraries can be loaded.

Each framework and each library is tried in a process of its own: a broken one ends that process, and not the report.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from typing import Any

import oxcall
from oxcall import _abi

# The oldest that work, and the newest that tests run on.
JAX = ("0.4.34", "0.12.0.1")
TORCH = ("2.7.1", "2.15.0")
PLUGIN_JAX = "0.4.38"
RUST = "1.95"

# Importing a framework from a slow disk takes long; loading a library does not.
_TIMEOUT, _LIBRARY_TIMEOUT = 120, 30

_TRY_JAX = """
import jax
from oxcall import _jax
answer(FFI_API=_jax.api_version())
"""
_TRY_TORCH = """
import torch
answer()
"""
_TRY_PLUGIN = """
import oxcall_plugin
from oxcall_plugin._native import NativePlugin
answer(platform=NativePlugin(oxcall_plugin.library_path()).name)
"""
_TRY_LIBRARY = """
from oxcall._library import read
native, ops = read(sys.argv[1])
answer(ops=len(ops), oxcall=native.manifest.get("oxcall"), errors=native.manifest.get("errors", []))
"""
_HARNESS = """
import json, sys
def answer(**found):
    print("\\n" + json.dumps(found))
try:
{code}
except Exception as error:
    own = type(error).__module__.startswith("oxcall")
    answer(problem=str(error) if own else f"{{type(error).__name__}}: {{error}}")
"""


class Report:
    """Lines of a report. It is printed as it grows, since trying a framework takes seconds."""

    def __init__(self) -> None:
        self.problems = 0

    def ok(self, subject: str, text: str) -> None:
        self._line("ok", subject, text)

    def note(self, subject: str, text: str) -> None:
        """Something that is not needed is not there, or that is not tested."""
        self._line("note", subject, text)

    def problem(self, subject: str, text: str) -> None:
        self.problems += 1
        self._line("problem", subject, text)

    def _line(self, status: str, subject: str, text: str) -> None:
        print(f"{status:<8} {subject:<14} {text}", flush=True)


def report(paths: Sequence[str]) -> int:
    """Prints the report; gives the number of problems."""
    lines = Report()
    _machine(lines)
    has_jax = _jax(lines)
    has_torch = _torch(lines)
    if not has_jax and not has_torch:
        lines.problem("frameworks", "oxcall.load needs JAX or PyTorch: `pip install jax` or `pip install torch`")
    _plugin(lines, has_jax)
    _rust(lines)
    _wheels(lines)
    for path in paths:
        _library(lines, path)
    print("all is well" if lines.problems == 0 else f"{lines.problems} problem{'s' * (lines.problems > 1)}")
    return lines.problems


def _machine(lines: Report) -> None:
    lines.ok(
        "oxcall", f"{oxcall.__version__}, library boundary {_abi.ABI_VERSION} ({os.path.dirname(oxcall.__file__)})"
    )
    lines.ok("python", f"{platform.python_version()} ({sys.executable})")
    system, machine = platform.system(), platform.machine()
    libc = " ".join(filter(None, platform.libc_ver()))
    text = ", ".join(filter(None, (f"{system} {machine}", libc)))
    if (system, machine) == ("Linux", "x86_64"):
        lines.ok("system", text)
    else:
        lines.note("system", f"{text}: oxcall is tested on Linux x86_64 only")


def _jax(lines: Report) -> bool:
    version = _version("jax")
    if version is None:
        lines.note("jax", "not installed: `pip install jax` for ops as JAX functions")
        return False
    for package in ("jaxlib", "numpy", "ml_dtypes"):
        found = _version(package)
        if found is None:
            lines.problem(package, "not installed, and JAX needs it: `pip install --force-reinstall jax`")
        else:
            lines.ok(package, found)
    if _numbers(version) < _numbers(JAX[0]):
        lines.problem("jax", f'{version}: oxcall needs {JAX[0]} or newer, `pip install --upgrade "jax>={JAX[0]}"`')
        return True
    found = _tried(_TRY_JAX)
    if problem := found.get("problem"):
        lines.problem("jax", f"{version} does not work: {problem}. Reinstall it: `pip install --force-reinstall jax`")
        return True
    _in_range(lines, "jax", version, JAX)
    lines.ok("FFI API", found["FFI_API"] or "unknown (its header is not installed)")
    return True


def _torch(lines: Report) -> bool:
    version = _version("torch")
    if version is None:
        lines.note("torch", "not installed: `pip install torch` for ops as PyTorch operators")
        return False
    if _numbers(version) < _numbers(TORCH[0]):
        lines.problem("torch", f"{version}: oxcall needs {TORCH[0]} or newer, `pip install --upgrade torch`")
    elif problem := _tried(_TRY_TORCH).get("problem"):
        lines.problem(
            "torch", f"{version} does not work: {problem}. Reinstall it: `pip install --force-reinstall torch`"
        )
    else:
        _in_range(lines, "torch", version, TORCH)
    return True


def _plugin(lines: Report, has_jax: bool) -> None:
    version = _version("oxcall-plugin")
    if version is None:
        lines.note("oxcall-plugin", "not installed: needed only for the platform `oxcall`")
        return
    jax = _version("jax")
    if version != oxcall.__version__:
        lines.problem(
            "oxcall-plugin",
            f"{version}, and oxcall is {oxcall.__version__}: install both in one version, "
            "`pip install --upgrade oxcall oxcall-plugin`",
        )
    elif has_jax and jax is not None and _numbers(jax) < _numbers(PLUGIN_JAX):
        lines.problem("oxcall-plugin", f"{version} needs jax {PLUGIN_JAX} or newer: `pip install --upgrade jax`")
    elif problem := (found := _tried(_TRY_PLUGIN)).get("problem"):
        lines.problem("oxcall-plugin", f"{version}: {problem}")
    else:
        lines.ok("oxcall-plugin", f"{version}, platform `{found['platform']}`")


def _rust(lines: Report) -> None:
    missing = "needed only to build libraries: https://rustup.rs installs it"
    if shutil.which("rustc") is None:
        lines.note("rustc", f"not found; {missing}")
        return
    try:
        done = subprocess.run(["rustc", "--version"], capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        lines.problem("rustc", f"cannot be run ({error}); {missing}")
        return
    found = re.search(r"\d+\.\d+\.\d+\S*", done.stdout)
    if found is None:
        lines.problem("rustc", f"prints no version: {_last_line(done.stderr or done.stdout)}; {missing}")
    elif _numbers(found[0]) < _numbers(RUST):
        lines.problem("rustc", f"{found[0]}: oxcall needs {RUST} or newer, `rustup update stable`")
    else:
        lines.ok("rustc", found[0])
        if shutil.which("cc") is None:
            lines.problem("cc", "not found, and Rust links libraries with it: install gcc or clang")


def _wheels(lines: Report) -> None:
    """What `oxcall build` takes from the environment that it runs in."""
    for package, command in (("hatchling", "oxcall build"), ("ziglang", "oxcall build --portable")):
        version = _version(package)
        if version is None:
            lines.note(package, f"not installed: `pip install 'oxcall[build]'` for `{command}`")
        else:
            lines.ok(package, version)


def _library(lines: Report, path: str) -> None:
    found = _tried(_TRY_LIBRARY, path, timeout=_LIBRARY_TIMEOUT)
    if problem := found.get("problem"):
        lines.problem("library", problem if path in problem else f"{path}: {problem}")
        return
    for error in found["errors"]:
        lines.problem("library", f"{path}: {error}")
    if not found["errors"]:
        shown = f"{os.path.abspath(path)}: {found['ops']} ops, built with oxcall {found['oxcall']}"
        lines.ok("library", shown)


def _tried(code: str, *arguments: str, timeout: int = _TIMEOUT) -> dict[str, Any]:
    """What a piece of code in a process of its own answers; `problem` if it fails, and also if it does not end well."""
    program = _HARNESS.format(code=textwrap.indent(code, "    "))
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {
            "problem": f"a process that loaded it did not end within {timeout} s: the file is broken; build it again"
        }
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        return {
            "problem": f"a process that loaded it was ended by {name}: the file is broken; build or install it again"
        }
    try:
        found = json.loads(_last_line(done.stdout))
    except ValueError:
        return {"problem": f"a process that loaded it ended with {done.returncode}: {_last_line(done.stderr)}"}
    return dict(found)


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]


def _in_range(lines: Report, package: str, version: str, tested: tuple[str, str]) -> None:
    if _numbers(version) > _numbers(tested[1]):
        lines.note(package, f"{version}, newer than the tested {tested[0]} to {tested[1]}")
    else:
        lines.ok(package, f"{version} (tested: {tested[0]} to {tested[1]})")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("+")[0])[:4])


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
