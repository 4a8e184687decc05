"""A library with kernels for CUDA where there is no GPU: it loads, runs on the CPU, and exports for GPUs.

In a process of its own: the tests here have the gallery without kernels loaded already.
"""

import os
import subprocess
import sys

import pytest

PROGRAM = """
    import sys
    import jax, jax.numpy as jnp
    import oxcall
    from jax import export

    ops = oxcall.load(sys.argv[1])
    x = jnp.arange(12.0).reshape(3, 4)
    expected = x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5)
    assert jnp.allclose(jax.jit(ops.rms_norm)(x), expected)
    assert jnp.allclose(jax.grad(lambda x: ops.softplus(x).sum())(x), jax.nn.sigmoid(x))
    names = "rms_norm rms_norm_vjp softmax swiglu swiglu_vjp swiglu_jvp_vjp layer_norm layer_norm_vjp_vjp"
    for op in (ops[name] for name in names.split()):
        assert "Platforms: CUDA, Host." in op.__doc__ or "Platforms: Host, CUDA." in op.__doc__, op.__doc__
    # The same program, for a platform that this machine lacks.
    def loss(x):
        return (ops.swiglu(ops.rms_norm(x), ops.layer_norm(x, x, x)) ** 2).sum()

    gradient = jax.jit(jax.grad(loss))
    targets = ["rms_norm", "rms_norm_vjp", "swiglu", "swiglu_vjp", "layer_norm", "layer_norm_vjp"]
    checks = [export.DisabledSafetyCheck.custom_call(f"custom_op::{target}") for target in targets]
    exported = export.export(gradient, platforms=["cuda"], disabled_checks=checks)(x)
    text = exported.mlir_module()
    for target in targets:
        assert f"custom_op::{target}" in text, target
    print("done")
"""


@pytest.fixture
def with_kernels():
    path = os.environ.get("OXCALL_TEST_CUDA")
    if path is None:
        pytest.fail("OXCALL_TEST_CUDA names the gallery built with the feature `cuda`; `cargo xtask test` builds it")
    return path


def test_a_library_with_kernels_serves_the_cpu(with_kernels):
    lines = [line.removeprefix("    ") for line in PROGRAM.splitlines()]
    command = [sys.executable, "-c", "\n".join(lines), with_kernels]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "done\n", done.stderr
