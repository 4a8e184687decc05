"""torch_xla's SPMD mode: one program over the tiles of four devices."""

import pathlib

import pytest

from conftest import PLUGIN

CASES = pathlib.Path(__file__).parent / "spmd_cases.py"


@pytest.mark.parametrize("stablehlo", [None, "1"])
def test_sharded_tensors(fresh, stablehlo):
    code = f"import runpy; runpy.run_path({str(CASES)!r}, run_name='__main__')"
    way = {"PJRT_DEVICE": "LIBRARY", "PJRT_LIBRARY_PATH": PLUGIN, "OXCALL_NUM_DEVICES": "4"}
    assert fresh(code, **way, XLA_STABLEHLO_COMPILE=stablehlo) == ""
