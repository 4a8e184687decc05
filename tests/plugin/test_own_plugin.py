"""A plugin that a user builds, with a name and ops of its own: `tests/libs/own_plugin`."""


def test_five_lines_of_rust_and_two_of_python_are_a_plugin(fresh, library_path):
    code = f"""
        import oxcall_plugin
        oxcall_plugin.register({str(library_path("own_plugin"))!r})

        import jax, jax.numpy as jnp
        twice = jax.ffi.ffi_call("twice", jax.ShapeDtypeStruct((3,), jnp.float32))
        with jax.default_device(jax.devices("my_device")[0]):
            y = jax.jit(lambda x: twice(jnp.sin(x)) + 1)(jnp.zeros(3, jnp.float32))
        print(y.tolist(), y.devices(), jax.devices("oxcall"), jax.default_backend())
    """
    assert fresh(code) == "[1.0, 1.0, 1.0] {MyDeviceDevice(id=0)} [OxcallDevice(id=0)] cpu"


def test_legacy_functions_of_ops_that_are_linked_in(fresh, library_path):
    """As `oxcall.load` registers them: under the op's name with the version."""
    code = f"""
        import oxcall_plugin
        oxcall_plugin.register({str(library_path("own_plugin"))!r})

        import jax, jax.numpy as jnp
        from oxcall._legacy import describe_call
        config = describe_call([("f32", (3,))], [("f32", (3,))], {{}}, is_operand=False)
        shape = jax.ShapeDtypeStruct((3,), jnp.float32)
        twice = jax.ffi.ffi_call("twice.v3", shape, custom_call_api_version=3, legacy_backend_config=config)
        with jax.default_device(jax.devices("my_device")[0]):
            print(jax.jit(twice)(jnp.arange(3, dtype=jnp.float32)).tolist())
    """
    assert fresh(code) == "[0.0, 2.0, 4.0]"


def test_a_name_belongs_to_one_library(fresh, library_path):
    path = str(library_path("own_plugin"))
    code = f"""
        import oxcall_plugin
        oxcall_plugin.register({path!r})
        oxcall_plugin.register({path!r})
        try:
            oxcall_plugin.register(oxcall_plugin.library_path(), "my_device")
        except oxcall_plugin.PluginError as error:
            print(error)
        try:
            oxcall_plugin.register({str(library_path("custom_ops"))!r})
        except oxcall_plugin.PluginError as error:
            print(error)
    """
    taken, other = fresh(code).splitlines()
    assert "`my_device` is registered already" in taken and path in taken
    assert "is not a plugin made with `oxcall_plugin::plugin!`" in other
