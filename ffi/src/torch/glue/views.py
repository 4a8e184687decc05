"""Views that are conjugated or negated."""


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
                    tensor.copy_(new)
        return returned


def _materialize(tensor):
    return tensor.resolve_conj().resolve_neg()
