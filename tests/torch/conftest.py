"""PyTorch alone: this environment has no JAX."""

import os

# With it, a panic takes a tenth of a second.
os.environ["RUST_BACKTRACE"] = "0"

import pytest
import torch

import oxcall
from python_ops import load_glue


@pytest.fixture(scope="session")
def gallery(library_path):
    """The gallery as the oxcall package loads it."""
    return oxcall.load(library_path("custom_ops"))


@pytest.fixture(scope="session")
def ops(gallery):
    """The gallery's operators."""
    return torch.ops.custom_op


@pytest.fixture(scope="session")
def glue():
    """The Python part of torch's operators, apart from how Rust registers them."""
    return load_glue()


@pytest.fixture(scope="session")
def derived(library_path):
    """Operators with derivatives of every kind."""
    oxcall.load(library_path("derived_ops"))
    return torch.ops.derived_ops
