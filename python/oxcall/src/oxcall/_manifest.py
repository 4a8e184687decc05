"""The manifest of a library as Python objects. Its format is the library boundary's, version 1."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from oxcall._dtypes import is_inexact
from oxcall._rust import UNKNOWN, SourceText, constant, parse_default, variant

# `dtype` of a parameter: the name of a dtype, the index of a type parameter, or None for any.
DTypeRule = str | int | None


def dim_tokens(pattern: str) -> list[str]:
    """The dimensions of a pattern: `..b`, `n - 1`."""
    return [token for part in pattern.split(",") if (token := part.strip())]


@dataclasses.dataclass(frozen=True)
class Param:
    """A buffer parameter."""

    name: str
    role: str
    dtype: DTypeRule
    rank: int | None
    dims: str | None
    arity: str
    sum: bool = False

    @property
    def is_operand(self) -> bool:
        return self.role in ("arg", "inout")

    @property
    def is_result(self) -> bool:
        return self.role in ("ret", "inout")

    @property
    def has_open_dims(self) -> bool:
        """Whether `dims` holds a wildcard, so that sizes do not follow from it."""
        return self.dims is not None and any(token in ("_", "..") for token in dim_tokens(self.dims))


@dataclasses.dataclass(frozen=True)
class Attr:
    """An attribute, or a field of a struct attribute."""

    name: str
    type: Any
    presence: str
    default_text: str | None

    @functools.cached_property
    def default(self) -> Any:
        """The default's value or :class:`oxcall._rust.SourceText`; ``None`` where there is none."""
        return None if self.default_text is None else parse_default(self.default_text)

    @functools.cached_property
    def shown_default(self) -> Any:
        """The default for people: also a variant of an enum and a constant; `UNKNOWN` where the library computes it."""
        if not isinstance(self.default, SourceText):
            return self.default
        if isinstance(self.type, dict) and "enum" in self.type:
            name = variant(self.default.text)
            return name if any(name == known for known, _ in self.type["enum"]) else UNKNOWN
        value = constant(self.default.text)
        return UNKNOWN if value is None else value

    @functools.cached_property
    def default_words(self) -> str:
        """The default as text: Python's where Python knows the value, else Rust's."""
        return self.default_text or "" if self.shown_default is UNKNOWN else repr(self.shown_default)

    @functools.cached_property
    def fields(self) -> tuple[Attr, ...]:
        """Fields of a struct attribute."""
        return tuple(map(_attr, self.type["struct"])) if isinstance(self.type, dict) and "struct" in self.type else ()


@dataclasses.dataclass(frozen=True)
class TypeParam:
    """A type parameter and the dtypes it may stand for."""

    name: str
    dtypes: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class OpInfo:
    """One implementation of an operation, for one platform."""

    index: int
    name: str
    target: str
    platform: str
    doc: str
    module: str
    file: str
    line: int
    stages: tuple[str, ...]
    command_buffer: bool
    side_effect: bool
    batch: str | None
    vmap: str | None
    vmap_op: str | None
    vjp: str | None
    jvp: str | None
    fwd: str | None
    transpose: str | None
    nondiff: tuple[str, ...]
    legacy: bool
    extra_attrs: bool
    type_params: tuple[TypeParam, ...]
    params: tuple[Param, ...]
    attrs: tuple[Attr, ...]
    shape: str
    broadcast: bool = False
    """Whether operands are broadcast to one shape, and integers promoted to floats, as functions of `jax.numpy` do."""
    expands: bool = False
    """Whether the handler broadcasts operands itself: they may have dimensions of 1 where results have more."""

    @functools.cached_property
    def operands(self) -> tuple[Param, ...]:
        return tuple(param for param in self.params if param.is_operand)

    @functools.cached_property
    def results(self) -> tuple[Param, ...]:
        return tuple(param for param in self.params if param.is_result)

    @functools.cached_property
    def takes_out_shape(self) -> bool:
        """Whether some result's shape does not follow from the operands and the declaration."""
        if self.shape != "dims":
            return False
        return any(param.role == "ret" and self._is_open(param) for param in self.results)

    def _is_open(self, result: Param) -> bool:
        if result.dims is not None:
            return result.has_open_dims
        if result.rank == 0 or result.dtype == "token":
            return False
        # Without dimensions, a result has the shape of operand 0.
        first = next((param for param in self.operands if param.arity == "one"), None)
        return first is None or (result.rank is not None and first.rank != result.rank)

    @functools.cached_property
    def takes_dtype(self) -> bool:
        """Whether some result's dtype does not follow from the operands and the declaration."""
        bound = {param.dtype for param in self.operands if param.arity == "one"}
        has_free_type = any(index not in bound for index in range(len(self.type_params)))
        return has_free_type or any(param.dtype is None for param in self.results if param.role == "ret")

    def is_differentiable(self, param: Param) -> bool:
        """Whether some dtype of a parameter has cotangents."""
        if param.dtype is None:
            return True
        dtypes = self.type_params[param.dtype].dtypes if isinstance(param.dtype, int) else (param.dtype,)
        return any(is_inexact(dtype) for dtype in dtypes)

    def pattern_of(self, param: Param) -> str | None:
        """The dimensions of a parameter: those of operand 0 for a result that declares none."""
        if param.dims is not None or param.role != "ret" or param.rank == 0 or param.dtype == "token":
            return param.dims
        first = next((other for other in self.operands if other.arity == "one"), None)
        return None if first is None else first.dims

    def tokens_of(self, param: Param) -> list[str]:
        """The dimensions of a parameter, one by one; empty where it has no pattern."""
        return dim_tokens(self.pattern_of(param) or "")

    @functools.cached_property
    def is_partitioned(self) -> bool:
        """Whether calls are split along the batch among devices."""
        return (
            self.batch is not None
            and not self.side_effect
            and all(f"..{self.batch}" in self.tokens_of(param) or param.sum for param in self.results)
            and all(param.dtype != "token" for param in self.params)
        )

    @functools.cached_property
    def takes_num_results(self) -> bool:
        """Whether the number of results is the caller's choice."""
        return any(param.role == "ret" and param.arity != "one" for param in self.params)


def _param(json: dict[str, Any]) -> Param:
    dtype = json["dtype"]
    rule = dtype["var"] if isinstance(dtype, dict) else dtype
    return Param(json["name"], json["role"], rule, json["rank"], json["dims"], json["arity"], json.get("sum", False))


def _attr(json: dict[str, Any]) -> Attr:
    return Attr(json["name"], json["type"], json["presence"], json.get("default"))


def read_op(index: int, json: dict[str, Any]) -> OpInfo:
    """One entry of the manifest's `ops`."""
    traits = json["traits"]
    return OpInfo(
        index=index,
        name=json["name"],
        # Older libraries do not say it.
        target=json.get("target") or f"{json['module'].partition('::')[0]}::{json['name']}",
        platform=json["platform"],
        doc=json["doc"],
        module=json["module"],
        file=json["file"],
        line=json["line"],
        stages=tuple(json["stages"]),
        command_buffer=traits["command_buffer"],
        side_effect=traits["side_effect"],
        batch=json.get("batch"),
        vmap=json["vmap"],
        vmap_op=json.get("vmap_op"),
        vjp=json["vjp"],
        jvp=json.get("jvp"),
        fwd=json.get("fwd"),
        transpose=json.get("transpose"),
        nondiff=tuple(json.get("nondiff", ())),
        legacy=json["legacy"],
        extra_attrs=json["extra_attrs"],
        type_params=tuple(TypeParam(entry["name"], tuple(entry["dtypes"])) for entry in json["type_params"]),
        params=tuple(map(_param, json["params"])),
        attrs=tuple(map(_attr, json["attrs"])),
        shape=json["shape"],
        broadcast=json.get("broadcast", False),
        expands=json.get("expands", False),
    )
