"""The gallery's kernels in PyTorch, beside its functions for the CPU."""

import pytest
import torch

from gpu.numbers import ulps, values

SHAPES = [(1, 1), (3, 7), (64, 128), (5, 1000), (1, 70000), (4096, 512)]
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.float16]


@pytest.fixture(scope="session")
def ops(gallery):
    return torch.ops.custom_op


def tensor(rows, n, seed, dtype=torch.float32, device="cpu"):
    return torch.from_numpy(values(rows, n, seed)).to(device, dtype)


def check(function, operands, bound):
    name = str(operands[0].dtype).removeprefix("torch.")
    found, expected = function(*(operand.cuda() for operand in operands)), function(*operands)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for found, expected in pairs:
        assert ulps(found.cpu().double().numpy(), expected.double().numpy(), name) <= bound


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_are_those_of_the_cpu(ops, shape, dtype):
    check(ops.rms_norm, [tensor(*shape, 0, dtype)], 16)
    if dtype == torch.bfloat16:
        check(ops.softmax, [tensor(*shape, 0, dtype)], 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gradients_are_those_of_the_cpu(ops, dtype):
    x, dy = tensor(32, 200, 0, dtype), tensor(32, 200, 1, dtype)

    def gradient(device):
        leaf = x.to(device).requires_grad_()
        ops.swiglu(ops.rms_norm(leaf), leaf).backward(dy.to(device))
        return leaf.grad.cpu().double()

    tolerance = {torch.float32: 1e-4, torch.float64: 1e-12, torch.bfloat16: 5e-2, torch.float16: 1e-2}[dtype]
    expected = gradient("cpu")
    torch.testing.assert_close(gradient("cuda"), expected, rtol=tolerance, atol=tolerance * float(expected.abs().max()))


def test_views_and_strides(ops):
    x = tensor(64, 64, 0)
    for view in (lambda x: x.T, lambda x: x[:, 1:], lambda x: x[::2, ::3]):
        check(lambda x, view=view: ops.rms_norm(view(x)), [x], 16)


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


def test_a_kernel_that_is_not_loaded_is_refused_in_a_capture(ops):
    x = tensor(8, 8, 0, device="cuda")
    graph = torch.cuda.CUDAGraph()
    # A value of the attribute that no other test has.
    with pytest.raises(RuntimeError, match="captur"), torch.cuda.graph(graph):
        ops.softplus(x, beta=1.2345)


def test_compile(ops):
    function = torch.compile(lambda x: ops.softplus(ops.rms_norm(x)) * 2, fullgraph=True)
    x = tensor(64, 128, 0, device="cuda")
    torch.testing.assert_close(function(x), ops.softplus(ops.rms_norm(x)) * 2)


def test_calls_leave_nothing_behind(ops):
    x = tensor(64, 64, 0, device="cuda")
    ops.swiglu(ops.rms_norm(x), x)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(10_000):
        ops.swiglu(ops.rms_norm(x), x)
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() == before


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
