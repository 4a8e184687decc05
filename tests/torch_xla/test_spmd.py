"""torch_xla's SPMD mode: one program over the tiles of four devices."""

import pathlib

import pytest

from conftest import PLUGIN

FOLDER = pathlib.Path(__file__).parent / "spmd"


@pytest.mark.parametrize("stablehlo", [None, "1"])
@pytest.mark.parametrize("programs", ["tensors", "meshes", "manual", "models"])
def test_programs(fresh, programs, stablehlo):
    code = f"import sys, runpy; sys.path[0] = {str(FOLDER)!r}; runpy.run_module({programs!r}, run_name='__main__')"
    way = {"PJRT_DEVICE": "LIBRARY", "PJRT_LIBRARY_PATH": PLUGIN, "OXCALL_NUM_DEVICES": "4"}
    assert fresh(code, **way, XLA_STABLEHLO_COMPILE=stablehlo) == ""
