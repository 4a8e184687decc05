"""`torch.vmap` by `batch` and by the op that `vmap` names: values, and how often the operator is called."""

import pytest
import torch
from torch.func import grad, jacrev, vmap

import norm_ops
from norm_ops import CALLS, norm
from python_ops import Ops, param


@pytest.fixture(scope="module")
def ops(glue):
    return norm_ops.register(glue)


def randn(*shape):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape)))


X, W = randn(5, 2, 3), randn(3)


@pytest.mark.parametrize(
    ("in_dims", "shapes", "calls"),
    [
        ((0, None), [(5, 2, 3), (3,)], 1),
        ((1, None), [(2, 5, 3), (3,)], 1),
        ((0, None), [(5, 3), (3,)], 1),
        ((None, 0), [(2, 3), (5, 3)], 5),
        ((0, 1), [(5, 2, 3), (3, 5)], 5),
        ((0, None), [(0, 2, 3), (3,)], 1),
    ],
)
def test_one_call_where_the_weight_is_not_mapped(ops, in_dims, shapes, calls):
    args = [randn(*shape) for shape in shapes]
    CALLS.clear()
    result = vmap(ops.norm, in_dims)(*args)
    assert dict(CALLS) == {"norm": calls}
    torch.testing.assert_close(result, vmap(norm, in_dims)(*args))


def test_a_result_with_the_shape_of_the_first_argument(ops):
    CALLS.clear()
    assert torch.equal(vmap(ops.copy, 1)(X), X.movedim(1, 0))
    assert dict(CALLS) == {"copy": 1}


@pytest.mark.parametrize("dims", ["..a, ..b, n", "n, ..a, ..b", "..b, ..a, n", "n, ..b, ..a", "..a, ..b, ..c, n"])
@pytest.mark.parametrize("shape", [(2,), (), (2, 4)])
def test_other_lists_beside_the_batch(glue, dims, shape):
    """The place of the batch in a result depends on the ranks of other arguments."""
    sizes = {"..a": shape, "..c": (6, 7)}
    calls = []

    def product(w, v, x):
        calls.append(x.shape)
        letters = {"..a": "ijk"[: w.dim()], "..b": "pqr"[: x.dim() - 1], "..c": "uvw"[: v.dim()], "n": "n"}
        out = "".join(letters[token] for token in dims.split(", "))
        return torch.einsum(f"{letters['..a']},{letters['..c']},{letters['..b']}n->{out}", w, v, x)

    ops = Ops()
    ops.add(
        "product", "Tensor w, Tensor v, Tensor x", "Tensor", product,
        [param("arg", "w", "..a"), param("arg", "v", "..c"), param("arg", "x", "..b, n"), param("ret", "y", dims)],
        batch="b",
    )  # fmt: skip
    glue.register(ops.manifest, ops.report)
    w, v = randn(*shape), randn(*(sizes["..c"] if "..c" in dims else ()))
    for rows, dim in [(randn(5, 3), 0), (randn(4, 5, 3), 0), (randn(4, 5, 3), 1)]:
        calls.clear()
        result = vmap(ops.product, (None, None, dim))(w, v, rows)
        assert len(calls) == 1
        torch.testing.assert_close(result, vmap(product, (None, None, dim))(w, v, rows))
        if rows.dim() == 3:
            twice = [vmap(vmap(f, (None, None, 0)), (None, None, 0))(w, v, rows) for f in (ops.product, product)]
            torch.testing.assert_close(*twice)


def test_a_batch_of_batches(ops):
    x = randn(4, 5, 2, 3)
    CALLS.clear()
    result = vmap(vmap(ops.norm, (0, None)), (1, None))(x, W)
    assert dict(CALLS) == {"norm": 1}
    torch.testing.assert_close(result, vmap(vmap(norm, (0, None)), (1, None))(x, W))


def test_sums_over_the_batch(ops):
    """Each element has its own sum: one call for each."""
    function = lambda f: vmap(grad(lambda x, w: f(x, w).square().sum(), (0, 1)), (0, None))(X, W)  # noqa: E731
    CALLS.clear()
    result = function(ops.norm)
    assert dict(CALLS) == {"norm": 1, "norm_vjp": 5}
    torch.testing.assert_close(result, function(norm))


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: grad(lambda w: vmap(f, (0, None))(X, w).square().sum())(W),
        lambda f: grad(lambda w: vmap(f, (None, 0))(X, w).square().sum())(randn(4, 3)),
        lambda f: jacrev(vmap(f, (0, None)), 1)(X, W),
        lambda f: vmap(jacrev(f, (0, 1)), (0, None))(X, W),
    ],
)
def test_derivatives_of_batches(ops, transform):
    torch.testing.assert_close(transform(ops.norm), transform(norm))


def test_batched_gradients(ops):
    x, w = X[0].clone().requires_grad_(), W.clone().requires_grad_()
    assert torch.autograd.gradcheck(ops.norm, (x, w), check_batched_grad=True)


def test_the_op_that_vmap_names(ops):
    x = randn(4, 3)
    CALLS.clear()
    torch.testing.assert_close(vmap(lambda x: ops.scale(x, 3.0))(x), 3 * x)
    torch.testing.assert_close(vmap(ops.scale, 1)(x.T), 2 * x)
    assert dict(CALLS) == {"scale_of_batch": 2}


def test_an_empty_batch_of_elements(glue):
    ops = Ops()
    ops.add(
        "total", "Tensor x", "Tensor", lambda x: x.sum(), [param("arg", "x", "n"), param("ret", "y", "")],
        vmap="sequential",
    )  # fmt: skip
    glue.register(ops.manifest, ops.report)
    assert vmap(ops.total)(torch.ones(2, 3)).tolist() == [3, 3]
    with pytest.raises(RuntimeError, match=r"total: torch.vmap calls it once for each .* declare `vmap = path`"):
        vmap(ops.total)(torch.ones(0, 3))
