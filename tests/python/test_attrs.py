"""Attributes on the wire, as a C handler sees them, and the messages of wrong ones."""

import ctypes
import dataclasses
import enum

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import fake
import oxcall

if hasattr(jax, "enable_x64"):
    x64 = jax.enable_x64
else:
    from jax.experimental import enable_x64 as x64

DEFAULTS = """axes=array:4:2
big=scalar:9
flag=scalar:1
half=scalar:12
small=scalar:2
text=string:a"b
tied=scalar:11
"""


@dataclasses.dataclass
class Inner:
    w: list


class Mode(enum.Enum):
    FAST = "fast"


def sent(ops, dump, **attrs):
    jax.jit(lambda x: ops.inspect(x, **attrs))(jnp.ones(2)).block_until_ready()
    return dict(line.split("=") for line in dump().splitlines())


def test_literal_defaults_are_sent_and_others_left_to_the_library(ops, dump):
    ops.inspect(jnp.ones(2)).block_until_ready()
    assert dump() == DEFAULTS


@pytest.mark.parametrize(
    ("attrs", "expected"),
    [
        ({"mask": [True, False]}, {"mask": "array:2:2"}),
        ({"mask": []}, {"mask": "array:2:0"}),
        ({"axes": np.array([1, 2], np.int64)}, {"axes": "array:4:2"}),
        ({"point": 1 + 2j}, {"point": "array:12:2"}),
        ({"mode": "precise"}, {"mode": "string:precise"}),
        ({"mode": Mode.FAST}, {"mode": "string:fast"}),
        ({"mode": 1}, {"mode": "string:precise"}),
        ({"point": [1, 2]}, {"point": "array:12:2"}),
        ({"pointer": ctypes.c_void_p(2**64 - 1)}, {"pointer": "scalar:5"}),
        ({"flag": np.bool_(False), "small": np.int64(5), "half": 1}, {"flag": "scalar:1", "small": "scalar:2"}),
        (
            {"grid": {"n": 1, "inner": Inner([1, 2.5])}},
            {"grid": "dict", "grid.n": "scalar:5", "grid.inner": "dict", "grid.inner.w": "array:11:2"},
        ),
        (
            {"table": {"a": 1, "b": {"c": [1.5]}, "d": "s", "e": np.float32(1), "f": []}},
            {"table.a": "scalar:5", "table.b.c": "array:12:1", "table.d": "string:s", "table.e": "scalar:11"},
        ),
        ({"unknown": 1.5, "other": (1, 2)}, {"unknown": "scalar:12", "other": "array:5:2"}),
        ({"text": "", "mask": None}, {"text": "string:"}),
    ],
)
def test_wire_types(ops, dump, attrs, expected):
    seen = sent(ops, dump, **attrs)
    assert {name: seen[name] for name in expected} == expected
    assert ("mask" in seen) == (attrs.get("mask") is not None)


def test_the_dispatched_dtype_types_an_attribute(ops, dump):
    with x64():
        ops.inspect(jnp.ones(2, jnp.float64), tied=2).block_until_ready()
    assert "tied=scalar:12" in dump()


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        ({"flag": 1}, r"inspect: attribute `flag` takes a bool, but got 1 \(int\)"),
        ({"small": 128}, r"attribute `small` is 128, out of the range of int8, -128 to 127"),
        ({"small": 1.0}, r"attribute `small` takes an int8 scalar, but got 1.0 \(float\)"),
        ({"small": True}, r"attribute `small` takes an int8 scalar, but got True"),
        ({"big": 2**63}, r"attribute `big` is 9223372036854775808, but JAX cannot send scalars of 2\*\*63 or more"),
        ({"big": -1}, r"attribute `big` is -1, out of the range of uint64"),
        ({"tied": 1e300}, r"attribute `tied` is 1e\+300, out of the range of float32"),
        ({"text": 3}, r"attribute `text` takes a string, but got 3 \(int\)"),
        (
            {"mode": "presice"},
            r'attribute `mode` is "presice" \(did you mean "precise"\?\); it takes "fast" or "precise"',
        ),
        ({"axes": [[1]]}, r"attribute `axes` has shape \[1, 1\], but it takes a one-dimensional array of int32"),
        ({"axes": [1, 2.5]}, r"attribute `axes\[0\]` takes an int32 scalar"),
        ({"axes": "ab"}, r"attribute `axes` takes a one-dimensional array of int32, but got 'ab' \(str\)"),
        ({"grid": {"n": 1}}, r"missing attribute `grid.inner`"),
        ({"grid": {"m": 1, "inner": {"w": []}}}, r"unexpected field `grid.m`.*; its fields are `n` and `inner`"),
        ({"grid": 3}, r"attribute `grid` takes a dictionary with the fields `n` and `inner`, but got 3 \(int\)"),
        ({"table": {"a": None}}, r"attribute `table.a` takes a bool, number, string"),
        ({"extra": object()}, r"attribute `extra` takes a bool, number, string"),
    ],
)
def test_mistakes(ops, attrs, message):
    with pytest.raises(oxcall.CallError, match=message):
        ops.inspect(jnp.ones(2), **attrs)


def test_misspelt_and_traced_attributes(ops):
    with pytest.raises(oxcall.CallError, match=r"scale: unexpected attribute `facter` \(did you mean `factor`\?\)"):
        ops.scale(jnp.ones(2), facter=1.0)
    with pytest.raises(oxcall.CallError, match=r"attribute `factor` is a traced JAX value.*static_argnames"):
        jax.jit(lambda x, f: ops.scale(x, factor=f))(jnp.ones(2), 2.0)


def test_complex_arrays_cannot_be_sent():
    from oxcall._attrs import encode_attrs
    from oxcall._manifest import read_op

    info = read_op(0, fake.op("f", [], [fake.attr("w", {"array": "c64"}), fake.attr("m", {"array": "f16"})]))
    with pytest.raises(oxcall.CallError, match=r"f: attribute `w` takes .* JAX cannot send complex arrays"):
        encode_attrs(info, {"w": [1j], "m": []}, None)
