"""Symbolic shapes, from the patterns of dimensions."""

import ast
from operator import add, floordiv, mod, mul, sub

import torch

# Of dimensions: division truncates, and nothing is negative.
OPERATORS = {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: floordiv, ast.Mod: mod}


class Fake:
    """Shapes of the results from the dimension patterns, computed with torch's symbolic integers."""

    def __init__(self, op, operator):
        self.op, self.operator = op, operator
        self.patterns = {
            param["name"]: _pattern(param["dims"]) for param in op.json["params"] if param["dims"] is not None
        }

    def __call__(self, *args, **kwargs):
        values = self.operator.bind(*self.op.broadcast(self.operator, args, kwargs))
        refuse_recorded_updates(self.op, values)
        operands = {param["name"]: members(values[param["name"]]) for param in self.op.operands}
        bound = {name: value for name, value in values.items() if isinstance(value, (int, torch.SymInt))}
        dtypes = {}
        for param in self.op.operands:
            for tensor in operands[param["name"]]:
                self._bind(bound, self.patterns.get(param["name"]), tensor.shape)
                if isinstance(param["dtype"], dict):
                    dtypes.setdefault(param["dtype"]["var"], tensor.dtype)
        first = next(tensor for tensors in operands.values() for tensor in tensors)
        results = tuple(self._result(param, bound, dtypes, values, first) for param in self.op.returns)
        return results[0] if len(results) == 1 else results or None

    def _bind(self, bound, pattern, shape):
        if pattern is None:
            return
        lists = [place for place, (kind, _) in enumerate(pattern) if kind == "list"]
        # What stands before a list is counted from the front, what stands behind it from the back.
        split = lists[0] if lists else len(pattern)
        behind = len(pattern) - split - 1 if lists else 0
        torch._check(
            len(shape) >= len(pattern) - 1 if lists else len(shape) == len(pattern),
            lambda: f"{self.op.name}: {len(shape)} dimensions do not fit the pattern of {len(pattern)}",
        )
        for place, (kind, text) in enumerate(pattern):
            if kind == "list":
                if text:
                    bound.setdefault(text, tuple(shape[split : len(shape) - behind]))
            elif isinstance(text, ast.Name) and text.id != "_":
                bound.setdefault(text.id, shape[place if place < split else place - len(pattern)])

    def _result(self, param, bound, dtypes, values, first):
        dtype = param["dtype"]
        if isinstance(dtype, dict):
            letter = self.op.json["type_params"][dtype["var"]]["name"].lower()
            chosen = dtypes.get(dtype["var"]) or values.get("dtype") or values.get(letter) or first.dtype
        elif dtype is None:
            chosen = values.get("dtype") or values.get(f"{param['name']}_dtype") or first.dtype
        else:
            chosen = DTYPES[dtype]
        pattern = self.patterns.get(param["name"])
        if pattern is None:
            return first.new_empty(() if param["rank"] == 0 else first.shape, dtype=chosen)
        sizes = []
        for kind, text in pattern:
            sizes += bound[text] if kind == "list" else [self._evaluate(text, bound)]
        return first.new_empty(sizes, dtype=chosen)

    def _evaluate(self, node, bound):
        if isinstance(node, ast.BinOp):
            left, right = self._evaluate(node.left, bound), self._evaluate(node.right, bound)
            return OPERATORS[type(node.op)](left, right)
        return bound[node.id] if isinstance(node, ast.Name) else node.value


def _pattern(text):
    """`..b, n - 1` as pairs: ("list", "b"), ("dim", the expression's syntax tree)."""
    tokens = [token.strip() for token in text.split(",")] if text.strip() else []
    return [
        ("list", token[2:]) if token.startswith("..") else ("dim", ast.parse(token, mode="eval").body)
        for token in tokens
    ]
