"""Whether a module for PyTorch does what it claims: ``python check_torch.py FOLDER NAMESPACE::OPERATOR``.

The folder has `rms_norm.py`, and what that loads. Values are compared with the formula in double precision.
"""

import sys

sys.path.insert(0, sys.argv[1])

import rms_norm
import torch

EPS = 1e-3


def formula(x, w):
    return w * x / torch.sqrt(torch.mean(x * x, -1, keepdim=True) + EPS)


def norm(x, w):
    # An op of oxcall is a function of JAX, which has the operator.
    return getattr(rms_norm.rms_norm, "torch", rms_norm.rms_norm)(x, w, eps=EPS)


def gradients(function, x, w):
    x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
    return torch.autograd.grad(function(x, w).sin().sum(), (x, w))


def check(found, expected):
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b.to(a.dtype), rtol=2e-5, atol=2e-5)


generator = torch.Generator().manual_seed(0)
x, w = torch.randn(8, 16, generator=generator), torch.randn(16, generator=generator)
check([norm(x, w)], [formula(x.double(), w.double())])
check(gradients(norm, x, w), gradients(formula, x.double(), w.double()))
batch = x.reshape(4, 2, 16)
check([torch.vmap(norm, (0, None))(batch, w)], [torch.vmap(formula, (0, None))(batch.double(), w.double())])
namespace, name = sys.argv[2].split("::")
torch.library.opcheck(
    getattr(getattr(torch.ops, namespace), name).default, (x.requires_grad_(), w.requires_grad_(), EPS)
)
print("forward, gradient, vmap: as the formula; opcheck passes")
