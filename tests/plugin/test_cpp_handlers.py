"""Handlers in C++, compiled with the headers of several jaxlibs, that Python registers for the plugin's platform.

`cargo xtask` compiles `tests/cpp/peers.cc` and says where the libraries are. Which of them the jaxlib of this process
would take does not matter: the plugin is the host.
"""

import concurrent.futures
import ctypes
import gc
import os
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest

FOLDER = os.environ.get("OXCALL_TEST_PEERS")
LIBRARIES = sorted(pathlib.Path(FOLDER).glob("libpeers-*.so")) if FOLDER else []

pytestmark = pytest.mark.skipif(not LIBRARIES, reason="OXCALL_TEST_PEERS does not say where the C++ handlers are")


def capsule(pointer):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(ctypes.cast(pointer, ctypes.c_void_p), None, None)


class Peers:
    """The handlers of one library, with its types registered."""

    def __init__(self, path):
        self.version = path.stem.removeprefix("libpeers-")
        self.library = ctypes.CDLL(str(path))
        if hasattr(jax.ffi, "register_ffi_type"):
            description = {"type_id": self.pointer("peer_counter_type_id")}
            if hasattr(self.library, "peer_counter_type_info"):
                description["type_info"] = self.pointer("peer_counter_type_info")
            jax.ffi.register_ffi_type(f"counter of {self.version}", description, platform="oxcall")

    def pointer(self, function):
        """What a function without parameters returns, as a capsule."""
        function = getattr(self.library, function)
        function.restype = ctypes.c_void_p
        return capsule(function())

    def call(self, name, results, *, stages=(), **options):
        """A function that makes typed calls of the handler `name`."""
        target = f"{name} of {self.version}"
        execute = capsule(getattr(self.library, name))
        handlers = {stage: capsule(getattr(self.library, f"{name}_{stage}")) for stage in stages}
        bundle = {"execute": execute, **handlers} if handlers else execute
        jax.ffi.register_ffi_target(target, bundle, platform="oxcall")
        return jax.ffi.ffi_call(target, results, **options)

    def alive(self):
        self.library.peer_counters_alive.restype = ctypes.c_int64
        return self.library.peer_counters_alive()


@pytest.fixture(scope="module", params=LIBRARIES, ids=lambda path: path.stem)
def peers(request):
    return Peers(request.param)


F32 = jax.ShapeDtypeStruct((2,), jnp.float32)
S64 = jax.ShapeDtypeStruct((), jnp.int64)


def test_buffers_and_attributes(peers, on_plugin):
    call = peers.call("peer_four", F32)
    attributes = {"axes": np.array([1, 2, 30]), "count": 4, "mode": "sum", "scale": np.float32(2)}
    x = jnp.array([1.0, 0.0], jnp.float32)
    y = jax.jit(lambda x: call(x, 3 * x, 5 * x, 7 * x, **attributes))(x)
    assert y[0] == 2 * 16 + 37
    with pytest.raises(Exception, match=rf"peer_four of {peers.version}.*[Ww]rong"):
        jax.block_until_ready(jax.jit(lambda x: call(x, x, x, **attributes))(x))
    assert jnp.add(1, 1) == 2


def test_errors(peers, on_plugin):
    call = peers.call("peer_fail", (), has_side_effect=True)
    with pytest.raises(Exception, match=rf"peer_fail of {peers.version}: out of paper"):
        jax.block_until_ready(jax.jit(lambda x: (call(code=8, message="out of paper"), x)[1])(jnp.ones(2)))
    assert jnp.add(1, 1) == 2


def test_exceptions_are_errors(peers, on_plugin):
    call = peers.call("peer_throw", (), has_side_effect=True)
    with pytest.raises(Exception, match=r"peer_throw of .*: XLA FFI call failed: Ooops!"):
        jax.block_until_ready(jax.jit(lambda x: (call(what="Ooops!"), x)[1])(jnp.ones(2)))
    assert jnp.add(1, 1) == 2


def test_futures(peers, on_plugin):
    call = peers.call("peer_async_square", F32)
    x = jnp.array([1.5, -2.0], jnp.float32)
    np.testing.assert_array_equal(np.asarray(jax.jit(lambda x: call(x, message="") + 1)(x)), [3.25, 5.0])
    with pytest.raises(Exception, match="on fire"):
        np.asarray(jax.jit(lambda x: call(x, message="the printer is on fire"))(x))


def test_states(peers, on_plugin):
    call = peers.call("peer_counter", S64, stages=("instantiate",), has_side_effect=True)
    before = peers.alive()
    count = jax.jit(lambda: call(start=40)).lower().compile()
    assert peers.alive() == before + 1
    assert [int(count()) for _ in range(3)] == [40, 41, 42]
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        numbers = [future.result() for future in [threads.submit(count) for _ in range(80)]]
    assert sorted(map(int, numbers)) == list(range(43, 123))
    numbers.clear()
    del count
    jax.clear_caches()
    gc.collect()
    assert peers.alive() == before
