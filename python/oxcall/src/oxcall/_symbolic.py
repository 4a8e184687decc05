"""Shapes of results where operands have symbolic dimensions, as under `jax.export`: from the patterns of dimensions.

Constant shapes are the library's to infer. A program with symbolic ones is compiled for constants later, which the
handler checks as it does all others.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from oxcall._errors import CallError
from oxcall._manifest import OpInfo, dim_tokens

Shape = tuple[Any, ...]

_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}


def is_symbolic(shape: Shape) -> bool:
    """Whether some dimension is not a constant."""
    return not all(map(_is_constant, shape))


def _is_constant(dim: Any) -> bool:
    try:
        operator.index(dim)
    except Exception:  # JAX's own, whose type differs between versions
        return False
    return True


def result_shapes(op: OpInfo, operands: Mapping[str, Sequence[Shape]], attrs: Mapping[str, Any]) -> list[Shape]:
    """The shapes of an op's results.

    Args:
        op: the operation.
        operands: the shapes of each operand parameter.
        attrs: the attributes, which are names in patterns.
    """
    dims = _Dims(op, attrs)
    for param in op.operands:
        for shape in operands[param.name]:
            if param.dims is not None:
                dims.bind(param.name, param.dims, shape)
    shapes: list[Shape] = []
    for param in op.results:
        if param.role == "inout":
            shapes += operands[param.name]
        elif param.arity != "one":
            raise dims.unknown(f"result `{param.name}` is not always there")
        elif param.dims is not None:
            shapes.append(dims.evaluate(param.name, param.dims))
        elif param.rank == 0:
            shapes.append(())
        else:  # the shape of operand 0
            shapes.append(next(iter(operands.values()))[0])
    return shapes


class _Dims:
    """What the names of patterns stand for in a call."""

    def __init__(self, op: OpInfo, attrs: Mapping[str, Any]):
        self._op = op
        self._names: dict[str, Any] = {name: value for name, value in attrs.items() if hasattr(value, "__index__")}
        self._lists: dict[str, Shape] = {}

    def bind(self, param: str, pattern: str, shape: Shape) -> None:
        """Binds the names of an operand's pattern that are not bound yet."""
        tokens = dim_tokens(pattern)
        lists = [index for index, token in enumerate(tokens) if token == "_" or token.startswith("..")]
        dotted = [index for index in lists if tokens[index] != "_"]
        if len(shape) < len(tokens) - len(dotted) or (not dotted and len(shape) != len(tokens)):
            raise CallError(
                f"{self._op.name}: argument `{param}` has the shape {_shown(shape)}, but it takes [{pattern}]"
            )
        rest = len(shape) - (len(tokens) - len(dotted))
        dims = iter(shape)
        for token in tokens:
            if token.startswith(".."):
                self._bind(self._lists, token, tuple(next(dims) for _ in range(rest)), param)
            elif token.isidentifier() and token != "_":
                self._bind(self._names, token, next(dims), param)
            else:
                next(dims)  # the handler checks it

    def _bind(self, known: dict[str, Any], name: str, value: Any, param: str) -> None:
        if name == "..":
            return
        if known.setdefault(name, value) != value:
            raise CallError(
                f"{self._op.name}: `{name}` is {_shown(known[name])}, but {_shown(value)} in argument `{param}`; "
                "export with the same symbol for both"
            )

    def evaluate(self, param: str, pattern: str) -> Shape:
        """The shape of a result."""
        shape: list[Any] = []
        for token in dim_tokens(pattern):
            if token.startswith(".."):
                if token not in self._lists:
                    raise self.unknown(f"the shape of result `{param}` [{pattern}] does not follow from the arguments")
                shape += self._lists[token]
            else:
                shape.append(self._value(param, pattern, token))
        return tuple(shape)

    def _value(self, param: str, pattern: str, text: str) -> Any:
        def value(node: ast.AST) -> Any:
            if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
                return _OPERATORS[type(node.op)](value(node.left), value(node.right))
            if isinstance(node, ast.Name) and node.id in self._names:
                return self._names[node.id]
            if isinstance(node, ast.Constant) and isinstance(node.value, int):
                return node.value
            raise self.unknown(f"the shape of result `{param}` [{pattern}] does not follow from the arguments")

        try:
            return value(ast.parse(text, mode="eval").body)
        except SyntaxError:  # a name that is a keyword of Python
            raise self.unknown(f"Python cannot read the shape of result `{param}` [{pattern}]") from None

    def unknown(self, why: str) -> CallError:
        """The error where a shape stays unknown."""
        return CallError(f"{self._op.name}: an argument has symbolic dimensions, and {why}; export with fixed shapes")


def _shown(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)
