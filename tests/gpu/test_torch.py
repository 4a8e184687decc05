"""The gallery's kernels in PyTorch, beside its functions for the CPU."""

import pytest
import torch

from gpu.numbers import ulps, values
from gpu.place import IN_TORCH, on_a_gpu

SHAPES = [(1, 1), (3, 7), (64, 128), (5, 1000), (7, 5000), (1, 70000), (4096, 512)]
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]


@pytest.fixture(scope="session")
def ops(gallery):
    return torch.ops.custom_op


def tensor(rows, n, seed, dtype=torch.float32, device="cpu"):
    return torch.from_numpy(values(rows, n, seed)).to(device, dtype)


def check(function, operands, bound):
    name = str(operands[0].dtype).removeprefix("torch.")
    found = function(*(operand.to(IN_TORCH) for operand in operands))
    expected = function(*operands)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for found, expected in pairs:
        assert ulps(found.cpu().double().numpy(), expected.double().numpy(), name) <= bound


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_those_of_the_cpu(ops, shape, dtype):
    # A sum of 70,000 squares in doubles, in two orders.
    check(ops.rms_norm, [tensor(*shape, 0, dtype)], 64 if dtype == torch.float64 else 16)
    if dtype == torch.bfloat16:
        check(ops.softmax, [tensor(*shape, 0, dtype)], 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_are_those_of_the_cpu(ops, dtype):
    x, dy = tensor(32, 200, 0, dtype), tensor(32, 200, 1, dtype)

    def gradient(device):
        leaf = x.to(device, copy=True).requires_grad_()
        ops.swiglu(ops.rms_norm(leaf), leaf).backward(dy.to(device))
        return leaf.grad.cpu().double()

    tolerance = {torch.float32: 1e-4, torch.float64: 1e-12, torch.bfloat16: 5e-2, torch.float16: 1e-2}[dtype]
    expected = gradient("cpu")
    torch.testing.assert_close(
        gradient(IN_TORCH), expected, rtol=tolerance, atol=tolerance * float(expected.abs().max())
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 7), (64, 128), (5, 1000), (7, 5000)])
def test_functions_of_rows_and_their_gradients_are_those_of_the_cpu(ops, shape, dtype):
    tolerance = {torch.float32: 1e-4, torch.float64: 1e-11, torch.bfloat16: 5e-2, torch.float16: 1e-2}[dtype]
    rows = [tensor(*shape, seed, dtype) for seed in range(3)]
    temperatures = rows[1][:, 0].abs() + 0.25
    cases = [
        (ops.softmax_cross_entropy, rows[:2]),
        (ops.layer_norm, rows),
        (ops.tempered_softmax, [rows[0], temperatures]),
    ]
    for op, operands in cases:

        def results(device, op=op, operands=operands):
            leaves = [operand.detach().to(device, copy=True).requires_grad_() for operand in operands]
            results = op(*leaves)
            results = results if isinstance(results, tuple) else (results,)
            gradients = torch.autograd.grad(sum(result.sin().sum() for result in results), leaves)
            return [array.detach().cpu().double() for array in (*results, *gradients)]

        for found, expected in zip(results(IN_TORCH), results("cpu"), strict=True):
            torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance * float(expected.abs().max()))


def test_arrays_without_elements(ops):
    for shape in [(0, 4), (4, 0)]:
        x = torch.zeros(shape, device=IN_TORCH)
        assert ops.rms_norm(x).shape == shape
        assert torch.equal(ops.softmax_cross_entropy(x, x).cpu(), torch.zeros(shape[0]))


def test_views_and_strides(ops):
    x = tensor(64, 64, 0)
    for view in (lambda x: x.T, lambda x: x[:, 1:], lambda x: x[::2, ::3]):
        check(lambda x, view=view: ops.rms_norm(view(x)), [x], 16)


@on_a_gpu
def test_several_streams(ops):
    """Each stream has its own producer: a kernel on another stream would read what is not written yet."""
    streams = [torch.cuda.Stream() for _ in range(4)]
    operands = [tensor(512, 512, seed, device="cuda") for seed in range(4)]
    expected = [ops.rms_norm(x @ x) for x in operands]
    torch.cuda.synchronize()
    for _ in range(20):
        results = []
        for stream, x in zip(streams, operands, strict=True):
            with torch.cuda.stream(stream):
                results.append(ops.rms_norm(x @ x))
        torch.cuda.synchronize()
        for found, wanted in zip(results, expected, strict=True):
            assert torch.equal(found, wanted)


@on_a_gpu
def test_cuda_graphs(ops):
    x = tensor(128, 256, 0, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        ops.softplus(ops.rms_norm(x))
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = ops.softplus(ops.rms_norm(x))
    for seed in range(3):
        x.copy_(tensor(128, 256, seed))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(y, ops.softplus(ops.rms_norm(x)))


@on_a_gpu
def test_a_kernel_that_is_not_loaded_is_refused_in_a_capture(ops):
    x = tensor(8, 8, 0, device="cuda")
    graph = torch.cuda.CUDAGraph()
    # A value of the attribute that no other test has.
    with pytest.raises(RuntimeError, match="captur"), torch.cuda.graph(graph):
        ops.softplus(x, beta=1.2345)


def test_compile(ops):
    function = torch.compile(lambda x: ops.softplus(ops.rms_norm(x)) * 2, fullgraph=True)
    x = tensor(64, 128, 0, device=IN_TORCH)
    torch.testing.assert_close(function(x), ops.softplus(ops.rms_norm(x)) * 2)


@on_a_gpu
def test_calls_leave_nothing_behind(ops):
    x = tensor(64, 64, 0, device="cuda")
    ops.swiglu(ops.rms_norm(x), x)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(10_000):
        ops.swiglu(ops.rms_norm(x), x)
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() == before


@on_a_gpu
def test_mistakes(ops):
    x = tensor(4, 8, 0)
    with pytest.raises(RuntimeError, match="dy"):
        ops.rms_norm_vjp(x.cuda(), x)
    with pytest.raises(NotImplementedError, match="CUDA"):
        ops.weighted_rms_norm(x.cuda(), x[0].cuda())
    if torch.cuda.device_count() > 1:
        with pytest.raises(RuntimeError, match="another device"):
            ops.swiglu(x.to("cuda:0"), x.to("cuda:1"))
        y = ops.rms_norm(x.to("cuda:1"))
        assert torch.cuda.current_device() == 0
        assert y.device.index == 1
