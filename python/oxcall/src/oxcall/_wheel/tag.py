"""The platform of a wheel, from the symbols of the library in it."""

from __future__ import annotations

import dataclasses
import os
import re
import sysconfig

from oxcall import _elf
from oxcall._elf_symbols import Broken, DynamicSection
from oxcall._errors import BuildError, listing

# Libraries that every Linux distribution with glibc has; those of PEP 600 that a library of ops may need.
_EVERYWHERE = re.compile(
    r"(libc|libm|libgcc_s|libstdc\+\+|libmvec|ld-linux.*|ld64)\.so\.\d+|lib(dl|rt|pthread|util|resolv)\.so\.\d"
)
# The oldest glibc of any Rust library on Linux.
_OLDEST = 17
# The newest version that distributions with glibc 2.x have, from PEP 600's policies (auditwheel).
_COMPILERS = {
    "GCC": (((4, 8, 0), 17), ((7, 0, 0), 27), ((12, 0, 0), 35), ((14, 0, 0), 39)),
    "GLIBCXX": (
        ((3, 4, 19), 17), ((3, 4, 22), 24), ((3, 4, 24), 27), ((3, 4, 28), 31), ((3, 4, 29), 34), ((3, 4, 30), 35),
        ((3, 4, 33), 39),
    ),
    "CXXABI": (
        ((1, 3, 7), 17), ((1, 3, 10), 24), ((1, 3, 11), 27), ((1, 3, 12), 31), ((1, 3, 13), 34), ((1, 3, 15), 39),
    ),
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Platform:
    """The platform of a library.

    Attributes:
        tag: as in a wheel's name: `manylinux_2_17_x86_64`.
        glibc: the `x` of the oldest glibc 2.x that the library runs with; `None` where that is not known.
        fault: why the wheel is not one for every Linux; `None` if it is.
    """

    tag: str
    glibc: int | None
    fault: str | None


def platform_of(path: str) -> Platform:
    """The platform of a library for this machine.

    Raises:
        BuildError: its tables cannot be read.
    """
    own = re.sub(r"[-.]", "_", sysconfig.get_platform())
    with open(path, "rb") as file:
        read = _elf.reader(file.fileno())
        if read(0, 5) != b"\x7fELF\x02":
            return Platform(own, None, None)
        try:
            dynamic = DynamicSection(read)
            needed, versions = dynamic.needed(), dynamic.versions()
        except Broken:
            raise BuildError(
                f"{path}: its table of versions cannot be read: build it again, or report this with the library."
            ) from None
    others = [name for name in needed if not _EVERYWHERE.fullmatch(name)]
    if others:
        reason = f"it needs {listing(others)}, which not every Linux has"
        return Platform(own, None, f"{reason}; link it statically, or depend on the package that has it")
    return _of_versions(versions, own)


def _of_versions(versions: set[str], own: str) -> Platform:
    oldest = _OLDEST
    for version in versions:
        family, _, numbers = version.partition("_")
        if not re.fullmatch(r"\d+(\.\d+)*", numbers):
            if family == "GLIBC":  # GLIBC_PRIVATE, GLIBC_ABI_DT_RELR
                return Platform(own, None, f"it needs `{version}` of glibc, which has no number")
            continue
        number = tuple(map(int, numbers.split(".")))
        if family == "GLIBC":
            oldest = max(oldest, number[1])
        elif family in _COMPILERS:
            first = next((glibc for newest, glibc in _COMPILERS[family] if number <= newest), None)
            if first is None:
                return Platform(own, None, f"it needs `{version}`, which is newer than those of any policy")
            oldest = max(oldest, first)
    return Platform(f"manylinux_2_{oldest}_{os.uname().machine}", oldest, None)
