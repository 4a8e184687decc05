"""Operators of the gallery's library on tensors of the device: kernels of the plugin, in the program of torch_xla."""

import os

import pytest
import torch


@pytest.fixture(scope="module")
def ops():
    torch.ops.load_library(os.environ["OXCALL_LIBRARIES"])
    return torch.ops.custom_op


def test_results_are_those_of_the_cpu(ops, compare):
    x = torch.randn(4, 6)
    compare(lambda x: ops.rms_norm(x * 2, eps=0.1) + 1, x)
    compare(lambda x: ops.top_k(2, x), x)


def test_operators_by_descriptor(ops, compare):
    x, y = torch.randn(3, 5), torch.randn(3, 5)
    compare(lambda x: ops.custom_topk(x * 2, 2, 1, False), x)
    compare(lambda x: ops.custom_topk(x, 2, 0, True), x)
    compare(lambda x, y: ops.custom_relu_backward(y, x, 0.25) + ops.custom_relu(x), x, y)
    state = [torch.zeros(3, 5), torch.zeros(3, 5)]
    compare(lambda x, y, *state: ops.custom_adam(x, y, *state, 2, lr=0.1), x, y, *state)


def test_updates_in_place(ops, compare):
    def run(x, y):
        y = y * 1
        ops.axpy(0.5, x, y)
        ops.axpy(2, x, y)
        return y + 1

    compare(run, torch.randn(6), torch.randn(6))


def test_updates_that_autograd_would_have_to_record(ops, device):
    x = torch.ones(3, device=device, requires_grad=True)
    y = torch.zeros(3, device=device)
    with pytest.raises(RuntimeError, match="axpy: argument `x`: the tensor requires a gradient"):
        ops.axpy(2.0, x, y)
    with torch.no_grad():
        ops.axpy(2.0, x, y)
    assert y.cpu().tolist() == [2, 2, 2]


def test_calls_that_differ_in_attributes_differ(ops, device):
    x = torch.randn(3, 5)
    on_device = x.to(device)
    for eps in (0.5, 2.0, 0.5):
        torch.testing.assert_close(ops.rms_norm(on_device, eps=eps).cpu(), ops.rms_norm(x, eps=eps))


def test_gradients(ops, device):
    def gradient(where):
        x = torch.linspace(-1, 2, 8, device=where).reshape(2, 4).requires_grad_()
        return torch.autograd.grad((ops.rms_norm(x) ** 3).sum(), x)[0].cpu()

    torch.testing.assert_close(gradient(device), gradient("cpu"), rtol=1e-4, atol=1e-5)
