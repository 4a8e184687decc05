"""Batches: `torch.vmap`."""

import torch


class Batched:
    """`torch.vmap` of an op that takes any leading dimensions: the batch becomes the first of them."""

    def __init__(self, op, overload):
        self.overload = overload
        self.expands = op.json["vmap"] == "broadcast_all"

    def __call__(self, info, in_dims, *args, **kwargs):
        batched = [self._batch(info.batch_size, value, dim) for value, dim in zip(args, in_dims, strict=True)]
        results = self.overload(*batched, **kwargs)
        return results, torch.utils._pytree.tree_map(lambda _: 0, results)

    def _batch(self, size, value, dim):
        if isinstance(value, (list, tuple)) and any(isinstance(member, torch.Tensor) for member in value):
            dims = dim if isinstance(dim, (list, tuple)) else [dim] * len(value)
            return [self._batch(size, *pair) for pair in zip(value, dims, strict=True)]
        if not isinstance(value, torch.Tensor):
            return value
        if dim is not None:
            return value.movedim(dim, 0)
        return value.expand(size, *value.shape) if self.expands else value.unsqueeze(0)
