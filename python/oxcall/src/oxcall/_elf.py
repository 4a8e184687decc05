"""Faults of a file to be loaded as a shared library, found before the dynamic linker maps it.

The linker believes a file's headers: of a half-copied one it maps pages that are not there, and the first access to
them ends the process.
"""

from __future__ import annotations

import functools
import os
import struct
import sys
from collections.abc import Callable, Iterator

from oxcall._file_kinds import other_kind

_MACHINES = {0x03: "x86", 0x28: "arm", 0x3E: "x86_64", 0xB7: "aarch64", 0xF3: "riscv64", 0x15: "ppc64", 0x16: "s390x"}
_TYPES = {1: "an object file", 2: "a program", 4: "a core dump"}
_SHARED = 3
LOAD, DYNAMIC = 1, 2
_STRING_TABLE, _NO_BITS = 3, 8

# Of a 64-bit file, after the 16 bytes of the identification; a 32-bit one is refused by its machine.
_HEADER = "HHIQQQIHHHHHH"
_SEGMENT = "IIQQQQQQ"
_SECTION = "IIQQQQIIQQ"

Read = Callable[[int, int], bytes]


def reader(descriptor: int) -> Read:
    """Reads an open file by offset and size; fewer bytes at its end."""
    return lambda offset, size: os.pread(descriptor, size, offset)


def fault(size: int, read: Read) -> str | None:
    """Why this process cannot load a file of `size` bytes; `None` if it is a whole shared library of this machine."""
    if size == 0:
        return "it is empty: it is not a shared library, or its copy or build has not finished"
    head = read(0, 64)
    if head[:4] != b"\x7fELF":
        return other_kind(read(0, 512))
    if sys.platform != "linux":
        return f"it is a Linux (ELF) library, and this is {sys.platform}"
    if len(head) < 20:
        return _incomplete("its header", 64, size)
    if (reason := _foreign(head)) is not None or head[4] != 2:
        return reason
    if len(head) < 64:
        return _incomplete("its header", 64, size)
    order = order_of(head)
    kind, _, _, _, segments, sections, _, _, segment_size, num_segments, section_size, num_sections, names = (
        struct.unpack_from(order + _HEADER, head, 16)
    )
    if kind != _SHARED:
        return f"it is {_TYPES.get(kind, f'an ELF file of type {kind}')} and not a shared library"
    if segment_size != struct.calcsize(order + _SEGMENT) or num_segments == 0:
        return "it has no program headers: it is not a shared library"
    table = read(segments, num_segments * segment_size)
    if len(table) < num_segments * segment_size:
        return _incomplete("its program headers", segments + num_segments * segment_size, size)
    kinds = set()
    for kind, _, offset, _, _, in_file, in_memory, _ in struct.iter_unpack(order + _SEGMENT, table):
        kinds.add(kind)
        if in_file and offset + in_file > size:
            return _incomplete("a segment", offset + in_file, size)
        if kind == LOAD and in_file > in_memory:
            return "a segment is larger in the file than in memory: it is broken; copy or build it again"
    if not {LOAD, DYNAMIC} <= kinds:
        return "it has no segment to load: it is not a shared library"
    return _sections(size, read, order, sections, section_size, num_sections, names)


def _sections(size: int, read: Read, order: str, start: int, entry_size: int, count: int, names: int) -> str | None:
    """The fault of the sections. Only their extents matter; they are the last part of most files."""
    if start == 0 or count == 0 or entry_size != struct.calcsize(order + _SECTION):
        return None
    table = read(start, count * entry_size)
    if len(table) < count * entry_size:
        return _incomplete("its section headers", start + count * entry_size, size)
    kinds = []
    for _, kind, _, _, offset, length, *_ in struct.iter_unpack(order + _SECTION, table):
        kinds.append(kind)
        if kind != _NO_BITS and offset + length > size:
            return _incomplete("a section", offset + length, size)
    if 0 < names < count and kinds[names] != _STRING_TABLE:
        return "its section headers are not there: it is broken, or was copied in part; copy or build it again"
    return None


def segments_of(head: bytes, read: Read) -> Iterator[tuple[int, ...]]:
    """The entries of a whole 64-bit file's program headers."""
    _, _, _, _, start, _, _, _, size, count, *_ = struct.unpack_from(order_of(head) + _HEADER, head, 16)
    return struct.iter_unpack(order_of(head) + _SEGMENT, read(start, count * size))


def order_of(head: bytes) -> str:
    """The byte order of a file, as `struct` writes it."""
    return "<" if head[5] == 1 else ">"


def _incomplete(what: str, end: int, size: int) -> str:
    return (
        f"it is not complete: {what} should end at byte {end}, but the file has {size}. It was copied in part, or is "
        "still being written: copy it again, or wait until its build has finished"
    )


@functools.cache
def _own_head() -> bytes:
    """The first bytes of the program that this process runs: of the machine whose code it can load."""
    try:
        with open("/proc/self/exe", "rb") as file:
            return file.read(20)
    except OSError:
        return b""


def _foreign(head: bytes) -> str | None:
    """The other machine that a library was built for."""
    own = _own_head()
    if head[4:6] + head[18:20] == own[4:6] + own[18:20]:
        return None
    built_for, here = (_machine(each) for each in (head, own))
    if own[:4] != b"\x7fELF":
        here = os.uname().machine
    if built_for == here:
        return None
    return f"it was built for {built_for}, and this process runs on {here}; build it with a matching --target"


def _machine(head: bytes) -> str:
    is_little = head[5:6] == b"\x01"
    number = int.from_bytes(head[18:20], "little" if is_little else "big")
    name = _MACHINES.get(number, f"ELF machine {number}")
    if head[4:5] != b"\x02" and name not in ("x86", "arm"):
        name += " in 32 bits"
    return name if is_little else f"{name}, big-endian"
