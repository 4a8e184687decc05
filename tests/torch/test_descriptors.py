"""Operators by descriptor, in the style of Habana's custom op API, against torch's own."""

import subprocess
import sys

import pytest
import torch

OPTIONS = pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])


@pytest.fixture(scope="module")
def ops(library_path):
    torch.ops.load_library(library_path("custom_ops"))
    return torch.ops.custom_op


@pytest.fixture(scope="module")
def described(library_path):
    torch.ops.load_library(library_path("described_ops"))
    return torch.ops.described


def run(function, compiled):
    return torch.compile(function, fullgraph=True, backend="aot_eager") if compiled else function


@OPTIONS
def test_topk_as_habana_calls_it(ops, compiled):
    a = torch.rand(6, 6)
    values, indices = run(lambda a: ops.custom_topk(a, 3, 1, False), compiled)(a)
    expected = a.topk(3, 1)
    assert torch.equal(values, expected.values) and torch.equal(indices, expected.indices)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("bottom", [False, True])
def test_topk_along_each_axis(ops, axis, bottom):
    a = torch.randn(4, 5, 6)[:, ::2].transpose(0, 1)
    values, indices = ops.custom_topk(a, 2, axis, bottom)
    expected = a.topk(2, axis, largest=not bottom)
    assert torch.equal(values, expected.values) and torch.equal(indices, expected.indices)


class Relu(torch.autograd.Function):
    """As the Python side of Habana's example has it."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.ops.custom_op.custom_relu(x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return torch.ops.custom_op.custom_relu_backward(grad, x, 0.0)


def test_relu_and_its_backward(ops):
    x = torch.randn(3, 5)
    ours, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    weight = torch.randn(3, 5)
    (Relu.apply(ours) * weight).sum().backward()
    (torch.nn.ReLU()(theirs) * weight).sum().backward()
    assert torch.equal(ops.custom_relu(x), torch.nn.ReLU()(x))
    assert torch.equal(ours.grad, theirs.grad)


@OPTIONS
def test_adam(ops, compiled):
    param = torch.randn(7, 3)
    theirs = torch.nn.Parameter(param.clone())
    optimizer = torch.optim.Adam([theirs], lr=0.01, betas=(0.8, 0.95), eps=1e-6)
    ours, exp_avg, exp_avg_sq = param, torch.zeros_like(param), torch.zeros_like(param)
    step = run(lambda *args: ops.custom_adam(*args, lr=0.01, beta1=0.8, beta2=0.95, eps=1e-6), compiled)
    for number in range(1, 4):
        grad = torch.randn(7, 3)
        theirs.grad = grad.clone()
        optimizer.step()
        ours, exp_avg, exp_avg_sq = step(ours, grad, exp_avg, exp_avg_sq, number)
        # Both round in f32 at each of about ten operations, in another order.
        torch.testing.assert_close(ours, theirs.detach(), rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize(
    "name, args",
    [
        ("custom_topk", (torch.rand(6, 6), 3, 1, False)),
        ("custom_relu", (torch.randn(3, 5),)),
        ("custom_relu_backward", (torch.randn(3, 5), torch.randn(3, 5), 0.0)),
        ("custom_adam", (torch.randn(4), torch.randn(4), torch.zeros(4), torch.zeros(4), 1)),
    ],
)
def test_opcheck(ops, name, args):
    torch.library.opcheck(getattr(ops, name).default, args)


def test_schemas_are_those_of_the_descriptors(ops):
    schema = str(ops.custom_topk.default._schema)
    assert schema.endswith("(Tensor self, SymInt k, SymInt axis, bool bottom) -> (Tensor, Tensor)")
    arguments = [argument.name for argument in ops.custom_adam.default._schema.arguments]
    assert arguments == ["param", "grad", "exp_avg", "exp_avg_sq", "step", "lr", "beta1", "beta2", "eps"]


def test_outputs_have_the_layout_of_input_0(ops):
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    y = ops.custom_relu(x)
    assert y.stride() == x.stride() and torch.equal(y, x.relu())
    values, indices = ops.custom_topk(x, 2, 1, False)
    assert values.is_contiguous(memory_format=torch.channels_last) and torch.equal(values, x.topk(2, 1).values)
    assert indices.is_contiguous(memory_format=torch.channels_last)
    meta = ops.custom_relu(x.to("meta"))
    assert meta.stride() == y.stride()
    torch.library.opcheck(ops.custom_relu.default, (x,))


def test_a_kernel_of_another_crate(described):
    x = torch.randn(3)
    assert torch.equal(described.next(x), x + 1)


def test_lists_any_number_and_defaults(described):
    xs = [torch.randn(2, 3) for _ in range(3)]
    expected = xs[0] + 2 * xs[1] - xs[2]
    weights = [1.0, 2.0, -1.0]
    for scale in (3, 3.0):
        torch.testing.assert_close(described.weigh(xs, weights, scale), 3 * expected)
    torch.testing.assert_close(described.weigh(xs, weights, 1, halve=True), expected / 2)
    with pytest.raises(RuntimeError, match="weigh: kernel `weigh_f32`: `three` needs a weight for each"):
        described.weigh(xs, [1.0], 1, name="three")


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda ops: ops.custom_topk(torch.rand(2, 2), 3, 1, False), IndexError, "custom_topk: `k` is 3"),
        (lambda ops: ops.custom_topk(torch.rand(2, 2), 1, 2, False), IndexError, "custom_topk: `axis` is 2"),
        (
            lambda ops: ops.custom_relu(torch.rand(2).double()),
            RuntimeError,
            "argument `x`: expected dtype torch.float32, got torch.float64",
        ),
        (lambda ops: ops.custom_relu_backward(torch.rand(2), torch.rand(3), 0.0), RuntimeError, "`x`"),
        (
            lambda ops: ops.custom_adam(*[torch.rand(2)] * 4, 0),
            IndexError,
            "custom_adam: kernel `adam_f32`: `step` is 0",
        ),
    ],
)
def test_errors(ops, call, error, message):
    with pytest.raises(error, match=message):
        call(ops)


def test_a_wrong_descriptor_fails_when_it_is_loaded(library_path):
    path = library_path("misdescribed_ops")
    # Newer versions of torch raise an OSError from what loading raised.
    code = f"""
import torch
try:
    torch.ops.load_library({str(path)!r})
except (OSError, RuntimeError) as error:
    print(error.__cause__ or error)
"""
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "misdescribed_ops/src/lib.rs:" in printed
    assert "negate: there is no kernel `negate_f23`; did you mean `negate_f32`?" in printed
