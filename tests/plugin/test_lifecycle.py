"""Leaving with work in flight, running out of memory, and what an unused plugin costs."""

import concurrent.futures
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest

# Each ends the interpreter in another state; JAX's clients are destroyed at its exit.
LEAVING = {
    "executions": """
        import jax, jax.numpy as jnp
        x = jnp.ones((700, 700))
        f = jax.jit(lambda x: jax.lax.fori_loop(0, 50, lambda i, y: y @ x / 700, x))
        results = [f(x + i) for i in range(4)]
    """,
    "chain": """
        import jax, jax.numpy as jnp
        x = jnp.ones((500, 500))
        f = jax.jit(lambda x: x @ x / 500, donate_argnums=0)
        for _ in range(100):
            x = f(x)
    """,
    "custom call": """
        import os, jax, jax.numpy as jnp, oxcall
        ops = oxcall.load(os.path.join(os.environ["OXCALL_TEST_LIBS"], "libtest_ops.so"))
        slow = jax.jit(lambda x: ops.promise(x, ending=np.int32(0), milliseconds=np.uint64(500)) + 1)
        result = slow(jnp.ones(4, jnp.float32))
    """,
    "error": """
        import os, jax, jax.numpy as jnp, oxcall
        ops = oxcall.load(os.path.join(os.environ["OXCALL_TEST_LIBS"], "libtest_ops.so"))
        slow = jax.jit(lambda x: ops.promise(x, ending=np.int32(1), milliseconds=np.uint64(50)) + 1)
        result = slow(jnp.ones(4, jnp.float32))
    """,
    "thread": """
        import threading, jax, jax.numpy as jnp
        x = jnp.ones((200, 200))
        f = jax.jit(lambda x: jax.lax.fori_loop(0, 50, lambda i, y: y @ x / 200, x))
        f(x).block_until_ready()
        threading.Thread(target=lambda: [f(x) for _ in range(3)]).start()
    """,
    "arrays after the client": """
        import atexit
        import numpy as np
        atexit.register(lambda: print("sum", int(np.asarray(later[0]).sum())))  # runs after JAX's own hooks
        import jax, jax.numpy as jnp
        x = jnp.ones((500, 500))
        later = [jax.jit(lambda x: x @ x)(x)]
    """,
    "child": """
        import os, warnings, jax, jax.numpy as jnp
        warnings.simplefilter("ignore")  # JAX warns of fork
        x = jnp.ones((700, 700))
        result = jax.jit(lambda x: x @ x)(x).block_until_ready()
        child = os.fork()
        if child == 0:  # As multiprocessing leaves it. Through Python's own exit, JAX's CPU client crashes here.
            del result, x
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """,
}


@pytest.mark.parametrize("state", LEAVING)
def test_leaving_the_interpreter(fresh, state):
    code = "import numpy as np\n" + textwrap.dedent(LEAVING[state]) + "\nprint('bye')"
    expected = "bye\nsum 125000000" if state == "arrays after the client" else "bye"
    assert fresh(code, timeout=60, JAX_PLATFORMS="oxcall,cpu") == expected


def test_out_of_memory_is_an_error(fresh):
    """Under a limit that the system enforces, as a result and inside a program; what was taken is given back."""
    code = """
        import resource, jax, jax.numpy as jnp
        x = jnp.ones(1000)
        add = jax.jit(lambda x: x + 1)
        print(float(add(x).sum()))
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 30),) * 2)
        whole = jax.jit(lambda x: jnp.tile(x, 1_000_000))
        inside = jax.jit(lambda x: jnp.sort(jnp.sort(jnp.tile(x, 150_000))[::-1])[0])
        for function in (whole, inside) * 2:
            try:
                function(x).block_until_ready()
            except Exception as error:
                print("RESOURCE_EXHAUSTED" in str(error))
        print(float(add(x).sum()), float(jnp.ones((1 << 26,), jnp.float32)[-1]))
    """
    lines = fresh(code, JAX_PLATFORMS="oxcall,cpu").split("\n")
    assert lines == ["2000.0", *["True"] * 4, "2000.0 1.0"]


def test_more_than_any_machine_has_is_an_error(on_plugin):
    for _ in range(3):
        with pytest.raises(Exception, match="RESOURCE_EXHAUSTED"):
            jnp.zeros((1 << 22, 1 << 22)).block_until_ready()
        assert jnp.add(1, 1) == 2


def test_donors_race_with_readers(on_plugin):
    """Of sixteen threads on one array each gets the right result or an error, and one donation succeeds."""
    donate, read = jax.jit(lambda x: x + 1, donate_argnums=0), jax.jit(lambda x: x * 2)

    def use(array, number):
        try:
            return np.asarray((donate if number % 4 == 0 else read)(array)).tolist()
        except (RuntimeError, ValueError) as error:
            assert "delete" in str(error) or "donat" in str(error), error
            return None

    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        for _ in range(10):
            array = jax.device_put(np.arange(100.0), on_plugin)
            results = list(threads.map(use, [array] * 16, range(16)))
            donated, seen = results[::4], [result for i, result in enumerate(results) if i % 4]
            assert [result for result in donated if result] == [list(np.arange(100.0) + 1)]
            assert all(result in (None, list(np.arange(100.0) * 2)) for result in seen)
            assert array.is_deleted()


def test_failures_leave_the_client_usable(on_plugin):
    bad = jax.jit(jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((3,), jnp.float32)))
    good = jax.jit(lambda x: x + 1)
    for _ in range(5):
        with pytest.raises(Exception, match="no_such_target"):
            bad(jnp.ones(3, jnp.float32))
        with pytest.raises(Exception, match="partitions"):
            jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i", devices=[on_plugin, jax.devices("oxcall")[0]])(
                jnp.ones((2, 3))
            )
        assert float(good(1.0)) == 2.0


def test_an_unused_plugin_costs_little(fresh):
    """JAX makes a client of every platform when it looks for devices; the plugin's starts no thread, and the package
    imports nothing that only ops need."""
    code = """
        import os, sys, jax
        def threads():
            return {open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")}
        jax.devices(), jax.devices("oxcall")
        print([name for name in threads() if name.startswith("oxcall")])
        print(sorted(name for name in sys.modules if name.startswith("oxcall.")))
    """
    modules = ["_elf", "_errors", "_file_kinds", "_library_file", "_platforms"]
    assert fresh(code) == f"[]\n{[f'oxcall.{module}' for module in modules]}"


def test_the_only_process_of_the_distributed_runtime(fresh):
    """JAX tells the client of the processes, and aborts if it is refused."""
    code = """
        import socket, jax, jax.numpy as jnp, numpy as np
        from jax.experimental import multihost_utils
        with socket.socket() as probe:
            probe.bind(("localhost", 0))
            port = probe.getsockname()[1]
        jax.distributed.initialize(f"localhost:{port}", num_processes=1, process_id=0)
        multihost_utils.sync_global_devices("here")
        print(jax.process_count(), multihost_utils.process_allgather(np.arange(3)).tolist(), jnp.add(1, 1))
    """
    assert fresh(code, 60, JAX_PLATFORMS="oxcall,cpu").splitlines()[-1] == "1 [[0, 1, 2]] 2"
