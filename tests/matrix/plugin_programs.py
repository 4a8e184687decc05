"""Checks of the plugin that are programs: each gives what stock JAX gives on its CPU, in the same process."""

import pickle
import threading

import jax
import jax.numpy as jnp
import numpy as np

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 6)).astype(np.float32)
SYMMETRIC = X @ X.T + 6 * np.eye(6, dtype=np.float32)
IMAGE = RNG.standard_normal((2, 8, 8, 3)).astype(np.float32)
WEIGHTS = RNG.standard_normal((3, 3, 3, 4)).astype(np.float32)


def on(platform, function, *inputs):
    """Results of a program on a platform, as NumPy arrays."""
    device = jax.devices(platform)[0]
    with jax.default_device(device):
        results = function(*[jax.device_put(value, device) for value in inputs])
    for leaf in jax.tree_util.tree_leaves(results):
        assert leaf.devices() == {device}, leaf.devices()
    return jax.tree_util.tree_map(np.asarray, results)


def same(function, *inputs, tolerance=1e-5, jit=True):
    """Checks that the plugin and the CPU agree."""
    function = jax.jit(function) if jit else function
    ours, expected = on("oxcall", function, *inputs), on("cpu", function, *inputs)

    def compare(a, b):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), (a.dtype, a.shape, b.dtype, b.shape)
        if a.dtype.kind not in "biufc":
            a, b = a.astype(np.float32), b.astype(np.float32)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)

    jax.tree_util.tree_map(compare, ours, expected)


def loss(x):
    return jnp.sum(jnp.tanh(x @ x) * jnp.exp(-(x**2)))


def add():
    same(jnp.add, 1, 1, jit=False)
    same(lambda x: jnp.sin(x) ** 2 + x, X, jit=False)


def jit():
    same(lambda x: x * 2, np.float32(1))
    same(lambda x: jax.nn.softmax(jax.nn.gelu(x)) + x[::-1, ::2].sum(), X)


def grad():
    same(jax.grad(loss), X)
    same(jax.hessian(lambda x: jnp.sum(jnp.sin(x) ** 3)), X[0])


def vmap():
    same(jax.vmap(loss), np.stack([X, 2 * X]))


def scan():
    same(lambda x: jax.lax.scan(lambda c, row: (jnp.tanh(c + row), c * row), x[0], x), X)


def while_():
    same(lambda x: jax.lax.while_loop(lambda v: v.sum() < 1000, lambda v: v * 1.5 + 1, x), np.abs(X))
    same(lambda x: jax.lax.fori_loop(0, 1000, lambda i, v: v * 0.999 + i, x), np.float32(1))


def cond():
    function = jax.jit(lambda x: jax.lax.cond(x.sum() > 0, jnp.cos, jnp.sin, x))
    same(function, X)
    same(function, -X)
    same(lambda i, x: jax.lax.switch(i, [jnp.cos, jnp.sin, jnp.tan], x), 2, X)


def matmul():
    same(jnp.matmul, X, X)
    same(lambda a, b: jnp.einsum("bij,bkj->bik", a, b), np.stack([X] * 3), np.stack([X] * 3))
    same(lambda a: a.astype(jnp.bfloat16) @ a.astype(jnp.bfloat16), X, tolerance=2e-2)


def conv():
    def convolve(image, weights):
        return jax.lax.conv_general_dilated(
            image, weights, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), rhs_dilation=(1, 2)
        )

    same(convolve, IMAGE, WEIGHTS, tolerance=1e-4)
    same(jax.grad(lambda w: jnp.sum(convolve(IMAGE, w) ** 2)), WEIGHTS, tolerance=1e-3)
    same(lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), IMAGE)


def sort():
    same(lambda x: (jnp.sort(x), jnp.argsort(x, axis=0), jax.lax.top_k(x, 3)), X)
    same(lambda x: jax.lax.sort((jnp.round(x).astype(jnp.int32), x), num_keys=1), X)


def random():
    def draw(key):
        a, b, c, d = jax.random.split(key, 4)
        return (
            jax.random.normal(a, (33,)),
            jax.random.bits(b, (7,)),
            jax.random.permutation(c, 20),
            jax.random.categorical(d, jnp.zeros(5), shape=(9,)),
        )

    same(lambda: draw(jax.random.key(3, impl="threefry2x32")))
    same(lambda: jax.random.bits(jax.random.key(3, impl="rbg"), (8,)))


def fft():
    same(lambda x: (jnp.fft.fft(x), jnp.fft.irfft(jnp.fft.rfft2(x))), X, tolerance=1e-4)


def linalg():
    same(lambda a, b: (jnp.linalg.cholesky(a), jnp.linalg.solve(a, b), jnp.linalg.inv(a)), SYMMETRIC, X, tolerance=1e-3)
    same(lambda a: jnp.linalg.eigvalsh(a), SYMMETRIC, tolerance=1e-3)
    same(lambda a: (jnp.linalg.svd(a, compute_uv=False), jnp.linalg.det(a)), SYMMETRIC, tolerance=1e-3)
    ours = on("oxcall", jax.jit(lambda a: (jnp.linalg.qr(a), jnp.linalg.svd(a), jnp.linalg.eigh(a))), SYMMETRIC)
    (q, r), (u, s, v), (w, e) = ours
    for product in (q @ r, (u * s) @ v, (e * w) @ e.T):
        np.testing.assert_allclose(product, SYMMETRIC, rtol=1e-3, atol=1e-3)


def indexing():
    indices = np.array([3, 1, 3])
    same(lambda x, i: (x[i], x.at[i].add(1.0), x.at[:, i].max(0.5), jnp.take_along_axis(x, i[None], 1)), X, indices)
    same(lambda x, i: jax.lax.dynamic_update_slice(x, x[:2, :2], (i, i)), X, 2)
    same(jax.grad(lambda x: jnp.sum(x[indices] ** 2)), X)


def donation():
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jax.device_put(np.zeros(1000, np.float32), jax.devices("oxcall")[0])
    y = step(x)
    assert x.is_deleted() and float(y.sum()) == 1000
    try:
        np.asarray(x)
    except RuntimeError as error:
        assert "deleted" in str(error), error
    else:
        raise AssertionError("a donated array can be read")


def low_precision():
    for name in ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz"):
        dtype = jnp.dtype(getattr(jnp, name))
        same(lambda x, dtype=dtype: (x.astype(dtype), x.astype(dtype).astype(jnp.float32) * 2), X)
    same(lambda x: x.astype(jnp.bfloat16) * 3 + 1, X, tolerance=2e-2)
    same(lambda x: x.astype(jnp.int4), np.arange(-8, 8, dtype=np.int8))


def x64():
    with enable_x64():
        same(lambda x: (jnp.sin(x), jnp.arange(5) * 2**40, x.astype(jnp.complex128) * 1j), X.astype(np.float64))
        same(jnp.linalg.eigvalsh, SYMMETRIC.astype(np.float64), tolerance=1e-9)


def enable_x64():
    """The context manager, which moved."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    from jax.experimental import enable_x64

    return enable_x64()


def errors():
    """An error in one program leaves the client usable."""
    device = jax.devices("oxcall")[0]
    with jax.default_device(device):
        try:
            jnp.zeros((1 << 22, 1 << 22), jnp.float32).block_until_ready()
        except Exception as error:
            assert "RESOURCE_EXHAUSTED" in str(error), error
        else:
            raise AssertionError("64 TiB were allocated")
        assert int(jnp.add(1, 1)) == 2


def threads():
    device, totals = jax.devices("oxcall")[0], []

    def work(seed):
        with jax.default_device(device):
            for i in range(4):
                k = seed * 4 + i
                totals.append(float(jax.jit(lambda x, k=k: (x * k).sum())(jnp.ones(100))) == 100 * k)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert totals == [True] * 64


def stored():
    """Executables can be serialised, pickled and loaded again."""
    from jax.experimental import serialize_executable

    device = jax.devices("oxcall")[0]
    x = jax.device_put(np.arange(4, dtype=np.float32), device)
    compiled = jax.jit(lambda x: x * 3).lower(x).compile()
    parts = pickle.loads(pickle.dumps(serialize_executable.serialize(compiled)))
    loaded = serialize_executable.deserialize_and_load(*parts, backend="oxcall")
    np.testing.assert_array_equal(np.asarray(loaded(x)), 3 * np.arange(4))


def introspection():
    """What tools ask of a compiled program."""
    x = jax.device_put(np.ones((8, 8), np.float32), jax.devices("oxcall")[0])
    compiled = jax.jit(lambda x: jnp.tanh(x) @ x).lower(x).compile()
    assert compiled.as_text()
    cost = compiled.cost_analysis()
    assert (cost[0] if isinstance(cost, list) else cost)["flops"] > 0
    memory = compiled.memory_analysis()
    assert (memory.argument_size_in_bytes, memory.output_size_in_bytes) == (256, 256)


CHECKS = [
    add,
    jit,
    grad,
    vmap,
    scan,
    while_,
    cond,
    matmul,
    conv,
    sort,
    random,
    fft,
    linalg,
    indexing,
    donation,
    low_precision,
    x64,
    errors,
    threads,
    stored,
    introspection,
]
