"""ffi/src/torch/glue on operators written in Python: what it adds, apart from how Rust registers operators."""

import math

import pytest
import torch
from torch.library import opcheck

from python_ops import Ops, attr, param


def product(ops):
    """`y = scale * x * w`, with its derivative, on any dtype."""
    var = {"var": 0}
    ops.add(
        "product", "Tensor x, Tensor w, float scale=2.0", "Tensor", lambda x, w, scale=2.0: scale * x * w,
        [param("arg", "x", "..b, n", var), param("arg", "w", "..b, n", var), param("ret", "y", "..b, n", var)],
        [attr("scale", "f64", "default")], vjp="product_vjp", vmap="broadcast_all",
    )  # fmt: skip
    return ops.add(
        "product_vjp", "Tensor x, Tensor w, Tensor dy, float scale=2.0", "(Tensor, Tensor)",
        lambda x, w, dy, scale=2.0: (scale * w * dy, scale * x * dy),
        [
            param("arg", "x", "..b, n", var), param("arg", "w", "..b, n", var), param("arg", "dy", "..b, n", var),
            param("ret", "d_x", "..b, n", var), param("ret", "dw", "..b, n", var),
        ],
        [attr("scale", "f64", "default")],
    )  # fmt: skip


@pytest.fixture(scope="module")
def products(glue):
    ops = product(Ops())
    glue.register(ops.manifest, ops.report)
    glue.register(ops.manifest, ops.report)  # Nothing happens.
    return ops


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("scale", [(), (3.5,)])
def test_gradients_are_those_of_torch(products, dtype, scale):
    x, w = (torch.randn(2, 3, dtype=dtype, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradcheck(lambda x, w: products.product(x, w, *scale), (x, w))
    ours = torch.autograd.grad(products.product(x, w, *scale).abs().sum(), (x, w))
    theirs = torch.autograd.grad(((scale or (2.0,))[0] * x * w).abs().sum(), (x, w))
    torch.testing.assert_close(ours, theirs)


def test_gradients_of_one_argument(products):
    x, w = torch.randn(3, requires_grad=True), torch.randn(3)
    (gradient,) = torch.autograd.grad(products.product(x, w).sum(), x)
    torch.testing.assert_close(gradient, 2 * w)


def test_operators_pass_the_checks_of_torch(products):
    x, w = torch.randn(2, 3, requires_grad=True), torch.randn(2, 3, requires_grad=True)
    opcheck(products.product.default, (x, w), {"scale": 3.0})


def test_batches(products):
    x, w = torch.randn(4, 2, 3), torch.randn(2, 3)
    torch.testing.assert_close(torch.vmap(products.product, (0, None))(x, w), 2 * x * w)
    v = torch.randn(2, 4, 3)
    torch.testing.assert_close(torch.vmap(products.product, (1, 0))(x, v), 2 * x.movedim(1, 0) * v)


def test_lists_and_absent_tensors_have_gradients(glue):
    ops = Ops()
    ops.add(
        "total", "Tensor? bias, Tensor[] xs", "Tensor", lambda bias, xs: sum(xs) + (0 if bias is None else bias),
        [
            param("arg", "bias", "n", arity="optional"), param("arg", "xs", "n", arity="variadic"),
            param("ret", "y", "n"),
        ],
        vjp="total_vjp",
    )  # fmt: skip
    ops.add(
        "total_vjp", "Tensor[] xs, Tensor dy", "(Tensor, Tensor[])",
        lambda xs, dy: (dy.clone(), [dy.clone() for _ in xs]),
        [
            param("arg", "xs", "n", arity="variadic"), param("arg", "dy", "n"),
            param("ret", "dbias", "n"), param("ret", "dxs", "n", arity="variadic"),
        ],
    )  # fmt: skip
    glue.register(ops.manifest, ops.report)
    xs = [torch.randn(3, requires_grad=True) for _ in range(3)]
    bias = torch.randn(3, requires_grad=True)
    weights = torch.tensor([1.0, 2.0, 4.0])
    gradients = torch.autograd.grad((ops.total(bias, xs) * weights).sum(), [bias, *xs])
    for gradient in gradients:
        torch.testing.assert_close(gradient, weights)
    gradients = torch.autograd.grad((ops.total(None, xs) * weights).sum(), xs)
    for gradient in gradients:
        torch.testing.assert_close(gradient, weights)


def test_a_mistake_in_names_is_told_on_differentiation(glue):
    ops = Ops()
    ops.add(
        "twice", "Tensor x", "Tensor", lambda x: 2 * x, [param("arg", "x", "n"), param("ret", "y", "n")], vjp="wrong"
    )
    ops.add("wrong", "Tensor dz", "Tensor", lambda dz: 2 * dz, [param("arg", "dz", "n"), param("ret", "dx", "n")])
    ops.add("lost", "Tensor x", "Tensor", lambda x: 2 * x, [param("arg", "x", "n"), param("ret", "y", "n")], vjp="gone")
    glue.register(ops.manifest, ops.report)
    x = torch.ones(3, requires_grad=True)
    assert ops.twice(x.detach()).tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match=r"twice: argument `dz` of its vjp op `wrong` matches nothing.* dy"):
        ops.twice(x)
    with pytest.raises(RuntimeError, match="lost: its vjp op `gone` is not in this library"):
        ops.lost(x)


def test_a_forgotten_cotangent(glue):
    ops = Ops()
    ops.add(
        "two", "Tensor x", "(Tensor, Tensor)", lambda x: (x.clone(), 3 * x),
        [param("arg", "x", "n"), param("ret", "y", "n"), param("ret", "z", "n")], vjp="two_vjp",
    )  # fmt: skip
    ops.add("two_vjp", "Tensor dy", "Tensor", torch.clone, [param("arg", "dy", "n"), param("ret", "dx", "n")])
    glue.register(ops.manifest, ops.report)
    with pytest.raises(RuntimeError, match=r"two: its vjp op `two_vjp` takes no cotangent of result `z`.*`dz`"):
        ops.two(torch.ones(3, requires_grad=True))


@pytest.mark.parametrize(
    ("dims", "result", "shapes", "attributes", "expected"),
    [
        (["..b, n"], "..b, n", [(2, 3, 4)], {}, (2, 3, 4)),
        (["..b, n"], "..b", [(7,)], {}, ()),
        (["..b, n"], "..b, n - k + 1", [(5, 9)], {"k": 4}, (5, 6)),
        (["m, n", "n, p"], "m, p", [(2, 3), (3, 4)], {}, (2, 4)),
        (["h, ..s, w"], "h * w, ..s", [(2, 5, 6, 3)], {}, (6, 5, 6)),
        (["n, _"], "n / 2 % 3, 7", [(10, 4)], {}, (2, 7)),
        (["a, ..", "..b, c"], "a, c, ..b", [(3, 1, 1), (4, 5, 6)], {}, (3, 6, 4, 5)),
        (["n"], "n * (k + 1) - (n - 1)", [(4,)], {"k": 2}, (9,)),
        ([""], "k, 3", [()], {"k": 2}, (2, 3)),
    ],
)
def test_patterns_give_shapes(glue, dims, result, shapes, attributes, expected):
    ops = Ops()
    names = [f"x{i}" for i in range(len(dims))]
    arguments = [f"Tensor {name}" for name in names] + [f"SymInt {name}" for name in attributes]
    params = [param("arg", name, pattern) for name, pattern in zip(names, dims, strict=True)]
    ops.add("shaped", ", ".join(arguments), "Tensor", lambda *_: None, [*params, param("ret", "y", result, "s64")])
    glue.register(ops.manifest, ops.report)
    y = ops.shaped(*(torch.empty(shape, device="meta") for shape in shapes), *attributes.values())
    assert y.shape == expected
    assert y.dtype == torch.int64


def test_shapes_stay_symbolic(glue):
    ops = Ops()
    ops.add(
        "window", "Tensor x, SymInt k", "Tensor", lambda x, k: x.unfold(-1, k, 1).mean(-1),
        [param("arg", "x", "..b, n"), param("ret", "y", "..b, n - k + 1")], [attr("k", "s64")],
    )  # fmt: skip
    glue.register(ops.manifest, ops.report)
    programs = []

    def backend(graph, _inputs):
        programs.append(graph)
        return graph

    @torch.compile(fullgraph=True, dynamic=True, backend=backend)
    def run(x, k):
        return ops.window(x, k) * 2

    for rows, n, k in [(2, 9, 3), (3, 8, 2), (5, 30, 7)]:
        x = torch.randn(rows, n)
        torch.testing.assert_close(run(x, k), x.unfold(-1, k, 1).mean(-1) * 2)
    assert len(programs) == 1


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({}, ""),
        ({"k": ("s32", 3), "b": ("pred", True)}, "{b = true, k = 3 : i64}"),
        ({"x": ("f32", 1e-5)}, "{x = 1.0e-05 : f64}"),
        ({"x": ("f64", 1e300), "y": ("f64", -0.0)}, "{x = 1.0e+300 : f64, y = -0.0 : f64}"),
        ({"x": ("f64", math.inf)}, "{x = 0x7FF0000000000000 : f64}"),
        ({"x": ({"var": 0}, 2), "y": ({"var": 0}, 2.0)}, "{x = 2 : i64, y = 2.0 : f64}"),
        ({"s": ("str", 'a"b\\c\n\0é{}')}, '{s = "a\\22b\\5Cc\\0A\\00\\C3\\A9{}"}'),
        ({"e": ({"enum": [["fast", 0]]}, "fast")}, '{e = "fast"}'),
        ({"a": ({"array": "s32"}, [1, -2]), "e": ({"array": "f32"}, [])}, "{a = array<i64: 1, -2>, e = array<f64>}"),
        ({"a": ({"array": "pred"}, [True, False])}, "{a = array<i1: true, false>}"),
        ({"not a word": ("s64", 1)}, '{"not a word" = 1 : i64}'),
        ({"s": ("struct", {"low": ("f32", 0.5)})}, "{s = {low = 0.5 : f64}}"),
    ],
)
def test_attributes_as_text(glue, attributes, text):
    assert glue.dictionary(attributes) == text


def test_floats_as_text_are_exact(glue):
    for value in [0.1, 1e22, 5e-324, 1.7976931348623157e308, 123456789.123456789, 1e16]:
        text = glue.dictionary({"x": ("f64", value)})
        assert float(text.removeprefix("{x = ").removesuffix(" : f64}")) == value
