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


def test_an_unknown_target_is_an_error_when_compiling(on_plugin):
    call = jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((3,), jnp.float32))
    with pytest.raises(Exception, match=r"No registered implementation.*no_such_target") as error:
        jax.jit(call)(jnp.ones(3, jnp.float32))
    assert "register" in str(error.value)
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
