"""What tests of every host need: the libraries of this workspace. No host is imported here."""

import os
import pathlib
import subprocess
import sys

import pytest

RELEASE = pathlib.Path(__file__).parents[1] / "target" / "release"
MATRIX = pathlib.Path(__file__).parent / "matrix"
PACKAGES = pathlib.Path(__file__).parents[1] / "python"


@pytest.fixture(scope="session")
def library_path():
    """The path of a library by its crate's name: in `OXCALL_TEST_LIBS`, or where `cargo build --release` puts it."""
    folder = pathlib.Path(os.environ.get("OXCALL_TEST_LIBS", RELEASE))

    def path(name):
        for suffix in (".so", ".dylib"):
            if (found := folder / f"lib{name}{suffix}").exists():
                return found
        return pytest.fail(f"{folder} has no {name}; `cargo build --release --package {name}` makes it")

    return path


@pytest.fixture
def matrix_checks(library_path):
    """Runs a script of `cargo xtask matrix` here, with the newest version alone; gives the checks that fail."""

    def run(script):
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_FLAGS"))}
        variables["PYTHONPATH"] = os.pathsep.join(str(PACKAGES / name / "src") for name in ("oxcall", "oxcall-plugin"))
        command = [sys.executable, MATRIX / script, library_path("custom_ops")]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=600, check=False)
        lines = done.stdout.splitlines()
        assert lines, done.stderr
        failed = [line for line in lines if not line.endswith("\tok")]
        return failed if failed or done.returncode == 0 else [done.stderr]

    return run
