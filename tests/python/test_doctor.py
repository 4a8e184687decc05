"""`python -m oxcall doctor`, also in environments without frameworks, with broken ones, and for broken libraries."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import fake
from oxcall import _doctor

ROOT = pathlib.Path(__file__).parents[2]


def doctor(python, *paths: object, **variables: str) -> tuple[int, str]:
    done = subprocess.run(
        [python, "-m", "oxcall", "doctor", *map(str, paths)],
        env={**os.environ, **variables}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A Python with nothing installed."""
    folder = tmp_path_factory.mktemp("empty")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder / "bin" / "python"


def installed(folder: pathlib.Path, **packages: tuple[str, str]) -> str:
    """The path on which packages of these versions, with these sources, seem to be installed, and oxcall is."""
    for name, (version, source) in packages.items():
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(source)
        information = folder / f"{name}-{version}.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    return os.pathsep.join((str(folder), str(ROOT / "python" / "oxcall" / "src")))


def test_all_is_well(fake_path):
    status, text = doctor(sys.executable, fake_path)
    assert status == 0, text
    for line in (r"ok +jax +\S+ \(tested: 0\.4\.34 to ", r"ok +FFI API +0\.\d", r"ok +library .*: 10 ops, built with"):
        assert re.search(f"(?m)^{line}", text), text
    assert text.endswith("\nall is well\n")


def test_broken_libraries(fake_path, tmp_path):
    """One of them ends the process that loads it; the report goes on."""
    cut = tmp_path / "libcut.so"
    cut.write_bytes(fake_path.read_bytes()[:5000])
    (tmp_path / "trap.cpp").write_text("__attribute__((constructor)) static void first() { __builtin_trap(); }")
    trap = fake.build(tmp_path, "libtrap.so", link=[tmp_path / "trap.cpp"])
    mistaken = fake.build(tmp_path, "libmistaken.so", errors=["duplicate op `a`"])
    status, text = doctor(sys.executable, tmp_path / "none.so", cut, trap, mistaken, fake_path)
    assert status == 1
    expected = [
        r"problem +library .*none\.so does not exist\. Build it first",
        r"problem +library .*libcut\.so cannot be loaded here: it is not complete",
        r"problem +library .*libtrap\.so: a process that loaded it was ended by SIG(ILL|TRAP): the file is broken",
        r"problem +library .*libmistaken\.so: duplicate op `a`",
        r"ok +library .*libfake\.so: 10 ops",
        r"4 problems$",
    ]
    assert re.search("(?ms)" + ".*".join(f"^{line}" for line in expected), text), text


def test_without_frameworks(empty, tmp_path):
    status, text = doctor(empty, PYTHONPATH=installed(tmp_path))
    assert status == 1
    assert re.search(r"(?m)^note +jax +not installed: `pip install jax`", text), text
    assert re.search(r"(?m)^note +torch +not installed: `pip install torch`", text)
    assert re.search(r"(?m)^problem +frameworks +oxcall\.load needs JAX or PyTorch: `pip install", text)


@pytest.mark.parametrize(
    ("packages", "status", "line"),
    [
        ({"torch": ("2.15.0", "")}, 0, r"ok +torch +2\.15\.0 \(tested: 2\.7\.1 to"),
        ({"torch": ("2.99.0+cpu", "")}, 0, r"note +torch +2\.99\.0\+cpu, newer than the tested"),
        (
            {"torch": ("2.5.0", "")},
            1,
            r"problem +torch +2\.5\.0: oxcall needs 2\.7\.1 or newer, `pip install --upgrade",
        ),
        ({"torch": ("2.15.0", "import os; os.abort()")}, 1, r"problem +torch +2\.15\.0 does not work: .*SIGABRT"),
        ({"jax": ("0.4.30", "")}, 1, r"problem +jax +0\.4\.30: oxcall needs 0\.4\.34 or newer, `pip install"),
        (
            {"jax": ("0.10.2", "raise ImportError('no symbol')")},
            1,
            r"problem +jax +0\.10\.2 does not work: ImportError: no symbol\. Reinstall",
        ),
        ({"jax": ("0.10.2", "raise SystemExit(3)")}, 1, r"problem +jax +0\.10\.2 does not work: .*ended with 3"),
        ({"jax": ("0.10.2", "")}, 1, r"problem +jaxlib +not installed, and JAX needs it"),
        (
            {"torch": ("2.15.0", ""), "oxcall_plugin": ("9.0", "")},
            1,
            r"problem +oxcall-plugin +9\.0, and oxcall is \S+: install both",
        ),
        (
            {"torch": ("2.15.0", ""), "oxcall_plugin": ("0.1.0", "raise ImportError('half installed')")},
            1,
            r"problem +oxcall-plugin +0\.1\.0: ImportError: half installed",
        ),
    ],
)
def test_frameworks(empty, tmp_path, packages, status, line):
    found, text = doctor(empty, PYTHONPATH=installed(tmp_path, **packages))
    assert re.search(f"(?m)^{line}", text), text
    assert found == status, text


@pytest.mark.parametrize(
    ("program", "status", "line"),
    [
        (None, 0, r"note +rustc +not found; needed only to build"),
        ("echo rustc 1.60.0", 1, r"problem +rustc +1\.60\.0: oxcall needs 1\.95 or newer, `rustup update stable`"),
        ("echo rustc 2.1.0-nightly", 1, r"ok +rustc +2\.1\.0-nightly"),
        ("echo rustc 1.95.0", 1, r"problem +cc +not found, and Rust links libraries with it: install gcc"),
        ("echo no toolchain >&2; exit 1", 1, r"problem +rustc +prints no version: no toolchain"),
    ],
)
def test_rust(empty, tmp_path, program, status, line):
    tools = tmp_path / "tools"
    tools.mkdir()
    if program is not None:
        (tools / "rustc").write_text(f"#!/bin/sh\n{program}\n")
        (tools / "rustc").chmod(0o755)
    (tmp_path / "packages").mkdir()
    path = installed(tmp_path / "packages", torch=("2.15.0", ""))
    found, text = doctor(empty, PYTHONPATH=path, PATH=str(tools))
    assert re.search(f"(?m)^{line}", text), text
    assert found == status, text


def test_what_builds_wheels(empty, tmp_path):
    _, text = doctor(empty, PYTHONPATH=installed(tmp_path, torch=("2.15.0", ""), hatchling=("1.30", "")))
    assert re.search(r"(?m)^ok +hatchling +1\.30$", text), text
    assert re.search(r"(?m)^note +ziglang +not installed: `pip install 'oxcall\[build\]'` for `oxcall build", text)


def test_the_ranges_are_those_that_are_tested():
    pins = (ROOT / "xtask" / "src" / "python" / "pins.rs").read_text()
    for name, known in (("jax", _doctor.JAX), ("torch", _doctor.TORCH)):
        versions = re.findall(rf'\n    {name}\("([^"]+)"', pins)
        assert (versions[0], versions[-1]) == known
    assert f'rust-version = "{_doctor.RUST}"' in (ROOT / "Cargo.toml").read_text()
    plugin = (ROOT / "python" / "oxcall-plugin" / "pyproject.toml").read_text()
    assert f'jax = ["jax>={_doctor.PLUGIN_JAX}"]' in plugin
