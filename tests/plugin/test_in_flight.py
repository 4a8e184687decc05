"""How many programs a device has in flight, and that the limit never holds up those that others wait for."""

import textwrap

import pytest

# A program that takes many times as long as its launch, on any processor, with a new array of 4 MiB for each call.
AHEAD = """
    import numpy as np, jax, jax.numpy as jnp
    device = jax.devices()[0]
    slow = jax.jit(lambda x, y: jax.lax.fori_loop(0, 40, lambda _, x: jnp.sin(x) + 1, x).sum() + y)
    host = np.ones(1 << 20, np.float32)
    slow(host, 0.0).block_until_ready()
    last = jnp.float32(0)
    for _ in range(120):
        last = slow(jax.device_put(host, device), last)
    peak = device.memory_stats()["peak_bytes_in_use"] >> 20
    print(np.asarray(last) != 0, peak)
"""


@pytest.mark.parametrize(("most", "least", "limit"), [("", 100, 240), ("4", 12, 80)])
def test_memory_is_held_for_the_programs_in_flight_alone(fresh, most, least, limit):
    """All calls hold 480 MiB; those in flight 4 MiB each, and what they compute with."""
    right, peak = fresh(AHEAD, JAX_PLATFORMS="oxcall,cpu", OXCALL_MAX_INFLIGHT=most).split()
    assert right == "True" and least <= int(peak) <= limit


def test_by_option(fresh):
    code = "import oxcall_plugin; oxcall_plugin.configure(max_inflight=4)\n" + textwrap.dedent(AHEAD)
    assert int(fresh(code, JAX_PLATFORMS="oxcall,cpu", OXCALL_MAX_INFLIGHT="500").split()[1]) <= 80


def test_callbacks_run_programs_while_the_device_is_full(fresh):
    """The programs in flight wait for a callback, which runs programs of its own: on its thread, and on another."""
    code = """
        import threading
        import numpy as np, jax, jax.numpy as jnp
        shape = jax.ShapeDtypeStruct((), jnp.float32)
        go = threading.Event()
        def helper(x, out):
            out.append(float(jax.jit(jnp.cos)(x)))
        def function(x):
            go.wait()
            out = []
            for _ in range(3):
                out.append(float(jax.jit(jnp.cos)(x)))
            thread = threading.Thread(target=helper, args=(x, out))
            thread.start()
            thread.join()
            return np.float32(sum(out))
        called = jax.jit(lambda x: jax.pure_callback(function, shape, x))
        slow = jax.jit(lambda x: jnp.sort(x).sum())
        x = jnp.zeros(1 << 21)
        go.set()
        called(slow(x)).block_until_ready()
        go.clear()
        # While nothing goes on, launches do, one after the other.
        threading.Timer(2, go.set).start()
        chain = called(slow(x))
        for _ in range(12):
            chain = chain + 1
        print(float(chain))
    """
    assert fresh(code, JAX_PLATFORMS="oxcall,cpu", OXCALL_MAX_INFLIGHT="2", timeout=120) == "16.0"


def test_programs_of_several_devices(fresh):
    """Launches on several devices by several threads, each in another order."""
    code = """
        import threading
        import numpy as np, jax, jax.numpy as jnp
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        devices = jax.devices()
        def run(order, out):
            mesh = Mesh(np.array([devices[index] for index in order]), ("d",))
            sharding = NamedSharding(mesh, P("d"))
            body = lambda x: jax.lax.psum(jnp.sort(x), "d")
            f = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("d"), out_specs=P()))
            x = jax.device_put(np.ones(len(order) << 16, np.float32), sharding)
            for _ in range(40):
                y = f(x)
            out.append(float(y.sum()) / len(order) / (1 << 16))
        out, threads = [], []
        for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 3], [2, 0]):
            threads.append(threading.Thread(target=run, args=(order, out)))
            threads[-1].start()
        [thread.join() for thread in threads]
        print(out)
    """
    variables = {"OXCALL_MAX_INFLIGHT": "1", "OXCALL_NUM_DEVICES": "4", "JAX_PLATFORMS": "oxcall,cpu"}
    assert fresh(code, timeout=200, **variables) == "[1.0, 1.0, 1.0, 1.0]"


def test_threads_of_custom_calls_are_used_again(fresh, library_path):
    """Programs with custom calls run on threads of their own, no more than are in flight; these end."""
    code = f"""
        import os, time
        import jax, jax.numpy as jnp, oxcall
        ops = oxcall.load({str(library_path("custom_ops"))!r})
        f = jax.jit(lambda x: ops.rms_norm(jnp.sort(x), eps=1e-6))
        def threads():
            names = []
            for task in os.listdir("/proc/self/task"):
                try:
                    names.append(open(f"/proc/self/task/{{task}}/comm").read().strip())
                except OSError:
                    pass
            return names.count("oxcall-run")
        x, most = jnp.ones((64, 4096), jnp.float32), 0
        for _ in range(300):
            y = f(x)
            most = max(most, threads())
        y.block_until_ready()
        ids = {{int(task) for task in os.listdir("/proc/self/task")}}
        for _ in range(20):
            f(x).block_until_ready()
        new = {{int(task) for task in os.listdir("/proc/self/task")}} - ids
        for _ in range(100):
            if threads() == 0:
                break
            time.sleep(0.1)
        print(0 < most <= 16, len(new) <= 1, threads())
    """
    assert fresh(code, JAX_PLATFORMS="oxcall,cpu", OXCALL_MAX_INFLIGHT="8") == "True True 0"
