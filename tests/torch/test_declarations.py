"""`fwd`, `transpose`, `nondiff` and lists in derivatives of operators, on operators written in Python."""

import collections
import gc
import weakref

import pytest
import torch
import torch.utils.checkpoint
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap

from python_ops import Ops, param

CALLS = collections.Counter()
X = torch.tensor([0.5, -1.0, 0.25], dtype=torch.float64)
W = torch.tensor([2.0, 3.0, -0.5], dtype=torch.float64)
BATCH = torch.stack([X, W, X - W])


def add(ops, name, function, arguments, results, **options):
    """An operator of tensors, whose calls are counted."""

    def counted(*args):
        CALLS[name] += 1
        return function(*args)

    given = ", ".join(f"Tensor {one}" for one in arguments)
    returned = "Tensor" if len(results) == 1 else f"({', '.join(['Tensor'] * len(results))})"
    params = [param("arg", one, "..b, n", {"var": 0}) for one in arguments]
    ops.add(name, given, returned, counted, params + [param("ret", one, "..b, n", {"var": 0}) for one in results],
            **options)  # fmt: skip


def calls(function):
    CALLS.clear()
    function()
    return dict(CALLS)


def residual(x, w):
    return w * x.exp()


@pytest.fixture(scope="module")
def ops(glue):
    """`y = w * exp(x)`, whose residual is `s = exp(x)`, and `z = x * w`, which is linear in `x`."""
    ops = Ops()

    def forward(x, w):
        return w * x.exp(), x.exp()

    def backward(w, s, dy):
        return w * s * dy, s * dy

    def tangent(w, s, tx, tw):
        return s * (w * tx + tw)

    operands = ["x", "w"]
    add(ops, "first", residual, operands, ["y"], fwd="first_fwd", vjp="first_vjp", jvp="first_jvp")
    add(ops, "first_fwd", forward, operands, ["y", "s"])
    add(ops, "first_vjp", backward, ["w", "s", "dy"], ["dx", "dw"])
    add(ops, "first_jvp", tangent, ["w", "s", "tx", "tw"], ["ty"])

    def forward_backward(s, w, dy, ds):
        return s * (w * dy + ds), s * dy

    def forward_tangent(s, w, tx, tw):
        return s * (w * tx + tw), s * tx

    def backward_backward(w, s, dy, ddx, ddw):
        return s * dy * ddx, w * dy * ddx + dy * ddw, w * s * ddx + s * ddw

    def backward_tangent(w, s, dy, tw, ts, tdy):
        return tw * s * dy + w * ts * dy + w * s * tdy, ts * dy + s * tdy

    add(ops, "full", residual, operands, ["y"], fwd="full_fwd", vjp="full_vjp", jvp="full_jvp")
    add(ops, "full_fwd", forward, operands, ["y", "s"], vjp="full_fwd_vjp", jvp="full_fwd_jvp")
    add(ops, "full_fwd_vjp", forward_backward, ["s", "w", "dy", "ds"], ["dx", "dw"])
    add(ops, "full_fwd_jvp", forward_tangent, ["s", "w", "tx", "tw"], ["ty", "ts"])
    add(ops, "full_vjp", backward, ["w", "s", "dy"], ["dx", "dw"], vjp="full_vjp_vjp", jvp="full_vjp_jvp")
    add(ops, "full_vjp_vjp", backward_backward, ["w", "s", "dy", "ddx", "ddw"], ["dw", "ds", "ddy"])
    add(ops, "full_vjp_jvp", backward_tangent, ["w", "s", "dy", "tw", "ts", "tdy"], ["tdx", "tdw"])
    add(ops, "full_jvp", tangent, ["w", "s", "tx", "tw"], ["ty"])

    def product(x, w):
        return x * w

    add(ops, "linear", product, operands, ["z"], transpose="linear_t")
    add(ops, "linear_t", product, ["dz", "w"], ["dx"], transpose="linear_t_t")
    add(ops, "linear_t_t", product, ["ddx", "w"], ["ddz"])
    add(ops, "fixed", product, operands, ["z"], transpose="fixed_t", nondiff=["w"])
    add(ops, "fixed_t", product, ["dz", "w"], ["dx"], nondiff=["w"], transpose="linear_t_t")

    def statistics(x, w):
        return x * w, x.mean() * torch.ones_like(x)

    add(ops, "stats", statistics, operands, ["y", "mean"], vjp="stats_vjp", jvp="stats_jvp", nondiff=["w", "mean"])
    add(ops, "stats_vjp", product, ["dy", "w"], ["dx"])
    add(ops, "stats_jvp", product, ["tx", "w"], ["ty"])
    glue.register(ops.manifest, ops.report)
    return ops


def leaves():
    return X.clone().requires_grad_(), W.clone().requires_grad_()


@pytest.mark.parametrize("name", ["first", "full"])
def test_residuals(ops, name):
    op = getattr(ops, name)
    x, w = leaves()
    assert calls(lambda: op(X, W)) == {name: 1}
    y = []
    assert calls(lambda: y.append(op(x, w))) == {f"{name}_fwd": 1}
    assert calls(lambda: y[0].sum().backward()) == {f"{name}_vjp": 1}
    torch.testing.assert_close((x.grad, w.grad), (W * X.exp(), X.exp()))
    assert calls(lambda: jvp(op, (X, W), (W, X))) == {f"{name}_fwd": 1, f"{name}_jvp": 1}
    assert torch.autograd.gradcheck(op, (x, w), check_forward_ad=True)
    for transform in (
        lambda f: vmap(grad(lambda x: f(x, W).sum()))(BATCH),
        lambda f: jacfwd(f, (0, 1))(X, W),
        lambda f: vmap(jacrev(f), (0, None))(BATCH, W),
    ):
        torch.testing.assert_close(transform(op), transform(residual))


def test_second_derivatives_through_residuals(ops):
    assert torch.autograd.gradgradcheck(ops.full, leaves(), check_fwd_over_rev=True)
    for transform in (
        hessian(lambda x, w: ops.full(x, w).square().sum(), (0, 1)),
        jacrev(jacrev(lambda x, w: ops.full(x, w).square().sum(), (0, 1)), (0, 1)),
    ):
        expected = hessian(lambda x, w: residual(x, w).square().sum(), (0, 1))
        torch.testing.assert_close(transform(X, W), expected(X, W))


def test_second_derivatives_through_residuals_that_are_not_declared(ops):
    x, w = leaves()
    (gradient,) = torch.autograd.grad(ops.first(x, w).sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="first_vjp: it has no derivative in reverse mode"):
        gradient.sum().backward()
    with pytest.raises(NotImplementedError, match=r"first_(fwd|vjp): it has no derivative in reverse mode"):
        grad(lambda x: grad(lambda x: ops.first(x, W).sum())(x).sum())(X)
    with forward_ad.dual_level():
        y = ops.first(forward_ad.make_dual(x, W), w)
        with pytest.raises(NotImplementedError, match="first_fwd: it has no derivative in forward mode"):
            torch.autograd.grad(y.sum(), x)


def test_linear_ops(ops):
    x, _ = leaves()
    assert torch.autograd.gradcheck(lambda x: ops.linear(x, W), (x,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda x: ops.linear(x, W), (x,), check_fwd_over_rev=True)
    _, tangent = jvp(lambda x: ops.linear(x, W), (X,), (W,))
    torch.testing.assert_close(tangent, W * W)
    square = hessian(lambda x: ops.linear(x, W).square().sum())(X)
    torch.testing.assert_close(square, torch.diag(2 * W * W))


def test_arguments_that_an_op_is_not_linear_in(ops):
    x, w = leaves()
    message = r"linear: argument `w`: it has no {}.* pass w.detach\(\), declare `nondiff = \[w\]`, or declare `vjp`"
    with pytest.raises(NotImplementedError, match=message.format("gradient")):
        ops.linear(x, w).sum().backward()
    with pytest.raises(NotImplementedError, match=message.format("tangent")):
        jvp(lambda w: ops.linear(X, w), (W,), (X,))


@pytest.mark.parametrize("name", ["fixed", "stats"])
def test_arguments_without_derivatives(ops, name):
    def op(x, w):
        result = getattr(ops, name)(x, w)
        return result if name == "fixed" else result[0]

    x, w = leaves()
    op(x, w).sum().backward()
    torch.testing.assert_close(x.grad, W)
    assert w.grad is None
    _, tangent = jvp(op, (X, W), (W, X))
    torch.testing.assert_close(tangent, W * W)
    _, tangent = jvp(lambda w: op(X, w), (W,), (X,))
    assert tangent.tolist() == [0, 0, 0]
    assert grad(lambda w: op(X, w).sum())(W).tolist() == [0, 0, 0]


def test_results_without_derivatives(ops):
    x, w = leaves()
    y, mean = ops.stats(x, w)
    assert y.requires_grad and not mean.requires_grad
    _, (ty, tangent) = jvp(lambda x: ops.stats(x, W), (X,), (W,))
    torch.testing.assert_close(ty, W * W)
    assert tangent.tolist() == [0, 0, 0]
    torch.testing.assert_close(grad(lambda x: sum(ops.stats(x, W)).sum())(X), W)


@pytest.mark.parametrize("is_dual", [False, True])
def test_nothing_is_kept_after_a_call(ops, is_dual):
    gc.disable()
    try:
        with forward_ad.dual_level():
            x, w = leaves()
            y = ops.full(forward_ad.make_dual(x, W) if is_dual else x, w)
            node = weakref.ref(y.grad_fn)
            del y
        assert node() is None
    finally:
        gc.enable()


def test_checkpoints(ops):
    x, w = leaves()
    torch.utils.checkpoint.checkpoint(ops.full, x, w, use_reentrant=False).sum().backward()
    torch.testing.assert_close((x.grad, w.grad), (W * X.exp(), X.exp()))


def test_compiled(ops):
    """Without shapes for tensors without data, torch asks the operator: what is traced is its forward op."""
    x, w = leaves()
    for name in ("first", "full"):
        compiled = torch.compile(getattr(ops, name), backend="aot_eager", fullgraph=True)
        CALLS.clear()
        y = compiled(x, w)
        assert dict(CALLS) == {f"{name}_fwd": 1}
        gradients = torch.autograd.grad(y.sum(), (x, w))
        assert dict(CALLS) == {f"{name}_fwd": 1, f"{name}_vjp": 1}
        torch.testing.assert_close(gradients, (W * X.exp(), X.exp()))
    compiled = torch.compile(grad(lambda x: ops.linear(x, W).sum()), backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(X), W)


@pytest.mark.parametrize("name", ["first", "full", "linear", "stats"])
def test_checks_of_torch(ops, name):
    x, w = leaves()
    torch.library.opcheck(getattr(ops, name).default, (x, W if name == "linear" else w))


def test_tangents_of_lists(glue):
    ops = Ops()
    lists = {"arity": "variadic"}
    ops.add(
        "total", "Tensor? bias, Tensor[] xs", "Tensor", lambda bias, xs: sum(xs) + (0 if bias is None else bias),
        [param("arg", "bias", "n", arity="optional"), param("arg", "xs", "n", **lists), param("ret", "y", "n")],
        jvp="total_jvp",
    )  # fmt: skip
    ops.add(
        "total_jvp", "Tensor? tbias, Tensor[] txs", "Tensor",
        lambda tbias, txs: sum(txs) + (0 if tbias is None else tbias),
        [param("arg", "tbias", "n", arity="optional"), param("arg", "txs", "n", **lists), param("ret", "ty", "n")],
    )  # fmt: skip
    glue.register(ops.manifest, ops.report)
    _, tangent = jvp(lambda x, bias: ops.total(bias, [x, W, x]), (X, X), (W, X))
    torch.testing.assert_close(tangent, 2 * W + X)
    _, tangent = jvp(lambda x: ops.total(None, [x, W]), (X,), (W,))
    torch.testing.assert_close(tangent, W)
