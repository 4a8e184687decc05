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


SHAPES = [
    ((4, 3), (3,), (3,)),
    ((4, 3), (3,), ()),
    ((3,), (4, 3), (4, 1)),
    ((2, 4, 3), (4, 3), (3,)),
    ((0, 3), (3,), (3,)),
]


def layer_norm(x, gain, bias):
    x, gain, bias = torch.broadcast_tensors(x, gain, bias)
    return normalized(x) * gain + bias


@pytest.mark.parametrize("dtypes", [(torch.float64,) * 3, (torch.float32, torch.float64, torch.float32)])
@pytest.mark.parametrize("shapes", SHAPES)
def test_operands_are_promoted_and_broadcast(ops, shapes, dtypes):
    """One gain serves all rows."""
    args = [
        torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(i))
        for i, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))
    ]
    exact = [arg.double() for arg in args]
    torch.testing.assert_close(ops.layer_norm(*args), layer_norm(*exact))
    meta = ops.layer_norm(*(arg.to("meta") for arg in args))
    assert (meta.shape, meta.dtype) == (layer_norm(*exact).shape, torch.float64)
    given = [arg.clone().requires_grad_() for arg in args]
    found = torch.autograd.grad(ops.layer_norm(*given).sin().sum(), given)
    doubles = [arg.clone().requires_grad_() for arg in exact]
    expected = torch.autograd.grad(layer_norm(*doubles).sin().sum(), doubles)
    torch.testing.assert_close(found, tuple(e.to(arg.dtype) for e, arg in zip(expected, args, strict=True)))
    if exact[0].numel():
        torch.library.opcheck(ops.layer_norm.default, given)


@pytest.mark.parametrize("dims", [(0, None, None), (None, 0, None), (1, 0, None)])
def test_batches_of_broadcast_operands(ops, dims):
    x, gain, bias = X[:3], Y[:3], Z[0]
    gain = gain if dims[1] == 0 else gain[0]
    args = (x, gain, bias)
    torch.testing.assert_close(torch.vmap(ops.layer_norm, dims)(*args), torch.vmap(layer_norm, dims)(*args))


def test_operands_that_cannot_be_broadcast(ops):
    message = r"layer_norm: the shapes of argument `x` \[4, 3\], argument `gain` \[2\], argument `bias` \[3\] cannot"
    with pytest.raises(RuntimeError, match=message):
        ops.layer_norm(X, X[0, :2], X[0])
