"""The gallery inside torch.compile and torch.export: values, derivatives, and how often torch compiles."""

import shutil

import pytest
import torch

from cases import CASES, low_pass, numbers, rms_norm


class Counter:
    """A backend that runs what torch captured as it is, and counts the captures."""

    def __init__(self):
        self.programs = []

    def __call__(self, graph, _inputs):
        self.programs.append(graph)
        return graph

    def compile(self, function):
        torch._dynamo.reset()
        return torch.compile(function, backend=self, fullgraph=True, dynamic=True)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.op not in ("axpy", "compensated_add")], ids=lambda c: c.id
)
def test_captured_whole(ops, case):
    args, kwargs = case.make()
    operator = getattr(getattr(ops, case.op), case.overload)
    torch._dynamo.reset()
    compiled = torch.compile(lambda *args, **kwargs: operator(*args, **kwargs), backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(*args, **kwargs), operator(*args, **kwargs))


def test_one_program_for_all_sizes(ops):
    counter = Counter()
    run = counter.compile(lambda x: ops.rms_norm(x) + 1)
    for rows, n in [(2, 5), (3, 8), (7, 64), (100, 3)]:
        x = numbers(rows, n)
        torch.testing.assert_close(run(x), (rms_norm(x) + 1).float())
    assert len(counter.programs) == 1


def test_functions_that_name_an_op_of_the_package(gallery):
    """And not the operator, which torch.compile could not look for."""
    counter = Counter()
    run = counter.compile(lambda x: gallery.rms_norm.torch(x, eps=1e-3) + 1)
    x = torch.ones(2, 5)
    torch.testing.assert_close(run(x), gallery.rms_norm.torch(x, eps=1e-3) + 1)
    assert len(counter.programs) == 1


def test_one_program_for_sizes_that_attributes_give(ops):
    counter = Counter()

    def function(x, k, taps):
        values, indices = ops.top_k(k, x)
        return values * 2, indices, ops.low_pass(x, 0.2, taps)

    run = counter.compile(function)
    for n, k, taps in [(9, 3, 4), (12, 5, 6), (30, 4, 9)]:
        x = numbers(2, n)
        values, indices, filtered = run(x, k, taps)
        torch.testing.assert_close(values, x.topk(k).values * 2)
        assert torch.equal(indices.long(), x.topk(k).indices)
        torch.testing.assert_close(filtered, low_pass(x, 0.2, taps).float())
    assert len(counter.programs) == 1


def test_updates_in_place(ops):
    counter = Counter()

    def function(x, y):
        z = y * 2
        ops.axpy(0.5, x, z)
        return z + 1

    run = counter.compile(function)
    for n in (3, 6, 9):
        x, y = numbers(n), numbers(n, seed=2)
        torch.testing.assert_close(run(x, y), y * 2 + 0.5 * x + 1)
    assert len(counter.programs) == 1
    torch._dynamo.reset()
    whole = torch.compile(function, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(whole(x, y), y * 2 + 0.5 * x + 1)


@pytest.mark.skipif(shutil.which("g++") is None, reason="inductor compiles C++")
def test_the_default_backend(ops):
    torch._dynamo.reset()
    weights = numbers(4, 16, seed=2)
    run = torch.compile(lambda x: (torch.sin(ops.rms_norm(x)) * weights).sum(), fullgraph=True)
    x = numbers(4, 16, requires_grad=True)
    reference = numbers(4, 16, requires_grad=True)
    run(x).backward()
    (torch.sin(rms_norm(reference)).float() * weights).sum().backward()
    torch.testing.assert_close(x.grad, reference.grad, rtol=1e-5, atol=1e-5)


def test_gradients(ops):
    x = numbers(3, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: ops.rms_norm(x, 1e-3), x)
    torch._dynamo.reset()
    run = torch.compile(lambda x: ops.rms_norm(x, 1e-3), backend="aot_eager", fullgraph=True)
    assert torch.autograd.gradcheck(run, x)


def test_one_program_for_gradients_of_all_sizes(ops):
    from torch._dynamo.testing import CompileCounterWithBackend

    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    run = torch.compile(lambda x: ops.rms_norm(x).square().sum(), backend=counter, fullgraph=True, dynamic=True)
    for rows in (2, 3, 9):
        x, reference = (numbers(rows, 8, requires_grad=True) for _ in range(2))
        run(x).backward()
        rms_norm(reference).square().sum().backward()
        torch.testing.assert_close(x.grad, reference.grad, rtol=1e-4, atol=1e-4)
    assert counter.frame_count == 1


# Functions of torch beside ops with operands that are broadcast: what is true of the first is true of the second.
BROADCAST = {
    "swiglu": lambda x, y: torch.nn.functional.silu(x) * y,
    "layer_norm": lambda x, y: torch.nn.functional.layer_norm(x, x.shape[-1:], eps=1e-5) * y + y,
}


def broadcast_op(ops, name):
    return {"swiglu": ops.swiglu, "layer_norm": lambda x, y: ops.layer_norm(x, y, y, 1e-5)}[name]


@pytest.mark.parametrize("shape", [(3,), (2, 1, 3), ()])
@pytest.mark.parametrize("name", BROADCAST)
def test_a_size_beside_operands_of_other_ranks(ops, name, shape):
    """A size is not compared with one of another dimension: neither fixed by export, nor a reason to compile again."""
    from torch._dynamo.testing import CompileCounterWithBackend

    if name == "layer_norm" and shape != (3,):
        pytest.skip("a gain is a row")

    class Broadcast(torch.nn.Module):
        def forward(self, x, y):
            return broadcast_op(ops, name)(x, y)

    y = numbers(*shape)
    dynamic = {"x": {0: torch.export.Dim("n")}, "y": None}
    program = torch.export.export(Broadcast(), (numbers(4, 3), y), dynamic_shapes=dynamic, strict=False).module()
    counts = []
    for function in (broadcast_op(ops, name), BROADCAST[name]):
        torch._dynamo.reset()
        counter = CompileCounterWithBackend("aot_eager")
        run = torch.compile(lambda x, y, f=function: f(x, y) * 2, backend=counter, fullgraph=True, dynamic=True)
        for rows in (4, 5, 3, 7, 2):
            x = numbers(rows, 3)
            expected = BROADCAST[name](x, y)
            torch.testing.assert_close(run(x, y), expected * 2, rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(program(x, y), expected, rtol=1e-4, atol=1e-4)
        counts.append(counter.frame_count)
    assert counts == [1, 1]


def test_one_program_for_batches_of_all_sizes(ops):
    from torch._dynamo.testing import CompileCounterWithBackend

    counts = []
    for function in (ops.swiglu, BROADCAST["swiglu"]):
        torch._dynamo.reset()
        counter = CompileCounterWithBackend("aot_eager")
        batched = torch.vmap(function, in_dims=(0, None))
        run = torch.compile(batched, backend=counter, fullgraph=True, dynamic=True)
        for rows in (4, 5, 3, 7, 2):
            x, y = numbers(rows, 3), numbers(3)
            torch.testing.assert_close(run(x, y), BROADCAST["swiglu"](x, y), rtol=1e-4, atol=1e-4)
        counts.append(counter.frame_count)
    assert counts == [1, 1]


class Model(torch.nn.Module):
    """Uses results whose sizes depend on two dimensions and an attribute."""

    def forward(self, x):
        values, _ = torch.ops.custom_op.top_k(2, torch.ops.custom_op.rms_norm(x))
        return values + torch.ops.custom_op.low_pass(x, 0.2, 3).sum()


def test_export_with_dynamic_shapes(ops):
    rows, columns = torch.export.Dim("rows", min=2), torch.export.Dim("columns", min=4)
    program = torch.export.export(Model(), (numbers(3, 5),), dynamic_shapes={"x": {0: rows, 1: columns}}, strict=False)
    for shape in [(2, 4), (5, 8), (6, 100)]:
        x = numbers(*shape)
        torch.testing.assert_close(program.module()(x), Model()(x))
    (output,) = (node.args[0][0] for node in program.graph.nodes if node.op == "output")
    sizes = output.meta["val"].shape
    assert not isinstance(sizes[0], int) and sizes[1] == 2


def test_exported_programs_are_files(ops, tmp_path):
    x = numbers(3, 5)
    torch.export.save(torch.export.export(Model(), (x,), strict=False), tmp_path / "model.pt2")
    torch.testing.assert_close(torch.export.load(tmp_path / "model.pt2").module()(x), Model()(x))
