"""PyTorch alone: this environment has no JAX."""

import os
import pathlib

import pytest


@pytest.fixture(scope="session")
def library_path():
    """The path of a library of this workspace, built in release mode, by the name of its crate."""
    release = pathlib.Path(__file__).parents[2] / "target" / "release"
    folder = pathlib.Path(os.environ.get("OXCALL_TEST_LIBS", release))

    def path(name):
        found = folder / f"lib{name}.so"
        if not found.exists():
            pytest.fail(f"{folder} has no {name}; `cargo build --release --package {name}` makes it")
        return found

    return path
