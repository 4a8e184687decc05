"""Files that users give for a shared library and that are another kind: what they are, and what to do instead."""

from __future__ import annotations

import os
import sys

_ENOUGH = 512
_BUILT = "give the path of the library that `cargo build --release` writes to target/release"
_MACH_O = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xce\xfa\xed\xfe")
_KINDS = (
    (b"\0asm", "a WebAssembly module; build the crate without `--target wasm32-...`"),
    (b"PK\x03\x04", "a zip archive; install a wheel with `pip install`, and unpack other archives"),
    (b"\x1f\x8b", "compressed (gzip); unpack it"),
    (b"\x28\xb5\x2f\xfd", "compressed (zstd); unpack it"),
    (b"\xfd7zXZ\0", "compressed (xz); unpack it"),
    (b"version https://git-lfs", "a pointer of Git LFS in the place of the file; fetch the file with `git lfs pull`"),
    (b"#!", f"a script; {_BUILT}"),
)


def other_kind(head: bytes) -> str | None:
    """What a file is that is not in Linux's format; `None` if it is in the format of this system.

    Args:
        head: its first bytes, 512 at least if it has as many.
    """
    if head[:4] in _MACH_O:
        return None if sys.platform == "darwin" else f"it is a macOS (Mach-O) library, and this is {_system()}"
    if head[:2] == b"MZ":
        return None if sys.platform == "win32" else f"it is a Windows (PE) library, and this is {_system()}"
    if head[:8] == b"!<arch>\n":
        return (
            'it is a static archive; set `crate-type = ["cdylib"]` in the [lib] section of Cargo.toml, and load the '
            ".so file that `cargo build --release` then writes"
        )
    for magic, what in _KINDS:
        if head.startswith(magic):
            return f"it is not a shared library, but {what}"
    return (
        _text(head[:_ENOUGH]) or f"it is not a shared library: it begins with the bytes {head[:4].hex(' ')}; {_BUILT}"
    )


def _text(head: bytes) -> str | None:
    """What a text file is."""
    try:
        line = head.decode().splitlines()[0]
    except (UnicodeDecodeError, IndexError):
        return None
    if not all(character.isprintable() or character == "\t" for character in line):
        return None
    library, separator, _ = line.partition(": ")
    if separator and library.endswith((".so", ".dylib")):
        return f"it is not a shared library, but cargo's list of the files it was built from; load {library}"
    shown = line if len(line) <= 40 else line[:40] + "..."
    return f'it is not a shared library, but a text that begins with "{shown}"; {_BUILT}'


def _system() -> str:
    return f"{sys.platform} on {os.uname().machine}; build it on such a machine, or with a matching --target"
