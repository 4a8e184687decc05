"""Options of the client and their variables: what each does, and what is said of wrong values."""

import textwrap

import jax
import pytest
from jaxlib import xla_client

MANY = """
    import os, jax, jax.numpy as jnp
    x = jnp.ones((1 << 22,), jnp.float32)
    jax.jit(lambda x: jnp.sort(jnp.sin(x)))(x).block_until_ready()
    # A thread has the name of the one that started it until it takes its own.
    names = {open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")}
    # The thread that runs the program takes part, and these help it.
    print(1 + len([name for name in names if name.removeprefix("oxcall-").isdigit()]))
"""


@pytest.mark.parametrize("threads", ["1", "3"])
def test_num_threads(fresh, threads):
    """Work is shared among so many threads, while the caller goes on."""
    assert fresh(MANY, JAX_PLATFORMS="oxcall,cpu", OXCALL_NUM_THREADS=threads) == threads


def test_num_threads_by_option(fresh):
    code = f"import oxcall_plugin; oxcall_plugin.configure(num_threads=2)\n{textwrap.dedent(MANY)}"
    assert fresh(code, JAX_PLATFORMS="oxcall,cpu", OXCALL_NUM_THREADS="5") == "2"


def test_num_devices(fresh):
    """Each device is one of its own for JAX, by variable and by option, which comes first."""
    code = """
        import jax, jax.numpy as jnp
        devices = jax.devices("oxcall")
        moved = [jax.device_put(jnp.arange(3), device) + device.id for device in devices]
        print([(array.tolist(), array.devices() == {device}) for array, device in zip(moved, devices)])
    """
    expected = "[([0, 1, 2], True), ([1, 2, 3], True)]"
    assert fresh(code, OXCALL_NUM_DEVICES="2") == expected
    option = "import oxcall_plugin; oxcall_plugin.configure(num_devices=2)\n"
    assert fresh(option + textwrap.dedent(code), OXCALL_NUM_DEVICES="7") == expected
    assert fresh(code, XLA_FLAGS="--xla_force_host_platform_device_count=2") == expected
    assert fresh(code, XLA_FLAGS="--xla_force_host_platform_device_count=3", OXCALL_NUM_DEVICES="2") == expected


def test_libraries_by_option(fresh, library_path):
    code = f"""
        import oxcall_plugin
        oxcall_plugin.configure(libraries=[{str(library_path("custom_ops"))!r}])
        import jax, jax.numpy as jnp
        call = jax.ffi.ffi_call("rms_norm", jax.ShapeDtypeStruct((2, 2), jnp.float32))
        print(jax.jit(lambda x: call(x, eps=0.0))(jnp.ones((2, 2), jnp.float32)).tolist())
    """
    assert fresh(code, JAX_PLATFORMS="oxcall,cpu", OXCALL_LIBRARIES="/nowhere.so") == "[[1.0, 1.0], [1.0, 1.0]]"


def test_a_library_of_the_plugin_may_be_overwritten(fresh, library_path, tmp_path):
    """By another one, and by nothing; `oxcall.load` finds what the plugin has loaded."""
    path = tmp_path / "libmine.so"
    code = f"""
        import os, shutil, warnings
        warnings.simplefilter("error")
        path, first, second = {str(path)!r}, {str(library_path("custom_ops"))!r}, {str(library_path("test_ops"))!r}
        shutil.copy(first, path)
        import jax, jax.numpy as jnp
        jax.devices()
        shutil.copy(second, path)
        os.truncate(path, 0)
        shape = jax.ShapeDtypeStruct((2, 2), jnp.float32)
        call = jax.jit(lambda x: jax.ffi.ffi_call("rms_norm", shape)(x, eps=0.0))
        print(call(jnp.ones((2, 2), jnp.float32)).tolist())
        import oxcall
        shutil.copy(first, path)
        ops = oxcall.load(path)
        print(ops.rms_norm.target, ops.rms_norm(jnp.ones((2, 2), jnp.float32), eps=0.0).tolist())
    """
    ones = "[[1.0, 1.0], [1.0, 1.0]]"
    lines = fresh(code, JAX_PLATFORMS="oxcall,cpu", OXCALL_LIBRARIES=str(path)).splitlines()
    assert lines == [ones, f"custom_op::rms_norm {ones}"]


def test_libraries_bring_their_legacy_functions(fresh, library_path):
    code = """
        import jax, jax.numpy as jnp, numpy as np
        from oxcall._legacy import describe_call
        x = ("f32", (2, 2))
        config = describe_call([x], [x], {"eps": np.float64(0)}, is_operand=False)
        shape = jax.ShapeDtypeStruct((2, 2), jnp.float32)
        call = jax.ffi.ffi_call("rms_norm.v3", shape, custom_call_api_version=3, legacy_backend_config=config)
        print(jax.jit(call)(2 * jnp.ones((2, 2), jnp.float32)).tolist())
    """
    path = str(library_path("custom_ops"))
    assert fresh(code, JAX_PLATFORMS="oxcall,cpu", OXCALL_LIBRARIES=path) == "[[1.0, 1.0], [1.0, 1.0]]"


@pytest.mark.parametrize(
    ("options", "variables", "said"),
    [
        ({}, {"OXCALL_NUM_DEVICES": "many"}, "OXCALL_NUM_DEVICES is many; expected an integer from 1 to 4096"),
        ({}, {"OXCALL_NUM_DEVICES": "0"}, "OXCALL_NUM_DEVICES is 0; expected an integer from 1 to 4096"),
        ({}, {"OXCALL_NUM_THREADS": "-1"}, "OXCALL_NUM_THREADS is -1; expected an integer from 1 to 4096"),
        ({}, {"OXCALL_NUM_THREADS": "1e9"}, "OXCALL_NUM_THREADS is 1e9; expected an integer from 1 to 4096"),
        (
            {},
            {"OXCALL_LIBRARIES": "/nowhere.so"},
            "cannot open the library of ops /nowhere.so: /nowhere.so: cannot open shared object file",
        ),
        ({"num_devices": 5000}, {}, "the client option `num_devices` is 5000; expected an integer from 1 to 4096"),
        ({"num_threads": "few"}, {}, "the client option `num_threads` is few; expected an integer from 1 to 4096"),
        ({"num_threads": 1.5}, {}, "the client option `num_threads` is"),
        ({"libraries": 1}, {}, "the client option `libraries` is"),
        ({"num_device": 2}, {}, "unknown client option `num_device`; the options are `num_devices`, `num_threads`"),
    ],
)
def test_wrong_values(monkeypatch, device, options, variables, said):
    """JAX passes on what the plugin says, whatever the option."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Exception, match=r"INVALID_ARGUMENT|NOT_FOUND") as error:
        xla_client.make_c_api_client("oxcall", options, None)
    assert said in str(error.value)


def test_a_library_that_holds_no_ops_is_named(monkeypatch, device):
    monkeypatch.setenv("OXCALL_LIBRARIES", "libm.so.6")
    with pytest.raises(Exception, match=r"libm.so.6 is not a library of ops"):
        xla_client.make_c_api_client("oxcall", {}, None)


def test_mistakes_in_configure(fresh):
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


def test_jax_names_a_wrong_variable(fresh):
    code = """
        import jax
        try:
            jax.devices("oxcall")
        except RuntimeError as error:
            print(error)
    """
    assert "OXCALL_NUM_DEVICES is many" in fresh(code, OXCALL_NUM_DEVICES="many", JAX_PLATFORMS="oxcall")


TRANSFORMATION = """
    import warnings
    import jax, jax.numpy as jnp
    from jax.extend import xla

    called = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for name in ("first", "second"):
            xla.register_hlo_module_transformation(called.append, name=name, {platforms})
        jax.devices("{platform}")
        xla.register_hlo_module_transformation(called.append, name="first", {platforms})
        with jax.default_device(jax.devices("{platform}")[0]):
            print(float(jax.jit(lambda x: x * 2)(jnp.float32(4))), called)
    for warning in caught:
        if "HLO transformation" in str(warning.message):
            print(warning.category.__name__, str(warning.message).split(":")[0])
"""


@pytest.mark.skipif(jax.__version_info__ < (0, 10, 2), reason="JAX has no transformations to register")
@pytest.mark.parametrize(("first", "platforms"), [("jax.devices()", ""), ("", "platforms='oxcall'")])
def test_hlo_transformations_are_named_as_not_called(fresh, first, platforms):
    # Without names of platforms they are for those that JAX knows by then.
    code = f"import jax; {first}\n" + textwrap.dedent(TRANSFORMATION.format(platform="oxcall", platforms=platforms))
    lines = fresh(code, JAX_PLATFORMS="oxcall,cpu").splitlines()
    text = "RuntimeWarning the HLO transformation `{}` is not called for programs of the platform `oxcall`"
    assert lines == ["8.0 []", *(text.format(name) for name in ("first", "second"))]


@pytest.mark.skipif(jax.__version_info__ < (0, 10, 2), reason="JAX has no transformations to register")
def test_hlo_transformations_of_other_platforms_are_called(fresh):
    lines = fresh(
        TRANSFORMATION.format(platform="cpu", platforms="platforms='cpu'"), JAX_PLATFORMS="oxcall,cpu"
    ).splitlines()
    assert len(lines) == 1 and lines[0].startswith("8.0 [b")


@pytest.mark.skipif(jax.__version_info__ < (0, 10, 2), reason="JAX has no transformations to register")
def test_hlo_transformations_under_the_name_of_the_cpu(fresh):
    code = "import jax; jax.devices()\n" + textwrap.dedent(TRANSFORMATION.format(platform="cpu", platforms=""))
    lines = fresh(code, OXCALL_PLATFORM_NAME="cpu", JAX_PLATFORMS="cpu").splitlines()
    assert lines[0] == "8.0 []" and len(lines) == 3 and all("`cpu`" in line for line in lines[1:])
