"""Threads that want Python's lock when Python ends: it ends them then, which frames of Rust do not survive."""

import textwrap

import pytest

# At the end, when other threads do not get the lock any more, Python takes this long.
LATE = """
    import os, sys, threading, time

    class Late:
        def __del__(self, sleep=time.sleep):
            sleep(1)

    sys.late = Late()
"""
JAX = """
    import jax, jax.numpy as jnp, numpy as np, oxcall

    ops = oxcall.load(os.path.join(os.environ["OXCALL_TEST_LIBS"], "libtest_ops.so"))
    x = jnp.ones(4, jnp.float32)
    begun = threading.Event()

    def in_background(function):
        def run():
            begun.set()
            function()
        threading.Thread(target=run, daemon=True).start()
"""

# What the thread is in when the main one ends.
WAITING = {
    "an address": """
        slow = jax.jit(lambda x: ops.promise(x, ending=np.int32(0), milliseconds=np.uint64(500)) + 1)
        result = slow(x)
        in_background(result.unsafe_buffer_pointer)
    """,
    "a callback": """
        def slow(x):
            begun.set()
            time.sleep(0.5)
            return x
        like = jax.ShapeDtypeStruct(x.shape, x.dtype)
        call = jax.jit(lambda x: jax.pure_callback(slow, like, x))
        threading.Thread(target=call, args=(x,), daemon=True).start()
    """,
    "a compilation": """
        devices = jax.devices()
        mesh = jax.sharding.Mesh(np.array(devices), "x")
        x = jax.device_put(x, jax.NamedSharding(mesh, jax.P("x")))
        def tell(sharding):
            begun.set()
            time.sleep(0.5)
        def inspected(x):
            jax.debug.inspect_array_sharding(x, callback=tell)
            return x + 1
        threading.Thread(target=jax.jit(inspected), args=(x,), daemon=True).start()
    """,
    "a handler in Python": """
        import ctypes
        at = lambda kind, address: kind.from_address(address)

        @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
        def handler(frame):
            extension = at(ctypes.c_size_t, frame + 8).value
            if extension:  # asked for the version of the interface
                metadata = at(ctypes.c_size_t, extension + 24).value
                at(ctypes.c_int32, metadata + 24).value, at(ctypes.c_int32, metadata + 28).value = 0, 1
            else:
                begun.set()
                time.sleep(0.5)

        address = ctypes.cast(handler, ctypes.c_void_p).value
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        jax.ffi.register_ffi_target("sleeps", new(address, None, None), platform="oxcall")
        call = jax.jit(lambda x: jax.ffi.ffi_call("sleeps", jax.ShapeDtypeStruct(x.shape, x.dtype))(x))
        result = call(x)
    """,
}


@pytest.mark.parametrize("waiting", WAITING)
def test_a_thread_that_waits_when_python_ends(fresh, waiting):
    code = "\n".join(map(textwrap.dedent, (LATE, JAX, WAITING[waiting], "begun.wait()\ntime.sleep(0.1)\nprint('bye')")))
    for _ in range(3):
        assert fresh(code, 60, JAX_PLATFORMS="oxcall,cpu", OXCALL_NUM_DEVICES="2").endswith("bye")


def test_threads_that_wait_at_any_time(fresh):
    """The thread wants the lock at any moment of the end: before it, while Python destroys its objects, never.

    Arrays outlive their threads: jaxlib gives up the lock where it deletes one, in a destructor that may not be left
    by unwinding.
    """
    code = textwrap.dedent(LATE + JAX) + textwrap.dedent("""
        sys.setswitchinterval(1e-6)
        kept = []
        for number in range(20):
            slow = jax.jit(lambda x: ops.promise(x, ending=np.int32(0), milliseconds=np.uint64(100 + 10 * number)) + 1)
            kept.append(slow(x))
            in_background(kept[-1].unsafe_buffer_pointer)
        begun.wait()
        print("bye")
    """)
    for _ in range(5):
        assert fresh(code, 60, JAX_PLATFORMS="oxcall,cpu") == "bye"


def test_a_thread_that_asks_a_library_when_python_ends(fresh):
    """Libraries answer by calling Python, with frames of their own below."""
    code = textwrap.dedent(LATE) + textwrap.dedent("""
        import json
        from oxcall._library import read
        native, _ = read(os.path.join(os.environ["OXCALL_TEST_LIBS"], "libtest_ops.so"))
        size, taken = 50_000, 0
        while taken < 0.3:
            size *= 2
            request = json.dumps({"args": [{"dtype": "f32", "dims": [1] * size}], "attrs": {}, "num_results": 1})
            start = time.monotonic()
            native.infer(0, request)
            taken = time.monotonic() - start
        threading.Thread(target=native.infer, args=(0, request), daemon=True).start()
        time.sleep(0.05)
        print("bye")
    """)
    for _ in range(3):
        assert fresh(code, 60) == "bye"
