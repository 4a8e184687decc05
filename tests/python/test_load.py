"""Loading, reloading and the mistakes of both."""

import shutil
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import fake
import oxcall


def test_import_needs_no_jax():
    code = "import sys, oxcall; sys.exit('jax' in sys.modules or 'numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_namespace(ops, fake_path):
    assert "scale" in dir(ops) and "scale" in ops and "scale" in list(ops)
    assert ops["scale"] is ops.scale
    assert len(ops) == len({entry["name"] for entry in fake.OPS})
    assert ops.manifest["abi"] == 1
    assert "fake" in repr(ops) and "scale(x, *, factor=2.0" in repr(ops.scale)
    assert oxcall.load(fake_path) is ops
    with pytest.raises(AttributeError, match=r"fake has no op `scal` \(did you mean `scale`\?\)"):
        _ = ops.scal
    with pytest.raises(KeyError, match="no op"):
        ops["scal"]


def test_rebuilt_library_is_loaded_beside_the_old_one(tmp_path):
    path = fake.build(tmp_path, "libreloaded.so", BIAS=10)
    old = oxcall.load(path)
    call_old = jax.jit(lambda x: old.scale(x))
    x = jnp.ones(2)
    np.testing.assert_array_equal(call_old(x), [12, 12])
    fake.build(tmp_path, "libreloaded.so", BIAS=20)
    with pytest.warns(
        oxcall.OxcallWarning, match=r"libreloaded.so has changed.*`fake::scale#[0-9a-f]+`.*keep the old code"
    ):
        new = oxcall.load(path)
    assert new is not old and new.scale.target != old.scale.target
    np.testing.assert_array_equal(new.scale(x), [22, 22])
    np.testing.assert_array_equal(new.scale(x, custom_call_api_version=3), [22, 22])
    np.testing.assert_array_equal(call_old(x), [12, 12])
    assert oxcall.load(path) is new


def test_same_op_names_in_two_libraries(ops, tmp_path):
    other = oxcall.load(fake.build(tmp_path, "libother.so", BIAS=5))
    assert other.scale.target.startswith("fake::scale#") and other.scale.target != ops.scale.target
    np.testing.assert_array_equal(other.scale(jnp.ones(2)), [7, 7])
    np.testing.assert_array_equal(ops.scale(jnp.ones(2)), [2, 2])


def test_copied_library_is_another_library(ops, fake_path, tmp_path):
    copy = oxcall.load(shutil.copy(fake_path, tmp_path / "libcopied.so"))
    np.testing.assert_array_equal(copy.scale(jnp.ones(2)), [2, 2])


def test_manifest_errors(tmp_path):
    path = fake.build(tmp_path, "libbad.so", errors=["duplicate op `a`", "crate `b` has no ops"])
    with pytest.raises(oxcall.LoadError, match=r"(?s)reports mistakes in its ops:.*- duplicate op `a`.*- crate `b`"):
        oxcall.load(path)


@pytest.mark.parametrize(
    ("abi", "message"), [(2, "built with a newer oxcall.*pip install"), (0, "older oxcall.*cargo")]
)
def test_other_boundary_versions(tmp_path, abi, message):
    with pytest.raises(oxcall.LoadError, match=message):
        oxcall.load(fake.build(tmp_path, f"libabi{abi}.so", ABI=abi))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"does not exist\. Build it first"),
        (b"hello", "it is not a shared library"),
        (b"", "it is not a shared library"),
        (b"MZ" + bytes(80), "it is a Windows"),
        (b"\xcf\xfa\xed\xfe" + bytes(80), "it is a macOS"),
        (
            b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\xf3\x00" + bytes(80),
            "it was built for riscv64, and this process",
        ),
        (b"!<arch>\n" + bytes(80), 'it is a static archive; set `crate-type = \\["cdylib"\\]`'),
    ],
)
def test_files_that_cannot_be_loaded(tmp_path, content, message):
    path = tmp_path / "libwrong.so"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(oxcall.LoadError, match=message):
        oxcall.load(path)


def test_other_shared_libraries(tmp_path):
    source = tmp_path / "empty.c"
    source.write_text("int nothing;")
    compiler = [shutil.which("g++")] if shutil.which("g++") else [sys.executable, "-m", "ziglang", "c++"]
    subprocess.run([*compiler, "-shared", "-fPIC", source, "-o", tmp_path / "libempty.so"], check=True)
    with pytest.raises(oxcall.LoadError, match="is not an oxcall library: it does not export `oxcall_library`"):
        oxcall.load(tmp_path / "libempty.so")
    with pytest.raises(oxcall.LoadError, match="is a directory"):
        oxcall.load(tmp_path)
