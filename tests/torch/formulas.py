"""Operators against formulas of torch: derivatives, and transforms of functions."""

import torch
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap
from torch.library import opcheck


def check_derivatives(op, args):
    """Of first and second order, against differences; and what torch asks of every operator."""
    args = [arg.clone().requires_grad_() for arg in args]
    assert torch.autograd.gradcheck(op, args, check_forward_ad=True, check_batched_grad=True)
    assert torch.autograd.gradgradcheck(op, args, check_fwd_over_rev=True)
    opcheck(op.default, args)


def check_transforms(op, formula, args, tolerance=1e-12):
    """Values and derivatives in every combination of modes, against those of the formula."""

    def loss(f):
        def of(*args):
            results = f(*args)
            return sum(result.sin().sum() for result in (results if isinstance(results, tuple) else (results,)))

        return of

    def check(transform):
        torch.testing.assert_close(transform(op), transform(formula), rtol=tolerance, atol=tolerance)

    check(lambda f: f(*args))
    check(lambda f: grad(loss(f))(*args))
    check(lambda f: jvp(loss(f), args, tuple(arg.cos() for arg in args)))
    check(lambda f: vmap(grad(loss(f)))(*args))
    check(lambda f: vmap(hessian(loss(f)))(*args))
    check(lambda f: jacrev(jacrev(loss(f)))(*args))
    check(lambda f: vmap(jacfwd(jacfwd(loss(f))))(*args))
