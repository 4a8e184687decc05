"""Custom calls on the plugin: of libraries of ops, by jax.ffi, by client option."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def test_ops_of_a_library_run_on_the_plugin(gallery, on_plugin):
    x = jnp.asarray(np.random.default_rng(0).standard_normal((5, 7)), jnp.float32)
    ours = jax.jit(lambda x: gallery.rms_norm(x * 2, eps=1e-3) + 1)(x)
    assert ours.devices() == {on_plugin}
    wide = np.asarray(x, np.float64) * 2
    expected = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-3) + 1
    np.testing.assert_allclose(np.asarray(ours), expected, rtol=1e-5)


def test_operators_by_descriptor_run_on_the_plugin(gallery, on_plugin):
    x = jnp.asarray(np.random.default_rng(0).standard_normal((4, 6)), jnp.float32)
    values, indices = jax.jit(lambda x: gallery.custom_topk(x, k=3, axis=-1, bottom=False))(x)
    expected = jax.lax.top_k(x, 3)
    np.testing.assert_array_equal(values, expected[0])
    np.testing.assert_array_equal(indices, expected[1])
    backward = gallery.custom_relu_backward(jnp.ones_like(x), x, threshold=0.5)
    np.testing.assert_array_equal(backward, (x > 0.5).astype(np.float32))
    assert values.devices() == {on_plugin}
    with pytest.raises(ValueError, match=r"custom_topk.*`k` is 7, but the axis has 6 elements"):
        gallery.custom_topk(x, k=7, axis=1, bottom=False)


def test_an_unknown_target_is_an_error_when_compiling(gallery, on_plugin):
    call = jax.ffi.ffi_call("rms_nrom", jax.ShapeDtypeStruct((3,), jnp.float32))
    with pytest.raises(Exception, match=r"No registered implementation.*rms_nrom") as error:
        jax.jit(call).lower(jnp.ones(3, jnp.float32)).compile()
    message = str(error.value)
    for part in (
        "for platform oxcall",
        "Did you mean rms_norm?",
        "Registered: ",
        'jax.ffi.register_ffi_target("rms_nrom", ..., platform="oxcall")',
    ):
        assert part in message
    assert jnp.add(1, 1) == 2


def test_libraries_by_variable(fresh, gallery):
    code = """
        import jax, jax.numpy as jnp
        call = jax.ffi.ffi_call("rms_norm", jax.ShapeDtypeStruct((2, 2), jnp.float32))
        print(jax.jit(lambda x: call(x, eps=0.0))(jnp.ones((2, 2), jnp.float32)).tolist())
    """
    assert fresh(code, JAX_PLATFORMS="oxcall,cpu", OXCALL_LIBRARIES=gallery.path) == "[[1.0, 1.0], [1.0, 1.0]]"


def test_errors_of_handlers_arrive(gallery, on_plugin):
    with pytest.raises(Exception, match="rms_norm"):
        jax.block_until_ready(
            jax.jit(jax.ffi.ffi_call("rms_norm", jax.ShapeDtypeStruct((3,), jnp.float32)))(jnp.ones((2,), jnp.float32))
        )
    assert jnp.add(1, 1) == 2


def test_a_call_that_fails_before_it_returns_raises(gallery, on_plugin):
    """As on JAX's CPU: the traceback shows the call, not the line that reads the result."""
    call = jax.ffi.ffi_call("fail", jax.ShapeDtypeStruct((2,), jnp.float32))
    program = jax.jit(lambda x: call(x, message="a negative number")).lower(jnp.ones(2, jnp.float32)).compile()
    with pytest.raises(Exception, match="a negative number"):
        program(-jnp.ones(2, jnp.float32))
    assert program(jnp.ones(2, jnp.float32)).tolist() == [1.0, 1.0]


# Registers handlers of the gallery under names of their own: `capsule_of(op)` is the handler of an op.
CAPSULES = """
    import ctypes, os, warnings
    import jax, jax.numpy as jnp
    from oxcall._library import read
    native, infos = read(os.environ["GALLERY"])

    def capsule_of(op):
        address = next(native.handlers[info.index].execute for info in infos if info.name == op)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(address, None, None)

    def call(target, x, **attributes):
        result = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.jit(lambda x: jax.ffi.ffi_call(target, result)(x, **attributes))(x).tolist()

    x = jnp.ones((1, 4), jnp.float32) * 3
"""


@pytest.fixture
def in_fresh(fresh, gallery):
    """Runs code after `CAPSULES` in a process of its own."""

    def run(code, **environment):
        import textwrap

        text = textwrap.dedent(CAPSULES) + textwrap.dedent(code)
        return fresh(text, JAX_PLATFORMS="oxcall,cpu", GALLERY=gallery.path, **environment)

    return run


def test_python_registers_capsules_and_stages_before_and_after_the_backend(in_fresh):
    code = """
        jax.ffi.register_ffi_target("early", capsule_of("rms_norm"), platform="oxcall")
        jax.ffi.register_ffi_target("early_stages", {"execute": capsule_of("rms_norm")}, platform="oxcall")
        jax.devices()
        jax.ffi.register_ffi_target("late", capsule_of("rms_norm"), platform="oxcall")
        print([call(target, x, eps=0.0) for target in ("early", "early_stages", "late")] == [[[1.0] * 4]] * 3)
    """
    assert in_fresh(code) == "True"


def test_mistakes_in_registrations_name_the_target(in_fresh):
    code = """
        jax.devices()
        for handler in (3, {"exec": capsule_of("rms_norm")}, {"instantiate": capsule_of("rms_norm")}):
            try:
                jax.ffi.register_ffi_target("mistaken", handler, platform="oxcall")
            except Exception as error:
                print(error)
    """
    lines = in_fresh(code).splitlines()
    assert len(lines) == 3 and all("mistaken" in line for line in lines), lines


def test_a_library_comes_before_python(in_fresh, gallery):
    # Under the name of one op of the library, Python registers another, before and after the library is loaded.
    code = """
        jax.ffi.register_ffi_target("rms_norm", capsule_of("polynomial"), platform="oxcall")
        print(call("rms_norm", x, eps=0.0))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            jax.ffi.register_ffi_target("polynomial", capsule_of("rms_norm"), platform="oxcall")
        print(call("polynomial", x, c0=7.0))
        print([str(warning.message) for warning in caught])
    """
    first, second, warned = in_fresh(code, OXCALL_LIBRARIES=gallery.path).splitlines()
    assert (first, second) == ("[[1.0, 1.0, 1.0, 1.0]]", "[[7.0, 7.0, 7.0, 7.0]]")
    assert "`polynomial`" in warned and "of a library of ops" in warned
    # Without the library the name is Python's.
    code = """
        jax.ffi.register_ffi_target("rms_norm", capsule_of("polynomial"), platform="oxcall")
        print(call("rms_norm", x, c0=7.0))
    """
    assert in_fresh(code) == second


def test_what_is_compiled_in_comes_before_python(in_fresh):
    code = """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            jax.devices()
            jax.ffi.register_ffi_target("lapack_sgetrf_ffi", capsule_of("rms_norm"), platform="oxcall")
        lu, pivots, permutation = jax.lax.linalg.lu(jnp.array([[0.0, 1.0], [2.0, 3.0]], jnp.float32))
        print(lu.tolist(), [str(warning.message) for warning in caught])
    """
    shown = in_fresh(code)
    assert shown.startswith("[[2.0, 3.0], [0.0, 1.0]]")
    assert "`lapack_sgetrf_ffi`" in shown and "compiled into the plugin" in shown
