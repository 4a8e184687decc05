"""Checks of custom calls on the plugin: ops of a library, and handlers that are registered with `jax.ffi` alone."""

import jax
import numpy as np
from plugin_programs import on

import oxcall
from oxcall import _jax, _library

try:
    import jax.ffi as ffi
except ImportError:  # before 0.5
    import jax.extend.ffi as ffi

X = np.arange(12, dtype=np.float32).reshape(3, 4) + 1


def load(path):
    """Loads the gallery, and makes its addresses known to the checks."""
    global ops, native, infos
    ops = oxcall.load(path)
    native, infos = _library.read(path)


def handler(name):
    """The addresses of an op's stages."""
    index = next(info.index for info in infos if info.name == name and info.platform == "Host")
    return native.handlers[index]


def normalized():
    return X / np.sqrt((X**2).mean(-1, keepdims=True) + 1e-5)


def library():
    ours = on("oxcall", jax.jit(lambda x: ops.rms_norm(x * 1, eps=1e-5)), X)
    np.testing.assert_allclose(ours, normalized(), rtol=1e-6)


def typed():
    """A handler that Python registers for the platform: a capsule alone, and a dictionary of stages."""
    execute = _jax.capsule(handler("rms_norm").execute)
    for name, value in (("matrix_capsule", execute), ("matrix_stages", {"execute": execute})):
        ffi.register_ffi_target(name, value, platform="oxcall", api_version=1)
        call = ffi.ffi_call(name, [jax.ShapeDtypeStruct(X.shape, X.dtype)])
        (ours,) = on("oxcall", jax.jit(lambda x, call=call: call(x, eps=np.float32(1e-5))), X)
        np.testing.assert_allclose(ours, normalized(), rtol=1e-6)


def stateful():
    for _ in range(2):
        count = jax.jit(lambda: ops.counter())
        assert [int(on("oxcall", count)) for _ in range(3)] == [1, 2, 3]
    counter = handler("counter")
    stages = {"instantiate": _jax.capsule(counter.instantiate), "execute": _jax.capsule(counter.execute)}
    ffi.register_ffi_target("matrix_counter", stages, platform="oxcall", api_version=1)
    info = next(info for info in infos if info.name == "counter")
    result = jax.eval_shape(lambda: ops.counter())
    call = ffi.ffi_call("matrix_counter", [jax.ShapeDtypeStruct(result.shape, result.dtype)])
    count = jax.jit(lambda: call()[0])
    assert [int(on("oxcall", count)) for _ in range(3)] == [1, 2, 3], info


def legacy():
    legacy_op = next(info.name for info in infos if info.legacy)
    op = ops[legacy_op]
    expected = on("oxcall", jax.jit(lambda x: op(x)), X)
    for version in (1, 2, 3):
        ours = on("oxcall", jax.jit(lambda x, version=version: op(x, custom_call_api_version=version)), X)
        jax.tree_util.tree_map(np.testing.assert_array_equal, ours, expected)


def asynchronous():
    ours = on("oxcall", jax.jit(lambda x: ops.async_scale(x, factor=3.0) + 1), X)
    np.testing.assert_allclose(ours, 3 * X + 1, rtol=1e-6)


def failing():
    def raises(call, text):
        try:
            on("oxcall", jax.jit(call), -X)
        except Exception as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"no error, expected one that says {text!r}")

    raises(lambda x: ops.fail(x, message="on request"), "on request")
    raises(lambda x: ops.async_scale(x, factor=np.float32("nan")), "is NaN")
    raises(lambda x: ops.panics(x, kind="formatted"), "element 0 is negative")
    unknown = ffi.ffi_call("matrix_rms_nrom", [jax.ShapeDtypeStruct(X.shape, X.dtype)])
    raises(lambda x: unknown(x), "matrix_rms_nrom")
    library()  # The client goes on.


CHECKS = [library, typed, stateful, legacy, asynchronous, failing]
