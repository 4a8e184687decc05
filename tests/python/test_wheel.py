"""Wheels of op libraries: their platform, their settings, mistakes, and one that is made, installed and used."""

import ctypes
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import venv
import zipfile

import pytest

from oxcall._cli import main
from oxcall._errors import BuildError
from oxcall._new import KINDS
from oxcall._wheel import tag, zig
from oxcall._wheel.settings import settings_of
from processes import run

ROOT = pathlib.Path(__file__).parents[2]
# Of all builds here, so that the crate `oxcall` is compiled once.
TARGET = ROOT / "target" / "xtask" / "wheel"

needs_hatchling = pytest.mark.skipif(importlib.util.find_spec("hatchling") is None, reason="hatchling is not installed")


def test_platform_of_a_library(library_path):
    path = library_path("custom_ops")
    content = path.read_bytes()
    newest = max(int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)(?=[.\0])", content))
    platform = tag.platform_of(str(path))
    assert platform == tag.Platform(f"manylinux_2_{max(newest, 17)}_{os.uname().machine}", max(newest, 17), None)
    # The machine that has built it has no older one.
    libc = ctypes.CDLL(None).gnu_get_libc_version
    libc.restype = ctypes.c_char_p
    assert newest <= int(libc().split(b".")[1])


@pytest.mark.parametrize(
    ("versions", "glibc"),
    [
        ({"GLIBC_2.2.5"}, 17),
        ({"GLIBC_2.17", "GLIBC_2.34", "GLIBC_2.4"}, 34),
        ({"GLIBC_2.17", "GCC_3.0", "GCC_4.2.0"}, 17),
        ({"GCC_7.0.0"}, 27),
        ({"GLIBCXX_3.4.29", "CXXABI_1.3"}, 34),
        ({"CXXABI_1.3.15"}, 39),
        ({"OTHER_1.0"}, 17),
        ({"GLIBC_PRIVATE"}, None),
        ({"GLIBCXX_3.4.99"}, None),
    ],
)
def test_platforms_of_versions(versions, glibc):
    platform = tag._of_versions(versions, "linux_x86_64")
    assert platform.glibc == glibc and (platform.fault is None) == (glibc is not None)
    assert platform.tag == ("linux_x86_64" if glibc is None else f"manylinux_2_{glibc}_{os.uname().machine}")


def test_libraries_that_not_every_linux_has(library_path, monkeypatch):
    monkeypatch.setattr(tag.DynamicSection, "needed", lambda self: ["libc.so.6", "libm.so.6", "libcudart.so.13"])
    platform = tag.platform_of(str(library_path("custom_ops")))
    assert platform.tag.startswith("linux_") and platform.fault.startswith(
        "it needs `libcudart.so.13`, which not every"
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"feature": ["x"]}, "has no setting `feature` (did you mean `features`?)"),
        ({"x": 1}, "the settings are `module`, `crate`, `features` and `portable`"),
        (
            {"features": "x"},
            "`features` in [tool.hatch.build.hooks.oxcall] of pyproject.toml must be a list of strings",
        ),
        ({"features": [1]}, "must be a list of strings, not [1]"),
        ({"portable": "yes"}, "must be true or false, not 'yes'"),
        ({"module": "a-b"}, "`a-b` cannot be imported in Python: set `module`"),
    ],
)
def test_mistakes_in_settings(table, message):
    with pytest.raises(BuildError, match=re.escape(message)):
        settings_of(table, "my-ops")


def test_settings(monkeypatch):
    settings = settings_of({"dependencies": [], "features": ["a"]}, "my-ops.x")
    assert (settings.module, settings.crate, settings.features, settings.portable) == ("my_ops_x", ".", ("a",), False)
    monkeypatch.setenv("OXCALL_PORTABLE", "1")
    assert settings_of({}, "my_ops").portable


def test_zig_is_that_of_the_extra():
    project = (ROOT / "python/oxcall/pyproject.toml").read_text()
    assert f'build = ["hatchling>=1.26", "{zig.REQUIREMENT}"]' in project


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A new project, as the current folder."""
    assert main(["new", str(tmp_path / "their_ops"), "--oxcall", str(ROOT)]) == 0
    monkeypatch.chdir(tmp_path / "their_ops")
    monkeypatch.setenv("CARGO_TARGET_DIR", str(TARGET))
    return tmp_path / "their_ops"


def oxcall(*arguments, **variables):
    """The command in a process of its own: its status, and all that it prints."""
    command = [sys.executable, "-m", "oxcall", *map(str, arguments)]
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=600, check=False
    )
    return done.returncode, done.stdout + done.stderr


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@needs_hatchling
@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("Cargo.toml", 'crate-type = ["cdylib"]', "", 'set `crate-type = ["cdylib"]` in its [lib] section'),
        ("Cargo.toml", "[lib]", "[lib", "correct what it says above"),
        ("pyproject.toml", "\n[tool.hatch.build.hooks.oxcall]", "", "does not use oxcall's hook: add the line [tool."),
        ("pyproject.toml", "hooks.oxcall]", 'hooks.oxcall]\ncrate = "x"', "their_ops/x has no Cargo.toml: put the"),
        ("pyproject.toml", "hooks.oxcall]", "hooks.oxcall]\nx = 1", "has no setting `x`"),
        ("pyproject.toml", "hooks.oxcall]", "hooks.oxcall", "pyproject.toml cannot be read: correct it"),
        ("pyproject.toml", '"hatchling.build"', '"setuptools"', "must be \"hatchling.build\", which runs"),
        ("pyproject.toml", 'dynamic = ["version"]', "", "correct pyproject.toml: "),
        ("pyproject.toml", '\ndependencies = ["oxcall>=0.1"]', "", 'add "oxcall" to `dependencies`'),
    ],
)  # fmt: skip
def test_mistakes_in_projects(file, old, new, message, project):
    replace(project / file, old, new)
    status, output = oxcall("build")
    assert status == 1 and message in output and "Traceback" not in output, output


@needs_hatchling
def test_other_mistakes(project, tmp_path):
    status, output = oxcall("build", PATH=str(tmp_path), CARGO="cargo")
    assert status == 1 and "there is no `cargo` on PATH: install it from https://rustup.rs" in output, output
    (project / "member").mkdir()
    (project / "src").rename(project / "member" / "src")
    (project / "Cargo.toml").rename(project / "member" / "Cargo.toml")
    text = '[workspace]\nmembers = ["member"]\n[workspace.package]\nversion = "0.1.0"\n'
    (project / "Cargo.toml").write_text(text)
    status, output = oxcall("build")
    assert status == 1 and f"the folder of one of its crates ({project / 'member'})" in output, output
    (project / "python" / "their_ops").mkdir(parents=True)
    (project / "python" / "their_ops" / "__init__.py").touch()
    status, output = oxcall("build")
    assert status == 1 and 'add `packages = ["python/their_ops"]`' in output, output
    (project / "pyproject.toml").unlink()
    status, output = oxcall("build")
    assert status == 1 and "has no pyproject.toml: run this in the folder of a project" in output, output


USE = """
    import jax, jax.numpy as jnp, numpy as np
    import their_ops
    x = jnp.arange(1.0, 7.0).reshape(2, 3)
    expected = x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(jax.jit(their_ops.rms_norm)(x), expected, rtol=1e-5)
    assert jax.grad(lambda x: their_ops.rms_norm(x).sum())(x).shape == (2, 3)
    print(their_ops.__file__, their_ops.__doc__, their_ops.__all__, sep="|")
"""


@pytest.fixture
def clean(tmp_path):
    """An environment with JAX and the packages of this one, but none of a project."""
    folder = tmp_path / "clean"
    venv.create(folder)
    python = folder / "bin" / "python"
    site = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    here = importlib.util.find_spec("jax").submodule_search_locations[0]
    paths = [os.path.dirname(here), str(ROOT / "python/oxcall/src")]
    pathlib.Path(site, "packages.pth").write_text("".join(f"{path}\n" for path in paths))

    def install(*arguments):
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index"]
        subprocess.run([*pip, "--disable-pip-version-check", *arguments], check=True)

    def use(code):
        return subprocess.run(
            [python, "-c", "import textwrap, sys; exec(textwrap.dedent(sys.argv[1]))", code],
            cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120,
        ).stdout.strip()  # fmt: skip

    return site, install, use


@needs_hatchling
def test_a_wheel(project, clean, tmp_path):
    """From `oxcall new` to calls of what pip has installed."""
    site, install, use = clean
    status, output = oxcall("build", "--out", tmp_path / "out")
    assert status == 0, output
    (wheel,) = (tmp_path / "out").iterdir()
    assert str(wheel) in output
    assert re.fullmatch(r"their_ops-0\.1\.0-py3-none-manylinux_2_\d+_\w+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as files:
        names = {name.partition("/")[2] for name in files.namelist() if name.startswith("their_ops/")}
        assert names == {"__init__.py", "_ops.py", "_ops.pyi", "py.typed", "libtheir_ops.so"}
        stub = files.read("their_ops/_ops.pyi").decode()
        assert "def rms_norm(x: ArrayLike, *, eps: float = 1e-05) -> Array:" in stub and "LIBRARY: Ops\n" in stub
        (tmp_path / "libtheir_ops.so").write_bytes(files.read("their_ops/libtheir_ops.so"))
    assert tag.platform_of(str(tmp_path / "libtheir_ops.so")).tag in wheel.name
    install(wheel)
    file, about, exported = use(USE).split("|")
    assert file == f"{site}/their_ops/__init__.py" and about == "Ops written in Rust."
    assert exported == "['LIBRARY', 'rms_norm', 'rms_norm_vjp']"


@needs_hatchling
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("cuda", "torch")])
def test_tests_of_a_new_project(kind, tmp_path, monkeypatch):
    """All tests that come with a project pass, in Rust and in Python.

    `tests/cuda` has the Rust tests and kernels of `--cuda`, `tests/torch` the Python tests of `--torch`, without a
    build of the SDK for them.
    """
    folder = tmp_path / "their_ops"
    assert main(["new", str(folder), "--oxcall", str(ROOT), *([] if kind == "jax" else [f"--{kind}"])]) == 0
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CARGO_TARGET_DIR", str(TARGET))
    done = subprocess.run(["cargo", "test"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr
    status, output = oxcall("build", "--out", tmp_path / "out")
    assert status == 0, output
    (wheel,) = (tmp_path / "out").iterdir()
    with zipfile.ZipFile(wheel) as files:
        files.extractall(tmp_path / "out")
    paths = os.pathsep.join([str(tmp_path / "out"), str(ROOT / "python/oxcall/src")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests"],
        env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@needs_hatchling
def test_a_source_distribution(project, tmp_path, monkeypatch):
    """It has what a build needs, whether or not version control ignores it, and not what cargo wrote."""
    (project / ".gitignore").write_text("Cargo.lock\n")
    (project / "target").mkdir()
    (project / "target" / "written").touch()
    build = "import os, sys; from hatchling.build import build_sdist; print(build_sdist(sys.argv[1]))"
    name = run(build, tmp_path / "sdist", CARGO_TARGET_DIR=str(project / "target")).splitlines()[-1]
    with tarfile.open(tmp_path / "sdist" / name) as files:
        names = {entry.partition("/")[2] for entry in files.getnames()}
        files.extractall(tmp_path / "unpacked", filter="data")
    assert {"Cargo.toml", "Cargo.lock", "src/lib.rs", "pyproject.toml"} <= names
    assert not any(entry.startswith("target") for entry in names)
    monkeypatch.chdir(tmp_path / "unpacked" / "their_ops-0.1.0")
    status, output = oxcall("build")
    assert status == 0, output


@needs_hatchling
def test_an_old_lock_file(project):
    """Cargo.toml has changed since Cargo.lock was written."""
    subprocess.run(["cargo", "generate-lockfile"], check=True)
    replace(project / "Cargo.toml", '"0.1.0"', '"0.2.0"')
    status, output = oxcall("build")
    assert status == 1 and "run `cargo update --workspace`, and commit the file" in output, output


@needs_hatchling
def test_mistakes_in_sources(project):
    """What does not compile, and what compiles without ops."""
    source = (project / "src" / "lib.rs").read_text()
    (project / "src" / "lib.rs").write_text(source + "fn\n")
    status, output = oxcall("build")
    assert status == 1 and "error: expected identifier" in output, output
    assert output.endswith("Cargo.toml: correct the errors that it shows above\n"), output
    (project / "src" / "lib.rs").write_text("use oxcall as _;\n")
    status, output = oxcall("build")
    assert status == 1 and "the library has no ops: mark a function in src with `#[custom_call]`" in output, output
    (project / "src" / "lib.rs").write_text("")
    status, output = oxcall("build")
    assert status == 1 and "the library has no ops: mark a function" in output, output


@needs_hatchling
def test_an_own_package(project, clean, tmp_path):
    """In an editable installation, the library lies beside the sources of the project's own package."""
    _, install, use = clean
    own = project / "python" / "their_ops"
    own.mkdir(parents=True)
    (own / "__init__.py").write_text('"""Own."""\n\nfrom their_ops._ops import *\nfrom their_ops._ops import __all__\n')
    with open(project / "pyproject.toml", "a") as file:
        file.write('\n[tool.hatch.build.targets.wheel]\npackages = ["python/their_ops"]\n')
    build = "import sys; from hatchling.build import build_editable; print(build_editable(sys.argv[1]))"
    name = run(build, tmp_path / "editable").splitlines()[-1]
    assert {path.name for path in own.iterdir()} == {"__init__.py", "_ops.py", "_ops.pyi", "libtheir_ops.so"}
    install("--force-reinstall", tmp_path / "editable" / name)
    file, about, _ = use(USE).split("|")
    assert file == str(own / "__init__.py") and about == "Own."
    (own / "_ops.py").write_text("mine = 1\n")
    assert "rename it, or set `module`" in run_failing(build, tmp_path / "editable")


def run_failing(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


@needs_hatchling
@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="ziglang is not installed")
def test_a_portable_wheel(project, clean, tmp_path):
    _, install, use = clean
    status, output = oxcall("build", "--portable")
    assert status == 0, output
    (wheel,) = (project / "dist").iterdir()
    assert wheel.name == f"their_ops-0.1.0-py3-none-manylinux_2_17_{os.uname().machine}.whl"
    install(wheel)
    use(USE)


def test_zig_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BuildError, match="which is not installed: `pip install 'ziglang~="):
        zig.variables("x86_64-unknown-linux-gnu", str(tmp_path))
    with pytest.raises(BuildError, match="libraries for `x86_64-unknown-linux-musl` cannot be made portable"):
        zig.variables("x86_64-unknown-linux-musl", str(tmp_path))
