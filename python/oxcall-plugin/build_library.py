"""Puts the plugin's shared library into the wheel: that of OXCALL_PLUGIN_LIBRARY, or one that cargo builds."""

import os
import pathlib
import subprocess
import sys
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WORKSPACE = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = "oxcall-plugin-bundled"
LIBRARY = "liboxcall_plugin.so"


def _reproducible(environment):
    """The environment of a build that leaves the paths of this machine out of the library."""
    encoded = environment.get("CARGO_ENCODED_RUSTFLAGS")
    flags = environment.get("RUSTFLAGS", "").split() if encoded is None else encoded.split("\x1f")
    cargo_home = environment.get("CARGO_HOME") or pathlib.Path.home() / ".cargo"
    flags += [f"--remap-path-prefix={WORKSPACE}=/oxcall", f"--remap-path-prefix={cargo_home}=/cargo"]
    return {**environment, "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(filter(None, flags))}


class BuildLibrary(BuildHookInterface):
    """The hook of hatchling that `pyproject.toml` names."""

    def initialize(self, version, build_data):
        if version == "editable":  # for work on the package itself: OXCALL_PLUGIN_LIBRARY names the library
            return
        library = os.environ.get("OXCALL_PLUGIN_LIBRARY")
        build_data["force_include"][library or self._build()] = f"oxcall_plugin/{LIBRARY}"
        build_data["pure_python"] = False
        # One library serves every Python: it knows nothing of Python's ABI.
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"

    def _build(self):
        """Builds the library, and gives its path."""
        if not (WORKSPACE / "plugin" / "bundled" / "Cargo.toml").exists():
            raise RuntimeError(
                "the plugin's library is built from the Rust workspace around this folder, which is not there: "
                "install from a checkout, `pip install ./python/oxcall ./python/oxcall-plugin`"
            )
        command = ["cargo", "build", "--release", "--package", PACKAGE, "--message-format", "short"]
        try:
            subprocess.run(command, cwd=WORKSPACE, check=True, stdout=sys.stderr, env=_reproducible(os.environ))
        except FileNotFoundError:
            raise RuntimeError("building the plugin needs Rust: `cargo` is not found") from None
        return str(self._target() / "release" / LIBRARY)

    def _target(self):
        """The folder that cargo builds into."""
        import json

        command = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
        shown = subprocess.run(command, cwd=WORKSPACE, check=True, capture_output=True, text=True).stdout
        return pathlib.Path(json.loads(shown)["target_directory"])
