"""What JAX does on its own CPU, area by area, in one of three modes (`OXCALL_TEST_MODE`).

`cpu` (the default): the plugin has the name of JAX's CPU, as in the test mode of the guide. `oxcall`: it has its own,
beside JAX's CPU. `stock`: JAX's CPU itself, which every test here has to pass, too.
"""

import os

MODE = os.environ.get("OXCALL_TEST_MODE", "cpu")
DEVICES = 8

VARIABLES = {
    "cpu": {"JAX_PLATFORMS": "cpu", "OXCALL_PLATFORM_NAME": "cpu"},
    "oxcall": {"JAX_PLATFORMS": "oxcall,cpu", "OXCALL_NUM_DEVICES": str(DEVICES)},
    "stock": {"JAX_PLATFORMS": "cpu"},
}
os.environ.update(VARIABLES[MODE], JAX_NUM_CPU_DEVICES=str(DEVICES))

import jax
import pytest


def pytest_report_header():
    return f"mode: {MODE}"


@pytest.fixture(scope="session", autouse=True)
def mode():
    """The mode; what runs the programs is what it says."""
    version = jax.devices()[0].client.platform_version
    assert ("oxcall" in version) == (MODE != "stock"), version
    assert jax.device_count() == DEVICES
    return MODE


@pytest.fixture
def x64():
    """64-bit types during the test."""
    with jax.enable_x64(True):
        yield
