"""Row-wise functions of the gallery: derivatives of first and second order, batches, halves."""

import pytest
import torch

import formulas

X, Y, Z = (torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(i)) for i in range(3))


def tempered_softmax(logits, temperature):
    scaled = logits / temperature.unsqueeze(-1)
    return scaled.softmax(-1), scaled.logsumexp(-1)


def normalized(x):
    """Written out, not `torch.nn.functional.layer_norm`, whose second derivative in forward mode differs."""
    centred = x - x.mean(-1, keepdim=True)
    return centred / ((centred * centred).mean(-1, keepdim=True) + 1e-5).sqrt()


CASES = {
    "softmax_cross_entropy": (lambda logits, labels: -(labels * logits.log_softmax(-1)).sum(-1), (X, Y)),
    "layer_norm": (lambda x, gain, bias: normalized(x) * gain + bias, (X, Y, Z)),
    "tempered_softmax": (tempered_softmax, (X, 1 + Y[:, 0] ** 2)),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_both_orders(ops, name):
    formulas.check_derivatives(getattr(ops, name), CASES[name][1])


@pytest.mark.parametrize("name", CASES)
def test_values_and_transforms_are_those_of_the_formula(ops, name):
    formula, args = CASES[name]
    formulas.check_transforms(getattr(ops, name), formula, args, tolerance=1e-11)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_are_rounded_once(ops, dtype):
    for mean in (0.0, 1000.0):
        x = (torch.randn(40, 100, generator=torch.Generator().manual_seed(7)) * (1 + mean / 20) + mean).to(dtype)
        ones = torch.ones_like(x)
        exact = normalized(x.double())
        assert (ops.layer_norm(x, ones, 0 * ones) == exact.to(dtype)).double().mean() > 0.999
