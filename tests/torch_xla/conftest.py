"""torch_xla on the plugin. `OXCALL_PLUGIN_LIBRARY` says where it is, `OXCALL_TEST_LIBS` where libraries of ops are.

Programs travel as HLO protos, and with `XLA_STABLEHLO_COMPILE=1` as StableHLO.
"""

import os
import pathlib
import subprocess
import sys
import textwrap

# Where `cargo build --release` puts what nobody names; the client is made once a process, before any test.
os.environ.setdefault("OXCALL_TEST_LIBS", str(pathlib.Path(__file__).parents[2] / "target" / "release"))
os.environ.setdefault("OXCALL_PLUGIN_LIBRARY", os.path.join(os.environ["OXCALL_TEST_LIBS"], "liboxcall_plugin.so"))
os.environ.setdefault("OXCALL_LIBRARIES", os.path.join(os.environ["OXCALL_TEST_LIBS"], "libcustom_ops.so"))
os.environ.setdefault("PJRT_DEVICE", "LIBRARY")
os.environ.setdefault("PJRT_LIBRARY_PATH", os.environ["OXCALL_PLUGIN_LIBRARY"])

import pytest
import torch
import torch_xla

ROOT = pathlib.Path(__file__).parents[2]
PLUGIN = os.environ["OXCALL_PLUGIN_LIBRARY"]


@pytest.fixture(scope="session")
def device():
    """The plugin's device."""
    return torch_xla.device()


@pytest.fixture
def compare(device):
    """Calls a function with tensors on the CPU and on the device, and compares the results."""

    def run(function, *arguments, rtol=1e-4, atol=1e-5):
        def to(where):
            return [value.to(where) if isinstance(value, torch.Tensor) else value for value in arguments]

        expected = flat(function(*to("cpu")))
        got = flat(function(*to(device)))
        torch_xla.sync()
        assert len(got) == len(expected)
        for result, right in zip(got, expected, strict=True):
            assert result.device.type == "xla"
            torch.testing.assert_close(result.cpu(), right, rtol=rtol, atol=atol, equal_nan=True)

    return run


def flat(value):
    return [value] if isinstance(value, torch.Tensor) else list(value)


@pytest.fixture
def fresh():
    """Runs Python in a process of its own; gives what it prints. A variable that is None is not set."""

    def run(code, timeout=300, **environment):
        own = ("PJRT_", "XLA_", "OXCALL_NUM")
        variables = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        variables.update((name, value) for name, value in environment.items() if value is not None)
        command = [sys.executable, "-c", textwrap.dedent(code)]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=timeout, check=False)
        assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout.strip()

    return run
