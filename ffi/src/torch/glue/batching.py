"""Batches: `torch.vmap`."""

import torch


class BatchDims:
    """The dimensions that an op's `batch` names, such as `..b`: calls on parts of them are independent.

    Attributes:
        list: the name of these dimensions in patterns; `None` if the op declares none.
        patterns: for each parameter, the dimensions and lists of its pattern.
        sums: the results without these dimensions.
    """

    def __init__(self, op):
        self.list = f"..{op.json['batch']}" if op.json.get("batch") else None
        # Without a pattern, a result that is no scalar has the shape of the first argument.
        first = next((param["dims"] for param in op.operands if param["arity"] == "one"), None)
        self.patterns = {}
        for param in op.json["params"] if self.list else ():
            is_like_first = param["role"] == "ret" and param["dims"] is None and param["rank"] != 0
            pattern = first if is_like_first else param["dims"]
            self.patterns[param["name"]] = [token.strip() for token in pattern.split(",")] if pattern else []
        self.sums = [param["name"] for param in op.returns if not self.are_in(param["name"])]

    def are_in(self, name):
        """Whether a parameter has these dimensions."""
        return self.list in self.patterns.get(name, ())

    def counts(self, ranks):
        """The number of dimensions in each list, from ranks of arguments: an argument has one list at most."""
        return {
            token: rank - len(self.patterns[name]) + 1
            for name, rank in ranks.items() for token in self.patterns.get(name, ()) if token.startswith("..")
        }  # fmt: skip

    def place(self, name, counts):
        """The place of the first of these dimensions in a parameter; `None` where it has none of them."""
        if not self.are_in(name):
            return None
        before = self.patterns[name][: self.patterns[name].index(self.list)]
        return sum(counts[token] if token.startswith("..") else 1 for token in before)


class Batched:
    """`torch.vmap` of an operator: one call where the declaration allows it, or else one call for each element."""

    def __init__(self, op, operator, ops):
        self.op, self.operator, self.ops = op, operator, ops
        self.dims = BatchDims(op)
        self.autocast = Autocast(op, operator)
        self.method = op.json["vmap"]

    @staticmethod
    def is_declared(op):
        """Whether an op says how it is batched."""
        return any(op.json.get(option) for option in ("batch", "vmap", "vmap_op"))

    def __call__(self, info, in_dims, *args, **kwargs):
        size = info.batch_size
        args, kwargs = self.op.promote(self.operator, args, kwargs, in_dims)
        named = list(zip(self.operator.names, args, in_dims, strict=False))
        if self.op.json.get("broadcast"):
            return self._broadcast(named, kwargs)
        if self.dims.list and not self.dims.sums:
            weights = [dim for name, _, dim in named if not self.dims.are_in(name)]
            if not any(_is_mapped(dim) for dim in weights):
                operands = {param["name"] for param in self.op.operands}
                ranks = {name: rank for name, value, dim in named if name in operands for rank in _ranks(value, dim)}
                counts = self.dims.counts(ranks)
                places = {param["name"]: self.dims.place(param["name"], counts) for param in self.op.json["params"]}
                moved = [_move(size, value, dim, places.get(name)) for name, value, dim in named]
                return self._given(self.operator.overload(*moved, **kwargs), places)
        leading = {param["name"]: 0 for param in self.op.json["params"]}
        if self.op.json.get("vmap_op"):
            moved = [_move(size, value, dim, leading.get(name)) for name, value, dim in named]
            return self._given(self._of_batch(moved, kwargs), leading)
        if self.method in ("broadcast_all", "expand_dims"):
            expands = self.method == "broadcast_all"
            moved = [_move(size, value, dim, leading.get(name), expands) for name, value, dim in named]
            return self._given(self.operator.overload(*moved, **kwargs), leading)
        return self._given(self._elements(size, named, kwargs), leading)

    def _broadcast(self, named, kwargs):
        """One call whose operands are broadcast, with the batch before the dimensions of the largest rank."""
        operands = {param["name"] for param in self.op.operands}
        rank = max(rank for name, value, dim in named if name in operands for rank in _ranks(value, dim))

        def moved(name, value, dim):
            if name not in operands or dim is None:
                return value
            value = value.movedim(dim, 0)
            return value.reshape(value.shape[0], *(1,) * (rank + 1 - value.dim()), *value.shape[1:])

        results = self.operator.overload(*(moved(*each) for each in named), **kwargs)
        return self._given(results, {param["name"]: 0 for param in self.op.json["params"]})

    def _of_batch(self, args, kwargs):
        """The op that `vmap` names, which takes and gives everything with one dimension more."""
        name = self.op.json["vmap_op"]
        if name not in self.ops:
            raise RuntimeError(
                f"{self.op.name}: its vmap op `{name}` is not in this library; link the crate that has it"
            )
        operator, *others = self.ops[name].operators()
        function = self.ops[name].packet() if others else operator.overload
        args, kwargs = self.autocast.cast(args, kwargs)
        with without_autocast():
            return function(**operator.keywords(self.operator.bind(args, kwargs)))

    def _elements(self, size, named, kwargs):
        """The results of one call for each element of the batch, stacked."""
        if size == 0:
            raise RuntimeError(
                f"{self.op.name}: torch.vmap calls it once for each element of the batch, which is empty, so that the "
                "shapes of the results are unknown; map at least one element, or declare `vmap = path`"
            )
        calls = [
            as_tuple(self.operator.overload(*(_element(value, dim, i) for _, value, dim in named), **kwargs))
            for i in range(size)
        ]
        results = tuple(
            [torch.stack(tensors) for tensors in zip(*values, strict=True)]
            if isinstance(values[0], (list, tuple)) else torch.stack(values)
            for values in zip(*calls, strict=True)
        )  # fmt: skip
        return results[0] if len(results) == 1 else results

    def _given(self, results, places):
        """Results, and where their batch dimensions are."""
        dims = tuple(
            each(result, lambda _, place=places[param["name"]]: place)
            for param, result in zip(self.op.returns, as_tuple(results), strict=True)
        )
        return results, dims[0] if dims and not isinstance(results, tuple) else dims


def _is_mapped(dim):
    return any(_is_mapped(member) for member in dim) if isinstance(dim, (list, tuple)) else dim is not None


def _ranks(value, dim):
    """The ranks of the tensors of a parameter, without the dimension that is mapped."""
    dims = dim if isinstance(dim, (list, tuple)) else [dim] * len(members(value))
    return [tensor.dim() - (dim is not None) for tensor, dim in zip(members(value), dims, strict=True)]


def _move(size, value, dim, place, expands=True):
    """A value with the batch at a place; as it is where there is no place for it."""
    if place is None or value is None:
        return value
    if isinstance(value, (list, tuple)):
        dims = dim if isinstance(dim, (list, tuple)) else [dim] * len(value)
        return [_move(size, *pair, place, expands) for pair in zip(value, dims, strict=True)]
    if dim is not None:
        return value.movedim(dim, place)
    value = value.unsqueeze(place)
    return value.expand(*value.shape[:place], size, *value.shape[place + 1 :]) if expands else value


def _element(value, dim, index):
    """A value for one element of the batch."""
    if isinstance(dim, (list, tuple)):
        return [_element(*pair, index) for pair in zip(value, dim, strict=True)]
    return value if dim is None else value.select(dim, index)
