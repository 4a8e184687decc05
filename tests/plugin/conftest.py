import functools
import json
import os
import pathlib
import subprocess
import sys
import textwrap

os.environ["JAX_PLATFORMS"] = "cpu,oxcall"
os.environ.setdefault("JAX_ENABLE_X64", "1")
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

import jax
import pytest

import oxcall

PROGRAMS = pathlib.Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def device():
    """The plugin's device."""
    return jax.devices("oxcall")[0]


@pytest.fixture
def on_plugin(device):
    """The plugin's device is the default during the test."""
    with jax.default_device(device):
        yield device


@pytest.fixture(scope="session")
def gallery(library_path):
    """The ops of examples/custom_ops."""
    return oxcall.load(library_path("custom_ops"))


@pytest.fixture(scope="session")
def environment():
    """The environment without what says how JAX and the plugin start."""
    ours = ("JAX_", "OXCALL_NUM", "OXCALL_LIB")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


@pytest.fixture
def fresh(environment):
    """Runs Python in a process of its own, where JAX has made no client yet; gives what it prints."""

    def run(code: str, timeout: float = 300, **variables: str) -> str:
        command = [sys.executable, "-c", textwrap.dedent(code)]
        done = subprocess.run(
            command, env={**environment, **variables}, capture_output=True, text=True, timeout=timeout, check=False
        )
        assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout.strip()

    return run


@pytest.fixture(scope="session")
def outcomes(environment):
    """What is wrong with each program of a script in `programs`, by the number of devices and the partitioner."""

    @functools.cache
    def run(script: str, devices: int, shardy: bool = True) -> dict[str, str]:
        variables = {
            **environment,
            "OXCALL_NUM_DEVICES": str(devices),
            "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
            "JAX_PLATFORMS": "cpu,oxcall",
            "JAX_USE_SHARDY_PARTITIONER": str(int(shardy)),
        }
        command = [sys.executable, str(PROGRAMS / script)]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run
