"""Names that someone else has registered with XLA before."""

import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
    import ctypes, sys, jax, jax.numpy as jnp
    try:
        import jax.ffi as ffi
    except ImportError:
        import jax.extend.ffi as ffi
    import oxcall
    {initialise}
    foreign = ctypes.CDLL(sys.argv[1])
    ffi.register_ffi_target("scale", ffi.pycapsule(foreign.foreign_handler), platform="cpu")
    ops = oxcall.load(sys.argv[1])
    x = jnp.ones(1)
    print(ops.scale.target, ops.scale_vjp.target, ops.scale(x), ops.scale(x, custom_call_api_version=3))
"""


@pytest.mark.parametrize("initialise", ["jax.devices()", ""])
def test_a_foreign_target_of_the_same_name(fake_path, initialise):
    code = textwrap.dedent(SCRIPT.format(initialise=initialise))
    done = subprocess.run([sys.executable, "-c", code, fake_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[0] == "fake::scale fake::scale_vjp [2.] [2.]"
