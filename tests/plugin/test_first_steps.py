"""What a user tries first."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def test_the_plugin_is_found_and_is_not_the_default(fresh):
    shown = fresh("import jax; print(jax.default_backend(), jax.devices('oxcall'), jax.devices())")
    assert shown.startswith("cpu [") and "oxcall" in shown.split("]")[0] and "oxcall" not in shown.split("]")[1]


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


def test_options_come_from_the_package_and_from_variables(fresh):
    code = "import oxcall_plugin; oxcall_plugin.configure(num_devices=3); import jax; print(len(jax.devices('oxcall')))"
    assert fresh(code) == "3"
    assert fresh("import jax; print(len(jax.devices('oxcall')))", OXCALL_NUM_DEVICES="2") == "2"


def test_mistakes_in_options_are_clear(fresh):
    code = """
        import jax, oxcall_plugin
        for options in ({"num_devices": 0}, {"num_threads": True}):
            try:
                oxcall_plugin.configure(**options)
            except oxcall_plugin.PluginError as error:
                print(error)
        jax.devices()
        try:
            oxcall_plugin.configure(num_devices=2)
        except oxcall_plugin.PluginError as error:
            print(error)
        try:
            oxcall_plugin.register("/nowhere/libx.so")
        except oxcall_plugin.PluginError as error:
            print(error)
    """
    lines = fresh(code).splitlines()
    assert "`num_devices` is 0" in lines[0] and "`num_threads` is True" in lines[1]
    assert "made its clients already" in lines[2] and "there is no plugin at /nowhere/libx.so" in lines[3]


def test_a_wrong_variable_is_said(fresh):
    code = """
        import jax
        try:
            jax.devices("oxcall")
        except RuntimeError as error:
            print(error)
    """
    assert "OXCALL_NUM_DEVICES is many" in fresh(code, OXCALL_NUM_DEVICES="many", JAX_PLATFORMS="oxcall")


def test_leaving_with_work_in_flight(fresh):
    code = """
        import jax, jax.numpy as jnp
        x = jnp.ones((700, 700))
        f = jax.jit(lambda x: jax.lax.fori_loop(0, 50, lambda i, y: y @ x / 700, x))
        results = [f(x + i) for i in range(4)]
        print("bye")
    """
    assert fresh(code, JAX_PLATFORMS="oxcall,cpu") == "bye"
