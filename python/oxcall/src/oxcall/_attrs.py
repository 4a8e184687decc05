"""Attributes of a call: from Python values to the wire types that the library declares.

What travels, where JAX cannot send the declared type itself: bool arrays as s8; f16, bf16, f8 and f4 values as f64
(exact, so that the library rounds once); sub-byte integers as s8 or u8; a complex scalar as the f64 array `[re, im]`.
On jaxlib 0.4.34, arrays of unsigned integers as the next wider signed ones. Complex arrays cannot be sent.
"""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from oxcall import _dtypes
from oxcall._errors import CallError, listing, nearest, plural
from oxcall._jax import HAS_UNSIGNED_ARRAYS, Tracer
from oxcall._manifest import Attr, OpInfo
from oxcall._rust import SourceText


class Encoded:
    """The attributes of a call as JAX sends them, equal to those of the same bits.

    Attributes:
        values: the attributes by name.
    """

    __slots__ = ("_key", "values")

    def __init__(self, values: Mapping[str, Any]):
        self.values = dict(values)
        self._key = _bits(self.values)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Encoded) and self._key == other._key

    def __repr__(self) -> str:
        return f"({', '.join(f'{name}={_shown(value)}' for name, value in self.values.items())})"


def _bits(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Mapping):
        return tuple((name, _bits(entry)) for name, entry in sorted(value.items()))
    return type(value), value


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_shown(entry)}" for name, entry in value.items()) + "}"
    return repr(value.tolist() if isinstance(value, np.ndarray | np.generic) else value)


def encode_attrs(op: OpInfo, given: Mapping[str, Any], dtype_of_var: Callable[[int, str], str]) -> dict[str, Any]:
    """The attributes of a call as JAX sends them.

    Attributes that are absent, or None where optional, are left out. Literal defaults are sent, because a handler
    decodes a complete list of attributes fastest.

    Args:
        op: the operation.
        given: attributes by name, as the user gave them.
        dtype_of_var: the dtype of a type parameter in this call, for attributes of a dispatched type; the second
            argument is the attribute's name, for a message.
    """
    return _Encoder(op, dtype_of_var).fields(op.attrs, given, "", extra=op.extra_attrs)


def check_names(op: OpInfo, given: Mapping[str, Any]) -> None:
    """Refuses keywords of a call that no attribute has.

    Raises:
        CallError: for the first one, with the nearest name.
    """
    known = [attr.name for attr in op.attrs]
    for name in given:
        if name not in known:
            _Encoder(op, lambda *_: "").check_name(name, known, "", extra=op.extra_attrs)


class _Encoder:
    def __init__(self, op: OpInfo, dtype_of_var: Callable[[int, str], str]):
        self.op = op
        self.dtype_of_var = dtype_of_var

    def fields(self, attrs: tuple[Attr, ...], given: Mapping[str, Any], prefix: str, *, extra: bool) -> dict[str, Any]:
        known = {attr.name: attr for attr in attrs}
        encoded: dict[str, Any] = {}
        for name, value in given.items():
            if name in known:
                continue
            self.check_name(name, known, prefix, extra=extra)
            encoded[name] = self.untyped(prefix + name, value)
        missing = []
        for attr in attrs:
            value = given.get(attr.name)
            if value is None and attr.name in given and attr.presence == "required":
                raise self.wrong(prefix + attr.name, self.expects(attr.type), None)
            if value is None:
                if attr.presence == "required":
                    missing.append(attr)
                    continue
                if attr.presence == "optional" or isinstance(attr.default, SourceText) or attr.default is None:
                    continue
                value = attr.default
            encoded[attr.name] = self.typed(prefix + attr.name, attr, value)
        if missing:
            raise CallError(
                f"{self.op.name}: missing {plural('attribute', missing)} "
                f"{listing(prefix + attr.name for attr in missing)}: "
                f"give {', '.join(f'`{attr.name}=` ({self.expects(attr.type)})' for attr in missing)}"
            )
        return encoded

    def check_name(self, name: Any, known: Iterable[str], prefix: str, *, extra: bool) -> None:
        """Refuses a name that is none of those known, where no others are taken or where it cannot be one."""
        if not isinstance(name, str):
            raise CallError(f"{self.op.name}: attribute names are strings, but `{prefix}{name}` is not")
        if not name:
            raise CallError(f"{self.op.name}: an attribute's name is empty")
        operands = [param.name for param in self.op.operands]
        if not prefix and name in operands:
            raise CallError(f"{self.op.name}: argument `{name}` is given by position, not by keyword")
        if not extra:
            what, others = ("field", known) if prefix else ("attribute", [*known, *operands])
            raise CallError(
                f"{self.op.name}: unexpected {what} `{prefix}{name}`{nearest(name, others)}; "
                f"{self.known(what, list(known))}"
            )

    @staticmethod
    def known(what: str, names: Sequence[str]) -> str:
        """The names that there are, for a message."""
        if not names:
            return f"it has no {what}s"
        return f"its {plural(what, names)} {'is' if len(names) == 1 else 'are'} {listing(names)}"

    def typed(self, path: str, attr: Attr, value: Any) -> Any:
        if isinstance(value, Tracer):
            raise CallError(
                f"{self.op.name}: attribute `{path}` is a traced JAX value, but attributes are compile-time constants; "
                "pass a Python or NumPy value, or mark it with `static_argnames` of jax.jit"
            )
        kind = attr.type
        if isinstance(kind, str):
            return getattr(self, f"_{kind}", self._scalar)(path, kind, value)
        ((tag, detail),) = kind.items()
        if tag == "var":
            return self._scalar(path, self.dtype_of_var(detail, path), value)
        if tag == "array":
            return self._array(path, detail, value)
        if tag == "enum":
            return self._enum(path, detail, value)
        return self._struct(path, attr, value)

    def _str(self, path: str, _kind: str, value: Any) -> str | bytes:
        if not isinstance(value, str | bytes):
            raise self.wrong(path, "a string", value)
        try:
            _ = value.encode() if isinstance(value, str) else value.decode()
        except UnicodeError:
            raise self.wrong(path, "a string that UTF-8 can encode", value) from None
        return value

    def _device(self, path: str, kind: str, value: Any) -> str:
        # `torch.device` writes itself so; JAX's own devices have other names.
        text = str(value) if f"{type(value).__module__}.{type(value).__name__}" == "torch.device" else value
        if not isinstance(text, str) or not re.fullmatch(r"\w+(:[0-9]+)?", text, re.ASCII):
            raise self.wrong(path, self.expects(kind), value)
        return text

    def _dict(self, path: str, _kind: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise self.wrong(path, "a dictionary", value)
        return self.fields((), value, f"{path}.", extra=True)

    def _ptr(self, path: str, _kind: str, value: Any) -> np.int64:
        if isinstance(value, ctypes.c_void_p):
            value = value.value or 0
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= int(value) < 2**64:
            raise self.wrong(path, "an address (an integer or a ctypes.c_void_p)", value)
        return np.array([int(value)], np.uint64).view(np.int64)[0]

    def _number(self, path: str, _kind: str, value: Any) -> Any:
        number = self.untyped(path, value) if not isinstance(value, str | bytes | Mapping | list | tuple) else None
        if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
            raise self.wrong(path, "an integer or a float", value)
        return number

    def _any(self, path: str, _kind: str, value: Any) -> Any:
        return self.untyped(path, value)

    def _enum(self, path: str, variants: list[tuple[str, int]], value: Any) -> str:
        names = [name for name, _ in variants]
        text = value.value if isinstance(value, enum.Enum) else value
        if isinstance(text, int | np.integer) and not isinstance(text, bool):
            text = next((name for name, number in variants if number == text), text)
        if not isinstance(text, str):
            raise self.wrong(path, f"one of {_strings(names)}", value)
        if text not in names:
            close = nearest(text, names).replace("`", '"')
            raise CallError(f'{self.op.name}: attribute `{path}` is "{text}"{close}; it takes {_strings(names)}')
        return text

    def _struct(self, path: str, attr: Attr, value: Any) -> dict[str, Any]:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        if not isinstance(value, Mapping):
            raise self.wrong(path, self.expects(attr.type), value)
        return self.fields(attr.fields, value, f"{path}.", extra=False)

    def _scalar(self, path: str, dtype: str, value: Any) -> Any:
        expected = self.expects(dtype)
        value = _plain(value)
        if dtype == "pred":
            if not isinstance(value, bool | np.bool_):
                raise self.wrong(path, expected, value)
            return bool(value)
        if isinstance(value, bool | np.bool_):
            raise self.wrong(path, expected, value)
        if _dtypes.is_integer(dtype):
            try:
                return self.integer(path, dtype, operator.index(value))
            except TypeError:
                raise self.wrong(path, expected, value) from None
        if _dtypes.is_float(dtype):
            return self.float(path, dtype, value)
        part = "f32" if dtype == "c64" else "f64"
        if isinstance(value, list | tuple) and len(value) == 2:
            return np.array([self.float(path, part, each) for each in value], np.float64)
        if not isinstance(value, int | float | complex | np.number):
            raise self.wrong(path, expected, value)
        number = complex(value)
        parts = [self.float(path, part, number.real), self.float(path, part, number.imag)]
        return np.array(parts, np.float64)

    def integer(self, path: str, dtype: str, value: int) -> np.integer:
        bits, signed = _dtypes.bits(dtype), dtype[0] == "s"
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        if not low <= value <= high:
            raise CallError(
                f"{self.op.name}: attribute `{path}` is {value}, out of the range of {_dtypes.describe(dtype)}, "
                f"{low} to {high}"
            )
        if value >= 2**63:
            raise CallError(
                f"{self.op.name}: attribute `{path}` is {value}, but JAX cannot send scalars of 2**63 or more"
            )
        return np.dtype(f"{'int' if signed else 'uint'}{max(bits, 8)}").type(value)

    def float(self, path: str, dtype: str, value: Any) -> np.floating:
        try:
            if isinstance(value, str | bytes | complex | np.complexfloating):
                raise TypeError
            number = float(value)
        except (TypeError, ValueError):
            raise self.wrong(path, self.expects(dtype), value) from None
        if dtype != "f32":
            return np.float64(number)
        with np.errstate(over="ignore"):
            narrow = np.float32(number)
        if math.isinf(narrow) and math.isfinite(number):
            raise CallError(f"{self.op.name}: attribute `{path}` is {number}, out of the range of float32")
        return narrow

    def _array(self, path: str, dtype: str, value: Any) -> np.ndarray:
        expected = self.expects({"array": dtype})
        if not (isinstance(value, Sequence) or hasattr(value, "__array__")) or isinstance(value, str | bytes):
            raise self.wrong(path, expected, value)
        if _dtypes.is_complex(dtype):
            raise CallError(
                f"{self.op.name}: attribute `{path}` takes {expected}, but JAX cannot send complex arrays as "
                "attributes; make it an operand, or two attributes of real and imaginary parts"
            )
        try:
            array = np.asarray(value)
        except (TypeError, ValueError):
            raise self.wrong(path, expected, value) from None
        if array.ndim != 1:
            raise CallError(
                f"{self.op.name}: attribute `{path}` has shape {list(array.shape)}, but it takes {expected}; "
                "array attributes have one dimension"
            )
        items = [self._scalar(f"{path}[{i}]", dtype, item) for i, item in enumerate(array.tolist())]
        if dtype == "pred":
            return np.array(items, np.int8)
        wire = dtype if dtype in ("f32", "f64") or _dtypes.is_integer(dtype) else "f64"
        bits = max(_dtypes.bits(wire), 8)
        return self.passable(path, np.array(items, np.dtype(f"{_dtypes.numpy_name(wire).rstrip('0123456789')}{bits}")))

    def passable(self, path: str, array: np.ndarray) -> np.ndarray:
        """An array of numbers of a dtype that the installed jaxlib passes."""
        if array.dtype.kind == "u" and not HAS_UNSIGNED_ARRAYS:
            if array.size and array.max() >= 2**63:
                raise CallError(
                    f"{self.op.name}: attribute `{path}` holds {array.max()}, but jaxlib 0.4.34 passes s64 only"
                )
            array = array.astype({1: np.int16, 2: np.int32}.get(array.itemsize, np.int64))
        return np.array(array)  # the caller's may change

    def untyped(self, path: str, value: Any) -> Any:
        """A value of an attribute without a declared type: Python's int is s64 and its float f64."""
        value = _plain(value)
        if isinstance(value, Tracer):
            raise CallError(f"{self.op.name}: attribute `{path}` is a traced JAX value; attributes are constants")
        if isinstance(value, enum.Enum):
            value = value.value
        if isinstance(value, np.bool_):
            return bool(value)
        if isinstance(value, str | bytes):
            return self._str(path, "str", value)
        if isinstance(value, bool):
            return value
        if isinstance(value, Mapping):
            return self._dict(path, "dict", value)
        if isinstance(value, int):
            return self.integer(path, "s64", value)
        if isinstance(value, float):
            return np.float64(value)
        if isinstance(value, np.integer | np.floating) and value.dtype.name in _DIRECT:
            return value if value.dtype != np.uint64 else self.integer(path, "u64", int(value))
        if isinstance(value, list | tuple | range | np.ndarray):
            array = np.asarray(value)
            if array.size == 0 and not isinstance(value, np.ndarray):
                array = array.astype(np.int64)
            if array.dtype == np.bool_:
                array = array.astype(np.int8)
            if array.ndim == 1 and array.dtype.name in _DIRECT:
                return self.passable(path, array)
        raise self.wrong(path, "a bool, number, string, one-dimensional array of numbers, or dictionary", value)

    def expects(self, kind: Any) -> str:
        """The type of an attribute in words."""
        if isinstance(kind, str):
            words = {
                "str": "a string",
                "dict": "a dictionary",
                "ptr": "an address",
                "number": "an integer or a float",
                "device": 'a device such as "cpu" or "cuda:1"',
                "any": "any value",
                "pred": "a bool",
            }
            return words.get(kind) or f"{_article(_dtypes.numpy_name(kind))} scalar"
        ((tag, detail),) = kind.items()
        if tag == "array":
            return f"a one-dimensional array of {_dtypes.numpy_name(detail)}"
        if tag == "enum":
            return f"one of {_strings([name for name, _ in detail])}"
        if tag == "struct":
            return f"a dictionary with the fields {listing(field['name'] for field in detail)}"
        return f"a scalar of type {self.op.type_params[detail].name}"

    def wrong(self, path: str, expected: str, value: Any) -> CallError:
        return CallError(f"{self.op.name}: attribute `{path}` takes {expected}, but got {_show(value)}")


_DIRECT = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"}


def _plain(value: Any) -> Any:
    """Scalars out of arrays of rank 0, NumPy's or JAX's."""
    if isinstance(value, Tracer) or not hasattr(value, "__array__") or isinstance(value, np.generic):
        return value
    array = np.asarray(value)
    return array[()] if array.ndim == 0 else array


def _show(value: Any) -> str:
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


def _strings(names: list[str]) -> str:
    return listing(names, last="or").replace("`", '"')


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeio" else f"a {noun}"
