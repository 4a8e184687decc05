"""Sharded programs: results and shardings, beside those of stock JAX with as many devices."""

import json
import os
import pathlib

import pytest

PROGRAMS = pathlib.Path(__file__).parent / "sharding" / "programs.py"
NAMES = [
    line.split("(")[0].removeprefix("def ")
    for before, line in zip(PROGRAMS.read_text().splitlines(), PROGRAMS.read_text().splitlines()[1:])
    if before == "@program"
]


@pytest.fixture(scope="module")
def outcomes(run_python):
    """What is wrong with each program, by the number of devices and the partitioner."""
    done = {}

    def run(devices: int, shardy: bool) -> dict[str, str]:
        if (devices, shardy) not in done:
            output = run_python(
                str(PROGRAMS),
                OXCALL_NUM_DEVICES=str(devices),
                XLA_FLAGS=f"--xla_force_host_platform_device_count={devices}",
                JAX_PLATFORMS="cpu,oxcall",
                JAX_USE_SHARDY_PARTITIONER=str(int(shardy)),
            )
            done[devices, shardy] = json.loads(output.splitlines()[-1])
        return done[devices, shardy]

    return run
