"""Zig's linker for libraries that run on old Linux distributions."""

from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess

from oxcall._errors import BuildError

# Has the symbols of every glibc, and is a wheel. The extra `build` of this package names the same.
REQUIREMENT = "ziglang~=0.17.0"
# The oldest glibc of Rust's standard library, and that of the tag `manylinux2014`.
GLIBC = 17
_TARGETS = {"x86_64-unknown-linux-gnu": "x86_64-linux-gnu", "aarch64-unknown-linux-gnu": "aarch64-linux-gnu"}
# Zig would link an unwinder of its own, and exceptions of C++ (torch) that pass through one do not understand the
# frames of another. So libraries are linked to libgcc_s, which has these functions in each version.
_UNWINDER = {
    "GCC_3.0": (
        "DeleteException", "Find_FDE", "ForcedUnwind", "GetDataRelBase", "GetGR", "GetIP", "GetLanguageSpecificData",
        "GetRegionStart", "GetTextRelBase", "RaiseException", "Resume", "SetGR", "SetIP",
    ),
    "GCC_3.3": ("Backtrace", "FindEnclosingFunction", "GetCFA", "Resume_or_Rethrow"),
    "GCC_4.2.0": ("GetIPInfo",),
}  # fmt: skip
_LINKER = """\
#!/bin/sh
# Written by oxcall: cargo's linker for glibc 2.{glibc}.
for argument do
    shift
    case $argument in
        -lgcc_s) set -- "$@" {unwinder} ;;
        -m64) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec {zig} cc -target {target} "$@"
"""


def variables(triple: str, folder: str) -> dict[str, str]:
    """Writes a linker, and gives the variables by which cargo uses it.

    Args:
        triple: the target, as rustc names it.
        folder: where cargo builds: with another linker, it would build all crates of a shared folder anew.

    Raises:
        BuildError: Zig is not installed, does not run, or has no such target.
    """
    if triple not in _TARGETS:
        raise BuildError(
            f"libraries for `{triple}` cannot be made portable, only those for {' and '.join(_TARGETS)}: leave out "
            "`--portable`"
        )
    zig, target = _zig(), f"{_TARGETS[triple]}.2.{GLIBC}"
    os.makedirs(folder, exist_ok=True)
    unwinder = _libgcc(zig, target, folder)
    path = os.path.join(folder, "linker")
    text = _LINKER.format(glibc=GLIBC, unwinder=shlex.quote(unwinder), zig=shlex.quote(zig), target=target)
    _write(path, text)
    os.chmod(path, 0o755)
    return {f"CARGO_TARGET_{triple.upper().replace('-', '_')}_LINKER": path, "CARGO_TARGET_DIR": folder}


def _zig() -> str:
    spec = importlib.util.find_spec("ziglang")
    folders = spec.submodule_search_locations if spec else None
    path = os.path.join(folders[0], "zig") if folders else ""
    if not os.path.isfile(path):
        raise BuildError(f"a portable library is linked by Zig, which is not installed: `pip install '{REQUIREMENT}'`")
    return path


def _libgcc(zig: str, target: str, folder: str) -> str:
    """A library with the name and the symbols of libgcc_s, to link to."""
    source, script, library = (os.path.join(folder, name) for name in ("gcc_s.c", "gcc_s.map", "libgcc_s.so.1"))
    names = {version: [f"_Unwind_{name}" for name in each] for version, each in _UNWINDER.items()}
    _write(source, "".join(f"void {name}(void) {{}}\n" for each in names.values() for name in each))
    _write(script, "".join(f"{version} {{ global: {'; '.join(each)}; }};\n" for version, each in names.items()))
    options = ["-shared", "-nostdlib", "-Wl,-soname,libgcc_s.so.1", f"-Wl,--version-script={script}"]
    command = [zig, "cc", "-target", target, *options, source, "-o", library]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(
            f"Zig does not run here: install it anew (`pip install '{REQUIREMENT}'`): {done.stderr.strip()}"
        )
    return library


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
