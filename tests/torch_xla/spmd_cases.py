"""Programs of sharded tensors, each with what torch's CPU makes of the same: run on four devices by `test_spmd.py`."""

import copy
import sys

import numpy as np
import torch
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.experimental.xla_quantized_matmul
import torch_xla.runtime as xr

xr.use_spmd()
DEVICE = torch_xla.device()
LINE = xs.Mesh(np.arange(4), (4,), ("d",))
SQUARE = xs.Mesh(np.arange(4), (2, 2), ("x", "y"))


def sharded(tensor, mesh, spec):
    moved = tensor.to(DEVICE)
    xs.mark_sharding(moved, mesh, spec)
    return moved


def rows():
    x = torch.randn(8, 16)
    return sharded(x, LINE, ("d", None)) * 2 + 1, x * 2 + 1


def tiles_of_two_axes():
    x = torch.randn(8, 16)
    return torch.softmax(sharded(x, SQUARE, ("x", "y")), -1), torch.softmax(x, -1)


def copies_along_an_axis():
    x = torch.randn(8, 16)
    return sharded(x, SQUARE, ("x", None)).exp(), x.exp()


def axes_of_one_dimension():
    x = torch.randn(8, 16)
    return sharded(x, SQUARE, (("x", "y"), None)).exp(), x.exp()


def replicated():
    x = torch.randn(8, 16)
    return sharded(x, LINE, (None, None)).exp(), x.exp()


def split_contraction():
    x, w = torch.randn(8, 16), torch.randn(16, 12)
    return sharded(x, SQUARE, ("x", "y")) @ sharded(w, SQUARE, ("y", None)), x @ w


def a_value_amid_the_program():
    x = torch.randn(8, 16)
    y = x.to(DEVICE) * 3
    xs.mark_sharding(y, LINE, (None, "d"))
    return y.sin(), (x * 3).sin()


def uneven_rows():
    x = torch.randn(7, 5)
    return sharded(x, LINE, ("d", None)).sum(0), x.sum(0)


def uneven_tiles():
    x = torch.randn(7, 5)
    return torch.relu(sharded(x, SQUARE, ("x", "y"))), torch.relu(x)


def fewer_rows_than_devices():
    x = torch.randn(2, 3)
    return sharded(x, LINE, ("d", None)).flip(0), x.flip(0)


def shifted_rows():
    x = torch.randn(8, 16)
    moved = sharded(x, LINE, ("d", None))
    return torch.cat([moved[1:], moved[:1]]), torch.cat([x[1:], x[:1]])


def embedding():
    w, i = torch.randn(10, 8), torch.randint(0, 10, (4, 3))
    table = sharded(w, LINE, (None, "d"))
    return torch.nn.functional.embedding(i.to(DEVICE), table), torch.nn.functional.embedding(i, w)


def convolution():
    x, w = torch.randn(4, 3, 8, 8), torch.randn(6, 3, 3, 3)
    return torch.conv2d(sharded(x, LINE, ("d", None, None, None)), w.to(DEVICE)), torch.conv2d(x, w)


def product_of_floats_and_integers():
    x, w, scale = torch.randn(8, 16), torch.randint(-100, 100, (12, 16), dtype=torch.int8), torch.rand(12)
    product = torch.ops.xla.quantized_matmul
    return product(x.to(DEVICE), w.to(DEVICE), scale.to(DEVICE)), product(x, w, scale)


def results_of_a_step():
    x = torch.randn(8, 16)
    y = sharded(x, LINE, ("d", None)) + 1
    torch_xla.sync()
    z = y * 2
    torch_xla.sync()
    assert "devices=[4,1]" in torch_xla._XLAC._get_xla_sharding_spec(z)
    return z, (x + 1) * 2


def parts_of_devices():
    x = torch.arange(28.0).reshape(7, 4)
    moved = xs.mark_sharding(x.to(DEVICE), LINE, ("d", None))
    torch_xla.sync()
    assert [shard.data.shape[0] for shard in moved.local_shards] == [2] * 4
    return torch.cat([shard.unpadded_data for shard in moved.local_shards]), x


def code_for_each_device():
    x = torch.randn(8, 16)
    part = xs.enable_manual_sharding(sharded(x, LINE, ("d", None)), ("d", None), mesh=LINE).global_tensor
    assert part.shape == (2, 16)
    return xs.disable_manual_sharding(part * 2, ("d", None), x.shape, mesh=LINE).global_tensor, x * 2


def training():
    here = torch.nn.Linear(16, 8)
    there = copy.deepcopy(here).to(DEVICE)
    xs.mark_sharding(there.weight, LINE, ("d", None))
    x = torch.randn(32, 16)
    sides = [(there, sharded(x, LINE, ("d", None))), (here, x)]
    steps = [(model, batch, torch.optim.SGD(model.parameters(), 0.1)) for model, batch in sides]
    for _ in range(3):
        for model, batch, optimizer in steps:
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
        torch_xla.sync()
    return there.weight.detach(), here.weight.detach()


CASES = [
    rows,
    tiles_of_two_axes,
    copies_along_an_axis,
    axes_of_one_dimension,
    replicated,
    split_contraction,
    a_value_amid_the_program,
    uneven_rows,
    uneven_tiles,
    fewer_rows_than_devices,
    shifted_rows,
    embedding,
    convolution,
    product_of_floats_and_integers,
    results_of_a_step,
    parts_of_devices,
    code_for_each_device,
    training,
]

if __name__ == "__main__":
    torch.manual_seed(0)
    for case in CASES:
        try:
            got, expected = case()
            torch_xla.sync()
            torch.testing.assert_close(got.cpu(), expected, rtol=1e-4, atol=1e-5)
        except Exception as error:
            sys.stdout.write(f"{case.__name__}: {str(error).splitlines()[0]}\n")
