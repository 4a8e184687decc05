"""Files that are to be loaded as shared libraries: opened, and checked before the dynamic linker sees them.

It imports little, since a plugin that is installed and not used imports it whenever JAX looks for devices.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from typing import TypeAlias

from oxcall import _elf
from oxcall._errors import LoadError

AnyPath: TypeAlias = "str | bytes | os.PathLike[str] | os.PathLike[bytes]"


def check(path: str) -> None:
    """Raises the fault of a file that is loaded without a copy.

    Raises:
        LoadError: the file is missing, cannot be read, or is not a whole shared library of this machine.
    """
    with opened(path) as descriptor:
        check_open(descriptor, path)


def check_open(descriptor: int, path: str) -> None:
    """The same for a file that is open."""
    fault = _elf.fault(os.fstat(descriptor).st_size, _elf.reader(descriptor))
    if fault is not None:
        raise LoadError(f"{path} cannot be loaded here: {fault}.")


def refusal(error: OSError, path: str, shown: str) -> str:
    """Why the dynamic linker does not load a file, and what to do.

    Args:
        error: of `ctypes.CDLL`.
        path: the file that the linker had.
        shown: the file that the user named.
    """
    text = str(error).removeprefix(f"{path}: ")
    if missing := re.match(r"([^:]+): cannot open shared object file: No such file", text):
        return (
            f"it needs {missing[1]}, which the dynamic linker does not find. Install it, or name its folder in "
            "LD_LIBRARY_PATH or in the library's rpath."
        )
    if undefined := re.match(r"undefined symbol: ([^\s,]+)", text):
        return (
            f"it uses the symbol `{undefined[1]}`, which no library that it needs defines. Link the one that does "
            "(`cargo::rustc-link-lib=...` in build.rs) and build it again."
        )
    if version := re.search(r"version `([^']+)' not found", text):
        return (
            f"it needs {version[1]}, which is newer than this system's libraries ({text.partition(':')[0]}). Build it "
            "on this system or on an older one."
        )
    return text.replace(path, shown)


def full_path(path: AnyPath) -> str:
    """The absolute path that a user means.

    Raises:
        LoadError: it cannot be the path of a file.
    """
    text = os.fsdecode(path)
    if not text or "\0" in text:
        raise LoadError(f"{text!r} is not a path; give the path of the library.")
    return os.path.abspath(os.path.expanduser(text))


@contextlib.contextmanager
def opened(path: str) -> Iterator[int]:
    """The descriptor of a file.

    Raises:
        LoadError: it is missing, cannot be read, or is not a file but a folder, a pipe or a device.
    """
    try:
        # A pipe without a writer does not block.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        if os.path.isfile(os.path.join(os.path.dirname(path), "_ops.py")):
            raise LoadError(
                f"{path} does not exist. Install the package that has it again (`pip install --force-reinstall`)."
            ) from None
        raise LoadError(
            f"{path} does not exist{_neighbour(path)}. Build it first (`cargo build --release` writes it to "
            "target/release)."
        ) from None
    except PermissionError as error:
        raise LoadError(f"{path} cannot be read: {error.strerror}. Allow it with `chmod`, or copy the file.") from error
    except OSError as error:
        raise LoadError(f"{path} cannot be read: {error.strerror}.") from error
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise LoadError(f"{path} is a directory; give the path of the shared library in it.")
        if not stat.S_ISREG(mode):
            raise LoadError(
                f"{path} is not a file of its own, but a device, a pipe or a socket; give the path of a shared library."
            )
        yield descriptor
    finally:
        os.close(descriptor)


def _neighbour(path: str) -> str:
    """The library in the same folder whose name cargo makes of the same crate's: `libmy_ops.so` of `my-ops`."""
    folder, wanted = os.path.split(path)
    try:
        names = os.listdir(folder)
    except OSError:
        return ""
    others = (name for name in names if name != wanted and name.endswith((".so", ".dylib")))
    found = next((name for name in others if _crate(name) == _crate(wanted)), None)
    return f" (did you mean `{found}`?)" if found else ""


def _crate(name: str) -> str:
    return name.split(".")[0].removeprefix("lib").replace("-", "_")
