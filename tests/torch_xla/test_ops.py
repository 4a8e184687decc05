"""Ops of torch, against the CPU."""

import os

import pytest
import torch
import torch_xla
from torch.nn import functional as F


def normal(*dims, seed=0, dtype=torch.float32):
    return torch.randn(*dims, generator=torch.Generator().manual_seed(seed)).to(dtype)


def integers(high, *dims, seed=0):
    return torch.randint(0, high, dims, generator=torch.Generator().manual_seed(seed))


X, Y = normal(4, 6), normal(4, 6, seed=1)
IMAGE = normal(2, 3, 8, 8)

OPS = {
    # Element by element.
    "arithmetic": (lambda x, y: (x + y, x - y, x * y, x / y, x // y, x % y), X, Y),
    "functions": (lambda x: (x.exp(), x.abs().log1p(), x.sin(), x.tan(), x.atan(), x.erf(), x.sigmoid()), X),
    "special": (lambda x: (x.abs().lgamma(), x.erfinv(), x.abs().digamma(), torch.special.i0e(x)), X / 4),
    "rounding": (lambda x: (x.round(), x.floor(), x.ceil(), x.trunc(), x.frac(), x.sign()), X * 3),
    "comparison": (lambda x, y: (x > y, x.eq(y), torch.where(x > 0, x, y), x.clamp(-0.5, 0.5)), X, Y),
    "integers": (lambda i: (i << 2, i & 3, i | 8, i ^ 5, ~i, i // 3, i % 3, i.bitwise_right_shift(1)), integers(50, 7)),
    "types": (lambda x: (x.half(), x.bfloat16(), x.double(), x.int(), x.bool(), (x * 9).to(torch.uint8)), X.abs()),
    "complex": (lambda x, y: ((torch.complex(x, y) * torch.complex(y, x)).imag, (torch.complex(x, y) ** 2).real), X, Y),
    "activations": (lambda x: (F.gelu(x), F.silu(x), F.softplus(x), F.elu(x), F.leaky_relu(x), F.hardswish(x)), X),
    # Shapes.
    "views": (lambda x: (x.t(), x.reshape(2, 12), x[1:, ::2], x[:, -1], x.flip(0), x.roll(2, 1), x.unfold(1, 3, 2)), X),
    "joining": (lambda x, y: (torch.cat([x, y]), torch.stack([x, y], 1), *x.split(2, 1)), X, Y),
    "padding": (lambda x: (F.pad(x, (1, 2)), F.pad(x, (1, 1, 1, 1), mode="reflect")), IMAGE),
    "triangles": (lambda x: (x.tril(), x.triu(1), x.diagonal(), torch.diag_embed(x)), X),
    # Reductions.
    "sums": (
        lambda x: (x.sum(), x.mean(1), x.prod(0), x.var(1), x.std(), x.logsumexp(1), x.cumsum(1), x.cumprod(0)),
        X,
    ),
    "extremes": (lambda x: (x.amax(1), x.argmax(1), *x.max(0), *x.min(1), x.any(), (x > -9).all()), X),
    "softmax": (lambda x: (x.softmax(1), x.log_softmax(0)), X),
    "norms": (lambda x: (x.norm(), x.norm(dim=1), torch.linalg.vector_norm(x, 3)), X),
    # Order and indices.
    "sort": (lambda x: (*x.sort(1), *x.sort(dim=0, descending=True, stable=True), x.argsort(1)), X),
    "topk": (lambda x: (*x.topk(3, 1), *x.topk(2, 0, largest=False)), X),
    "kthvalue": (lambda x: (*x.kthvalue(2, 1), *x.median(1)), X),
    "index": (lambda x, i: (x[i], x[:, i], x[i, i], x.index_select(1, i)), X, torch.tensor([3, 0, 2])),
    "gather": (lambda x, i: (x.gather(1, i), x.take(i)), X, integers(6, 4, 2)),
    "masked": (lambda x, y: (x.masked_fill(y > 0, 9.0), torch.where(y > 0, x, 0)), X, Y),
    "scatter": (
        lambda x, i, v: (x.scatter(1, i, v), x.scatter_add(1, i, v), x.scatter_reduce(1, i, v, "amax")),
        X,
        torch.tensor([[0, 2], [1, 3], [5, 0], [4, 2]]),
        normal(4, 2, seed=2),
    ),
    "index_put": (
        lambda x, i, v: (x.index_put((i,), v), x.index_put((i,), v, accumulate=True), x.index_add(0, i, v)),
        X,
        torch.tensor([3, 1]),
        normal(2, 6, seed=2),
    ),
    "embedding": (lambda w, i: (F.embedding(i, w), F.one_hot(i, 9)), normal(9, 5), integers(9, 2, 3)),
    "bucketize": (
        lambda x, b: (torch.bucketize(x, b), torch.histc(x.flatten(), 4, -2, 2)),
        X,
        torch.tensor([-1.0, 0.0, 1.0]),
    ),
    # Contractions.
    "matmul": (
        lambda x, y: (x @ y.t(), torch.bmm(x[None], y.t()[None]), torch.einsum("ij,kj->ik", x, y), x @ y[0]),
        X,
        Y,
    ),
    "linear": (lambda x, w, b: F.linear(x, w, b), X, normal(5, 6), normal(5)),
    "conv1d": (lambda x, w: F.conv1d(x, w, stride=2, padding=1), normal(2, 3, 9), normal(4, 3, 3)),
    "conv2d": (lambda x, w: F.conv2d(x, w, padding=2, dilation=2), IMAGE, normal(4, 3, 3, 3)),
    "conv3d": (lambda x, w: F.conv3d(x, w), normal(1, 2, 5, 5, 5), normal(3, 2, 2, 2, 2)),
    "grouped": (lambda x, w: F.conv2d(x, w, groups=3), IMAGE, normal(6, 1, 3, 3)),
    "transposed": (
        lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1),
        IMAGE,
        normal(3, 4, 3, 3),
    ),
    "pooling": (lambda x: (F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 4)), IMAGE),
    "resizing": (
        lambda x: (
            F.interpolate(x, scale_factor=2, mode="nearest"),
            F.interpolate(x, size=(5, 5), mode="bilinear", align_corners=True),
        ),
        IMAGE,
    ),
    "normalisation": (
        lambda x: (F.layer_norm(x, (8, 8)), F.batch_norm(x, None, None, training=True), F.group_norm(x, 3)),
        IMAGE,
    ),
    "attention": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        normal(1, 2, 5, 4),
        normal(1, 2, 5, 4, seed=1),
        normal(1, 2, 5, 4, seed=2),
    ),
    "losses": (
        lambda x, t: (
            F.cross_entropy(x, t),
            F.nll_loss(x.log_softmax(1), t),
            F.mse_loss(x, x * 2),
            F.smooth_l1_loss(x, x * 2),
        ),
        X,
        integers(6, 4),
    ),
    "fft": (
        lambda x: (
            torch.fft.fft(x).imag,
            torch.fft.rfft(x).real,
            torch.fft.irfft(torch.fft.rfft(x)),
            torch.fft.fft2(x).real,
        ),
        normal(4, 8),
    ),
}


@pytest.mark.parametrize("name", OPS)
def test_op(compare, name):
    function, *arguments = OPS[name]
    compare(function, *arguments)


def definite(n):
    a = normal(n, n)
    return a @ a.t() + n * torch.eye(n)


def test_decompositions_give_back_the_matrix(compare):
    a = normal(5, 4)

    def restored(a):
        q, r = torch.linalg.qr(a)
        u, s, v = torch.linalg.svd(a, full_matrices=False)
        return q @ r, q.t() @ q, u @ torch.diag(s) @ v, s

    compare(restored, a, rtol=1e-3, atol=1e-4)


def test_solving(compare):
    a, b = definite(4), normal(4, 2)

    def solved(a, b):
        factor = torch.linalg.cholesky(a)
        triangular = torch.linalg.solve_triangular(factor, b, upper=False)
        return factor, triangular, torch.linalg.solve(a, b), torch.linalg.inv(a), torch.linalg.det(a), a.logdet()

    compare(solved, a, b, rtol=1e-3, atol=1e-4)


def test_eigenvalues(compare):
    def values(a):
        w, v = torch.linalg.eigh(a)
        return w, v @ torch.diag(w) @ v.t()

    compare(values, definite(5), rtol=1e-3, atol=1e-3)


def test_random_numbers(device):
    torch_xla.manual_seed(3)
    uniform = torch.rand(20_000, device=device).cpu()
    gaussian = torch.randn(20_000, device=device).cpu()
    drawn = torch.randint(0, 10, (20_000,), device=device).cpu()
    coins = torch.bernoulli(torch.full((20_000,), 0.25, device=device)).cpu()
    assert uniform.min() >= 0 and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.02
    assert abs(gaussian.mean()) < 0.05 and abs(gaussian.std() - 1) < 0.05
    assert set(drawn.tolist()) == set(range(10)) and abs(coins.mean() - 0.25) < 0.02
    again = torch.rand(20_000, device=device).cpu()
    assert not torch.equal(uniform, again)


@pytest.mark.skipif("XLA_STABLEHLO_COMPILE" in os.environ, reason="torch_xla cannot write its shuffle as StableHLO")
def test_permutations(device):
    order = torch.randperm(50, device=device).cpu()
    assert sorted(order.tolist()) == list(range(50)) and order.tolist() != list(range(50))


def test_seeds_repeat(device):
    def draw():
        torch_xla.manual_seed(5)
        return torch.rand(8, device=device).cpu(), F.dropout(torch.ones(64, device=device), 0.5).cpu()

    for first, second in zip(draw(), draw(), strict=True):
        assert torch.equal(first, second)


def test_gradients(device):
    def gradients(where):
        x = X.to(where).detach().requires_grad_()
        y = (F.softmax(x @ x.t(), 1).cumsum(0).sort(1).values[:, 1:] ** 2).sum() + x.exp().norm()
        return torch.autograd.grad(y, x)[0].cpu()

    torch.testing.assert_close(gradients(device), gradients("cpu"), rtol=1e-3, atol=1e-4)


def test_a_scan_is_a_loop(device):
    from torch_xla.experimental.scan import scan

    def step(carry, x):
        carry = carry * 0.5 + x
        return carry, carry.sum()

    carry, sums = scan(step, torch.zeros(6, device=device), X.to(device))
    expected, expected_sums = torch.zeros(6), []
    for x in X:
        expected = expected * 0.5 + x
        expected_sums.append(expected.sum())
    torch.testing.assert_close(carry.cpu(), expected)
    torch.testing.assert_close(sums.cpu(), torch.stack(expected_sums))


def test_empty_and_scalar_tensors(compare):
    compare(lambda x: (x * 2, x.sum(), torch.cat([x, x])), torch.zeros(0, 3))
    compare(lambda x: (x + 1, x.reshape(1)), torch.tensor(2.5))


def test_in_place_updates(device):
    x = torch.zeros(4, 4, device=device)
    x[1:3] = 5.0
    x += 1
    x.fill_diagonal_(-1)
    x.t_()
    expected = torch.zeros(4, 4)
    expected[1:3] = 5.0
    expected += 1
    expected.fill_diagonal_(-1)
    torch.testing.assert_close(x.cpu(), expected.t())
