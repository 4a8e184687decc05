"""Puts the plugin's shared library into the wheel: that of OXCALL_PLUGIN_LIBRARY, or one that cargo builds."""

import ctypes
import os
import pathlib
import platform
import struct
import subprocess
import sys
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WORKSPACE = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "oxcall-plugin-bundled"
LIBRARY = "liboxcall_plugin.so"
# The machines of ELF files, as uname names them.
MACHINES = {62: "x86_64", 183: "aarch64"}


def _reproducible(environment):
    """The environment of a build that leaves the paths of this machine out of the library."""
    encoded = environment.get("CARGO_ENCODED_RUSTFLAGS")
    flags = environment.get("RUSTFLAGS", "").split() if encoded is None else encoded.split("\x1f")
    cargo_home = environment.get("CARGO_HOME") or pathlib.Path.home() / ".cargo"
    flags += [f"--remap-path-prefix={WORKSPACE}=/oxcall", f"--remap-path-prefix={cargo_home}=/cargo"]
    return {**environment, "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(filter(None, flags))}


def _fault(library, version):
    """Why a library is not the plugin of this version for this machine; `None` if it is."""
    try:
        with open(library, "rb") as file:
            head = file.read(64)
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    if head[:6] != b"\x7fELF\x02\x01" or len(head) < 64:
        return "it is not a shared library for Linux (ELF, 64 bits)"
    machine = struct.unpack_from("<H", head, 18)[0]
    if MACHINES.get(machine) != platform.machine():
        return f"it is for {MACHINES.get(machine, f'the ELF machine {machine}')}, not for {platform.machine()}"
    try:
        name = ctypes.CDLL(os.path.abspath(library)).oxcall_plugin_version
    except OSError as error:
        return f"it cannot be loaded ({error})"
    except AttributeError:
        return "it is not a plugin of oxcall, or one before version 0.1.0"
    name.restype = ctypes.c_char_p
    other = name().decode()
    return None if other == version else f"it is version {other}, and the package is {version}"


def _oxcall():
    """The modules of the package oxcall that build wheels of op libraries: of the checkout around this folder, or
    installed ones; `None` without either."""
    source = WORKSPACE / "python" / "oxcall" / "src"
    if source.is_dir():
        sys.path.insert(0, str(source))
    try:
        from oxcall._wheel import cargo, tag, zig
    except ImportError:
        return None
    finally:
        if str(source) in sys.path:
            sys.path.remove(str(source))
    return cargo, tag, zig


class BuildLibrary(BuildHookInterface):
    """The hook of hatchling that `pyproject.toml` names."""

    def dependencies(self):
        """What a build needs besides: Zig, for portable libraries."""
        modules = _oxcall() if self._is_portable() else None
        return [modules[2].REQUIREMENT] if modules else []

    def initialize(self, version, build_data):
        if version == "editable":  # for work on the package itself: OXCALL_PLUGIN_LIBRARY names the library
            return
        library = os.environ.get("OXCALL_PLUGIN_LIBRARY")
        if library and (fault := _fault(library, self.metadata.version)):
            raise RuntimeError(
                f"OXCALL_PLUGIN_LIBRARY names {library}, which cannot go into the wheel: {fault}. Name the "
                f"{LIBRARY} of this version, or unset the variable to build it with cargo"
            )
        library = library or self._build()
        build_data["force_include"][library] = f"oxcall_plugin/{LIBRARY}"
        build_data["pure_python"] = False
        # One library serves every Python: it knows nothing of Python's ABI.
        build_data["tag"] = f"py3-none-{self._platform(library)}"

    def _is_portable(self):
        """Whether the library is to run on old Linux distributions, as with `oxcall build --portable`."""
        return os.environ.get("OXCALL_PORTABLE", "") not in ("", "0")

    def _platform(self, library):
        """The wheel's platform: that of the library's symbols, where it can be known."""
        modules = _oxcall()
        if modules is None:
            return sysconfig.get_platform().replace("-", "_").replace(".", "_")
        found = modules[1].platform_of(library)
        if found.fault:
            self.app.display_warning(f"the wheel is tagged `{found.tag}`, so PyPI refuses it: {found.fault}")
        return found.tag

    def _build(self):
        """Builds the library, and gives its path."""
        if not (WORKSPACE / "plugin" / "bundled" / "Cargo.toml").exists():
            raise RuntimeError(
                "the plugin's library is built from the Rust workspace around this folder, which is not there: "
                "install from a checkout, `pip install ./python/oxcall ./python/oxcall-plugin`, or name a library that "
                "is built, OXCALL_PLUGIN_LIBRARY=/path/to/liboxcall_plugin.so"
            )
        environment = {**os.environ, **self._linker()}
        command = ["cargo", "build", "--release", "--package", PACKAGE, "--message-format", "short"]
        try:
            subprocess.run(command, cwd=WORKSPACE, check=True, stdout=sys.stderr, env=_reproducible(environment))
        except FileNotFoundError:
            raise RuntimeError(
                "building the plugin needs Rust, and there is no `cargo` on PATH: install it from https://rustup.rs, "
                "or name a library that is built, OXCALL_PLUGIN_LIBRARY=/path/to/liboxcall_plugin.so"
            ) from None
        return str(self._target(environment) / "release" / LIBRARY)

    def _linker(self):
        """The variables by which cargo links for old Linux distributions, where that is asked for."""
        if not self._is_portable():
            return {}
        cargo, _, zig = _oxcall()
        folder = self._target(os.environ) / "oxcall-portable"
        return zig.variables(cargo.host(), str(folder))

    def _target(self, environment):
        """The folder that cargo builds into."""
        import json

        command = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
        shown = subprocess.run(
            command, cwd=WORKSPACE, check=True, capture_output=True, text=True, env=environment
        ).stdout
        return pathlib.Path(json.loads(shown)["target_directory"])
