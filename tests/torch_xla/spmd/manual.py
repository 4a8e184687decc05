"""Code for each device, between `enable_manual_sharding` and `disable_manual_sharding`, and its collectives."""

import numpy as np
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.spmd as xs
from common import DEVICE, LINE, SQUARE, main, sharded

ALL = [[0, 1, 2, 3]]
# How torch_xla's functions are told that groups are of devices: there is one replica.
OF_DEVICES = {"channel_id": 1, "use_global_device_ids": True}


def per_device(function, x, spec, out_spec, shape, mesh=LINE):
    """`function` of the parts of `x`; its results are the parts of a tensor of this shape."""
    part = xs.enable_manual_sharding(x.to(DEVICE), spec, mesh=mesh).global_tensor
    return xs.disable_manual_sharding(function(part), out_spec, shape, mesh=mesh).global_tensor


def code_for_each_device():
    x = torch.randn(8, 16)
    part = xs.enable_manual_sharding(sharded(x, LINE, ("d", None)), ("d", None), mesh=LINE).global_tensor
    assert part.shape == (2, 16)
    return xs.disable_manual_sharding(part * 2, ("d", None), x.shape, mesh=LINE).global_tensor, x * 2


def code_for_each_device_of_a_square():
    x = torch.randn(8, 16)
    return per_device(torch.sin, x, ("x", "y"), ("x", "y"), x.shape, SQUARE), x.sin()


def parts_in_another_order_of_devices():
    x = torch.arange(8.0)
    turned = xs.Mesh(np.array([3, 1, 0, 2]), (4,), ("d",))
    return per_device(lambda part: part.cumsum(0), x, ("d",), ("d",), x.shape, turned), x.reshape(4, 2).cumsum(
        1
    ).ravel()


def orders_of_devices_inside_and_around():
    x, y = torch.randn(8, 4), torch.arange(8.0)
    turned = xs.Mesh(np.array([3, 1, 0, 2]), (4,), ("d",))
    around = sharded(x, LINE, ("d", None)) * 2
    inside = per_device(lambda part: part.cumsum(0), y, ("d",), ("d",), y.shape, turned)
    return around.sum(1) + inside, (x * 2).sum(1) + y.reshape(4, 2).cumsum(1).ravel()


def what_surrounds_code_for_each_device():
    x = torch.randn(8, 16)
    here = (x.exp() * 2).sum(1)
    part = xs.enable_manual_sharding(sharded(x, LINE, ("d", None)).exp(), ("d", None), mesh=LINE).global_tensor
    whole = xs.disable_manual_sharding(part * 2, ("d", None), x.shape, mesh=LINE).global_tensor
    return whole.sum(1), here


def several_tensors_in_code_for_each_device():
    x, y = torch.randn(8, 4), torch.randn(4, 8)
    a = xs.enable_manual_sharding(x.to(DEVICE), ("d", None), mesh=LINE).global_tensor
    b = xs.enable_manual_sharding(y.to(DEVICE), (None, None), mesh=LINE).global_tensor
    return xs.disable_manual_sharding(a @ b, ("d", None), (8, 8), mesh=LINE).global_tensor, x @ y


def reduce_scatter():
    x = torch.randn(8, 8)

    def scatter(part):
        return torch_xla._XLAC._xla_spmd_reduce_scatter(xm.REDUCE_SUM, part, 1.0, 0, 4, ALL)

    return per_device(scatter, x, (None, None), ("d", None), x.shape), x * 4


def scaled_reduce_scatter_along_the_last_dimension():
    x = torch.randn(8, 8)

    def scatter(part):
        return torch_xla._XLAC._xla_spmd_reduce_scatter(xm.REDUCE_SUM, part, 0.5, -1, 4, ALL)

    return per_device(scatter, x, (None, None), (None, "d"), x.shape), x * 2


def reduce_scatter_of_groups():
    x = torch.randn(8, 8)

    def scatter(part):
        return torch_xla._XLAC._xla_spmd_reduce_scatter(xm.REDUCE_SUM, part, 1.0, 0, 2, [[0, 1], [2, 3]])

    return per_device(scatter, x, ("x", None), (("x", "y"), None), x.shape, SQUARE), x * 2


def reduce_scatter_of_xla_model():
    x = torch.randn(8, 8)

    def scatter(part):
        return xm.reduce_scatter(xm.REDUCE_MAX, part, 1.0, 0, 4, ALL, **OF_DEVICES)

    return per_device(scatter, x, (None, "d"), ("d", None), (8, 2)), torch.stack(x.split(2, 1)).amax(0)


def all_reduce():
    x = torch.randn(8, 8)

    def reduce(part):
        return torch_xla._XLAC._xla_spmd_all_reduce(xm.REDUCE_SUM, part, 0.25, ALL)

    return per_device(reduce, x, ("d", None), (None, None), (2, 8)), x.reshape(4, 2, 8).mean(0)


def all_reduce_of_groups():
    x = torch.randn(8, 8)

    def reduce(part):
        return torch_xla._XLAC._xla_spmd_all_reduce(xm.REDUCE_SUM, part, 1.0, [[0, 2], [1, 3]])

    return per_device(reduce, x, ("x", None), (None, None), (4, 8), SQUARE), x.reshape(2, 4, 8).sum(0)


def all_gather():
    x = torch.randn(8, 8)

    def gather(part):
        return xm.all_gather(part, dim=1, groups=ALL, pin_layout=False, **OF_DEVICES)

    return per_device(gather, x, (None, "d"), (None, None), x.shape), x


def a_norm_over_all_devices():
    x = torch.randn(8, 8)

    def norm(part):
        squares = (part * part).sum().reshape(1)
        total = torch_xla._XLAC._xla_spmd_all_reduce(xm.REDUCE_SUM, squares, 1.0, ALL)
        return part / total.sqrt()

    return per_device(norm, x, ("d", None), ("d", None), x.shape), x / x.norm()


def ids_of_replicas_are_explained():
    """There is one replica: groups of devices need a channel."""
    x = torch.randn(8, 8)

    def scatter(part):
        return xm.reduce_scatter(xm.REDUCE_SUM, part, 1.0, 0, 4, ALL)

    try:
        per_device(scatter, x, (None, None), ("d", None), x.shape).cpu()
    except Exception as error:
        assert "for groups of its 4 partitions, give the op a channel and `use_global_device_ids`" in str(error), error
    else:
        raise AssertionError("no error")
    return torch.zeros(1), torch.zeros(1)


CASES = [
    code_for_each_device,
    code_for_each_device_of_a_square,
    parts_in_another_order_of_devices,
    orders_of_devices_inside_and_around,
    what_surrounds_code_for_each_device,
    several_tensors_in_code_for_each_device,
    reduce_scatter,
    scaled_reduce_scatter_along_the_last_dimension,
    reduce_scatter_of_groups,
    reduce_scatter_of_xla_model,
    all_reduce,
    all_reduce_of_groups,
    all_gather,
    a_norm_over_all_devices,
    # The last: torch_xla goes on with the token of what failed.
    ids_of_replicas_are_explained,
]

if __name__ == "__main__":
    main(CASES)
