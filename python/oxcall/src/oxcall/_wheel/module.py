"""The Python module of a library's ops, as it is in a wheel."""

from __future__ import annotations

import os

from oxcall import _torch
from oxcall._abi import ENTRY
from oxcall._errors import BuildError
from oxcall._library import read
from oxcall._signature import is_name
from oxcall._stubs import module_stub

OPS = "_ops"
_HEAD = '"""Ops of an oxcall library; written when the wheel was built."""\n'
_LOAD = """
from pathlib import Path as _Path

import oxcall as _oxcall

LIBRARY = _oxcall.load(_Path(__file__).with_name("{library}"))
"""


def files_of(library: str, module: str, about: str | None) -> dict[str, str]:
    """The texts of the files beside a library, by name.

    Args:
        library: the path of the library, which is loaded to read its manifest.
        module: the name of the package.
        about: the docstring of the package; `None` if it has an `__init__.py` of its own.

    Raises:
        BuildError: the library has no ops, or mistakes in them.
        LoadError: it cannot be loaded.
    """
    # Without any op, the crate `oxcall` is not linked.
    native, infos = read(library) if _exports(library, ENTRY) else (None, [])
    if native is None or not infos:
        raise BuildError(
            "the library has no ops: mark a function in src with `#[custom_call]`, or name the crates that have ops in "
            "`oxcall::library!`"
        )
    errors = native.manifest.get("errors", [])
    if errors:
        listed = "\n".join(f"  - {error}" for error in errors)
        raise BuildError(f"the library reports mistakes in its ops; correct them and build it again:\n{listed}")
    ops = sorted({info.name for info in infos if is_name(info.name)})
    names = ["LIBRARY", *ops]
    exported = f"__all__ = {_list(names)}\n"
    bound = "".join(f'{name} = LIBRARY["{name}"]\n' for name in ops)
    files = {
        f"{OPS}.py": _HEAD + _LOAD.format(library=os.path.basename(library)) + bound + exported,
        f"{OPS}.pyi": module_stub(infos, _torch.outcomes(native), _HEAD, exported),
    }
    if about is not None:
        imported = "".join(f"    {name},\n" for name in names)
        files["__init__.py"] = f"{_docstring(about)}\nfrom {module}.{OPS} import (\n{imported})\n\n{exported}"
        files["py.typed"] = ""
    return files


def _exports(library: str, symbol: str) -> bool:
    with open(library, "rb") as file:
        return f"{symbol}\0".encode() in file.read()


def is_written(path: str) -> bool:
    """Whether a file is one that a build wrote, or none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline() == _HEAD
    except FileNotFoundError:
        return True


def _list(names: list[str]) -> str:
    return "[\n" + "".join(f'    "{name}",\n' for name in names) + "]"


def _docstring(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"""{quoted}"""\n'
