"""The gallery with kernels, as `cargo xtask gpu` builds it."""

import os

import pytest

import oxcall


@pytest.fixture(scope="session")
def gallery():
    return oxcall.load(os.environ["OXCALL_GPU_LIBRARY"])
