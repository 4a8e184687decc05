"""Strategies for DTensor, from `batch` and `#[sum]`."""

import importlib.util
import sys

import torch

DTENSOR = "torch.distributed.tensor"


def register_shardings(operators):
    """Registers the strategies of pairs of ops and operators, once a program has imported DTensor."""
    if not operators:
        return
    if DTENSOR in sys.modules:
        _register_shardings(operators)
    else:
        sys.meta_path.insert(0, Import(lambda: _register_shardings(operators)))


def _register_shardings(operators):
    from torch.distributed.tensor.experimental import register_sharding

    for op, operator in operators:
        register_sharding(operator.overload)(Sharding(op, operator))


def has_sharding(op):
    """Whether an op has strategies: `batch` is declared, and DTensor has its types of arguments."""
    return bool(op.json.get("batch")) and all(param["arity"] != "variadic" for param in op.json["params"])


class Sharding:
    """The acceptable shardings of an operator along one dimension of a mesh.

    All is replicated, or a batch dimension is split: results that sum over it are then partial sums.
    """

    def __init__(self, op, operator):
        self.op, self.operator, self.dims = op, operator, BatchDims(op)

    def __call__(self, *args, **kwargs):
        from torch.distributed.tensor import Partial, Replicate, Shard

        values = dict(zip(self.operator.names, args, strict=False))
        operands = {param["name"] for param in self.op.operands}
        tensors = {name for name, value in values.items() if name in operands and value is not None}
        if self.op.json.get("broadcast"):
            return self._broadcast(values, tensors)
        counts = self.dims.counts({name: values[name].ndim for name in tensors})

        def placements(dim):
            def split(name, otherwise):
                place = self.dims.place(name, counts)
                return otherwise if dim is None or place is None else Shard(place + dim)

            partial = Replicate() if dim is None else Partial()
            results = [split(param["name"], partial) for param in self.op.returns]
            return results, [split(name, Replicate()) if name in tensors else None for name in values]

        return [placements(dim) for dim in (None, *range(counts.get(self.dims.list, 0)))]

    def _broadcast(self, values, tensors):
        """Those of an op that broadcasts its operands: dimensions are counted from the last."""
        from torch.distributed.tensor import Replicate, Shard

        rank = max(values[name].ndim for name in tensors)
        # Behind those of the batch: the elements of rows.
        behind = len(self.dims.patterns[self.op.operands[0]["name"]]) - 1

        def split(name, dim):
            own = dim - rank + values[name].ndim
            return Shard(own) if own >= 0 and values[name].shape[own] != 1 else Replicate()

        def placements(dim):
            results = [Replicate() if dim is None else Shard(dim) for _ in self.op.returns]
            given = [
                None if name not in tensors else Replicate() if dim is None else split(name, dim) for name in values
            ]
            return results, given

        sizes = torch.broadcast_shapes(*(values[name].shape for name in tensors))
        split_dims = (dim for dim, size in enumerate(sizes[: rank - behind]) if size != 1)
        return [placements(dim) for dim in (None, *split_dims)]


class Import:
    """Calls back once DTensor has been imported. It finds no module by itself."""

    def __init__(self, callback):
        self.callback, self.is_asking = callback, False

    def find_spec(self, name, path=None, target=None):
        if name != DTENSOR or self.is_asking:
            return None
        self.is_asking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self.is_asking = False
        loader = getattr(spec, "loader", None)
        if not hasattr(loader, "exec_module"):
            return spec
        execute = loader.exec_module

        # It may only be asked whether the module is there, and an import may fail.
        def exec_module(module):
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                self.callback()

        loader.exec_module = exec_module
        return spec
