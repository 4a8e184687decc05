"""Files of libraries: incomplete ones, ones that are overwritten while they are loaded, the copies that are loaded."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import fake
import oxcall
from oxcall import _elf, _image
from processes import run


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """Two builds of a library, with other results."""
    folder = tmp_path_factory.mktemp("builds")
    return [fake.build(folder, f"lib{bias}.so", BIAS=bias) for bias in (10, 20)]


OVERWRITTEN = """
    import os, shutil, sys, warnings
    import jax, jax.numpy as jnp, numpy as np, oxcall
    warnings.simplefilter("ignore")
    path, first, second = sys.argv[1:]
    x = jnp.ones(2, "f")
    shutil.copy(first, path)
    old = oxcall.load(path)
    call_old = jax.jit(lambda x: old.scale(x))
    print(call_old(x)[0], end=" ")
    shutil.copy(second, path)
    new = oxcall.load(path)
    print(call_old(x)[0], old.scale(x)[0], new.scale(x)[0], new is not old, end=" ")
    for size in (os.path.getsize(path) // 2, 0):
        os.truncate(path, size)
        print(call_old(jnp.ones(3, "f"))[0], new.scale(jnp.ones(3, "f"))[0], end=" ")
        try:
            oxcall.load(path)
        except oxcall.LoadError as error:
            print("is not complete" in str(error) or "is empty" in str(error), end=" ")
    shutil.copy(first, path)
    print(oxcall.load(path).scale(x)[0])
"""
EXPECTED = "12.0 12.0 12.0 22.0 True 12.0 22.0 True 12.0 22.0 True 12.0"


def test_a_loaded_library_may_be_overwritten(builds, tmp_path):
    assert run(OVERWRITTEN, tmp_path / "libover.so", *builds) == EXPECTED


def test_without_a_place_for_copies_they_are_in_memory(builds, tmp_path):
    code = "import tempfile; tempfile.tempdir = '/proc'\n" + textwrap.dedent(OVERWRITTEN)
    assert run(code, tmp_path / "libover.so", *builds) == EXPECTED


def test_a_library_that_is_cut_anywhere_is_an_error(builds, tmp_path):
    """Judged by its headers; that the linker then lives is tried at some of the places."""
    whole = pathlib.Path(builds[0]).read_bytes()
    size = len(whole)

    def fault(cut):
        return _elf.fault(cut, lambda offset, count: whole[min(offset, cut) : min(offset + count, cut)])

    assert fault(size) is None
    assert all(fault(cut) for cut in [*range(200), *range(200, size, 97), size - 1])
    path = tmp_path / "libcut.so"
    for cut in [1, 63, 64, 500, *range(1000, size, size // 20), size - 1]:
        path.write_bytes(whole[:cut])
        with pytest.raises(oxcall.LoadError, match=r"not complete|not a shared library"):
            oxcall.load(path)
        # As a copying program that makes room first leaves it.
        path.write_bytes(whole[:cut] + bytes(size - cut))
        if cut < size // 2:
            with pytest.raises(oxcall.LoadError):
                oxcall.load(path)


def compiler() -> list[str]:
    return [found] if (found := shutil.which("g++")) else [sys.executable, "-m", "ziglang", "c++"]


def test_other_kinds_of_files(tmp_path):
    source = tmp_path / "main.cpp"
    source.write_text("int main() { return 0; }")
    subprocess.run([*compiler(), "-c", source, "-o", tmp_path / "main.o"], check=True)
    with pytest.raises(oxcall.LoadError, match="an object file and not a shared library"):
        oxcall.load(tmp_path / "main.o")
    extensions = pathlib.Path(sysconfig.get_path("platlib")).glob("numpy/**/*.cpython-*.so")
    with pytest.raises(oxcall.LoadError, match=r"`oxcall_library`\. It is an extension module of Python"):
        oxcall.load(next(extensions))
    os.mkfifo(tmp_path / "pipe.so")
    with pytest.raises(oxcall.LoadError, match="a pipe"):
        oxcall.load(tmp_path / "pipe.so")
    with pytest.raises(oxcall.LoadError, match="does not exist"):
        oxcall.load(tmp_path / "main.o" / "below.so")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [(18, b"\xb7\x00", "it was built for aarch64"), (4, b"\x01", "in 32 bits"), (16, b"\x02\x00", "a program")],
)
def test_libraries_of_other_machines(builds, tmp_path, place, value, message):
    content = bytearray(pathlib.Path(builds[0]).read_bytes())
    content[place : place + len(value)] = value
    path = tmp_path / "libforeign.so"
    path.write_bytes(content)
    with pytest.raises(oxcall.LoadError, match=message):
        oxcall.load(path)


def test_a_library_that_may_not_be_read(builds, tmp_path):
    path = pathlib.Path(shutil.copy(builds[0], tmp_path / "libsecret.so"))
    path.chmod(0)
    if os.geteuid() != 0:
        with pytest.raises(oxcall.LoadError, match="cannot be read: Permission denied"):
            oxcall.load(path)
        return
    code = """
        import os, sys, oxcall, oxcall._library
        os.chmod(os.path.dirname(sys.argv[1]), 0o755)
        os.seteuid(65534)
        try:
            oxcall.load(sys.argv[1])
        except oxcall.LoadError as error:
            print(error)
    """
    tmp_path = pathlib.Path(tempfile.mkdtemp())
    try:
        assert "cannot be read: Permission denied" in run(code, shutil.copy(path, tmp_path / "libsecret.so"))
    finally:
        shutil.rmtree(tmp_path)


def test_a_library_that_is_being_written(builds, tmp_path, monkeypatch):
    path = pathlib.Path(shutil.copy(builds[0], tmp_path / "libwritten.so"))
    add = _image._COPIES.add

    def add_slowly(*arguments):
        copy = add(*arguments)
        os.utime(path)
        return copy

    monkeypatch.setattr(_image._COPIES, "add", add_slowly)
    with pytest.raises(oxcall.LoadError, match="was written while it was read"):
        oxcall.load(path)
    monkeypatch.undo()
    assert float(oxcall.load(path).scale(jnp.ones(1, "f"))[0]) == 12


def test_the_same_content_is_the_same_library(builds, tmp_path):
    path = pathlib.Path(shutil.copy(builds[0], tmp_path / "libsame.so"))
    library = oxcall.load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for change in (lambda: os.utime(path), lambda: path.chmod(0o700), lambda: shutil.copy(builds[0], path)):
            change()
            assert oxcall.load(path) is library
    (tmp_path / "liblink.so").symlink_to(path)
    os.link(path, tmp_path / "libhard.so")
    for link in ("liblink.so", "libhard.so"):
        assert oxcall.load(tmp_path / link).scale.target == library.scale.target


def test_a_library_that_others_have_loaded_is_not_loaded_twice(builds, tmp_path):
    """As by `torch.ops.load_library`, whose operators are registered then; a replaced file is another library."""
    code = """
        import ctypes, os, shutil, sys, oxcall
        path, first, second = sys.argv[1:]
        shutil.copy(first, path)
        ctypes.CDLL(path)
        print(oxcall.load(path).image_path == path, end=" ")
        other = path + ".so"
        shutil.copy(first, other)
        ctypes.CDLL(other)
        os.unlink(other)
        shutil.copy(second, other)
        import jax.numpy as jnp
        print(oxcall.load(other).scale(jnp.ones(1, "f"))[0])
    """
    assert run(code, tmp_path / "libtwice.so", *builds) == "True 22.0"


def test_a_library_with_others_beside_it_stays_there(tmp_path):
    (tmp_path / "beside.cpp").write_text('extern "C" int beside() { return 1; }')
    subprocess.run(
        [*compiler(), "-shared", "-fPIC", tmp_path / "beside.cpp", "-o", tmp_path / "libbeside.so"], check=True
    )
    link = ["-Wl,--no-as-needed", tmp_path / "libbeside.so", "-Wl,-rpath,$ORIGIN"]
    path = pathlib.Path(fake.build(tmp_path, "libneeds.so", link=link))
    library = oxcall.load(path)
    assert library.image_path == str(path)
    np.testing.assert_array_equal(library.scale(jnp.ones(1, "f")), [2])


def test_copies_do_not_outlive_their_process(builds, tmp_path, monkeypatch):
    """Neither one that ends, nor one that is killed; a child of a fork leaves its parent's alone."""
    # Of these processes alone: others of the machine may load libraries meanwhile.
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def copies() -> int:
        return sum(name.startswith("oxcall-libraries-") for name in os.listdir(tmp_path))

    load = "import os, signal, sys, oxcall; oxcall.load(sys.argv[1]);"
    run(load, builds[0])
    assert copies() == 0
    run(load + "os.kill(os.getpid(), signal.SIGKILL)", builds[0], expected=-signal.SIGKILL)
    assert copies() == 1
    run(load, builds[0])
    assert copies() == 0
    code = """
        import os, sys, warnings, oxcall
        warnings.simplefilter("ignore")
        library = oxcall.load(sys.argv[1])
        if os.fork() == 0:
            oxcall.load(sys.argv[2])
            sys.exit()
        os.wait()
        print(os.path.exists(library.image_path), oxcall.load(sys.argv[2]).image_path.endswith("lib20.so"))
    """
    assert run(code, *builds) == "True True"
    assert copies() == 0


def test_backtraces_and_maps_name_the_copy(builds):
    code = """
        import sys, oxcall
        path = oxcall.load(sys.argv[1]).image_path
        print(path in open("/proc/self/maps").read(), path.endswith("/lib10.so"))
    """
    assert run(code, builds[0]) == "True True"
