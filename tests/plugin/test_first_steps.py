"""What a user tries first."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def test_the_plugin_is_found_and_is_not_the_default(fresh):
    shown = fresh("import jax; print(jax.default_backend(), jax.devices('oxcall'), jax.devices())")
    assert shown == "cpu [OxcallDevice(id=0)] [CpuDevice(id=0)]"


def test_it_is_the_default_if_asked_for(fresh):
    shown = fresh("import jax.numpy as jnp; x = jnp.add(1, 1); print(x, x.device.platform)", JAX_PLATFORMS="oxcall,cpu")
    assert shown == "2 oxcall"


def test_first_checks(on_plugin):
    assert jnp.add(1, 1) == 2
    assert jax.jit(lambda x: x * 2)(1.0) == 2.0
    x = jnp.arange(10.0)
    assert x.devices() == {on_plugin}
    np.testing.assert_array_equal(np.asarray(jnp.sin(x) ** 2 + jnp.cos(x) ** 2).round(6), np.ones(10))


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_any_strides_go_there_and_back(device, order):
    base = np.asarray(np.arange(3 * 4 * 5, dtype=np.int16).reshape(3, 4, 5), order=order)
    for view in (base, base[::-1], base[:, ::2, ::-1], base.T, base[1:1], base[0, 0, 0]):
        there = jax.device_put(view, device)
        np.testing.assert_array_equal(np.asarray(there), view)


def test_changing_the_source_changes_nothing(device):
    source = np.arange(1000.0)
    there = jax.device_put(source, device)
    source[:] = -1
    np.testing.assert_array_equal(np.asarray(there), np.arange(1000.0))
