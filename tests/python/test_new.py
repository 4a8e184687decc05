"""Projects that `oxcall new` makes, as texts; `test_wheel.py` builds one."""

import ast
import pathlib
import re
import subprocess

import pytest

import oxcall
from oxcall._cli import main
from oxcall._new import _ABOUT, _DEPENDENCY, _FILES, _PROJECT, _TEST, KINDS, _of_checkout

tomllib = pytest.importorskip("tomllib")
ROOT = pathlib.Path(__file__).parents[2]
TEMPLATES = ROOT / "python/oxcall/src/oxcall/_templates"


def made(tmp_path, *arguments, name="their-ops"):
    assert main(["new", str(tmp_path / name), *arguments]) == 0
    files = [path for path in (tmp_path / name).rglob("*") if path.is_file()]
    return {str(path.relative_to(tmp_path / name)): path.read_text() for path in files}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("checkout", [(), ("--oxcall", str(ROOT))])
def test_files(kind, checkout, tmp_path):
    files = made(tmp_path, *([] if kind == "jax" else [f"--{kind}"]), *checkout)
    assert set(files) == {*_FILES, *KINDS[kind].more, "src/lib.rs", "tests/test_ops.py"}
    for name, text in files.items():
        assert not re.search(r"my.ops|FRAMEWORK|EXAMPLE|ABOUT", text), name
        assert max(map(len, text.splitlines())) <= 120 or checkout, name
    assert "import their_ops\n" in files["tests/test_ops.py"]
    ast.parse(files["tests/test_ops.py"])
    for example in re.findall(r"(?s)```python\n(.*?)```", files["README.md"]):
        assert "their_ops." in ast.unparse(ast.parse(example))
    cargo, project = tomllib.loads(files["Cargo.toml"]), tomllib.loads(files["pyproject.toml"])
    assert cargo["package"]["name"] == project["project"]["name"] == "their-ops"
    assert project["project"]["optional-dependencies"]["test"][0] == ("torch" if kind == "torch" else "jax")
    assert cargo["lib"]["crate-type"] == ["cdylib"]
    dependency, build = cargo["dependencies"]["oxcall"], project["build-system"]["requires"][1]
    series = oxcall.__version__.rpartition(".")[0]
    source = {"path": str(ROOT / "ffi")} if checkout else {"version": series}
    if kind == "cuda":
        assert dependency == {**source, "features": ["cuda"]}
    else:
        assert dependency == (source if checkout else series)
    assert cargo["dev-dependencies"]["oxcall"] == {**source, "features": ["testing"]}
    assert build == (f"oxcall @ {(ROOT / 'python/oxcall').as_uri()}" if checkout else f"oxcall>={series}")
    assert project["project"]["dependencies"] == [f"oxcall>={oxcall.__version__.rpartition('.')[0]}"]


@pytest.mark.parametrize("kind", KINDS)
def test_format(kind, tmp_path):
    """As users have it, who need no rustfmt.toml."""
    made(tmp_path, *([] if kind == "jax" else [f"--{kind}"]))
    (tmp_path / "rustfmt.toml").touch()
    check = ["rustfmt", "--check", "--edition", "2024", "--config-path", str(tmp_path)]
    done = subprocess.run([*check, tmp_path / "their-ops/src/lib.rs"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_text_that_is_replaced_is_there():
    texts = "".join((TEMPLATES / template).read_text() for template in _FILES.values())
    assert [text for text in (*_of_checkout("/x"), _ABOUT, _DEPENDENCY, _PROJECT, _TEST) if text not in texts] == []


def test_paths_are_quoted(tmp_path):
    checkout = tmp_path / 'my-ops "FRAMEWORK" ü'
    for file in ("ffi/Cargo.toml", "python/oxcall/pyproject.toml"):
        (checkout / file).parent.mkdir(parents=True)
        (checkout / file).touch()
    files = made(tmp_path, "--oxcall", str(checkout))
    assert tomllib.loads(files["Cargo.toml"])["dependencies"]["oxcall"]["path"] == str(checkout / "ffi")
    requirement = tomllib.loads(files["pyproject.toml"])["build-system"]["requires"][1]
    assert requirement == f"oxcall @ {(checkout / 'python/oxcall').as_uri()}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("My-Ops", "single `_` or `-` between them, beginning with a letter, such as `my_ops`"),
        ("2d", "`2d` is not a name for a crate and a Python package"),
        ("a__b", "such as `a_b`"),
        ("lambda", "`lambda` is a word of Python or Rust"),
        ("match", "`match` is a word of Python or Rust"),
        ("core", "a crate of Rust's own"),
        ("oxcall", "use another name"),
        ("aten", "`aten` is a namespace of PyTorch's own operators"),
        ("json", "Python has a module `json` already (in its standard library)"),
        ("numpy", "numpy/__init__.py), and one would hide the other: use another name"),
    ],
)  # fmt: skip
def test_names(name, message, tmp_path, capsys):
    assert main(["new", str(tmp_path / name)]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / name).exists()


def test_folders(tmp_path, capsys):
    assert main(["new", str(tmp_path)]) == 1
    assert f"{tmp_path} exists: choose another name, or remove it" in capsys.readouterr().err
    assert main(["new", str(tmp_path / "ops"), "--oxcall", str(tmp_path)]) == 1
    expected = f"{tmp_path} is not a checkout of oxcall: it has no `ffi/Cargo.toml` and `python/oxcall/pyproject.toml`"
    assert expected in capsys.readouterr().err
    (tmp_path / "file").touch()
    assert main(["new", str(tmp_path / "file" / "ops")]) == 1
    assert "ops cannot be written: Not a directory" in capsys.readouterr().err
