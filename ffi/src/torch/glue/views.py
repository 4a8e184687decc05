"""Views that are conjugated or negated."""

import torch


class Materialized:
    """An op that updates tensors, where some are views whose elements are in memory with another sign."""

    def __init__(self, op, operator):
        self.operator = operator
        self.updated = [param["name"] for param in op.operands if param["role"] == "inout"]

    def __call__(self, *args, **kwargs):
        values = self.operator.bind(args, kwargs)
        plain = {name: each_tensor(value, _materialize) for name, value in values.items()}
        returned = self.operator.overload(**self.operator.keywords(plain))
        for name in self.updated:
            for tensor, new in zip(members(values[name]), members(plain[name]), strict=True):
                if new is not tensor:
                    _copy(tensor, new)
        return returned


def _copy(tensor, new):
    """Below a kernel of autograd, torch does not count the update."""
    counted = not tensor.is_inference()
    version = tensor._version if counted else None
    tensor.copy_(new)
    if counted and tensor._version == version:
        torch.autograd.graph.increment_version(tensor)


def _materialize(tensor):
    return tensor.resolve_conj().resolve_neg()
