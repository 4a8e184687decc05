"""The command line: `python -m oxcall ops|doctor|stubs`."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import sys
from collections.abc import Sequence

import oxcall
from oxcall import _abi, _torch
from oxcall._errors import OxcallError
from oxcall._library import read
from oxcall._signature import one_line
from oxcall._stubs import stub

SUPPORTED = "0.4.34 to 0.12.0.1, and newer ones as long as their XLA accepts FFI API 0.1"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status."""
    parser = argparse.ArgumentParser(prog="oxcall", description="Tools for oxcall op libraries.")
    commands = parser.add_subparsers(dest="command", required=True)
    ops = commands.add_parser("ops", help="list the ops of a library")
    ops.add_argument("library")
    ops.set_defaults(run=lambda options: _ops(options.library))
    doctor = commands.add_parser("doctor", help="show versions, and check libraries")
    doctor.add_argument("library", nargs="*")
    doctor.set_defaults(run=lambda options: _doctor(options.library))
    stubs = commands.add_parser("stubs", help="write a .pyi file of a library's ops")
    stubs.add_argument("library")
    stubs.add_argument("-o", "--output", help="the file; standard output without it")
    stubs.set_defaults(run=lambda options: _stubs(options.library, options.output))
    options = parser.parse_args(argv)
    try:
        return options.run(options)
    except OxcallError as error:
        print(f"oxcall: {error}", file=sys.stderr)
        return 1


def _ops(path: str) -> int:
    native, infos = read(path)
    rows = [("name", "platform", "signature", "source")]
    rows += [(info.name, info.platform, one_line(info), f"{info.file}:{info.line}") for info in infos]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    _operators(native)
    return _report(native.manifest.get("errors", []))


def _operators(native: _abi.NativeLibrary) -> None:
    """The schemas of the operators that PyTorch has, or why it has none; nothing for libraries without any."""
    outcomes = _torch.outcomes(native)
    if outcomes:
        print("\nPyTorch operators")
    for outcome in outcomes:
        if outcome["left_out"]:
            print(f"{outcome['op']}: none, because {outcome['left_out']}")
        for schema, overload in zip(_torch.schemas(outcome), outcome["overloads"], strict=True):
            print(schema)
            for reason in overload.get("left_out", ()):
                print(f"  without an argument: {reason}")


def _report(errors: Sequence[str]) -> int:
    for error in errors:
        print(f"oxcall: {error}", file=sys.stderr)
    return 1 if errors else 0


def _doctor(paths: Sequence[str]) -> int:
    print(f"oxcall   {oxcall.__version__} (library boundary {_abi.ABI_VERSION})")
    print(f"python   {platform.python_version()} ({sys.executable})")
    print(f"machine  {platform.system()} {platform.machine()}")
    for package in ("jax", "jaxlib", "numpy", "ml_dtypes"):
        print(f"{package:<8} {_version(package)}")
    print(f"tested   jaxlib {SUPPORTED}")
    status = 0
    try:
        from oxcall import _jax
    except ModuleNotFoundError as error:
        print(f"problem  {error}; `pip install jax`")
        status = 1
    except OxcallError as error:
        print(f"problem  {error}")
        status = 1
    else:
        print(f"FFI API  {_jax.api_version() or 'unknown (its header is not installed)'}")
    for path in paths:
        native, infos = read(path)
        print(f"library  {os.path.abspath(path)}: {len(infos)} ops, built with oxcall {native.manifest['oxcall']}")
        status |= _report(native.manifest.get("errors", []))
    return status


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _stubs(path: str, output: str | None) -> int:
    native, infos = read(path)
    text = stub(infos, _torch.outcomes(native))
    if output is None:
        sys.stdout.write(text)
    else:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text)
    return 0
