"""The command line: `oxcall new|build|ops|doctor|stubs`, or `python -m oxcall`."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from oxcall import _abi, _doctor, _torch
from oxcall._errors import OxcallError
from oxcall._library import read
from oxcall._stubs import stub
from oxcall._table import ops_table, wrapped


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status."""
    parser = argparse.ArgumentParser(prog="oxcall", description="Tools for oxcall op libraries.")
    parser.set_defaults(run=lambda options: _help(parser))
    commands = parser.add_subparsers(metavar="COMMAND", title="commands")
    _add_projects(commands)
    ops = commands.add_parser("ops", help="list the ops of a library")
    ops.add_argument("library")
    ops.set_defaults(run=lambda options: _ops(options.library))
    doctor = commands.add_parser("doctor", help="check what is installed, and libraries")
    doctor.add_argument("library", nargs="*")
    doctor.set_defaults(run=lambda options: int(_doctor.report(options.library) > 0))
    stubs = commands.add_parser("stubs", help="write a .pyi file of a library's ops")
    stubs.add_argument("library")
    stubs.add_argument("-o", "--output", help="the file; standard output without it")
    stubs.set_defaults(run=lambda options: _stubs(options.library, options.output))
    options = parser.parse_args(argv)
    try:
        status = options.run(options)
        sys.stdout.flush()
        return int(status)
    except OxcallError as error:
        print(f"oxcall: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # by `| head`; Python flushes once more when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _help(parser: argparse.ArgumentParser) -> int:
    """Without a command: what there is."""
    parser.print_help(sys.stderr)
    return 2


def _add_projects(commands: Any) -> None:
    """The commands about projects."""
    project = commands.add_parser(
        "new",
        help="make a project: a crate with an op, its tests, and a wheel",
        description="Makes a project: a crate with an op, its tests, and a wheel. Without an option for its kind, the "
        "op computes a norm of rows, with its derivative, and is tested through JAX.",
    )
    project.add_argument("path", help="the folder of the project, whose name is the project's")
    kinds = project.add_mutually_exclusive_group()
    kinds.add_argument(
        "--pointwise", action="store_const", const="pointwise", dest="kind", help="a function of single numbers"
    )
    kinds.add_argument("--stateful", action="store_const", const="stateful", dest="kind", help="an op with a state")
    kinds.add_argument(
        "--cuda", action="store_const", const="cuda", dest="kind", help="an op with kernels for GPUs of NVIDIA"
    )
    kinds.add_argument(
        "--torch", action="store_const", const="torch", dest="kind", help="tests through PyTorch, not JAX"
    )
    project.add_argument("--oxcall", metavar="CHECKOUT", help="a checkout of oxcall, in place of published versions")
    project.set_defaults(run=lambda options: _new(options.path, options.kind or "jax", options.oxcall), kind=None)
    build = commands.add_parser("build", help="build the wheel of the project in this folder")
    build.add_argument("--portable", action="store_true", help="for old Linux distributions, with Zig's linker")
    build.add_argument("--out", default="dist", metavar="DIR", help="the folder of the wheel; `dist` by default")
    build.set_defaults(run=lambda options: _build(options.out, options.portable))


def _new(path: str, kind: str, checkout: str | None) -> int:
    from oxcall._new import checkout_of_this_package, new

    for file in new(path, kind, checkout):
        print(f"wrote {file}")
    print(f"\nNext: `cd {shlex.quote(path)}`, and the commands in README.md.")
    if checkout is not None:
        print("The project has the path of the checkout: it builds on this machine only.")
    elif (here := checkout_of_this_package()) is not None:
        print(f"This oxcall comes from a checkout. For a project that uses it: `--oxcall {shlex.quote(here)}`.")
    return 0


def _build(out: str, portable: bool) -> int:
    from oxcall._wheel.command import build

    wheel = build(out, portable=portable)
    print(f"built {wheel} ({os.path.getsize(wheel) / 1e6:.1f} MB)")
    return 0


def _ops(path: str) -> int:
    native, infos = read(path)
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    print(ops_table(infos, width))
    _operators(native, width)
    return _report(native.manifest.get("errors", []))


def _operators(native: _abi.NativeLibrary, width: int | None) -> None:
    """The schemas of the operators that PyTorch has, or why it has none; nothing for libraries without any."""
    outcomes = _torch.outcomes(native)
    lines = ["", "PyTorch operators"] if outcomes else []
    for outcome in outcomes:
        if outcome["left_out"]:
            lines += wrapped(f"{outcome['op']}: none, because {outcome['left_out']}", width)
        for schema, overload in zip(_torch.schemas(outcome), outcome["overloads"], strict=True):
            lines += wrapped(schema, width)
            for reason in overload.get("left_out", ()):
                lines += wrapped(f"without an argument: {reason}", width, "  ")
    print("\n".join(lines), end="\n" if lines else "")


def _report(errors: Sequence[str]) -> int:
    for error in errors:
        print(f"oxcall: {error}", file=sys.stderr)
    return 1 if errors else 0


def _stubs(path: str, output: str | None) -> int:
    native, infos = read(path)
    text = stub(infos, _torch.outcomes(native))
    if output is None:
        sys.stdout.write(text)
    else:
        try:
            with open(output, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise OxcallError(f"{output} cannot be written: {error.strerror}") from error
    return 0
