"""The ops through PyTorch."""

import my_ops
import pytest
import torch

X = torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
rms_norm = my_ops.rms_norm.torch


def reference(x, eps=1e-5):
    return x / torch.sqrt(torch.mean(torch.square(x), -1, keepdim=True) + eps)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_values(dtype):
    x = X.to(dtype)
    torch.testing.assert_close(rms_norm(x), reference(x.double()).to(dtype))


def test_gradient():
    assert torch.autograd.gradcheck(rms_norm, X.clone().requires_grad_())


def test_operator():
    torch.library.opcheck(rms_norm, (X.clone().requires_grad_(),), {"eps": 1e-3})


def test_mistakes():
    with pytest.raises(RuntimeError, match="epsilon"):
        rms_norm(X, epsilon=1e-3)
