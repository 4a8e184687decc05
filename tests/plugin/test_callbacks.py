"""Host callbacks: what JAX's CPU does with the same functions is what is expected."""

import functools
import gc
import textwrap
import threading
import time
import weakref

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax.experimental import io_callback

pytestmark = pytest.mark.usefixtures("on_plugin")


@pytest.fixture(autouse=True)
def no_failures_left():
    """The token of a failed program is not the next test's fate."""
    yield
    jax._src.dispatch.runtime_tokens.clear()


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def cube(x):
    return np.asarray(x) ** 3


def call(function, x, **options):
    return jax.pure_callback(function, like(x), x, **options)


def both(function, *operands):
    """What the plugin gives, and what the CPU gives."""
    ours = jax.tree.map(np.asarray, function(*operands))
    with jax.default_device(jax.devices("cpu")[0]):
        return ours, jax.tree.map(np.asarray, function(*operands))


def check(function, *operands):
    ours, theirs = both(function, *operands)
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-6), ours, theirs)
    return ours


X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


def body(x):
    return call(cube, x) * 2 + x


CONTEXTS = {
    "eager": lambda x: body(jnp.asarray(x)),
    "jit": jax.jit(body),
    "scan": jax.jit(lambda x: jax.lax.scan(lambda c, row: (c + 1, body(row) + c), 0.0, x)),
    "while": jax.jit(lambda x: jax.lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, body(c[1]) / 9), (0, x))),
    "fori": jax.jit(lambda x: jax.lax.fori_loop(0, 5, lambda i, x: body(x) / 9, x)),
    "cond": jax.jit(lambda x: [jax.lax.cond(x[0, 0] > k, body, lambda x: x - 1, x) for k in (-3.0, 3.0)]),
    "switch": jax.jit(lambda x: [jax.lax.switch(i, [body, jnp.sin, lambda x: x], x) for i in range(3)]),
    "nested jit": jax.jit(lambda x: jax.jit(body)(x) + jax.jit(body)(x + 1)),
    "remat": jax.jit(lambda x: jax.checkpoint(lambda y: jnp.sin(y))(x) + body(x)),
    "scalar": jax.jit(lambda x: call(cube, x[0, 0])),
    "empty": jax.jit(lambda x: call(cube, x[:0])),
    "no operands": jax.jit(lambda x: x + jax.pure_callback(lambda: np.float32(3), jax.ShapeDtypeStruct((), "float32"))),
    "several results": jax.jit(
        lambda x: jax.pure_callback(
            lambda a, b: {"sum": a + b, "shape": np.int32(a.size)},
            {"sum": like(x), "shape": jax.ShapeDtypeStruct((), "int32")},
            x,
            x[0],
        )
    ),
    "keywords": jax.jit(lambda x: jax.pure_callback(lambda a, k: a * k, like(x), x, k=x + 1)),
}


@pytest.mark.parametrize("context", CONTEXTS)
def test_pure_callbacks(context):
    check(CONTEXTS[context], X)


@pytest.mark.parametrize("method", ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all"])
def test_batches(method):
    def add(x, y):
        return np.add(x, y)

    def function(x, y):
        shape = jnp.broadcast_shapes(x.shape, y.shape)
        return jax.pure_callback(add, jax.ShapeDtypeStruct(shape, x.dtype), x, y, vmap_method=method)

    check(jax.jit(jax.vmap(function, in_axes=(0, None))), X, X[0])
    check(jax.jit(jax.vmap(jax.vmap(function), in_axes=(None, 0))), X, X[None])


def test_gradients_go_through_custom_rules():
    @jax.custom_vjp
    def sine(x):
        return call(np.sin, x)

    sine.defvjp(lambda x: (sine(x), x), lambda x, g: (g * call(np.cos, x),))
    check(jax.jit(jax.grad(lambda x: (sine(x) ** 2).sum())), X)
    with pytest.raises(ValueError, match="Pure callbacks do not support JVP"):
        jax.grad(lambda x: call(cube, x).sum())(X)


DTYPES = [
    *["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"],
    *["float16", "float32", "float64", "complex64", "complex128", "bfloat16", "int4", "uint4"],
    *["float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e3m4"],
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    dtype = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    seen = []

    def reverse(x):
        seen.append((x.dtype, np.asarray(x).tolist()))
        return np.asarray(x)[::-1]

    x = np.arange(-3, 4).astype(dtype) if np.dtype(dtype).kind != "u" else np.arange(7).astype(dtype)
    ours = np.asarray(jax.jit(lambda x: call(reverse, x))(x))
    np.testing.assert_array_equal(ours.astype(np.complex128), x[::-1].astype(np.complex128))
    assert seen == [(dtype, x.tolist())] and ours.dtype == dtype


def test_arrays_stay_valid():
    """An operand is the function's own: what it keeps is not overwritten by what the program does next."""
    kept = []

    def keep(x):
        kept.append(x)
        return np.asarray(x) + 1

    jax.jit(lambda x: jax.lax.fori_loop(0, 20, lambda i, x: call(keep, x), x))(X).block_until_ready()
    assert [float(x[0, 0]) for x in kept] == [-2.0 + i for i in range(20)]
    with pytest.raises((ValueError, TypeError)):
        np.asarray(kept[0])[0, 0] = 7


def test_io_callbacks_run_in_order():
    log = []

    def note(tag, x):
        log.append((tag, int(x)))
        return np.int32(len(log))

    def step(i, total):
        noted = [
            io_callback(functools.partial(note, tag), jax.ShapeDtypeStruct((), "int32"), i, ordered=True)
            for tag in "ab"
        ]
        return total + sum(noted)

    program = jax.jit(lambda: jax.lax.fori_loop(0, 10, step, 0))
    assert int(program()) == sum(range(1, 21))
    assert log == [(tag, i) for i in range(10) for tag in "ab"]
    # Programs that were started one after the other, without waiting.
    log.clear()
    send = jax.jit(lambda x: io_callback(lambda x: log.append(("c", int(x))), None, x.sum(), ordered=True))
    for i in range(50):
        send(jnp.full(100, i))
    jax.effects_barrier()
    assert log == [("c", 100 * i) for i in range(50)]


def test_unordered_io_callbacks_and_the_barrier():
    log = []
    send = jax.jit(lambda x: io_callback(lambda x: log.append(int(x)), None, x))
    for i in range(10):
        send(i)
    jax.effects_barrier()
    assert sorted(log) == list(range(10))
    log.clear()
    jax.jit(jax.vmap(lambda x: io_callback(lambda x: log.append(int(x)), None, x)))(jnp.arange(5))
    jax.effects_barrier()
    assert sorted(log) == list(range(5))


def test_debug_prints(capsys):
    def function(x):
        jax.debug.print("x = {x}, {}", x.sum(), x=x)
        jax.debug.print("ordered {}", x[0], ordered=True)
        jax.debug.callback(lambda x: print("callback", x), x[0])
        return x * 2

    outputs = []
    for device in (jax.devices("oxcall")[0], jax.devices("cpu")[0]):
        with jax.default_device(device):
            np.asarray(jax.jit(function)(X[0]))
            np.asarray(jax.grad(lambda x: function(x).sum())(X[0]))
            np.asarray(jax.vmap(function)(X))
            jax.lax.scan(lambda c, x: (function(x)[0], None), 0.0, X)
            jax.effects_barrier()
        outputs.append(sorted(capsys.readouterr().out.splitlines()))
    assert outputs[0] == outputs[1] and len(outputs[0]) > 10


def fail(x):
    raise ValueError(f"cannot take {x.shape}")


MISTAKES = {
    "exception": fail,
    "shape": lambda x: np.zeros((2, 2), np.float32),
    "dtype": lambda x: np.asarray(x, np.float64),
    "count": lambda x: (x, x),
    "no array": lambda x: "text",
    "system exit": lambda x: exec("raise SystemExit(3)"),
    "interrupt": lambda x: exec("raise KeyboardInterrupt()"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_exceptions_are_carried_back(mistake):
    """Type and text are stock JAX's: the first line, and how the traceback ends."""

    def outcome(function):
        with pytest.raises(Exception, match="CpuCallback error") as caught:
            jax.block_until_ready(jax.jit(lambda x: call(function, x) + 1)(jnp.asarray(X)))
        lines = str(caught.value).strip().splitlines()
        return type(caught.value), lines[0], lines[-1].rstrip(":")

    ours = outcome(MISTAKES[mistake])
    with jax.default_device(jax.devices("cpu")[0]):
        assert ours == outcome(MISTAKES[mistake])
    check(CONTEXTS["jit"], X)


def test_failing_debug_callbacks_fail_the_barrier_or_the_program():
    def function(x):
        jax.debug.callback(fail, x)
        return x + 1

    with pytest.raises(Exception, match="cannot take"):
        np.asarray(jax.jit(function)(jnp.asarray(X)))
        jax.effects_barrier()
    with pytest.raises(Exception, match="cannot take"):
        jax.jit(lambda x: io_callback(fail, None, x, ordered=True))(jnp.asarray(X))
        jax.effects_barrier()
    check(CONTEXTS["jit"], X)


def test_functions_use_jax():
    """A function may run programs of the same client, also ones with callbacks, and wait for them."""
    inner = jax.jit(lambda x: call(cube, x) + x)

    def function(x):
        with jax.default_device(jax.devices("oxcall")[0]):
            big = jax.jit(lambda m: (m @ m).sum())(jnp.ones((300, 300)))
            return np.asarray(inner(x) + big.astype(x.dtype) / 27_000_000)

    ours = jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, x: call(function, x) / 9, x))(X)
    expected = X
    for _ in range(3):
        expected = (expected**3 + expected + 1) / 9
    np.testing.assert_allclose(np.asarray(ours), expected, rtol=1e-5)


def test_functions_wait_for_other_threads():
    """The main thread, which waits for the program, does not keep others from running."""
    turns = threading.Semaphore(0)
    threading.Thread(target=lambda: [(time.sleep(0.01), turns.release()) for _ in range(10)]).start()

    def wait(x):
        assert turns.acquire(timeout=30)
        return np.asarray(x) + 1

    program = jax.jit(lambda x: jax.lax.fori_loop(0, 5, lambda i, x: call(wait, x), x))
    assert float(np.asarray(program(0.0))) == 5
    assert float(program(0.0).block_until_ready()) == 5


def test_results_are_read_while_they_are_computed():
    """However a result is asked for, the function gets Python's lock."""

    def slow(x):
        time.sleep(0.05)
        return np.asarray(x) * 2

    program = jax.jit(lambda x: call(slow, x))
    for read in (
        np.asarray,
        float,
        jax.block_until_ready,
        jax.device_get,
        repr,
        lambda x: x.unsafe_buffer_pointer(),
        lambda x: jax.device_put(x, jax.devices("cpu")[0]),
        lambda x: program(x),
        lambda x: x.addressable_data(0),
        lambda x: x.delete(),
    ):
        read(program(1.0))


def test_many_threads():
    program = jax.jit(lambda x: jax.lax.fori_loop(0, 20, lambda i, x: call(lambda x: np.asarray(x) + 1, x), x))
    failures = []

    def use(number):
        try:
            for _ in range(5):
                assert float(program(float(number))) == number + 20
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(12)]
    [thread.start() for thread in threads]
    [thread.join(120) for thread in threads]
    assert not failures and not any(thread.is_alive() for thread in threads)


def test_functions_are_freed():
    class Function:
        def __call__(self, x):
            return np.asarray(x) + 1

    def use():
        function = Function()
        program = jax.jit(lambda x: call(function, x))
        assert float(program(1.0)) == 2.0
        lowered = jax.jit(lambda x: call(function, x) * 2).lower(1.0)  # never compiled
        del lowered
        return weakref.ref(function)

    reference = use()
    for _ in range(100):
        jax.clear_caches()
        gc.collect()
        if reference() is None:
            break
        time.sleep(0.05)
    assert reference() is None


def test_the_setting_of_x64_is_that_of_the_trace():
    with jax.enable_x64(False):
        program = jax.jit(lambda x: call(lambda x: np.asarray(x, np.float64), x))
        assert program(np.float32(1)).dtype == np.float32


def test_checkify():
    from jax.experimental import checkify

    def function(x):
        checkify.check(x > 0, "x is {}", x)
        checkify.debug_check(x > -10, "far off: {}", x)
        return jnp.log(x)

    checked = jax.jit(checkify.checkify(function, errors=checkify.all_checks))
    error, _ = checked(-1.0)
    assert "x is -1.0" in error.get()


def test_buffer_callbacks():
    from jax.experimental.buffer_callback import buffer_callback

    def function(x):
        def fill(ctx, out, x, *, y):
            assert ctx.stage.name == "EXECUTE" and out.writeable and not x.writeable
            assert (x.shape, x.ndim, x.dtype) == ((3, 4), 2, np.float32)
            np.asarray(out)[...] = np.asarray(x) + np.asarray(y)

        return buffer_callback(fill, like(x))(x, y=x * 2)

    check(jax.jit(function), X)
    with pytest.raises(Exception, match="must not return any values"):
        jax.block_until_ready(jax.jit(lambda x: buffer_callback(lambda ctx, out, x: 1, like(x))(x))(X))


def test_programs_with_callbacks_are_not_stored(tmp_path):
    from jax.experimental import serialize_executable

    compiled = jax.jit(lambda x: call(cube, x)).lower(X).compile()
    with pytest.raises(Exception, match="callback"):
        payload = serialize_executable.serialize(compiled)
        serialize_executable.deserialize_and_load(*payload)


SEVERAL = """
    import threading, jax, jax.numpy as jnp, numpy as np
    from jax.experimental import io_callback
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    devices = jax.devices(PLATFORM)
    mesh = Mesh(np.array(devices), "x")
    x = jax.device_put(np.arange(8, dtype=np.float32), NamedSharding(mesh, P("x")))
    log = []
    def add(x):
        log.append(np.shape(x))
        return np.asarray(x) + 1
    def function(x):
        return jax.pure_callback(add, jax.ShapeDtypeStruct(x.shape, x.dtype), x) * 2
    def spread(function, out=P("x")):
        return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=P("x"), out_specs=out, check_vma=False))
    def show(function, *operands):
        log.clear()
        result = np.asarray(function(*operands)).tolist()
        jax.effects_barrier()
        print(result, sorted(log))
    print(len(devices))
"""

ON_SEVERAL = {
    "one after the other": """
        for i, device in enumerate(devices):
            show(jax.jit(function), jax.device_put(np.float32(i), device))
    """,
    "shard_map": "show(spread(function), x)",
    "pmap": "show(jax.pmap(function, devices=devices), np.arange(8.0).reshape(4, 2))",
    "sharded jit": "show(jax.jit(function), x)",
    "effects": """
        for ordered in (False, True):
            shape = jax.ShapeDtypeStruct((8,), "float32")
            show(jax.jit(lambda x: io_callback(add, shape, x, ordered=ordered)), x)
        show(jax.jit(lambda x: (jax.debug.callback(add, x), x * 2)[1]), x)
        show(spread(lambda x: (jax.debug.callback(add, x), jax.lax.psum(x, "x"))[1], P()), x)
    """,
    "loop": "show(spread(lambda x: jax.lax.fori_loop(0, 5, lambda i, y: jax.lax.psum(function(y), 'x') / 100, x)), x)",
    "waiting for each other": """
        barrier = threading.Barrier(4)
        def wait(x):
            barrier.wait(30)
            return np.asarray(x)
        show(spread(lambda x: jax.pure_callback(wait, jax.ShapeDtypeStruct(x.shape, x.dtype), x)), x)
    """,
}


@pytest.mark.parametrize("how", ON_SEVERAL)
def test_several_devices(fresh, how):
    environment = {"OXCALL_NUM_DEVICES": "4", "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    shown = [
        fresh(
            f"PLATFORM = {platform!r}\n" + textwrap.dedent(SEVERAL) + textwrap.dedent(ON_SEVERAL[how]),
            60,
            **environment,
        )
        for platform in ("oxcall", "cpu")
    ]
    assert shown[0].startswith("4\n") and shown[0] == shown[1]


def test_a_device_that_fails_fails_the_others(fresh):
    """JAX's own CPU waits forever here."""

    code = """
        def fail(x):
            if x[0] == 4:
                raise ValueError("that of device two")
            return np.asarray(x)
        def summed(x):
            return jax.lax.psum(jax.pure_callback(fail, jax.ShapeDtypeStruct(x.shape, x.dtype), x), "x")
        program = spread(summed, P())
        try:
            jax.block_until_ready(program(x))
        except Exception as error:
            print("that of device two" in str(error))
        jax._src.dispatch.runtime_tokens.clear()
        show(spread(function), x)
    """
    code = "PLATFORM = 'oxcall'\n" + textwrap.dedent(SEVERAL) + textwrap.dedent(code)
    lines = fresh(code, 60, OXCALL_NUM_DEVICES="4").splitlines()
    assert lines[1:] == ["True", "[2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0] [(2,), (2,), (2,), (2,)]"]


# A program that is still under way when the next one is called: a call whose arguments are there lasts as long as its
# callbacks.
LATE = """
import jax, jax.numpy as jnp
late = jax.jit(lambda a: jax.lax.fori_loop(0, 20, lambda i, b: b @ a, a)[0, 0]).lower(jnp.zeros((1000, 1000))).compile()
"""

LEAVING = {
    "pure": "lambda x: jax.pure_callback(slow, jax.ShapeDtypeStruct((), 'float32'), x)",
    "ordered": "lambda x: io_callback(slow, jax.ShapeDtypeStruct((), 'float32'), x, ordered=True)",
    "loop": """lambda x: jax.lax.fori_loop(0, 300, lambda i, y: jax.pure_callback(
        np.asarray, jax.ShapeDtypeStruct((), 'float32'), y), x)""",
}


@pytest.mark.parametrize("state", LEAVING)
def test_leaving_the_interpreter(fresh, state):
    """With a callback under way, Python ends; one with effects, which JAX waits for, ends before."""
    code = f"""
import time, numpy as np
{LATE}
from jax.experimental import io_callback
def slow(x):
    time.sleep(0.2)
    print("slow", flush=True)
    return np.asarray(x)
f = jax.jit({LEAVING[state]}).lower(jnp.float32(1)).compile()
y = f(late(jnp.zeros((1000, 1000))))
print("bye", flush=True)
"""
    shown = fresh(code, timeout=60, JAX_PLATFORMS="oxcall,cpu").splitlines()
    assert shown[0] == "bye" and (state != "ordered" or shown[1:] == ["slow"])


def test_a_limit_of_time(fresh):
    code = f"""{LATE}
import threading, numpy as np
def never(x):
    threading.Event().wait()
f = jax.jit(lambda x: jax.pure_callback(never, jax.ShapeDtypeStruct((), 'float32'), x))
try:
    f(1.0)
except Exception as error:
    print(error)
y = f(late(jnp.zeros((1000, 1000))))  # is under way when Python ends
print(jnp.add(1, 1), jax.jit(lambda x: jax.pure_callback(np.sin, x, x))(0.0))
"""
    lines = fresh(code, timeout=60, JAX_PLATFORMS="oxcall,cpu", OXCALL_CALLBACK_TIMEOUT="0.5").splitlines()
    assert "DEADLINE_EXCEEDED: the host callback never did not return within 0.5 s" in lines[0]
    assert lines[-1] == "2 0.0"


@pytest.mark.parametrize(
    "mode", [{"JAX_PLATFORMS": "oxcall,cpu"}, {"OXCALL_PLATFORM_NAME": "cpu", "JAX_PLATFORMS": "cpu"}]
)
def test_handlers_of_jaxlib_that_call_python_are_never_reached(fresh, mode):
    """They take the objects of their host, such as the error of a context without a stream, for C++ objects of XLA."""
    code = """
        import jax, jax.numpy as jnp, numpy as np
        from jax.experimental.buffer_callback import buffer_callback
        from jaxlib import xla_client

        def add(ctx, out, x):
            try:
                ctx.stream
            except jax.errors.JaxRuntimeError as error:
                print(str(error).split(":")[0])
            np.asarray(out)[...] = np.asarray(x) + 1

        x = jnp.ones(3, jnp.float32)
        print(jax.jit(buffer_callback(add, jax.ShapeDtypeStruct((3,), jnp.float32)))(x).tolist())
        names = [name for name in xla_client.custom_call_targets("Host") if "python" in name]
        print(len(names) > 0)
        for name in names:
            try:
                jax.jit(lambda x: jax.ffi.ffi_call(name, (), has_side_effect=True)(x, index=np.uint64(0)))(x)
            except Exception as error:
                print("No registered implementation" in str(error))
    """
    lines = fresh(code, **mode).splitlines()
    assert lines[:2] == ["UNIMPLEMENTED", "[2.0, 2.0, 2.0]"]
    assert set(lines[2:]) == {"True"} and len(lines) > 3
