import ctypes
import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import pytest

import fake
import oxcall


@pytest.fixture(scope="session")
def fake_path(tmp_path_factory):
    return fake.build(tmp_path_factory.mktemp("fake"))


@pytest.fixture(scope="session")
def ops(fake_path):
    return oxcall.load(fake_path)


@pytest.fixture
def dump(ops):
    """What the handler of the last `inspect` or `increment` call saw."""
    function = ctypes.CDLL(ops.image_path).fake_dump
    function.restype = ctypes.c_char_p
    return lambda: function().decode()


@pytest.fixture(scope="session")
def gallery(library_path):
    """The ops of examples/custom_ops."""
    return oxcall.load(library_path("custom_ops"))


@pytest.fixture(scope="session")
def test_ops(library_path):
    """The ops of tests/libs/test_ops."""
    return oxcall.load(library_path("test_ops"))
