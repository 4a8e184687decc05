"""Makes torch importable without the CUDA libraries that its wheel links to: stubs of them, made to measure.

PyPI's Linux wheels of torch are CUDA builds, and `import torch` needs 1.8 GB of NVIDIA's libraries even where only the
CPU is used. A stub has the real one's soname and the symbols, with their version, that torch takes from it, each a
function that returns 0: CUDA then has no device. For tests only.

    python stub_libraries.py SITE-PACKAGES/torch COMPILER [ARGUMENT...]
"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile
from collections import defaultdict

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

# What `import torch` loads.
ROOTS = ("libtorch_global_deps.so", "libtorch_python.so")


class Library:
    """What a shared library needs, takes, and has."""

    def __init__(self, path):
        with path.open("rb") as file:
            elf = ELFFile(file)
            dynamic = next(section for section in elf.iter_sections() if isinstance(section, DynamicSection))
            self.needed = [tag.needed for tag in dynamic.iter_tags("DT_NEEDED")]
            versions = self._versions(elf)
            self.takes, self.has = [], set()
            marks = elf.get_section_by_name(".gnu.version")
            for index, symbol in enumerate(elf.get_section_by_name(".dynsym").iter_symbols()):
                if symbol["st_shndx"] != "SHN_UNDEF":
                    self.has.add(symbol.name)
                elif symbol["st_info"]["bind"] == "STB_GLOBAL":
                    mark = marks.get_symbol(index)["ndx"] if marks else None
                    self.takes.append((symbol.name, *versions.get(mark, (None, None))))

    @staticmethod
    def _versions(elf):
        """Index of a version -> the library that has it, and its name."""
        found = {}
        for section in elf.iter_sections():
            if isinstance(section, GNUVerNeedSection):
                for library, versions in section.iter_versions():
                    found.update({version["vna_other"]: (library.name, version.name) for version in versions})
        return found


def loaded(folder):
    """What importing torch loads: the libraries of `folder`, those of the system (the first is Python itself), and the
    names of those that neither has."""
    own, system, missing, names = {}, {None: ctypes.CDLL(None)}, set(), list(ROOTS)
    while names:
        name = names.pop()
        if name in own or name in system or name in missing:
            continue
        if (folder / name).is_file():
            own[name] = Library(folder / name)
            names += own[name].needed
            continue
        try:
            system[name] = ctypes.CDLL(name)
        except OSError:
            missing.add(name)
    return list(own.values()), list(system.values()), missing


def stubs(libraries, system, missing):
    """Missing library -> version (or none) -> its symbols."""
    wanted = {name: defaultdict(set) for name in missing}
    has = set().union(*(library.has for library in libraries))
    for library in libraries:
        for symbol, file, version in library.takes:
            if file in missing:
                wanted[file][version].add(symbol)
            elif file is None and symbol not in has and not any(hasattr(other, symbol) for other in system):
                # Nothing says which of them has it, and the first that is found will do.
                for name in missing.intersection(library.needed):
                    wanted[name][None].add(symbol)
    return wanted


def build(compiler, folder, name, versions):
    """Links the stub `name`."""
    symbols = sorted(set().union(*versions.values()))
    source = 'extern "C" int oxcall_stub() { return 0; }\n'
    source += "".join(f'extern "C" int {symbol}() __attribute__((alias("oxcall_stub")));\n' for symbol in symbols)
    nodes = [(version, names) for version, names in versions.items() if version is not None]
    script = "".join(
        f"{version} {{ {' '.join(f'{symbol};' for symbol in sorted(names))} }};\n" for version, names in nodes
    )
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "stub.cc").write_text(source)
        (scratch / "versions").write_text(script)
        flags = ["-shared", "-fPIC", "-nostdlib", "-w", "-fno-builtin", f"-Wl,-soname,{name}"]
        if script:
            flags.append(f"-Wl,--version-script={scratch / 'versions'}")
        subprocess.run([*compiler, *flags, scratch / "stub.cc", "-o", folder / name], check=True)


def main():
    folder, compiler = pathlib.Path(sys.argv[1]) / "lib", sys.argv[2:]
    wanted = stubs(*loaded(folder))
    for name, versions in sorted(wanted.items()):
        build(compiler, folder, name, versions)
        print(f"{name}: {sum(map(len, versions.values()))} symbols")


if __name__ == "__main__":
    main()
