"""Root-mean-square norm with a weight, in C++, for PyTorch."""

# --- forward
import pathlib

import torch

torch.ops.load_library(str(pathlib.Path(__file__).with_name("librms_norm.so")))
ops = torch.ops.lines_cpp


def rms_norm(x, w, eps=1e-5):
    return ops.rms_norm(x, w, eps)


@torch.library.register_fake("lines_cpp::rms_norm")
def fake(x, w, eps):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


# --- gradient
@torch.library.register_fake("lines_cpp::rms_norm_vjp")
def fake_vjp(x, w, dy, eps):
    return torch.empty_like(x, memory_format=torch.contiguous_format), torch.empty_like(w)


def setup_context(ctx, inputs, output):
    x, w, ctx.eps = inputs
    ctx.save_for_backward(x, w)


def backward(ctx, dy):
    return *ops.rms_norm_vjp(*ctx.saved_tensors, dy, ctx.eps), None


torch.library.register_autograd("lines_cpp::rms_norm", backward, setup_context=setup_context)


# --- vmap
def one_by_one(function):
    def rule(info, in_dims, *args):
        calls = [
            function(*(arg if dim is None else arg.select(dim, index) for arg, dim in zip(args, in_dims, strict=True)))
            for index in range(info.batch_size)
        ]
        if isinstance(calls[0], tuple):
            return tuple(map(torch.stack, zip(*calls, strict=True))), (0,) * len(calls[0])
        return torch.stack(calls), 0

    return rule


@torch.library.register_vmap("lines_cpp::rms_norm")
def vmap(info, in_dims, x, w, eps):
    if in_dims[0] is None or in_dims[1] is not None:
        return one_by_one(ops.rms_norm)(info, in_dims, x, w, eps)
    return ops.rms_norm(x.movedim(in_dims[0], 0), w, eps), 0


torch.library.register_vmap("lines_cpp::rms_norm_vjp", one_by_one(ops.rms_norm_vjp))


# --- sharding
from torch.distributed.tensor import Partial, Replicate, Shard
from torch.distributed.tensor.experimental import register_sharding


@register_sharding(ops.rms_norm.default)
def split(x, w, eps):
    rows = [([Shard(dim)], [Shard(dim), Replicate(), None]) for dim in range(x.ndim - 1)]
    return [([Replicate()], [Replicate(), Replicate(), None]), *rows]


@register_sharding(ops.rms_norm_vjp.default)
def split_vjp(x, w, dy, eps):
    rows = [([Shard(dim), Partial()], [Shard(dim), Replicate(), Shard(dim), None]) for dim in range(x.ndim - 1)]
    return [([Replicate()] * 2, [Replicate()] * 3 + [None]), *rows]
