"""Where the tests run: on a GPU, or on the CPU in a rehearsal, which shows that they themselves work."""

import os

import pytest

REHEARSED = os.environ.get("OXCALL_GPU_REHEARSAL") == "1"

# The names of the device that is compared with the CPU.
IN_JAX, IN_TORCH = ("cpu", "cpu") if REHEARSED else ("gpu", "cuda")

on_a_gpu = pytest.mark.skipif(REHEARSED, reason="needs a GPU")
