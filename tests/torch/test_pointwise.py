"""Pointwise functions of the gallery: derivatives of first and second order, batches, halves."""

import pytest
import torch

import formulas

X, Y, Z = (torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(i)) for i in range(3))

CASES = {
    "softplus": (torch.nn.functional.softplus, (X,)),
    "swiglu": (lambda gate, x: torch.nn.functional.silu(gate) * x, (X, Y)),
    "huber": (lambda x: torch.where(x.abs() <= 1, x * x / 2, x.abs() - 0.5), (2 * X,)),
    "rope_pair": (lambda x, y, a: (x * a.cos() - y * a.sin(), x * a.sin() + y * a.cos()), (X, Y, Z)),
    "logit_normal_pdf": (
        lambda p, m, s: torch.exp(-(((p.logit() - m) / s) ** 2) / 2) / (s * p * (1 - p) * (2 * torch.pi) ** 0.5),
        (X.sigmoid(), Y, 1 + Z**2),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_both_orders(ops, name):
    formulas.check_derivatives(getattr(ops, name), CASES[name][1])


@pytest.mark.parametrize("name", CASES)
def test_values_and_transforms_are_those_of_the_formula(ops, name):
    formula, args = CASES[name]
    formulas.check_transforms(getattr(ops, name), formula, args)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_are_rounded_once(ops, dtype):
    x = torch.linspace(-8, 8, 4001, dtype=dtype)
    exact = torch.nn.functional.softplus(x.double())
    assert (ops.softplus(x) == exact.to(dtype)).double().mean() > 0.999


def test_operands_have_one_shape(ops):
    with pytest.raises(RuntimeError, match=r"swiglu: argument `x` has shape \[3\]"):
        ops.swiglu(X, Y[0])
