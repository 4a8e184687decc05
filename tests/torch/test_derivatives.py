"""Derivatives of real libraries: right, or an error that names the operator."""

import pytest
import torch
from torch.autograd import forward_ad
from torch.library import opcheck

from cases import rms_norm


def randn(*shape, dtype=torch.float64):
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


def test_first_and_second_derivatives(derived):
    x = randn(2, 3)
    assert torch.autograd.gradcheck(derived.cube, x)
    assert torch.autograd.gradgradcheck(derived.cube, x)
    opcheck(derived.cube.default, (randn(3),))


def test_a_third_derivative_that_is_not_declared(derived):
    x = randn(3)
    (first,) = torch.autograd.grad(derived.cube(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    torch.testing.assert_close(second, 6 * x)
    message = r"cube_vjp_vjp: it has no derivative in reverse mode.*vjp = cube_vjp_vjp_vjp"
    with pytest.raises(NotImplementedError, match=message):
        torch.autograd.grad(second.sum(), x)
    with pytest.raises(NotImplementedError, match=message):
        torch.func.jacrev(torch.func.jacrev(torch.func.jacrev(derived.cube)))(x.detach())


def test_a_second_derivative_that_is_not_declared(derived, ops):
    x = torch.randn(3, requires_grad=True)
    (gradient,) = torch.autograd.grad(derived.fan(x)[1].square().sum(), x, create_graph=True)
    torch.testing.assert_close(gradient, 18 * x)
    with pytest.raises(NotImplementedError, match="fan_vjp: it has no derivative in reverse mode"):
        gradient.square().sum().backward()
    x = torch.randn(2, 3, requires_grad=True)
    (gradient,) = torch.autograd.grad(ops.rms_norm(x).square().sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="rms_norm_vjp: it has no derivative in reverse mode"):
        gradient.sum().backward()


def test_gradients_through_each_result(derived):
    x = torch.randn(4, requires_grad=True)
    for index, expected in [(0, 1.0), (1, 3.0)]:
        (gradient,) = torch.autograd.grad(derived.fan(x)[index].sum(), x)
        assert gradient.tolist() == [expected] * 4
    assert not derived.fan(x)[2].requires_grad


def test_an_operation_without_a_derivative(derived):
    x = torch.randn(3, requires_grad=True)
    y = derived.double(x)
    torch.testing.assert_close(y, 2 * x)
    with pytest.raises(RuntimeError, match="derived_ops::double"):
        y.sum().backward()
    with torch.no_grad():
        assert not derived.double(x).requires_grad
    assert derived.double(x.detach()).tolist() == y.tolist()


def test_updates_that_autograd_would_have_to_record(ops):
    x, weight = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    for y in (weight * 1, torch.ones(3)):
        expected = y.detach() + 2 * x.detach()
        with pytest.raises(RuntimeError, match=r"axpy: argument `[xy]`: the tensor requires a gradient"):
            ops.axpy(2.0, x, y)
        with torch.no_grad():
            ops.axpy(2.0, x, y)
        torch.testing.assert_close(y.detach(), expected)
    with pytest.raises(RuntimeError, match=r"axpy: argument `y`"):
        ops.axpy(2.0, torch.ones(3), weight * 1)
    ops.axpy(2.0, x.detach(), y)
    with pytest.raises(RuntimeError, match="axpy"):
        torch.func.jvp(lambda x: ops.axpy(2.0, x, torch.zeros(3)), (torch.ones(3),), (torch.ones(3),))
    with forward_ad.dual_level(), pytest.raises(RuntimeError, match="axpy"):
        ops.axpy(2.0, forward_ad.make_dual(torch.ones(3), torch.ones(3)), torch.zeros(3))


def test_compiled_updates_that_autograd_would_have_to_record(ops):
    def update(x):
        y = x * 1
        ops.axpy(2.0, x, y)
        return y

    compiled = torch.compile(update, backend="aot_eager", fullgraph=True)
    x = torch.randn(3)
    torch.testing.assert_close(compiled(x), 3 * x)
    with pytest.raises(RuntimeError):
        compiled(x.requires_grad_()).sum().backward()


@pytest.mark.parametrize("name", ["cube", "fan_vjp", "double"])
def test_forward_mode(derived, name):
    x, tangent = torch.randn(3), torch.ones(3)
    op = getattr(derived, name)
    rest = (x,) if name == "fan_vjp" else ()
    with pytest.raises(NotImplementedError, match=name):
        torch.func.jvp(lambda x: op(x, *rest), (x,), (tangent,))
    with pytest.raises(NotImplementedError, match=name):
        torch.func.jacfwd(lambda x: op(x, *rest))(x)
    with forward_ad.dual_level():
        with pytest.raises(NotImplementedError, match=name):
            op(forward_ad.make_dual(x, tangent), *rest)
        op(x, *rest)


def test_transforms(derived, ops):
    x = torch.randn(3, dtype=torch.float64)
    torch.testing.assert_close(torch.func.grad(lambda x: derived.cube(x).sum())(x), 3 * x * x)
    hessian = torch.func.jacrev(torch.func.jacrev(lambda x: derived.cube(x).sum()))
    torch.testing.assert_close(hessian(x), torch.diag(6 * x))
    rows = torch.randn(4, 3, dtype=torch.float64)
    expected = torch.func.vmap(torch.func.jacrev(rms_norm))(rows)
    torch.testing.assert_close(torch.func.vmap(torch.func.jacrev(ops.rms_norm))(rows), expected)
    x = x.float()
    with pytest.raises(RuntimeError, match="derived_ops::double"):
        torch.func.grad(lambda x: derived.double(x).sum())(x)
    assert torch.func.grad(lambda x: (x * derived.double(torch.ones(3))).sum())(x).tolist() == [2, 2, 2]


def test_gradients_for_each_sample(ops):
    """The gradients of a model's parameters for each row of a batch, without a loop."""
    weight, rows = torch.randn(5, 3, dtype=torch.float64), torch.randn(4, 3, dtype=torch.float64)

    def loss(weight, row, norm):
        return norm(weight @ row).square().mean() + norm(row).sum()

    ours, expected = (
        torch.func.vmap(torch.func.grad(loss), (None, 0, None))(weight, rows, norm) for norm in (ops.rms_norm, rms_norm)
    )
    torch.testing.assert_close(ours, expected)


def test_compiled(derived):
    x = randn(3)
    compiled = torch.compile(derived.cube, backend="aot_eager", fullgraph=True)
    (gradient,) = torch.autograd.grad(compiled(x).sum(), x)
    torch.testing.assert_close(gradient, 3 * x * x)
    double = torch.compile(lambda x: derived.double(x) + 1, backend="aot_eager", fullgraph=True)
    x = torch.randn(3)
    torch.testing.assert_close(double(x), 2 * x + 1)
