"""The call descriptor, byte for byte as docs/legacy-encoding.md specifies it."""

import pathlib
import re

import numpy as np

from oxcall import _dtypes
from oxcall._legacy import describe_call

SPECIFICATION = pathlib.Path(__file__).resolve().parents[2] / "docs" / "legacy-encoding.md"


def test_the_example_of_the_specification():
    example = SPECIFICATION.read_text().split("## Example")[1].split("```")[1]
    lines = [line.split("  ", 1)[1] for line in example.strip().splitlines()]
    expected = bytes.fromhex("".join(re.match(r"(?:[0-9a-f]{2} {1,2})+", line + " ")[0] for line in lines))
    buffer = ("f32", (2,))
    assert describe_call([buffer], [buffer], {"factor": np.float32(4)}, is_operand=False) == expected


def test_every_kind_of_attribute():
    attrs = {"z": "text", "a": {"k": np.array([1, 2, 3], np.int16), "b": True}, "m": np.int64(-1), "e": b""}
    data = describe_call([], [("s4", ()), ("pred", (0, 2))], attrs, is_operand=True)
    assert len(data) % 8 == 0 and int.from_bytes(data[4:8], "little") == len(data)
    assert np.frombuffer(data[8:24], np.uint32).tolist() == [0, 2, 4, 3]
    assert data[24:56] == b"\x15\0\0\0\0\0\0\0" + b"\x01\0\0\0\x02\0\0\0" + np.array([0, 2]).tobytes()
    rest = data[56:]
    for name, head in [
        ("a", (2, 0, 2)),
        ("b", (3, 1, 1)),
        ("k", (1, 3, 3)),
        ("e", (4, 0, 0)),
        ("m", (3, 5, 1)),
        ("z", (4, 0, 4)),
    ]:
        kind, dtype, count = rest[0], rest[1], int.from_bytes(rest[8:16], "little")
        assert (kind, dtype, count) == head and rest[16:24] == name.encode().ljust(8, b"\0")
        payload = {"b": b"\x01", "k": b"\1\0\2\0\3\0", "m": b"\xff" * 8, "z": b"text"}.get(name, b"")
        padded = payload + bytes(-len(payload) % 8)
        assert rest[24 : 24 + len(padded)] == padded
        rest = rest[24 + len(padded) :]
    assert rest == b""


def test_dtype_names_round_trip():
    for dtype in _dtypes.CODES:
        assert _dtypes.xla_name(_dtypes.numpy_name(dtype)) == dtype
    assert len(set(_dtypes.CODES.values())) == len(_dtypes.CODES)
    assert _dtypes.numpy_name("f8e4m3b11fnuz") == "float8_e4m3b11fnuz"
    assert _dtypes.numpy_name("f4e2m1fn") == "float4_e2m1fn"
