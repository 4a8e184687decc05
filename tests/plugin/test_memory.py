"""Memory: what happens when there is none."""

import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parent / "programs" / "out_of_memory.py"
PROGRAMS = subprocess.run(
    [sys.executable, str(SCRIPT), "--list"], capture_output=True, text=True, check=True
).stdout.split()


@pytest.fixture
def starved(environment):
    """Runs a program of the script with ever more room, and gives how often there was too little."""

    def run(name: str, **variables: str) -> int:
        variables = {
            **environment,
            "JAX_PLATFORMS": "oxcall",
            "JAX_ENABLE_X64": "1",
            "MALLOC_ARENA_MAX": "1",
            **variables,
        }
        done = subprocess.run(
            [sys.executable, str(SCRIPT), name], env=variables, capture_output=True, text=True, timeout=600, check=False
        )
        assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
        return int(done.stdout)

    return run


@pytest.mark.parametrize("name", PROGRAMS)
def test_too_little_memory_is_an_error(starved, name):
    assert starved(name) > 0
