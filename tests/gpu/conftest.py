"""The gallery with kernels, as `cargo xtask gpu` builds it."""

import os

import pytest

import oxcall


@pytest.fixture(scope="session")
def gallery():
    return oxcall.load(os.environ["OXCALL_GPU_LIBRARY"])


@pytest.fixture(scope="session")
def plain():
    """A library with a kernel in PTX, which rustc has compiled from Rust."""
    return oxcall.load(os.environ["OXCALL_GPU_PLAIN"])
