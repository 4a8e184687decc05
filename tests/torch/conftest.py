"""PyTorch alone: this environment has no JAX."""

import os
import pathlib

# With it, a panic takes a tenth of a second.
os.environ["RUST_BACKTRACE"] = "0"

import pytest
import torch

import oxcall


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


@pytest.fixture(scope="session")
def gallery(library_path):
    """The gallery as the oxcall package loads it."""
    return oxcall.load(library_path("custom_ops"))


@pytest.fixture(scope="session")
def ops(gallery):
    """The gallery's operators."""
    return torch.ops.custom_op
