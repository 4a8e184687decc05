"""Root-mean-square norm with a weight, in Triton, for PyTorch on a GPU."""

# --- forward
import torch
import triton
import triton.language as tl


@triton.jit
def norm_row(x, w, y, n, eps, block: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, block)
    inside = i < n
    xs = tl.load(x + row * n + i, inside, 0.0).to(tl.float32)
    ws = tl.load(w + i, inside, 0.0).to(tl.float32)
    r = 1 / tl.sqrt(tl.sum(xs * xs) / n + eps)
    tl.store(y + row * n + i, ws * xs * r, inside)


@torch.library.custom_op("lines_triton::rms_norm", mutates_args=())
def call(x: torch.Tensor, w: torch.Tensor, eps: float) -> torch.Tensor:
    x, w, n = x.contiguous(), w.contiguous(), x.shape[-1]
    y = torch.empty_like(x)
    norm_row[(x.numel() // n,)](x, w, y, n, eps, triton.next_power_of_2(n))
    return y


@call.register_fake
def fake(x, w, eps):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def rms_norm(x, w, eps=1e-5):
    return call(x, w, eps)


# --- gradient
@triton.jit
def vjp_row(x, w, dy, dx, terms, n, eps, block: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, block)
    inside = i < n
    xs = tl.load(x + row * n + i, inside, 0.0).to(tl.float32)
    ws = tl.load(w + i, inside, 0.0).to(tl.float32)
    dys = tl.load(dy + row * n + i, inside, 0.0).to(tl.float32)
    r = 1 / tl.sqrt(tl.sum(xs * xs) / n + eps)
    shift = r * r * r * tl.sum(xs * ws * dys) / n
    tl.store(dx + row * n + i, r * ws * dys - shift * xs, inside)
    tl.store(terms + row * n + i, dys * xs * r, inside)


@torch.library.custom_op("lines_triton::rms_norm_vjp", mutates_args=())
def call_vjp(x: torch.Tensor, w: torch.Tensor, dy: torch.Tensor, eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    x, w, dy, n = x.contiguous(), w.contiguous(), dy.contiguous(), x.shape[-1]
    dx, terms = torch.empty_like(x), torch.empty_like(x, dtype=torch.float32)
    vjp_row[(x.numel() // n,)](x, w, dy, dx, terms, n, eps, triton.next_power_of_2(n))
    return dx, terms.reshape(-1, n).sum(0).to(w.dtype)


@call_vjp.register_fake
def fake_vjp(x, w, dy, eps):
    return torch.empty_like(x, memory_format=torch.contiguous_format), torch.empty_like(w)


def setup_context(ctx, inputs, output):
    x, w, ctx.eps = inputs
    ctx.save_for_backward(x, w)


def backward(ctx, dy):
    return *call_vjp(*ctx.saved_tensors, dy, ctx.eps), None


call.register_autograd(backward, setup_context=setup_context)


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


@call.register_vmap
def vmap(info, in_dims, x, w, eps):
    if in_dims[0] is None or in_dims[1] is not None:
        return one_by_one(call)(info, in_dims, x, w, eps)
    return call(x.movedim(in_dims[0], 0), w, eps), 0


call_vjp.register_vmap(one_by_one(call_vjp))


# --- sharding
from torch.distributed.tensor import Partial, Replicate, Shard
from torch.distributed.tensor.experimental import register_sharding


@register_sharding(torch.ops.lines_triton.rms_norm.default)
def split(x, w, eps):
    rows = [([Shard(dim)], [Shard(dim), Replicate(), None]) for dim in range(x.ndim - 1)]
    return [([Replicate()], [Replicate(), Replicate(), None]), *rows]


@register_sharding(torch.ops.lines_triton.rms_norm_vjp.default)
def split_vjp(x, w, dy, eps):
    rows = [([Shard(dim), Partial()], [Shard(dim), Replicate(), Shard(dim), None]) for dim in range(x.ndim - 1)]
    return [([Replicate()] * 2, [Replicate()] * 3 + [None]), *rows]
