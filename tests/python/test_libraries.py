"""Several libraries in one process, with names that clash: with each other, with the C library, within one library."""

import ctypes
import inspect
import os
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import oxcall


def test_two_libraries_with_one_op_name(gallery, library_path):
    clashing = oxcall.load(library_path("clashing_ops"))
    x = jnp.array([[3.0, 4.0]])
    np.testing.assert_array_equal(clashing.rms_norm(x), -x)
    np.testing.assert_allclose(gallery.rms_norm(x, eps=0.0), x / jnp.sqrt(12.5), rtol=1e-6)
    assert clashing.rms_norm.target == "clashing_ops::rms_norm" != gallery.rms_norm.target
    np.testing.assert_array_equal(jax.jit(lambda x: clashing.rms_norm(gallery.fail(x)))(x), -x)


def test_ops_with_names_of_the_c_library(test_ops, library_path, tmp_path):
    clashing = oxcall.load(library_path("clashing_ops"))
    x = jnp.linspace(0, 3, 7)
    np.testing.assert_allclose(test_ops.cos(x), np.cos(x), atol=1e-6)
    np.testing.assert_array_equal(clashing.cos(x), x + 1)
    np.testing.assert_array_equal(test_ops.sort(jnp.array([3, -1, 2])), [-1, 2, 3])
    file = tmp_path / "file"
    file.write_bytes(b"abc")
    np.testing.assert_array_equal(test_ops.read(path=str(file), n=5), np.array([97, 98, 99, 0, 0], np.uint8))
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL: read: No such file"):
        test_ops.read(path=str(tmp_path / "none"), n=5).block_until_ready()


def test_a_library_whose_symbols_are_global_does_not_capture_another(library_path):
    """In a process of its own: the first library is loaded with RTLD_GLOBAL."""
    code = f"""
        import ctypes
        first = ctypes.CDLL({str(library_path("test_ops"))!r}, mode=ctypes.RTLD_GLOBAL)
        import jax.numpy as jnp, oxcall
        test_ops = oxcall.load({str(library_path("test_ops"))!r})
        clashing = oxcall.load({str(library_path("clashing_ops"))!r})
        x = jnp.arange(3.0)
        assert list(clashing) == ["cos", "rms_norm"] or set(clashing) == {{"cos", "rms_norm"}}, list(clashing)
        assert (clashing.cos(x) == x + 1).all() and abs(test_ops.cos(x) - jnp.cos(x)).max() < 1e-6
        assert (test_ops.sort(jnp.array([2, 1])) == jnp.array([1, 2])).all()
        print("done")
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert run.stdout == "done\n", run.stderr


def test_one_name_twice_in_a_library(library_path):
    with pytest.raises(oxcall.LoadError, match=r"(?s)duplicate_ops.*`twice` is defined twice") as info:
        oxcall.load(library_path("duplicate_ops"))
    assert str(info.value).count("src/lib.rs:") == 2, "the message says where both are"


def test_a_library_without_operations_and_a_named_crate_without_any(library_path):
    with pytest.raises(oxcall.LoadError, match="empty_ops") as info:
        oxcall.load(library_path("empty_ops"))
    message = str(info.value)
    assert "crate `oxcall`, named in `ops: [...]`, holds no operation" in message
    assert "no operation is linked in" in message


def test_a_name_that_someone_else_registered(library_path):
    """In a process of its own: a target of the same name is registered through `jax.ffi` alone."""
    code = f"""
        import ctypes, jax, jax.numpy as jnp, oxcall
        from oxcall._jax import capsule
        from oxcall._library import read
        path = {str(library_path("test_ops"))!r}
        execute = read(path)[0].handlers[0].execute
        jax.ffi.register_ffi_target("add", capsule(execute), platform="cpu")
        jax.devices()
        ops = oxcall.load(path)
        assert (ops.add(jnp.ones(2), jnp.ones(2)) == 2).all()
        print(ops.add.target)
        try:
            jax.ffi.register_ffi_target("not", capsule(execute), platform="cpu")
        except Exception as error:
            print(type(error).__name__, "uplicate" in str(error) or "already" in str(error))
    """
    env = {**os.environ, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    first, second = run.stdout.splitlines() or (run.stderr, "")
    assert first == "test_ops::add", run.stderr
    assert second.endswith("True"), run.stdout


def test_exported_symbols_are_few(library_path):
    library = ctypes.CDLL(str(library_path("test_ops")))
    for name in ("oxcall_library", "oxcall_register_all", "oxcall_infer", "oxcall_last_error"):
        assert getattr(library, name)
    # Looked up on the library's handle alone, `sort` is nobody's: handlers are private.
    with pytest.raises(AttributeError):
        library.sort  # noqa: B018


def test_the_caller_gives_an_open_shape_and_an_unbound_dtype(test_ops):
    y = jax.jit(lambda: test_ops.ramp(out_shape=(2, 3), dtype=jnp.float32))()
    np.testing.assert_array_equal(y, np.arange(6, dtype=np.float32).reshape(2, 3))
    with pytest.raises(oxcall.CallError, match=r"ramp: .*out_shape"):
        test_ops.ramp(dtype=jnp.float32)
    with pytest.raises(oxcall.CallError, match=r"ramp: .*dtype"):
        test_ops.ramp(out_shape=(2, 3))


@pytest.mark.parametrize(
    ("offset", "patch", "part"),
    [(18, b"\xb7\x00", "built for aarch64, and this process runs on x86_64"), (0, b"\xcf\xfa\xed\xfe", "macOS")],
)
def test_a_library_built_for_another_platform(library_path, tmp_path, offset, patch, part):
    image = bytearray(library_path("custom_ops").read_bytes())
    image[offset : offset + len(patch)] = patch
    foreign = tmp_path / "libforeign.so"
    foreign.write_bytes(image)
    with pytest.raises(oxcall.LoadError, match=part):
        oxcall.load(foreign)


def test_names_that_are_none_in_python(test_ops):
    op = test_ops["test_ops.odd-names"]
    assert int(op(1, 2, 3, **{"in": 4, "x": 10})) == 64
    assert str(inspect.signature(op)) == "(type, lambda_, x_, /, *, x, **attributes)"
    assert "in: int64" in op.__doc__ and "lambda: int32 scalar" in op.__doc__
    with pytest.raises(oxcall.CallError, match="missing attribute `in`"):
        op(1, 2, 3, x=10)


def test_attributes_that_compare_equal_are_apart(test_ops):
    def both():
        return test_ops.bits(value=0.0), test_ops.bits(value=-0.0)

    assert [int(bits) for bits in both()] == [int(bits) for bits in jax.jit(both)()] == [0, 1 << 31]
    codes = [int(test_ops.type_code(value=value)) for value in (1, True, 1.0, 0.0, -0.0, False, 0)]
    assert codes == [5, 1, 12, 12, 12, 1, 5]


def test_a_nan_attribute_is_compiled_once(test_ops, caplog):
    with jax.log_compiles():
        for _ in range(3):
            test_ops.bits(value=float("nan")).block_until_ready()
    assert len([record for record in caplog.records if "Finished XLA compilation" in record.message]) <= 1


def test_devices_are_texts(test_ops):
    x = np.zeros(3, np.float32)
    assert test_ops.device_numbers(x, device="cuda:3", other="meta").tolist() == [3, 4]
    assert test_ops.device_numbers(x, device="cpu").tolist() == [-1, 0]
    for wrong in ("cuda:", "", 3, None, jax.devices()[0]):
        with pytest.raises(oxcall.CallError, match=r'attribute `device` takes a device such as "cpu" or "cuda:1", but'):
            test_ops.device_numbers(x, device=wrong)
