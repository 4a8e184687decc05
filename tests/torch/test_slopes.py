"""Derivatives of pointwise and row-wise functions where slopes are infinite or NaN, against torch's own operators."""

import pytest
import torch
from torch.autograd import forward_ad

INF = float("inf")

FORMULAS = {
    "power": (torch.pow, [(-2.0, 2.0), (-2.0, 3.0), (0.0, 3.0), (2.0, -1.0)]),
    "product": (torch.mul, [(INF, 2.0), (3.0, INF), (0.0, -INF), (-2.0, 0.0)]),
    "quotient": (torch.div, [(INF, 2.0), (3.0, 0.0), (-3.0, INF), (0.0, 2.0)]),
    "root_product": (lambda x, y: x * y.sqrt(), [(3.0, 0.0), (INF, 4.0), (0.0, 0.0), (2.0, -1.0)]),
    "length": (torch.hypot, [(-2.0, 2.0), (0.0, 3.0), (-3.0, 0.0)]),
}


def forward(f, x):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x, torch.ones_like(x)))).tangent


def twice(f, x):
    x = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x)[0] if first.requires_grad else torch.zeros_like(x)


def twice_by_func(f, x):
    return torch.func.grad(lambda x: torch.func.grad(lambda x: f(x).sum())(x).sum())(x)


TRANSFORMS = {
    "backward": lambda f, x: torch.func.grad(lambda x: f(x).sum())(x),
    "dual level": forward,
    "jvp": lambda f, x: torch.func.jvp(f, (x,), (torch.ones_like(x),))[1],
    "jacfwd": lambda f, x: torch.func.jacfwd(f)(x),
    "double backward": twice,
    "grad of grad": twice_by_func,
    "jvp of grad": lambda f, x: torch.func.jvp(
        torch.func.grad(lambda x: f(x).sum()), (x,), (torch.ones_like(x),)
    )[1],
    "compile": lambda f, x: torch.compile(lambda x: torch.func.grad(lambda x: f(x).sum())(x), backend="aot_eager")(x),
}  # fmt: skip


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", FORMULAS)
def test_operands_that_nobody_differentiates_take_no_part(derived, name, transform):
    formula, points = FORMULAS[name]
    for point in points:
        x, y = (torch.tensor([value], dtype=torch.float64) for value in point)
        for index in (0, 1):

            def along(f, x=x, y=y, index=index):
                of_one = (lambda x: f(x, y)) if index == 0 else (lambda y: f(x, y))
                return TRANSFORMS[transform](of_one, (x, y)[index])

            # torch's power has another convention along the exponent.
            if name == "power" and index == 1 and point[0] <= 0:
                continue
            found, expected = along(getattr(derived, name)), along(formula)
            torch.testing.assert_close(found, expected, equal_nan=True, msg=f"{point}, {index}: {found}, {expected}")


def test_one_of_two_results(derived):
    """The cotangent and the tangent of the other result have no part."""
    x = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    y = torch.ones(1, dtype=torch.float64)
    assert torch.autograd.grad(derived.two_results(x, y)[0], x)[0] == 3.0
    assert twice(lambda x: derived.two_results(x, y)[0], x.detach()) == 0.0
    assert torch.func.jvp(lambda y: derived.two_results(x.detach(), y)[1], (y,), (y,))[1] == 0.0


@pytest.mark.parametrize("transform", ["backward", "dual level", "double backward", "jvp of grad"])
def test_functions_of_rows_have_no_zero_tangents_either(derived, transform):
    x, y = torch.tensor([1.0, 2.0, 3.0]), torch.zeros(3)

    def along(f):
        return TRANSFORMS[transform](lambda x: f(x, y), x)

    torch.testing.assert_close(along(derived.row_product), along(lambda x, y: x * y.sqrt()))


def test_derivatives_that_are_left_out(derived):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(NotImplementedError, match=r"^constant: .*`derivatives = 0`; write `derivatives = 1`"):
        derived.constant(x).sum().backward()
    assert not derived.constant(x.detach()).requires_grad
    with pytest.raises(NotImplementedError, match=r"^once_vjp: .*`once` is declared with `derivatives = 1`"):
        twice(derived.once, x.detach())
    first = torch.autograd.grad(derived.product(x, x).sum(), x, create_graph=True)[0]
    second = torch.autograd.grad((first * x.detach()).sum(), x, create_graph=True)[0]
    with pytest.raises(NotImplementedError, match=r"first and second order; differentiate `product` twice at most"):
        torch.autograd.grad(second.sum(), x)


def test_written_derivatives_are_used(derived):
    """They are 3 times the true ones, but that of `rounded`."""
    x, y = (torch.tensor([value], dtype=torch.float64, requires_grad=True) for value in (0.7, 2.0))
    assert torch.autograd.grad(derived.rounded(x), x)[0] == 1.0
    assert torch.func.jvp(derived.rounded, (x.detach(),), (y.detach(),))[1] == 2.0

    def formula(x):
        return torch.nn.functional.softplus(x) * y.detach()

    def ramp(x):
        return derived.ramp(x, y.detach())[0]

    for transform in ("backward", "dual level", "double backward", "jvp of grad"):
        found, expected = (TRANSFORMS[transform](f, x.detach()) for f in (ramp, formula))
        torch.testing.assert_close(found, 3 * expected)
