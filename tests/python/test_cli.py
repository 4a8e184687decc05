"""The command line and the generated stubs."""

import ast
import fcntl
import math
import os
import pty
import struct
import subprocess
import sys
import termios

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


def in_terminal(columns, *arguments):
    """What the command prints to a terminal of so many columns, line by line."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "oxcall", *map(str, arguments)]
    variables = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = subprocess.Popen(command, stdout=terminal, env=variables)
    os.close(terminal)
    output = b""
    try:
        while chunk := os.read(controller, 1 << 16):
            output += chunk
    except OSError:  # the other end is closed
        pass
    os.close(controller)
    assert process.wait(60) == 0
    return output.decode().splitlines()


def test_ops_fit_a_terminal(library_path, fake_path):
    path = library_path("custom_ops")
    narrow, wide = in_terminal(80, "ops", path), in_terminal(1000, "ops", path)
    assert max(map(len, narrow)) <= 80
    at = narrow.index("csr_matmul  Host  examples/custom_ops/src/sparse.rs:15")
    assert narrow[at + 1 : at + 4] == [
        "    (values: T[nnz], columns: int32[nnz], start: int32[ends], x: T[n, m])",
        "        -> y: T[ends - 1, m]",
        "",
    ]
    command = [sys.executable, "-m", "oxcall", "ops", path]
    piped = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert piped.splitlines() == wide and max(map(len, wide)) > 200
    # No word is lost or broken.
    assert sorted(" ".join(narrow).split()) == sorted(word for word in piped.split() if word not in wide[0].split())
    assert all(len(line) <= 50 or " " not in line.strip() for line in in_terminal(50, "ops", fake_path))


def test_output_that_nobody_reads(fake_path):
    command = f"{sys.executable} -m oxcall stubs {fake_path} | head -c 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ('"', "")


def test_without_a_command(capsys):
    assert main([]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and "new       make a project" in printed.err


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


def test_a_file_that_cannot_be_written(fake_path, tmp_path, capsys):
    assert main(["stubs", str(fake_path), "-o", str(tmp_path / "none" / "x.pyi")]) == 1
    assert "x.pyi cannot be written: No such file or directory" in capsys.readouterr().err


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
