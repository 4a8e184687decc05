"""Files of libraries on their way into the process: checked, and loaded from copies of the process's own.

The dynamic linker maps a library's file, and code that is in use changes or vanishes with it: copying a new build over
it (`shutil.copy`, `cp`) ends the process. So what is loaded is a copy. It lies in a folder for temporary files until
the process ends: debuggers, profilers and backtraces find it there. Where that folder has no room, or programs in it
may not run, the copy is in memory only.
"""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import filecmp
import os
import threading

from oxcall import _elf
from oxcall._copies import Copies
from oxcall._elf_symbols import Broken, DynamicSection
from oxcall._errors import LoadError
from oxcall._library_file import check_open, opened, refusal

# (device, inode, time of the last change, modification time, size) of a file: changes when it is rebuilt.
Stamp = tuple[int, int, int, int, int]


@dataclasses.dataclass(frozen=True)
class Image:
    """The file that the dynamic linker gets for a library.

    Attributes:
        path: a copy of the file; the file itself where others have loaded it, or where it has to lie.
        shown: the file that the user named.
        stamp: the file when it was read.
        is_copy: whether it is a copy.
    """

    path: str
    shown: str
    stamp: Stamp
    is_copy: bool

    def open(self) -> ctypes.CDLL:
        """Loads it.

        Raises:
            LoadError: the dynamic linker refuses it, and says why.
        """
        try:
            return _open(self.path)
        except OSError as error:
            if self.is_copy and "failed to map segment" in str(error):
                with contextlib.suppress(OSError):
                    return _open(_COPIES.in_memory(self.path))
            raise LoadError(f"{self.shown} could not be loaded: {refusal(error, self.path, self.shown)}") from error


def stamp_of(path: str) -> Stamp | None:
    """The stamp of a file; `None` if it is not there."""
    try:
        return _stamp(os.stat(path))
    except OSError:
        return None


def image_of(path: str, symbol: str) -> Image:
    """The image of a file: the same for all paths of one file, until its content changes.

    Args:
        path: the file.
        symbol: the name of a function that has to be in it.

    Raises:
        LoadError: the file is missing, cannot be read, is not a whole shared library of this machine, does not have
            the function, or is being written.
    """
    with _LOCK, opened(path) as descriptor:
        try:
            return _image_of(descriptor, path, symbol)
        except OSError as error:
            raise LoadError(f"{path} cannot be read: {error.strerror}.") from error


def _image_of(descriptor: int, path: str, symbol: str) -> Image:
    stamp = _stamp(os.fstat(descriptor))
    known = _IMAGES.get(stamp[:2])
    if known is not None and known.stamp == stamp:
        return dataclasses.replace(known, shown=path)
    _check(descriptor, path, symbol)
    if known is None and (_is_loaded(path) or _stays(descriptor)):
        image = Image(path, path, stamp, is_copy=False)
    else:
        copy = _COPIES.add(descriptor, os.path.basename(path))
        with open(copy, "rb") as file:
            # It is what is loaded; the file may have changed since it was looked at.
            _check(file.fileno(), path, symbol)
        if _stamp(os.fstat(descriptor)) != stamp:
            raise LoadError(f"{path} was written while it was read: load it when its build has finished.")
        if known is not None and known.is_copy and _are_equal(known.path, copy):
            _COPIES.remove(copy)
            copy = known.path
        image = Image(copy, path, stamp, is_copy=True)
    _IMAGES[stamp[:2]] = image
    return image


_LOCK = threading.RLock()
_COPIES = Copies()
# The latest image of each file, by device and inode.
_IMAGES: dict[tuple[int, ...], Image] = {}


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_dev, status.st_ino, status.st_ctime_ns, status.st_mtime_ns, status.st_size


def _open(path: str) -> ctypes.CDLL:
    # RTLD_LOCAL keeps two libraries from binding to each other's symbols; ctypes always adds RTLD_NOW.
    return ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)


def _check(descriptor: int, shown: str, symbol: str) -> None:
    """Raises the fault of an open file."""
    check_open(descriptor, shown)
    try:
        dynamic = _dynamic(descriptor)
        exports = None if dynamic is None else dynamic.exports(symbol)
    except Broken:
        raise LoadError(
            f"{shown} cannot be loaded here: its table of symbols is not there: it is broken, or was copied in part; "
            "copy or build it again."
        ) from None
    if not (_has(descriptor, symbol.encode() + b"\0") if exports is None else exports):
        is_extension = _has(descriptor, b"PyInit_")
        raise not_a_library(shown, symbol, "It is an extension module of Python. " if is_extension else "")


def _stays(descriptor: int) -> bool:
    """Whether a library has to lie where it is, since others beside it belong to it."""
    dynamic = _dynamic(descriptor)
    return dynamic is not None and dynamic.looks_beside_itself()


def _dynamic(descriptor: int) -> DynamicSection | None:
    """The dynamic section of a file without a fault; `None` in formats other than that of 64-bit Linux."""
    read = _elf.reader(descriptor)
    return DynamicSection(read) if read(0, 5) == b"\x7fELF\x02" else None


def _has(descriptor: int, text: bytes) -> bool:
    """Whether a text is in an open file."""
    offset, rest = 0, b""
    while chunk := os.pread(descriptor, 1 << 20, offset):
        offset += len(chunk)
        if text in rest + chunk:
            return True
        rest = chunk[-len(text) :]
    return False


def not_a_library(path: str, symbol: str, what: str = "") -> LoadError:
    """The error for a shared library of another kind."""
    return LoadError(
        f"{path} is not an oxcall library: it does not export `{symbol}`. {what}Build a crate that depends on `oxcall` "
        'with `crate-type = ["cdylib"]` in the [lib] section of its Cargo.toml.'
    )


def _are_equal(known: str, copy: str) -> bool:
    try:
        return filecmp.cmp(known, copy, shallow=False)
    except OSError:  # the known one is gone
        return False


def _is_loaded(path: str) -> bool:
    """Whether others have loaded this very file (`torch.ops.load_library`, ctypes): its ops are registered then."""
    try:
        ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL | os.RTLD_NOLOAD)
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            # Of a file that was replaced, the dynamic linker still knows the path.
            return any(line.rstrip("\n").endswith(" " + os.path.realpath(path)) for line in maps)
    except (OSError, AttributeError):  # without the flag, or without a list of maps
        return False
