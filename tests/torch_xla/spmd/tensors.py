"""Programs of sharded tensors."""

import torch
import torch_xla
import torch_xla.distributed.spmd as xs
import torch_xla.experimental.xla_quantized_matmul
from common import DEVICE, LINE, SQUARE, main, sharded


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
]

if __name__ == "__main__":
    main(CASES)
