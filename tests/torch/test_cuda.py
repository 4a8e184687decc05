"""A library with kernels for CUDA where there is no GPU: its operators run on the CPU, and trace for GPUs.

In a process of its own: the tests here have the gallery without kernels loaded already.
"""

import os
import subprocess
import sys

import pytest

PROGRAM = """
    import sys
    import torch
    import oxcall
    from torch._subclasses import FakeTensorMode

    oxcall.load(sys.argv[1])
    ops = torch.ops.custom_op
    x = torch.arange(12.0).reshape(3, 4)
    expected = x / torch.sqrt(torch.mean(x * x, -1, keepdim=True) + 1e-5)
    assert torch.allclose(ops.rms_norm(x), expected)
    leaf = x.clone().requires_grad_()
    ops.softplus(leaf).sum().backward()
    assert torch.allclose(leaf.grad, torch.sigmoid(x))
    for name in ("swiglu_vjp", "layer_norm_vjp", "tempered_softmax_jvp_vjp"):
        table = torch._C._dispatch_dump(f"custom_op::{name}")
        assert "CUDA: registered" in table and "CPU: registered" in table, table
    # Shapes, dtypes and devices for a GPU that this machine lacks.
    with FakeTensorMode():
        fake = torch.empty(5, 7, device="cuda", dtype=torch.bfloat16)
        for y in (ops.rms_norm(fake), ops.softmax(fake), ops.swiglu(fake, fake), ops.layer_norm(fake, fake, fake)):
            assert (y.shape, y.dtype, y.device.type) == (fake.shape, fake.dtype, "cuda")
        loss = ops.softmax_cross_entropy(fake, fake)
        assert (loss.shape, loss.dtype, loss.device.type) == (fake.shape[:1], fake.dtype, "cuda")
    print("done")
"""


def test_a_library_with_kernels_serves_the_cpu():
    path = os.environ.get("OXCALL_TEST_CUDA")
    if path is None:
        pytest.fail("OXCALL_TEST_CUDA names the gallery built with the feature `cuda`; `cargo xtask test` builds it")
    lines = [line.removeprefix("    ") for line in PROGRAM.splitlines()]
    command = [sys.executable, "-c", "\n".join(lines), path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "done\n", done.stderr
