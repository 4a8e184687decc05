"""The call descriptor of the legacy custom call API; docs/legacy-encoding.md specifies it."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from oxcall import _dtypes

MAGIC = b"OXC1"
_IS_TUPLE, _IS_OPERAND = 1, 2
_ARRAY, _DICTIONARY, _SCALAR, _STRING = 1, 2, 3, 4


Buffer = tuple[str, Sequence[int]]
"""A dtype and a shape."""


def describe_call(
    operands: Sequence[Buffer], results: Sequence[Buffer], attrs: Mapping[str, Any], *, is_operand: bool
) -> bytes:
    """Encodes the data that the legacy API lacks: types of the buffers, and the attributes.

    Args:
        operands: the operands, without the descriptor operand itself.
        results: the results.
        attrs: the attributes as `encode_attrs` returns them.
        is_operand: whether the call has the descriptor as its first operand, before `operands`.
    """
    buffers = b"".join(_buffer(dtype, dims) for dtype, dims in (*operands, *results))
    entries = _entries(attrs)
    flags = (_IS_TUPLE if len(results) != 1 else 0) | (_IS_OPERAND if is_operand else 0)
    size = 24 + len(buffers) + len(entries)
    return struct.pack("<4s5I", MAGIC, size, len(operands), len(results), len(attrs), flags) + buffers + entries


def _buffer(dtype: str, dims: Sequence[int]) -> bytes:
    return struct.pack(f"<B3xI{len(dims)}q", _dtypes.CODES[dtype], len(dims), *dims)


def _entries(attrs: Mapping[str, Any]) -> bytes:
    by_name = sorted((name.encode(), value) for name, value in attrs.items())
    return b"".join(_entry(name, value) for name, value in by_name)


def _entry(name: bytes, value: Any) -> bytes:
    kind, code, number, payload = _payload(value)
    return struct.pack("<BB2xIQ", kind, code, len(name), number) + _pad(name) + _pad(payload)


def _payload(value: Any) -> tuple[int, int, int, bytes]:
    """Kind, dtype code, number of elements, and bytes of an attribute."""
    if isinstance(value, str | bytes):
        data = value.encode() if isinstance(value, str) else value
        return _STRING, 0, len(data), data
    if isinstance(value, Mapping):
        return _DICTIONARY, 0, len(value), _entries(value)
    array = np.asarray(value)
    code = _dtypes.CODES[_dtypes.xla_name(array.dtype.name)]
    kind = _SCALAR if array.ndim == 0 else _ARRAY
    return kind, code, array.size, array.astype(array.dtype.newbyteorder("<")).tobytes()


def _pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)
