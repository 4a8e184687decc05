"""The dynamic section of a shared library: the functions it exports, and the libraries and versions that it needs.

It is read from the file, as the dynamic linker would read it from memory: a library of another kind is recognised
without running its constructors.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from oxcall._elf import DYNAMIC, LOAD, Read, order_of, segments_of

_NEEDED, _STRINGS, _SYMBOLS, _RPATH, _RUNPATH = 1, 5, 6, 15, 29
_GNU_HASH, _VERSIONS = 0x6FFFFEF5, 0x6FFFFFFE
_SYMBOL = "IBBHQQ"
_LIBRARY_VERSIONS, _VERSION = "HHIII", "IHHII"
_EXECUTABLE = 1
_WORDS = 256


class Broken(Exception):
    """A table lies outside the file, or has no entries."""


class DynamicSection:
    """The dynamic section of a 64-bit file without a fault (:func:`oxcall._elf.fault`)."""

    def __init__(self, read: Read):
        self._read = read
        head = read(0, 64)
        self._order = order_of(head)
        self._segments = list(segments_of(head, read))
        self._entries: list[tuple[int, int]] = []
        for kind, _, offset, _, _, in_file, *_ in self._segments:
            if kind == DYNAMIC:
                data = read(offset, in_file)
                self._entries += struct.iter_unpack(self._order + "qQ", data[: len(data) // 16 * 16])

    def looks_beside_itself(self) -> bool:
        """Whether the dynamic linker looks for other libraries in the library's own folder (`$ORIGIN`)."""
        paths = [value for tag, value in self._entries if tag in (_RPATH, _RUNPATH)]
        return any(b"ORIGIN" in self._string(path) for path in paths)

    def needed(self) -> list[str]:
        """The libraries that it is linked to."""
        return [self._string(value).decode() for tag, value in self._entries if tag == _NEEDED]

    def versions(self) -> set[str]:
        """The versions of symbols that it needs of these libraries: `GLIBC_2.17`.

        Raises:
            Broken: the table of versions is not one.
        """
        found: set[str] = set()
        table = self._value(_VERSIONS)
        offset = 0 if table is None else self._offset(table)
        while offset:
            _, count, _, first, following = self._struct(_LIBRARY_VERSIONS, offset)
            entry = offset + first
            for _ in range(count):
                *_, name, step = self._struct(_VERSION, entry)
                found.add(self._string(name).decode())
                entry += step
            offset = offset + following if following else 0
        return found

    def exports(self, function: str) -> bool | None:
        """Whether the library defines a function for others; `None` where it has no hash table of GNU's format.

        Raises:
            Broken: the table is not one. The dynamic linker would not check that.
        """
        table, symbols = self._value(_GNU_HASH), self._value(_SYMBOLS)
        if table is None or symbols is None:
            return None
        name = function.encode()
        buckets, first, blooms, _ = self._words(self._offset(table), 4)
        if buckets == 0 or blooms == 0:
            raise Broken
        start = self._offset(table) + 16 + 8 * blooms
        wanted = _gnu_hash(name)
        (index,) = self._words(start + 4 * (wanted % buckets), 1)
        if index < first:
            return False
        for found in self._chain(start + 4 * (buckets + index - first)):
            if found | 1 == wanted | 1 and self._is_function(self._offset(symbols) + 24 * index, name):
                return True
            if found & 1:
                return False
            index += 1
        raise Broken

    def _chain(self, offset: int) -> Iterator[int]:
        """Words from an offset to the end of the file."""
        while data := self._read(offset, 4 * _WORDS):
            yield from struct.unpack(f"{self._order}{len(data) // 4}I", data[: len(data) // 4 * 4])
            offset += 4 * _WORDS

    def _is_function(self, offset: int, name: bytes) -> bool:
        name_at, _, _, section, address, _ = self._struct(_SYMBOL, offset)
        is_code = any(
            kind == LOAD and flags & _EXECUTABLE and start <= address < start + in_memory
            for kind, flags, _, start, _, _, in_memory, _ in self._segments
        )
        return section != 0 and is_code and self._string(name_at) == name

    def _string(self, place: int) -> bytes:
        strings = self._value(_STRINGS)
        return b"" if strings is None else self._read(self._offset(strings) + place, 4096).split(b"\0")[0]

    def _value(self, wanted: int) -> int | None:
        return next((value for tag, value in self._entries if tag == wanted), None)

    def _offset(self, address: int) -> int:
        """The place in the file of an address."""
        for kind, _, offset, start, _, in_file, _, _ in self._segments:
            if kind == LOAD and start <= address < start + in_file:
                return address - start + offset
        raise Broken

    def _words(self, offset: int, count: int) -> tuple[int, ...]:
        return struct.unpack(f"{self._order}{count}I", self._exactly(offset, 4 * count))

    def _struct(self, layout: str, offset: int) -> tuple[int, ...]:
        layout = self._order + layout
        return struct.unpack(layout, self._exactly(offset, struct.calcsize(layout)))

    def _exactly(self, offset: int, size: int) -> bytes:
        data = self._read(offset, size)
        if len(data) < size:
            raise Broken
        return data


def _gnu_hash(name: bytes) -> int:
    value = 5381
    for byte in name:
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value
