"""Files that are to be loaded as shared libraries: opened, and checked before the dynamic linker sees them.

It imports little, since a plugin that is installed and not used imports it whenever JAX looks for devices.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

from oxcall import _elf
from oxcall._errors import LoadError


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
        raise LoadError(
            f"{path} does not exist. Build it first (`cargo build --release` writes it to target/release)."
        ) from None
    except OSError as error:
        raise LoadError(f"{path} cannot be read: {error.strerror}") from error
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise LoadError(f"{path} is a directory; give the path of the shared library in it.")
        if not stat.S_ISREG(mode):
            raise LoadError(f"{path} is not a file of its own, but a device, a pipe or a socket.")
        yield descriptor
    finally:
        os.close(descriptor)
