"""Signatures and docstrings of ops, from their manifest entries. Nothing here needs JAX."""

from __future__ import annotations

import inspect
import keyword as keywords
from typing import Any

from oxcall import _dtypes
from oxcall._errors import listing
from oxcall._manifest import Attr, OpInfo, Param

OUT_SHAPE, DTYPE, NUM_RESULTS, API_VERSION = "out_shape", "dtype", "num_results", "custom_call_api_version"


def option_names(op: OpInfo) -> dict[str, str]:
    """Keywords of a call that are not attributes, by what they mean.

    An attribute of the same name keeps it, and the option gets a trailing underscore.
    """
    taken = {
        OUT_SHAPE: op.takes_out_shape,
        DTYPE: op.takes_dtype,
        NUM_RESULTS: op.takes_num_results,
        API_VERSION: op.legacy,
    }
    attrs = {attr.name for attr in op.attrs}
    return {option: f"{option}_" if option in attrs else option for option, is_taken in taken.items() if is_taken}


def signature(op: OpInfo) -> inspect.Signature:
    """The Python signature: operands by position or keyword, attributes by keyword.

    An attribute whose name is no name in Python (`in`) is among the `**attributes`: it is given as ``**{"in": ...}``.
    """
    parameters: list[inspect.Parameter] = []
    options = option_names(op)
    keyword_names = keyword_operands(op)
    taken = _reserved(op)
    for param in op.operands:
        by_keyword = param.name in keyword_names
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if by_keyword else inspect.Parameter.POSITIONAL_ONLY
        default: Any = inspect.Parameter.empty
        if param.arity == "variadic":
            kind = inspect.Parameter.VAR_POSITIONAL
        elif param.arity == "optional":
            default = None
        # The name of an operand without a keyword is free to change.
        name = _free(param.name, taken)
        taken.add(name)
        parameters.append(inspect.Parameter(name, kind, default=default))
    keyword = inspect.Parameter.KEYWORD_ONLY
    others = op.extra_attrs
    for attr in op.attrs:
        if attr.name == "self" or not is_name(attr.name):
            others = True
            continue
        default = {"required": inspect.Parameter.empty, "optional": None}.get(attr.presence, attr.shown_default)
        parameters.append(inspect.Parameter(attr.name, keyword, default=default))
    for option, name in options.items():
        parameters.append(inspect.Parameter(name, keyword, default=4 if option == API_VERSION else None))
    if others:
        parameters.append(inspect.Parameter(_free("attributes", taken), inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def keyword_operands(op: OpInfo) -> tuple[str, ...]:
    """The operands that may be given by keyword: those behind the last one whose name Python or an attribute has."""
    names = [param.name for param in op.operands if param.arity != "variadic"]
    taken = _reserved(op)
    unfit = [index for index, name in enumerate(names) if name in taken or not is_name(name)]
    return tuple(names[unfit[-1] + 1 :] if unfit else names)


def _reserved(op: OpInfo) -> set[str]:
    """Names of attributes and options; "self" is a parameter of the methods in stubs."""
    return {"self", *option_names(op).values(), *(attr.name for attr in op.attrs)}


def _free(name: str, taken: set[str]) -> str:
    while name in taken or keywords.iskeyword(name):
        name += "_"
    return name


def is_name(text: str) -> bool:
    """Whether Python's syntax has this as a name."""
    return text.isidentifier() and not keywords.iskeyword(text)


def docstring(op: OpInfo, platforms: list[str]) -> str:
    """The Rust documentation and a description of parameters, results and derivatives."""
    parts = [op.doc.strip() or f"The custom call `{op.name}`."]
    arguments = [f"{_shown(param)}: {_buffer(op, param)}" for param in op.operands]
    attributes = [f"{attr.name}: {describe_attr(op, attr)}" for attr in op.attrs]
    options = [f"{name}: {_OPTIONS[option]}" for option, name in option_names(op).items()]
    if op.extra_attrs:
        options.append("**attributes: any further attributes.")
    for title, lines in (("Parameters", arguments + attributes + options), ("Returns", _returns(op))):
        if lines:
            parts.append("\n".join([title, "-" * len(title), *lines]))
    parts.append("\n".join(_facts(op, platforms)))
    return "\n\n".join(parts)


_OPTIONS = {
    OUT_SHAPE: "the result's shape, or a list or dictionary of shapes; without it the library infers what it can.",
    DTYPE: "the dtype of results that no argument determines, or a dictionary of dtypes by type parameter or result.",
    NUM_RESULTS: "the number of results.",
    API_VERSION: "1, 2 or 3 calls through XLA's legacy custom call API of that version; 4 is the typed FFI.",
}


def _shown(param: Param) -> str:
    return f"*{param.name}" if param.arity == "variadic" else param.name


def _buffer(op: OpInfo, param: Param) -> str:
    words = [dtype_words(op, param)]
    if param.dims is not None:
        words.append(f"[{param.dims}]")
    elif param.rank is not None:
        words.append(f"of rank {param.rank}" if param.rank else "scalar")
    text = " ".join(words)
    notes = {"optional": ", optional", "variadic": ", any number"}
    return text + notes.get(param.arity, "") + (", updated in place" if param.role == "inout" else "")


def dtype_words(op: OpInfo, param: Param) -> str:
    """The dtypes of a buffer parameter in words."""
    if param.dtype is None:
        return "array of any dtype"
    if isinstance(param.dtype, int):
        declared = op.type_params[param.dtype]
        return f"{declared.name} ({_dtypes.describe(*declared.dtypes)})"
    return _dtypes.describe(param.dtype)


def _returns(op: OpInfo) -> list[str]:
    return [f"{_shown(param)}: {_buffer(op, param)}" for param in op.results] or ["None"]


def describe_attr(op: OpInfo, attr: Attr) -> str:
    """Type and default of an attribute in words."""
    text = _attr_type(op, attr)
    if attr.presence == "optional":
        return f"{text}, optional"
    return text if attr.presence == "required" else f"{text}, default {attr.default_words}"


def _attr_type(op: OpInfo, attr: Attr) -> str:
    if isinstance(attr.type, str):
        words = {
            "str": "string",
            "dict": "dictionary",
            "ptr": "address",
            "number": "int or float",
            "device": "device",
            "any": "any value",
        }
        return words.get(attr.type) or _dtypes.numpy_name(attr.type)
    ((tag, detail),) = attr.type.items()
    if tag == "array":
        return f"one-dimensional array of {_dtypes.numpy_name(detail)}"
    if tag == "enum":
        return "one of " + ", ".join(f'"{name}"' for name, _ in detail)
    if tag == "var":
        return f"scalar of type {op.type_params[detail].name}"
    return f"dictionary with {listing(f'{field.name} ({describe_attr(op, field)})' for field in attr.fields)}".replace(
        "`", ""
    )


def _facts(op: OpInfo, platforms: list[str]) -> list[str]:
    facts = [f"Platforms: {', '.join(platforms)}."]
    facts += [f"vmap: {_mapped(op)}.", f"Derivative: {_derivative(op)}."]
    split = f"split along `..{op.batch}`" if op.is_partitioned else "called on whole arrays"
    facts.append(f"Sharded arrays under `jax.jit`: {split}.")
    if op.side_effect:
        facts.append("It has side effects: it runs even when its results are not used.")
    facts.append(f"Defined in {op.file}:{op.line} ({op.module}).")
    return facts


def _mapped(op: OpInfo) -> str:
    ways = [f"one call along `..{op.batch}`"] if op.batch else []
    if op.vmap_op or op.vmap:
        ways.append(f"by `{op.vmap_op}`" if op.vmap_op else f'"{op.vmap}"')
    elif op.batch:
        ways.append("one call for each element where an argument without it is mapped, or a result is a sum")
    return "; ".join(ways) or "not supported"


def _derivative(op: OpInfo) -> str:
    rules = {
        "reverse mode": op.vjp,
        "forward mode": op.jvp,
        "residuals": op.fwd,
        "linear, with the transpose": op.transpose,
    }
    ways = [f"{what} `{name}`" for what, name in rules.items() if name]
    if ways and op.nondiff:
        ways.append(f"zero for {listing(op.nondiff)}")
    return ", ".join(ways) or "none"


def one_line(op: OpInfo) -> str:
    """The op as a line of a table: ``(x: T[..b, n], *, eps: float32 = 1e-5) -> y: T[..b, n]``."""
    operands = [f"{_shown(param)}: {_short(op, param)}" for param in op.operands]
    attrs = []
    for attr in op.attrs:
        default = {"required": "", "optional": " = None"}.get(attr.presence, f" = {attr.default_words}")
        attrs.append(f"{attr.name}: {_attr_type(op, attr)}{default}")
    if op.extra_attrs:
        attrs.append("**attributes")
    results = [f"{_shown(param)}: {_short(op, param)}" for param in op.results]
    return f"({', '.join([*operands, *(['*', *attrs] if attrs else [])])}) -> {', '.join(results) or 'None'}"


def _short(op: OpInfo, param: Param) -> str:
    if isinstance(param.dtype, int):
        dtype = op.type_params[param.dtype].name
    else:
        dtype = "any" if param.dtype is None else _dtypes.numpy_name(param.dtype)
    dims = param.dims if param.dims is not None else (f"rank {param.rank}" if param.rank is not None else None)
    return (dtype if dims is None else f"{dtype}[{dims}]") + ("?" if param.arity == "optional" else "")
