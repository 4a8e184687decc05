"""The build of an op library's crate by cargo."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from oxcall._errors import BuildError

_NO_CARGO = (
    "building the library needs Rust, and there is no `cargo` on PATH: install it from https://rustup.rs, or add the "
    "folder of an installation (~/.cargo/bin) to PATH"
)


@dataclasses.dataclass(frozen=True)
class Crate:
    """A crate that is a C library.

    Attributes:
        manifest: its Cargo.toml.
        workspace: the folder of the workspace, or of the crate; Cargo.lock is there.
        target: the folder that cargo builds into.
        paths: the folders of crates that it depends on by path.
    """

    manifest: str
    workspace: str
    target: str
    paths: tuple[str, ...]

    @property
    def lock_file(self) -> str:
        """Its Cargo.lock, which may be missing."""
        return os.path.join(self.workspace, "Cargo.lock")


def crate_in(folder: str) -> Crate:
    """The crate in a folder.

    Raises:
        BuildError: there is none, cargo cannot read it, or it is no C library.
    """
    manifest = os.path.join(folder, "Cargo.toml")
    if not os.path.isfile(manifest):
        raise BuildError(
            f"{folder} has no Cargo.toml: put the crate of the ops there, or set `crate` in "
            "[tool.hatch.build.hooks.oxcall] of pyproject.toml to its folder"
        )
    command = ["metadata", "--no-deps", "--format-version", "1", "--manifest-path", manifest]
    done = _cargo(command, stdout=subprocess.PIPE)
    if done.returncode != 0:
        raise BuildError(f"cargo cannot read {manifest}: correct what it says above")
    metadata = json.loads(done.stdout)
    package = next((each for each in metadata["packages"] if os.path.samefile(each["manifest_path"], manifest)), None)
    if package is None:
        names = ", ".join(os.path.dirname(each["manifest_path"]) for each in metadata["packages"])
        raise BuildError(
            f"{manifest} is that of a workspace, without a crate of its own: set `crate` in "
            f"[tool.hatch.build.hooks.oxcall] of pyproject.toml to the folder of one of its crates ({names})"
        )
    if not any("cdylib" in target["crate_types"] for target in package["targets"]):
        raise BuildError(
            f"{manifest}: the crate is not a C library, which is what Python loads: set "
            '`crate-type = ["cdylib"]` in its [lib] section'
        )
    paths = {each["path"] for each in package["dependencies"] if each.get("path")}
    return Crate(
        package["manifest_path"], metadata["workspace_root"], metadata["target_directory"], tuple(sorted(paths))
    )


def build(
    crate: Crate, *, features: Sequence[str], is_locked: bool, triple: str | None, variables: Mapping[str, str]
) -> str:
    """Builds a crate in release mode, with cargo's output on standard error, and gives the path of its library.

    Args:
        crate: the crate.
        features: its features.
        is_locked: whether Cargo.lock may not change.
        triple: the target; cargo's own choice without one.
        variables: further variables of the environment.

    Raises:
        BuildError: there is no cargo, or the crate does not compile.
    """
    command = ["build", "--release", "--lib", "--message-format", "json-render-diagnostics"]
    command += ["--manifest-path", crate.manifest]
    command += ["--features", ",".join(features)] if features else []
    command += ["--locked"] if is_locked else []
    command += ["--target", triple] if triple else []
    done = _cargo(command, stdout=subprocess.PIPE, env={**os.environ, **variables})
    if done.returncode != 0:
        if is_locked and _lock_is_old(crate):
            raise BuildError(
                f"{crate.lock_file} is older than {crate.manifest}, and a build of a wheel may not change it: run "
                "`cargo update --workspace`, and commit the file"
            )
        raise BuildError(f"cargo does not build {crate.manifest}: correct the errors that it shows above")
    library = _library(crate, map(json.loads, done.stdout.splitlines()))
    if library is None:
        raise BuildError(
            f"cargo made no shared library of {crate.manifest}, perhaps since its target has none: build it for Linux "
            "with glibc"
        )
    return library


def lock(crate: Crate) -> None:
    """Makes Cargo.lock where it is missing.

    Raises:
        BuildError: cargo cannot.
    """
    if not os.path.exists(crate.lock_file):
        done = _cargo(["generate-lockfile", "--manifest-path", crate.manifest])
        if done.returncode != 0:
            raise BuildError(f"{crate.lock_file} cannot be made: correct what cargo says above")


def host() -> str:
    """The target that this machine's compiler compiles for by itself: `x86_64-unknown-linux-gnu`.

    Raises:
        BuildError: there is no compiler.
    """
    rustc = os.environ.get("RUSTC", "rustc")
    try:
        shown = subprocess.run([rustc, "-vV"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise BuildError(f"`{rustc} -vV` fails: install Rust from https://rustup.rs ({error})") from None
    return next((line.removeprefix("host: ") for line in shown.splitlines() if line.startswith("host: ")), "")


def _library(crate: Crate, messages: Any) -> str | None:
    """The shared library among what cargo has built."""
    for message in messages:
        if message.get("reason") == "compiler-artifact" and os.path.samefile(message["manifest_path"], crate.manifest):
            for name in message["filenames"]:
                if name.endswith((".so", ".dylib")):
                    return str(name)
    return None


def _lock_is_old(crate: Crate) -> bool:
    command = ["metadata", "--locked", "--offline", "--format-version", "1", "--manifest-path", crate.manifest]
    done = _cargo(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return done.returncode != 0 and "lock file" in done.stderr


def _cargo(arguments: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    command = [os.environ.get("CARGO", "cargo"), *arguments]
    sys.stdout.flush()
    try:
        return subprocess.run(command, text=True, check=False, **options)
    except FileNotFoundError:
        raise BuildError(_NO_CARGO) from None
