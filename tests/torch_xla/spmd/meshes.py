"""Meshes, what each device has of a tensor, and tensors made of what devices have."""

import copy

import numpy as np
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.spmd as xs
from common import DEVICE, LINE, SQUARE, main, sharded

CUBE = xs.Mesh(np.arange(4), (1, 2, 2), ("r", "b", "m"))


def spec_of(tensor):
    return torch_xla._XLAC._get_xla_sharding_spec(tensor)


def parts(tensor):
    """What each device has, with its indices and the number of its copy."""
    return [(shard.unpadded_data, shard.indices, shard.replica_id) for shard in tensor.local_shards]


def same_parts(x, mesh, spec, replicas):
    """A tensor and its parts: each is that part of the whole, and copies are counted."""
    moved = xs.mark_sharding(x.to(DEVICE), mesh, spec)
    torch_xla.sync()
    assert [replica for _, _, replica in parts(moved)] == replicas
    pairs = [(part, x[indices]) for part, indices, _ in parts(moved)]
    return [*pairs, (moved.global_tensor.sin(), x.sin())]


def parts_along_one_axis():
    return same_parts(torch.randn(8, 6), LINE, ("d", None), [0] * 4)


def parts_that_are_padded():
    return same_parts(torch.randn(5), LINE, ("d",), [0] * 4)


def parts_that_are_copies():
    return same_parts(torch.randn(8, 6), LINE, (None, None), [0, 1, 2, 3])


def parts_that_some_have():
    return same_parts(torch.randn(8, 6), SQUARE, (None, "y"), [0, 0, 1, 1])


def parts_of_scalars():
    return same_parts(torch.tensor(1.5), LINE, (), [0, 1, 2, 3])


def four_dimensions():
    mesh = xs.Mesh(np.arange(4), (1, 1, 2, 2), ("a", "b", "c", "d"))
    return same_parts(torch.randn(2, 4, 8, 16), mesh, ("a", "b", "c", "d"), [0] * 4)


def axes_in_another_order():
    mesh = xs.Mesh(np.arange(4), (2, 1, 2), ("a", "b", "c"))
    return same_parts(torch.randn(4, 8, 16), mesh, ("b", "c", "a"), [0] * 4)


def some_axes_in_another_order():
    mesh = xs.Mesh(np.arange(4), (2, 1, 2), ("a", "b", "c"))
    return same_parts(torch.randn(4, 3, 4), mesh, ("b", None, "a"), [0, 1, 0, 1])


def more_axes_than_dimensions():
    mesh = xs.Mesh(np.arange(4), (2, 2, 1), ("a", "b", "c"))
    return same_parts(torch.randn(16, 16), mesh, ("c", "b"), [0, 0, 1, 1])


def devices_in_another_order():
    mesh = xs.Mesh(np.array([3, 1, 0, 2]), (1, 4), ("a", "b"))
    return same_parts(torch.randn(10, 20), mesh, ("a", "b"), [0] * 4)


def several_axes_for_a_dimension():
    pairs = []
    for spec in [(("r", "b"), None), (None, ("b", "m")), (None, ("r", "m")), (None, ("m", "b")), (("r", "b"), "m")]:
        x = torch.randn(16, 16)
        pairs.append((sharded(x, CUBE, spec) @ x.to(DEVICE), x @ x))
    return pairs


def tensors_of_several_meshes():
    x, y = torch.randn(8, 8), torch.randn(8, 8)
    turned = xs.Mesh(np.array([2, 3, 0, 1]), (4,), ("d",))
    return [
        (sharded(x, LINE, ("d", None)) @ sharded(y, SQUARE, ("y", "x")), x @ y),
        (sharded(x, LINE, ("d", None)) + sharded(y, turned, (None, "d")), x + y),
    ]


def another_sharding():
    x = torch.randn(8, 8)
    moved = sharded(x, LINE, ("d", None))
    xs.clear_sharding(moved)
    assert not spec_of(moved)
    xs.mark_sharding(moved, LINE, (None, "d"))
    return moved * 2, x * 2


def copies_keep_the_sharding():
    x = torch.randn(8, 8)
    moved = sharded(x, LINE, ("d", None))
    copied, cloned = copy.deepcopy(moved), moved.clone()
    assert spec_of(copied) == spec_of(cloned) == spec_of(moved) != ""
    return [(copied + 1, x + 1), (cloned + 2, x + 2)]


def updates_in_place():
    x = torch.randn(8, 8)
    moved = sharded(x, LINE, (None, "d"))
    spec = spec_of(moved)
    for _ in range(3):
        moved += 1
        torch_xla.sync()
    assert spec_of(moved) == spec
    moved[2:4] = 0
    moved.mul_(2)
    x += 3
    x[2:4] = 0
    return moved, x * 2


def one_of_several_results():
    x = torch.randn(8, 8)
    values, indices = x.to(DEVICE).max(1)
    xs.mark_sharding(values, LINE, ("d",))
    expected = x.max(1)
    return [(values, expected.values), (indices, expected.indices)]


def views():
    x = torch.randn(8, 6)
    moved = sharded(x, LINE, ("d", None))
    return [
        (moved.t() + 1, x.t() + 1),
        (moved.reshape(2, 4, 6).sum(1), x.reshape(2, 4, 6).sum(1)),
        (moved[1:7:2] * 2, x[1:7:2] * 2),
        (moved.unsqueeze(1).expand(8, 3, 6).sum(0), x.unsqueeze(1).expand(8, 3, 6).sum(0)),
        (moved.view(-1)[5:9], x.view(-1)[5:9]),
    ]


def integers_and_other_types():
    x = torch.arange(64).reshape(8, 8)
    pairs = [(sharded(x, LINE, ("d", None)), x)]
    for dtype in (torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.bfloat16, torch.float64):
        y = (x % 5).to(dtype)
        pairs.append((sharded(y, SQUARE, ("y", "x")).t(), y.t()))
    return pairs


def data_with_a_sharding():
    x = torch.arange(32.0).reshape(2, 16)
    (moved,) = xm.send_cpu_data_to_device([x], DEVICE, input_sharding=xs.ShardingSpec(LINE, (None, "d")))
    assert spec_of(moved) == spec_of(sharded(x, LINE, (None, "d")))
    batch = torch.randn(8, 3)
    spec = xs.ShardingSpec(LINE, ("d", None), minibatch=True)
    (small,) = xm.send_cpu_data_to_device([batch], DEVICE, input_sharding=spec)
    return [(moved / 0.5, x / 0.5), (small + 1, batch + 1)]


def parts_that_are_replaced():
    x = torch.arange(8.0) + 1
    moved = xs.mark_sharding(x.to(DEVICE), LINE, ("d",))
    shards = moved.local_shards
    for shard in shards:
        shard.data *= -1
    moved.load_local_shards_(shards)
    return moved.global_tensor, -x


def tensors_made_of_parts():
    make = torch_xla._XLAC._global_tensor_from_cpu_shards
    line, copies = LINE.get_op_sharding(("d",)), LINE.get_op_sharding((None,))
    square, columns = SQUARE.get_op_sharding(("x", "y")), SQUARE.get_op_sharding((None, "y"))
    places = [torch.tensor([[i]]) for i in range(4)]
    rows = [torch.arange(4) + 4 * i for i in range(4)]
    pairs = [
        (make([torch.arange(4)] * 4, copies), torch.arange(4)),
        (make([torch.tensor([i]) for i in range(4)], line), torch.arange(4)),
        (make([torch.tensor([i]) for i in range(4)], line, torch.Size((1,))), torch.arange(1)),
        (make(places, square), torch.arange(4).reshape(2, 2)),
        (make(places[:2] * 2, columns), torch.arange(2).reshape(1, 2)),
    ]
    pairs += [(make(rows, line, torch.Size((16 - lost,))), torch.arange(16 - lost)) for lost in range(4)]
    return pairs


def meshes_of_all_devices():
    xs.set_global_mesh(xs.get_1d_mesh("data"))
    x = torch.randn(8, 8)
    moved = x.to(DEVICE)
    xs.mark_sharding(moved, xs.get_global_mesh(), ("data", None))
    return moved.cos(), x.cos()


def dtensors():
    from torch.distributed.tensor import DeviceMesh, Replicate, Shard, distribute_tensor

    mesh = DeviceMesh("xla", list(range(4)))
    x, w = torch.randn(8, 8), torch.randn(8, 8)
    rows = distribute_tensor(x, mesh, placements=[Shard(0)])
    copies = distribute_tensor(w, mesh, placements=[Replicate()])
    return (rows @ copies).global_tensor, x @ w


def sharded_shapes_of_results():
    """Results that the program does not say how to split come as torch_xla expects them."""
    x = torch.randn(8, 8)
    moved = sharded(x, LINE, ("d", None))
    a, b = moved @ moved.t(), moved.sum(0)
    torch_xla.sync()
    return [(a + 1, x @ x.t() + 1), (b * 2, x.sum(0) * 2), (torch.outer(b, b), torch.outer(x.sum(0), x.sum(0)))]


CASES = [
    parts_along_one_axis,
    parts_that_are_padded,
    parts_that_are_copies,
    parts_that_some_have,
    parts_of_scalars,
    four_dimensions,
    axes_in_another_order,
    some_axes_in_another_order,
    more_axes_than_dimensions,
    devices_in_another_order,
    several_axes_for_a_dimension,
    tensors_of_several_meshes,
    another_sharding,
    copies_keep_the_sharding,
    updates_in_place,
    one_of_several_results,
    views,
    integers_and_other_types,
    data_with_a_sharding,
    parts_that_are_replaced,
    tensors_made_of_parts,
    meshes_of_all_devices,
    dtensors,
    sharded_shapes_of_results,
]

if __name__ == "__main__":
    main(CASES)
