"""The command line and the generated stubs."""

import ast
import math

import numpy as np
import pytest

from oxcall._cli import main
from oxcall._manifest import Attr
from oxcall._rust import UNKNOWN, SourceText, parse_default


def test_ops(fake_path, capsys):
    assert main(["ops", str(fake_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["name", "platform", "signature", "source"]
    assert lines[1].split(maxsplit=2)[:2] == ["scale", "Host"]
    assert "(x: T[..b, n], *, factor: float32 = 2.0) -> y: T[..b, n]" in lines[1]
    assert lines[1].endswith("src/ops.rs:7")


def test_doctor(fake_path, capsys):
    assert main(["doctor", str(fake_path)]) == 0
    out = capsys.readouterr().out
    for word in ("jaxlib", "FFI API  0.", "0.4.34", "10 ops"):
        assert word in out


def test_missing_file(capsys):
    assert main(["ops", "missing.so"]) == 1
    assert "does not exist" in capsys.readouterr().err


def test_stubs(fake_path, tmp_path):
    output = tmp_path / "fake_ops.pyi"
    assert main(["stubs", str(fake_path), "-o", str(output)]) == 0
    text = output.read_text()
    functions = {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    assert {"scale", "total", "inspect", "filled"} <= functions
    assert "def total(bias: ArrayLike | None = None, *xs: ArrayLike, out_shape: " in text
    assert "mode: Literal['fast', 'precise'] = 'fast'" in text


def test_stubs_have_the_schemas_of_torch(library_path, capsys):
    assert main(["stubs", str(library_path("custom_ops"))]) == 0
    functions = {node.name: node for node in ast.parse(capsys.readouterr().out).body if hasattr(node, "name")}
    for name, schemas in {
        "rms_norm": ["rms_norm(Tensor x, float eps=1e-5) -> Tensor"],
        "axpy": [
            "axpy(int alpha, Tensor x, Tensor(a!) y) -> ()",
            "axpy.float(float alpha, Tensor x, Tensor(a!) y) -> ()",
        ],
        "polynomial": [],
    }.items():
        lines = [line.strip() for line in ast.get_docstring(functions[name]).splitlines()]
        assert [line for line in lines if line.startswith("torch.ops")] == [f"torch.ops.custom_op.{s}" for s in schemas]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-5", 1e-5), ("-2", -2), ("1_000i64", 1000), ("0xff", 255), ("3f32", 3.0), ("1.", 1.0), ("true", True),
        ('"fa\\"st"', 'fa"st'), ('"a".into()', "a"), ("&[1, 2]", [1, 2]), ("vec![0.5]", [0.5]), ("[]", []),
    ],
)  # fmt: skip
def test_literal_defaults(text, value):
    parsed = parse_default(text)
    assert parsed == value and type(parsed) is type(value)


@pytest.mark.parametrize("text", ["Mode::Fast", "f32::EPSILON", "1 + 2", "foo()", "[X, 1]", "None"])
def test_other_defaults_are_shown_as_written(text):
    parsed = parse_default(text)
    assert isinstance(parsed, SourceText) and repr(parsed) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Mode::Fast", "'fast'"), ("crate::Mode::VeryFast", "'very_fast'"), ("Mode :: Renamed", "..."),
        ("mode()", "..."), ("Mode::default()", "..."),
    ],
)  # fmt: skip
def test_shown_defaults_of_enums(text, shown):
    assert repr(Attr("mode", {"enum": [["fast", 0], ["very_fast", 1]]}, "default", text).shown_default) == shown


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("f32::EPSILON", "f32", float(np.finfo(np.float32).eps)),
        ("f32 :: MAX", "f32", float(np.finfo(np.float32).max)),
        ("f64::MIN_POSITIVE", "f64", float(np.finfo(np.float64).tiny)),
        ("f64::NEG_INFINITY", "f64", -math.inf),
        ("std::f64::consts::PI", "f64", math.pi),
        ("i8::MIN", "s8", -128),
        ("u64::MAX", "u64", (1 << 64) - 1),
        ("1e-5", "f64", 1e-5),
        ("f32::consts", "f32", UNKNOWN),
        ("1 + 2", "s32", UNKNOWN),
        ("LIMIT", "s32", UNKNOWN),
    ],
)
def test_shown_defaults_of_numbers(text, kind, value):
    assert Attr("x", kind, "default", text).shown_default == value
