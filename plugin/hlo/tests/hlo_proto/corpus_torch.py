"""Adds programs of torch_xla to the corpus of HLO protos, with values that its own CPU device computes.

Run by hand, in an environment with torch_xla:

    python plugin/hlo/tests/hlo_proto/corpus_torch.py
"""

import os
import pathlib

os.environ["PJRT_DEVICE"] = "CPU"

import torch
import torch_xla
from torch import nn

CORPUS = pathlib.Path(__file__).parent / "corpus"


def training_step(x, y, w, b):
    w, b = w.detach().requires_grad_(), b.detach().requires_grad_()
    loss = nn.functional.cross_entropy(nn.functional.gelu(nn.functional.conv2d(x, w, b, padding=1)).mean((2, 3)), y)
    loss.backward()
    return loss, w - 0.1 * w.grad, b - 0.1 * b.grad


def attention(q, k, v):
    return nn.functional.layer_norm(nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True), (4,))


def order(x, i):
    values, indices = x.topk(2, 1)
    return values, indices, x.sort(0).values, x[i], x.scatter_add(0, i[:, None].expand(-1, 4), x[:2]), x.cumsum(1)


def decompositions(a):
    return torch.linalg.svd(a @ a.t()).S, torch.linalg.cholesky(a @ a.t() + torch.eye(4, device=a.device))


def pooled(x):
    return nn.functional.max_pool2d(x, 3, 2, 1), nn.functional.interpolate(x, scale_factor=2), torch.fft.rfft(x).real


def normal(*dims):
    return torch.randn(*dims, generator=torch.Generator().manual_seed(1))


PROGRAMS = {
    "torch_training_step": (training_step, normal(2, 3, 5, 5), torch.tensor([1, 0]), normal(4, 3, 3, 3), normal(4)),
    "torch_attention": (attention, normal(1, 2, 5, 4), normal(1, 2, 5, 4) + 1, normal(1, 2, 5, 4) - 1),
    "torch_order": (order, normal(5, 4), torch.tensor([3, 1])),
    "torch_decompositions": (decompositions, normal(4, 4)),
    "torch_pooled": (pooled, normal(1, 2, 6, 6)),
}


def content(tensor):
    return tensor.detach().cpu().contiguous().numpy().tobytes()


def main():
    for name, (function, *arguments) in PROGRAMS.items():
        print(name)
        results = function(*(argument.to(torch_xla.device()) for argument in arguments))
        proto = torch_xla._XLAC._get_xla_tensors_hlo_proto(list(results))
        # Tensors on the device that the program reads, in the order of its parameters.
        _, parameters = torch_xla._XLAC._get_tensors_xla_device_data_node(list(results))
        values = [content(parameter) for parameter in parameters] + [content(result) for result in results]
        (CORPUS / f"{name}.pb").write_bytes(proto)
        (CORPUS / f"{name}.values").write_bytes(b"".join(values))


if __name__ == "__main__":
    main()
