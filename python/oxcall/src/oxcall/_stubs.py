"""Type stubs for the ops of a library."""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from typing import Any

from oxcall import _dtypes, _torch
from oxcall._manifest import Attr, OpInfo
from oxcall._signature import DTYPE, NUM_RESULTS, OUT_SHAPE, docstring, is_name, option_names, signature

_HEAD = '"""Ops of an oxcall library; written by `python -m oxcall stubs`."""\n\n'
# Modules with the names that a stub may need of them.
_IMPORTS = (
    (("collections.abc", ("Mapping", "Sequence")), ("typing", ("Any", "Literal", "TypedDict"))),
    (
        ("_typeshed", ("DataclassInstance",)),
        ("jax", ("Array",)),
        ("jax.typing", ("ArrayLike", "DTypeLike")),
        ("numpy.typing", ("NDArray",)),
        ("typing_extensions", ("NotRequired",)),
    ),
    (("oxcall", ("Library",)),),
)


def _imports(code: str) -> str:
    """The imports of the names in a piece of code, in groups: checkers report those that are not used."""
    used = set(re.findall(r"\w+", code))
    groups = []
    for modules in _IMPORTS:
        needed = [(module, [name for name in names if name in used]) for module, names in modules]
        groups.append("".join(f"from {module} import {', '.join(names)}\n" for module, names in needed if names))
    return "\n".join(filter(None, groups)) + "\n"


def stub(infos: list[OpInfo], operators: list[dict[str, Any]]) -> str:
    """A .pyi module with one function an op, and a class `Ops` that types the result of `oxcall.load`.

    A struct attribute is a `TypedDict`, named like the op and the attribute.

    Args:
        infos: the ops.
        operators: what becomes of them in PyTorch.
    """
    return _HEAD + _body(infos, operators)


def module_stub(infos: list[OpInfo], operators: list[dict[str, Any]], head: str, exported: str) -> str:
    """The same for the module of a wheel, which has the library itself as well.

    Args:
        infos: the ops.
        operators: what becomes of them in PyTorch.
        head: the module's docstring.
        exported: its `__all__`.
    """
    return f"{head}\n{_body(infos, operators)}\nLIBRARY: Ops\n{exported}"


def _body(infos: list[OpInfo], operators: list[dict[str, Any]]) -> str:
    schemas: dict[str, list[str]] = {}
    for outcome in operators:
        known = schemas.setdefault(outcome["op"], [])
        known += [schema for schema in _torch.schemas(outcome) if schema not in known]
    by_name: dict[str, list[OpInfo]] = {}
    for info in infos:
        by_name.setdefault(info.name, []).append(info)
    valid = {name: group for name, group in by_name.items() if is_name(name)}
    functions, methods, heads, structs = [], [], [], []
    for name, group in valid.items():
        doc = _doc(group, schemas.get(name, []))
        function, method = (_head(group, method=method) for method in (False, True))
        heads.append(function)
        functions.append(function + doc)
        structs += [text for attr in _declared(group).attrs for text in _structs(name, attr)]
        methods.append(textwrap.indent(method + doc, "    "))
    imports = _imports("\n".join([*structs, *heads, "Library"]))
    declarations = "\n".join([*structs, *functions])
    return imports + declarations + "\nclass Ops(Library):\n" + ("\n".join(methods) or "    ...\n")


def _doc(group: list[OpInfo], schemas: list[str]) -> str:
    text = docstring(_declared(group), [info.platform for info in group])
    if schemas:
        text = "\n".join([text.rstrip(), "", "PyTorch", "-------", *schemas])
    doc = textwrap.indent(text, "    ").replace("\\", "\\\\")
    quoted = doc.replace('"""', '\\"\\"\\"')
    return f'    """{quoted.lstrip()}\n    """\n'


def _declared(group: list[OpInfo]) -> OpInfo:
    return next((info for info in group if info.platform == "Host"), group[0])


def _head(group: list[OpInfo], *, method: bool) -> str:
    op = _declared(group)
    parts = ["self"] if method else []
    attrs = {attr.name: attr for attr in op.attrs}
    options = {name: option for option, name in option_names(op).items()}
    positional, starred = False, False
    for name, parameter in signature(op).parameters.items():
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional = True
            parts.append(_operand(name, parameter))
            continue
        if positional:
            parts.append("/")
            positional = False
        if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
            parts.append(_operand(name, parameter))
            continue
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            parts.append(f"*{name}: ArrayLike")
            starred = True
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            parts.append(f"**{name}: Any")
        else:
            if not starred:
                parts.append("*")
                starred = True
            parts.append(_keyword(op.name, name, attrs.get(name), options.get(name)))
    if positional:
        parts.append("/")
    return f"def {op.name}({', '.join(parts)}) -> {_result(op)}:\n"


def _operand(name: str, parameter: inspect.Parameter) -> str:
    return f"{name}: ArrayLike" if parameter.default is not None else f"{name}: ArrayLike | None = None"


def _keyword(op: str, name: str, attr: Attr | None, option: str | None) -> str:
    if attr is None:
        kinds = {
            OUT_SHAPE: "Sequence[int] | Sequence[Sequence[int]] | Mapping[str, Sequence[int]] | None = None",
            DTYPE: "DTypeLike | Mapping[str, DTypeLike] | None = None",
            NUM_RESULTS: "int | None = None",
        }
        return f"{name}: {kinds.get(option, 'Literal[1, 2, 3, 4] = 4')}"
    kind = f"{_struct_name(op, name)} | DataclassInstance" if attr.fields else _type(attr.type)
    if attr.presence == "required":
        return f"{name}: {kind}"
    if attr.presence == "optional":
        return f"{name}: {kind} | None = None"
    default = attr.shown_default
    is_literal = isinstance(default, str | int) or (isinstance(default, float) and math.isfinite(default))
    return f"{name}: {kind} = {repr(default) if is_literal else '...'}"


def _structs(owner: str, attr: Attr) -> list[str]:
    """The `TypedDict`s of an attribute: those of its fields come first."""
    if not attr.fields:
        return []
    name = _struct_name(owner, attr.name)
    nested = [text for field in attr.fields for text in _structs(name, field)]
    fields = {field.name: _field(name, field) for field in attr.fields}
    if all(map(is_name, fields)):
        lines = "".join(f"    {field}: {kind}\n" for field, kind in fields.items())
        return [*nested, f"class {name}(TypedDict):\n{lines}"]
    entries = ", ".join(f"{field!r}: {kind}" for field, kind in fields.items())
    return [*nested, f"{name} = TypedDict({name!r}, {{{entries}}})\n"]


def _struct_name(owner: str, attr: str) -> str:
    """`RopeScaling` for the attribute `scaling` of the op `rope`."""
    return "".join(part[0].upper() + part[1:] for part in re.findall(r"[^\W_]+", f"{owner}_{attr}"))


def _field(owner: str, field: Attr) -> str:
    kind = f"{_struct_name(owner, field.name)} | DataclassInstance" if field.fields else _type(field.type)
    if field.presence == "required":
        return kind
    return f"NotRequired[{kind} | None]" if field.presence == "optional" else f"NotRequired[{kind}]"


def _type(kind: Any) -> str:
    if isinstance(kind, str):
        named = {
            "str": "str",
            "dict": "Mapping[str, Any]",
            "ptr": "int",
            "number": "float",
            "device": "str",
            "any": "Any",
            "pred": "bool",
        }
        if kind in named:
            return named[kind]
        if _dtypes.is_integer(kind):
            return "int"
        return "complex" if _dtypes.is_complex(kind) else "float"
    ((tag, detail),) = kind.items()
    if tag == "array":
        return f"Sequence[{_type(detail)}] | NDArray[Any]"
    if tag == "enum":
        return f"Literal[{', '.join(repr(name) for name, _ in detail)}]"
    return "Mapping[str, Any]" if tag == "struct" else "complex"


def _result(op: OpInfo) -> str:
    if any(param.role == "ret" and param.arity != "one" for param in op.results):
        return "tuple[Array, ...]"
    if any(param.arity != "one" for param in op.results):
        return "Array | tuple[Array, ...] | None"
    number = len(op.results)
    return {0: "None", 1: "Array"}.get(number, f"tuple[{', '.join(['Array'] * number)}]")
