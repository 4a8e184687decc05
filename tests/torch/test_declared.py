"""Derivatives and batches that a library declares: `jvp`, `fwd`, `transpose`, `nondiff`, `batch`, `vmap = path`."""

import pytest
import torch
from torch.func import grad, jacfwd, jacrev, jvp, vmap
from torch.library import opcheck

X, W = torch.randn(4, 3, dtype=torch.float64), torch.randn(3, dtype=torch.float64)


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: jvp(f, (X, W), (X + 1, W - 1)),
        lambda f: vmap(grad(lambda x, w: f(x, w).sum(), (0, 1)), (0, None))(X, W),
        lambda f: jacfwd(f, (0, 1))(X, W),
        lambda f: jacrev(vmap(f, (0, None)), (0, 1))(X, W),
    ],
)
def test_declared_derivatives(derived, transform):
    torch.testing.assert_close(transform(derived.growth), transform(lambda x, w: w * x.exp()))


def test_checks_of_declared_derivatives(derived):
    x, w = X.clone().requires_grad_(), W.clone().requires_grad_()
    assert torch.autograd.gradcheck(derived.growth, (x, w), check_forward_ad=True, check_batched_grad=True)
    opcheck(derived.growth.default, (x, w))
    assert torch.autograd.gradcheck(lambda x: derived.gain(x, X), (x,), check_forward_ad=True)
    derived.gain(x, w.expand(4, 3)).sum().backward()
    assert w.grad is None
    torch.testing.assert_close(x.grad, W.expand(4, 3))


def test_forward_mode_alone(derived):
    torch.testing.assert_close(jacfwd(derived.wave)(W), torch.diag(W.cos()))
    torch.testing.assert_close(vmap(derived.wave)(X), X.sin())
    with pytest.raises(NotImplementedError, match=r"wave: it has no derivative in reverse mode.*vjp = wave_vjp"):
        grad(lambda w: derived.wave(w).sum())(W)
