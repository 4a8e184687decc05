"""Ctrl-C: with the option `interrupt` it ends the programs that run; without it nothing changes."""

import signal
import subprocess
import sys
import textwrap
import threading

import pytest

HEAD = """
import os, signal, sys, time
import numpy as np
import jax, jax.numpy as jnp
from jax import lax

def running(start):
    # `start` does not return before the signal: the test sends it as soon as it reads this.
    print("running", flush=True)
    try:
        start()
    except KeyboardInterrupt:
        return "KeyboardInterrupt"
    except Exception as error:
        try:
            # Python raises it where it next looks for signals.
            time.sleep(5)
        except KeyboardInterrupt:
            return f"{str(error).split(':')[0]}, KeyboardInterrupt"
        return f"only {error}"
    return "nothing"

def works():
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    y = jax.jit(lambda x: lax.fori_loop(0, 5, lambda i, y: y + x @ x, x))(x)
    np.testing.assert_allclose(np.asarray(y), x + 5 * (x @ x), rtol=1e-6)
    print("right", flush=True)
"""


@pytest.fixture
def interrupted(environment):
    """Runs Python in a process that gets SIGINT a little after each line `running`; gives the other lines."""

    def run(code: str, **variables: str) -> list[str]:
        ours = {"JAX_PLATFORMS": "oxcall,cpu", "OXCALL_INTERRUPT": "1", "JAX_ENABLE_X64": "1", **variables}
        command = [sys.executable, "-c", textwrap.dedent(HEAD) + textwrap.dedent(code)]
        with subprocess.Popen(
            command,
            env={**environment, **ours},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # What a shell starts in the background ignores the signal, and so do its children.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as process:
            # A program that goes on forever must not.
            guard = threading.Timer(120, process.kill)
            guard.start()
            lines = []
            for line in process.stdout:
                if line.strip() == "running":
                    threading.Timer(1.0, process.send_signal, [signal.SIGINT]).start()
                else:
                    lines.append(line.strip())
            said = process.stderr.read()
            guard.cancel()
        assert process.returncode == 0, f"exit status {process.returncode}\n{lines}\n{said}"
        return lines

    return run


# Each never ends.
LOOPS = {
    "scalars": "jax.jit(lambda n: lax.while_loop(lambda i: i >= 0, lambda i: (i + 1) % 7, n))(jnp.int32(3))",
    "arrays": "jax.jit(lambda x: lax.while_loop(lambda s: s[0] < 9, lambda s: (s[0] * 0, jnp.sin(s[1])), (0, x)))(x)",
    "pieces": """jax.jit(lambda x: lax.while_loop(lambda s: s[0] < 9, lambda s: (s[0] * 0, jnp.sin(s[1])), (0, x)))(
        jnp.ones(1 << 16))""",
    "any": "jax.jit(jax.vmap(lambda x: lax.while_loop(lambda i: i >= 0, lambda i: (i + 1) % 7, x)))(jnp.arange(5000))",
    "fori": "jax.jit(lambda n, x: lax.fori_loop(0, n, lambda i, s: s * 3 + i, x))(jnp.int64(1 << 62), jnp.int64(1))",
    "nested": """jax.jit(lambda n, x: lax.fori_loop(0, n, lambda i, y: lax.fori_loop(0, n, lambda j, z: z @ x, y), x))(
        jnp.int64(1 << 62), x)""",
    "sort": """jax.jit(lambda x: lax.while_loop(lambda s: s[0] < 9, lambda s: (0, jnp.sort(s[1])), (0, x)))(
        jnp.ones(1 << 16))""",
}


# The call of a program of scalars runs it, and returns at its end alone.
WAITS = [("scalars", "{}")] + [
    (loop, wait) for loop in LOOPS for wait in ("jax.block_until_ready({})", "np.asarray({})")
]


@pytest.mark.parametrize(("loop", "wait"), WAITS)
def test_loops_end(interrupted, loop, wait):
    code = f"""
    x = jnp.ones((8, 8))
    print(running(lambda: {wait.format(LOOPS[loop])}))
    works()
    """
    assert interrupted(code) in (["KeyboardInterrupt", "right"], ["CANCELLED, KeyboardInterrupt", "right"])


def test_twice(interrupted):
    code = f"""
    for _ in range(2):
        print(running(lambda: jax.block_until_ready({LOOPS["scalars"]})))
        works()
    """
    ends = interrupted(code)
    assert ends[1::2] == ["right", "right"] and all("KeyboardInterrupt" in end for end in ends[::2])


def test_several_devices(interrupted):
    code = """
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    mesh = Mesh(np.array(jax.devices()), ("d",))
    x = jax.device_put(np.ones((4, 8), np.float32), NamedSharding(mesh, P("d")))
    body = lambda x: lax.while_loop(lambda s: s[0] < 9, lambda s: (0, lax.psum(s[1], "d") / 4), (0, x))[1]
    print(running(lambda: jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("d"), out_specs=P("d")))(x)
        .block_until_ready()))
    whole = lambda x: lax.while_loop(lambda s: s[0] < 9, lambda s: (0, s[1] @ s[1].T @ x), (0, x))[1]
    print(running(lambda: jax.jit(whole)(x).block_until_ready()))
    print(jax.jit(lambda x: x.sum())(x), end=" ")
    works()
    """
    ends = interrupted(code, OXCALL_NUM_DEVICES="4")
    assert ends[2:] == ["32.0 right"] and all("KeyboardInterrupt" in end for end in ends[:2])


def test_custom_calls_in_a_loop(interrupted, library_path):
    code = f"""
    import oxcall
    ops = oxcall.load({str(library_path("custom_ops"))!r})
    step = lambda s: (0, ops.rms_norm(s[1], eps=1e-6))
    print(running(lambda: jax.jit(lambda x: lax.while_loop(lambda s: s[0] < 9, step, (0, x)))(
        jnp.ones((4, 8), jnp.float32))[1].block_until_ready()))
    works()
    """
    assert "KeyboardInterrupt" in interrupted(code)[0]


def test_callbacks_that_do_not_return(interrupted):
    """The program ends; the function goes on, on its own thread, and its answer is for nobody."""
    code = """
    import threading
    held = threading.Event()
    shape = jax.ShapeDtypeStruct((), jnp.float32)
    def function(x):
        held.wait()
        return x
    print(running(lambda: jax.jit(lambda x: jax.pure_callback(function, shape, x))(jnp.float32(1)).block_until_ready()))
    held.set()
    print(jax.jit(lambda x: jax.pure_callback(lambda x: 2 * x, shape, x))(jnp.float32(4)))
    works()
    """
    ends = interrupted(code)
    assert "KeyboardInterrupt" in ends[0] and ends[1:] == ["8.0", "right"]


def test_programs_that_wait_for_one_that_was_interrupted_fail_with_it(interrupted):
    code = """
    loop = jax.jit(lambda n: lax.while_loop(lambda s: s[0] < 9, lambda s: (0, jnp.sin(s[1])), (0, n))[1])
    x = loop(jnp.ones(4096))
    chain = [x]
    for _ in range(20):
        chain.append(jnp.cos(chain[-1]))
    later = jnp.ones(3) + 1
    print(running(lambda: chain[-1].block_until_ready()))
    print(later.tolist(), end=" ")
    works()
    """
    ends = interrupted(code)
    assert "KeyboardInterrupt" in ends[0] and ends[1:] == ["[2.0, 2.0, 2.0] right"]


ACTION = """
import os, signal
def action():
    # The handler's address, of the kernel's view: which signals are caught, and where Python's own handler is.
    import ctypes
    libc = ctypes.CDLL(None)
    place = (ctypes.c_uint8 * 256)()
    assert libc.sigaction(signal.SIGINT, None, place) == 0
    return bytes(place[:8])
before = action()
import jax, jax.numpy as jnp
assert jax.devices()[0].platform == "oxcall"
jax.jit(jnp.sin)(1.0).block_until_ready()
names = [open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task")]
is_python = signal.getsignal(signal.SIGINT) is signal.default_int_handler
print(action() == before, "oxcall-interrupt"[:15] in names, is_python)
"""


def test_without_the_option_nothing_is_handled(fresh):
    # What a shell starts in the background ignores the signal, and so do its children.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + ACTION
    assert fresh(code, JAX_PLATFORMS="oxcall,cpu") == "True False True"
    assert fresh(code, JAX_PLATFORMS="oxcall,cpu", OXCALL_INTERRUPT="0") == "True False True"
    assert fresh(code, JAX_PLATFORMS="oxcall,cpu", OXCALL_INTERRUPT="1") == "False True True"
    option = "import oxcall_plugin; oxcall_plugin.configure(interrupt=True)\n"
    assert fresh(option + code, JAX_PLATFORMS="oxcall,cpu") == "False True True"


def test_an_ignored_signal_stays_ignored(environment):
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n" + ACTION
    variables = {**environment, "JAX_PLATFORMS": "oxcall,cpu", "OXCALL_INTERRUPT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False", "False"]


@pytest.mark.parametrize("handler", ["signal.SIG_DFL", "lambda *_: (print('handled', flush=True), os._exit(7))"])
def test_the_handler_before_is_called(environment, handler):
    code = f"""
    import os, signal
    signal.signal(signal.SIGINT, {handler})
    import jax, jax.numpy as jnp
    jax.devices()
    os.kill(os.getpid(), signal.SIGINT)
    jnp.sin(1.0).block_until_ready()
    """
    variables = {**environment, "JAX_PLATFORMS": "oxcall,cpu", "OXCALL_INTERRUPT": "1"}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == (-signal.SIGINT if "DFL" in handler else 7), done.stderr
