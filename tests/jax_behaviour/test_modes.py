"""The three modes themselves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def test_the_platform_has_the_name_of_its_mode(mode):
    assert jax.default_backend() == ("oxcall" if mode == "oxcall" else "cpu")
    assert {device.platform for device in jax.devices()} == {jax.default_backend()}


def test_programs_for_a_platform_take_the_branch_of_its_name(mode):
    def branch(x):
        return jax.lax.platform_dependent(x, cpu=lambda x: x + 1, default=lambda x: x + 2)

    assert branch(jnp.float32(0)) == (2 if mode == "oxcall" else 1)


def test_pmap_uses_all_devices():
    y = jax.pmap(lambda x: x + jax.lax.psum(x, "i"), axis_name="i")(jnp.arange(8))
    np.testing.assert_array_equal(y, np.arange(8) + 28)


def test_x64_is_off_but_where_it_is_asked_for(x64):
    assert jnp.arange(3.0).dtype == np.float64


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "complex64", "bool"])
def test_arrays_make_the_round_trip(dtype):
    x = jnp.asarray(np.arange(6).reshape(2, 3), dtype)
    np.testing.assert_array_equal(np.asarray(jax.jit(lambda x: x)(x)), np.asarray(x))
