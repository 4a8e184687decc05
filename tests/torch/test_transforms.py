"""Derivatives by declarations, on operators written in Python: torch.autograd, forward_ad and torch.func."""

import collections

import pytest
import torch
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

from python_ops import Ops, attr, param

VAR = {"var": 0}
CALLS = collections.Counter()


def arg(name, dims="..b, n"):
    return param("arg", name, dims, VAR)


def ret(name, dims="..b, n"):
    return param("ret", name, dims, VAR)


def add(ops, name, function, arguments, results, scale=True, **options):
    """An operator of tensors, whose calls are counted."""

    def counted(*args, **kwargs):
        CALLS[name] += 1
        return function(*args, **kwargs)

    given = ", ".join(f"Tensor {one}" for one in arguments) + (", float scale=2.0" if scale else "")
    returned = "Tensor" if len(results) == 1 else f"({', '.join(['Tensor'] * len(results))})"
    params = [*map(arg, arguments), *map(ret, results)]
    ops.add(name, given, returned, counted, params, [attr("scale", "f64", "default")] if scale else [], **options)


@pytest.fixture(scope="module")
def ops(glue):
    """`y = scale * x^2 * w` with every derivative of every derivative, and with fewer."""
    ops = Ops()

    def function(x, w, scale=2.0):
        return scale * x * x * w

    def tangent(x, w, tx, t_w, scale=2.0):
        return scale * (2 * x * w * tx + x * x * t_w)

    def backward(x, w, dy, scale=2.0):
        return 2 * scale * x * w * dy, scale * x * x * dy

    def derivative_of_backward(x, w, dy, tx, tw, tdy, scale=2.0):
        return 2 * scale * (tx * w * dy + x * tw * dy + x * w * tdy), scale * (2 * x * tx * dy + x * x * tdy)

    def backward_of_backward(x, w, dy, ddx, ddw, scale=2.0):
        return (
            2 * scale * (w * dy * ddx + x * dy * ddw),
            2 * scale * x * dy * ddx,
            scale * (2 * x * w * ddx + x * x * ddw),
        )

    def backward_of_tangent(x, w, tx, t_w, dty, scale=2.0):
        return (
            2 * scale * dty * (w * tx + x * t_w), 2 * scale * dty * x * tx, 2 * scale * dty * x * w, scale * dty * x * x
        )  # fmt: skip

    operands = ["x", "w"]
    add(ops, "full", function, operands, ["y"], vjp="full_vjp", jvp="full_jvp")
    add(ops, "full_vjp", backward, [*operands, "dy"], ["dx", "d_w"], vjp="full_vjp_vjp", jvp="full_vjp_jvp")
    add(ops, "full_vjp_vjp", backward_of_backward, [*operands, "dy", "ddx", "d_d_w"], ["dx", "dw", "ddy"])
    add(ops, "full_vjp_jvp", derivative_of_backward, [*operands, "dy", "tx", "tw", "tdy"], ["tdx", "td_w"])
    add(ops, "full_jvp", tangent, [*operands, "tx", "t_w"], ["ty"], vjp="full_jvp_vjp")
    add(ops, "full_jvp_vjp", backward_of_tangent, [*operands, "tx", "t_w", "dty"], ["dx", "dw", "dtx", "dt_w"])
    add(ops, "first", function, operands, ["y"], vjp="first_vjp", vmap="broadcast_all")
    add(ops, "first_vjp", backward, [*operands, "dy"], ["dx", "dw"], vmap="broadcast_all")
    add(ops, "forwards", function, operands, ["y"], jvp="forwards_jvp")
    add(ops, "forwards_jvp", tangent, [*operands, "tx", "t_w"], ["ty"])
    glue.register(ops.manifest, ops.report)
    return ops


def reference(x, w, scale=2.0):
    return scale * x * x * w


def randn(*shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(sum(shape)))


def both(op, transform):
    """What a transform gives for an operator, and for torch's own functions."""
    return transform(op), transform(reference)


X, W = randn(3), randn(4)[:3]
BATCH = randn(5, 3)


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: grad(lambda x: f(x, W).sum())(X),
        lambda f: grad(lambda x, w: f(x, w, scale=-1.5).sum(), (0, 1))(X, W),
        lambda f: vjp(f, X, W)[1](torch.ones(3, dtype=torch.float64)),
        lambda f: jacrev(f, (0, 1))(X, W),
        lambda f: vmap(grad(lambda x, w: f(x, w).sum(), (0, 1)), (0, None))(BATCH, W),
        lambda f: vmap(grad(lambda x: f(x, W).sum()), 1)(BATCH.T),
        lambda f: grad(lambda w: vmap(f, (0, None))(BATCH, w).sum())(W),
        lambda f: grad(lambda x: vmap(f, (0, None))(x, W).square().sum())(BATCH),
        lambda f: vmap(jacrev(f), (0, None))(BATCH, W),
        lambda f: jacrev(vmap(f, (0, None)))(BATCH, W),
        lambda f: vmap(vmap(grad(lambda x: f(x, W).sum())))(BATCH.expand(2, 5, 3)),
        lambda f: grad(lambda x: f(x, x.detach()).sum() * x.sum())(X),
    ],
)
@pytest.mark.parametrize("name", ["first", "full"])
def test_reverse_mode(ops, name, transform):
    torch.testing.assert_close(*both(getattr(ops, name), transform))


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: jvp(f, (X, W), (W, X)),
        lambda f: jvp(lambda x: f(x, W), (X,), (W,)),
        lambda f: jvp(lambda w: f(X, w), (X,), (W,)),
        lambda f: jacfwd(f, (0, 1))(X, W),
        lambda f: vmap(jacfwd(f), (0, None))(BATCH, W),
        lambda f: jacfwd(vmap(f, (0, None)), 1)(BATCH, W),
    ],
)
@pytest.mark.parametrize("name", ["forwards", "full"])
def test_forward_mode(ops, name, transform):
    torch.testing.assert_close(*both(getattr(ops, name), transform))


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: grad(lambda x: grad(lambda x: f(x, W).sum())(x).square().sum())(X),
        lambda f: hessian(lambda x: f(x, W).sum())(X),
        lambda f: hessian(lambda x, w: f(x, w).square().sum(), (0, 1))(X, W),
        lambda f: jacrev(jacrev(lambda x, w: f(x, w).sum(), (0, 1)), (0, 1))(X, W),
        lambda f: jacrev(jacfwd(lambda x, w: f(x, w).sum(), (0, 1)), (0, 1))(X, W),
        lambda f: vmap(hessian(lambda x: f(x, W).sum()))(BATCH),
    ],
)
def test_second_derivatives(ops, transform):
    torch.testing.assert_close(*both(ops.full, transform))


def test_checks_of_torch(ops):
    x, w = X.clone().requires_grad_(), W.clone().requires_grad_()
    assert torch.autograd.gradcheck(ops.first, (x, w), check_batched_grad=True)
    assert torch.autograd.gradcheck(ops.full, (x, w), check_forward_ad=True, check_batched_forward_grad=True)
    assert torch.autograd.gradgradcheck(ops.full, (x, w), check_fwd_over_rev=True, check_rev_over_rev=True)
    assert torch.autograd.gradcheck(ops.forwards, (x, W), check_forward_ad=True, check_backward_ad=False)
    z = randn(3, dtype=torch.complex128).requires_grad_()
    assert torch.autograd.gradcheck(ops.full, (z, (z * 1j).detach().requires_grad_()), check_forward_ad=True)


def test_a_second_derivative_that_is_not_declared(ops):
    x = X.clone().requires_grad_()
    (first,) = torch.autograd.grad(ops.first(x, W).sum(), x, create_graph=True)
    torch.testing.assert_close(first, 4 * x * W)
    message = r"first_vjp: it has no derivative in reverse mode.*`#\[custom_call\(vjp = first_vjp_vjp\)\]`"
    with pytest.raises(NotImplementedError, match=message):
        first.sum().backward()
    with pytest.raises(NotImplementedError, match=message):
        grad(lambda x: grad(lambda x: ops.first(x, W).sum())(x).sum())(X)
    with pytest.raises(NotImplementedError, match=message):
        vmap(grad(lambda x: grad(lambda x: ops.first(x, W).sum())(x).sum()))(BATCH)
    with pytest.raises(NotImplementedError, match="first: it has no derivative in forward mode"):
        hessian(lambda x: ops.first(x, W).sum())(X)
    with pytest.raises(NotImplementedError, match="forwards_jvp: it has no derivative in reverse mode"):
        jacrev(jacfwd(lambda x: ops.forwards(x, W).sum()))(X)


def test_a_mode_that_is_not_declared(ops):
    message = r"first: it has no derivative in forward mode .*`#\[custom_call\(jvp = first_jvp\)\]`"
    with pytest.raises(NotImplementedError, match=message):
        jvp(lambda x: ops.first(x, W), (X,), (W,))
    with pytest.raises(NotImplementedError, match=message):
        jacfwd(lambda x: ops.first(x, W))(X)
    with forward_ad.dual_level():
        with pytest.raises(NotImplementedError, match=message):
            ops.first(forward_ad.make_dual(X, W), W)
        # What has no tangent is as ever.
        torch.testing.assert_close(ops.first(X, W), reference(X, W))
    x = X.clone().requires_grad_()
    message = r"forwards: it has no derivative in reverse mode .*`#\[custom_call\(vjp = forwards_vjp\)\]`"
    with pytest.raises(NotImplementedError, match=message):
        ops.forwards(x, W).sum().backward()
    with pytest.raises(NotImplementedError, match=message):
        grad(lambda x: ops.forwards(x, W).sum())(X)
