"""Programs over several devices, whose results have to be split as stock JAX splits them, and written alike."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from beside_stock import PROGRAMS, P, main, program, put
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding


def mesh_of(devices, axis_type=AxisType.Auto):
    """Two devices along `y`, the others along `x`."""
    grid = np.asarray(devices).reshape(-1, 2)
    return Mesh(grid, ("x", "y"), axis_types=(axis_type,) * 2)


def numbers(*shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def follows(function, shapes, specs):
    """What stock JAX infers for the results of `function`."""

    def run(devices):
        mesh = mesh_of(devices)
        arrays = [numbers(*shape, seed=seed) for seed, shape in enumerate(shapes)]
        return jax.jit(function)(*(put(mesh, array, *spec) for array, spec in zip(arrays, specs, strict=True)))

    return run


XY, X, Y = ("x", "y"), ("x", None), (None, "y")
FOLLOWS = {
    "elementwise": (lambda a: jnp.sin(a) * 2 + 1, [(8, 16)], [XY]),
    "binary": (lambda a, b: (a + b, a * 2, jnp.maximum(b, 0)), [(8, 16), (8, 16)], [X, Y]),
    "select": (lambda a, b: jnp.where(a > 0, a, b), [(8, 16), (8, 16)], [XY, ()]),
    "matmul_rows": (lambda a, b: a @ b, [(8, 16), (16, 32)], [X, ()]),
    "matmul_both": (lambda a, b: a @ b, [(8, 16), (16, 32)], [X, Y]),
    "matmul_contracted": (lambda a, b: a @ b, [(8, 16), (16, 32)], [Y, ("y", None)]),
    "matmul_conflict": (lambda a, b: a @ b, [(8, 16), (16, 32)], [X, (None, "x")]),
    "matmul_batched": (
        lambda a, b: jnp.einsum("bij,bjk->bik", a, b),
        [(8, 4, 4), (8, 4, 4)],
        [("x",), ("x", None, "y")],
    ),
    "sums": (lambda a: (a.sum(), a.sum(0), a.max(1), a.mean((0, 1), keepdims=True)), [(8, 16)], [XY]),
    "argmax": (lambda a: (a.argmax(0), a.argmax(1)), [(8, 16)], [XY]),
    "broadcast": (lambda a: (a[:, None] + jnp.zeros((8, 4)), jnp.broadcast_to(a, (4, 8))), [(8,)], [("x",)]),
    "outer": (lambda a, b: a[:, None] * b[None], [(8,), (16,)], [("x",), ("y",)]),
    "reshape_merge": (lambda a: a.reshape(-1), [(8, 16)], [XY]),
    "reshape_merge_rows": (lambda a: a.reshape(-1), [(8, 16)], [X]),
    "reshape_split": (lambda a: a.reshape(8, 2, 16), [(16, 16)], [X]),
    "reshape_heads": (lambda a: a.reshape(8, 4, 8, 4), [(8, 4, 32)], [("x", None, "y")]),
    "reshape_odd": (lambda a: a.reshape(4, 24), [(8, 12)], [X]),
    "reshape_odd_factors": (lambda a: (a.reshape(6, 8), a.reshape(3, 16)), [(8, 6)], [XY]),
    "transpose": (lambda a: (a.T, jnp.moveaxis(a[None], 0, 1)), [(8, 16)], [XY]),
    "slices": (lambda a: (a[:4], a[:, :8], a[::2], a[2]), [(16, 16)], [X]),
    "slices_columns": (lambda a: (a[:4], a[1:3, :]), [(16, 16)], [Y]),
    "concatenate": (lambda a, b: (jnp.concatenate([a, b]), jnp.concatenate([a, b], 1)), [(8, 16), (8, 16)], [X, X]),
    "pad": (lambda a: (jnp.pad(a, ((0, 0), (1, 1))), jnp.pad(a, ((4, 4), (0, 0)))), [(8, 16)], [X]),
    "reverse": (lambda a: (a[::-1], a[:, ::-1]), [(8, 16)], [X]),
    "dynamic_slices": (
        lambda a: (lax.dynamic_slice(a, (1, 0), (2, 16)), lax.dynamic_update_slice(a, a[:1] * 2, (3, 0))),
        [(8, 16)],
        [Y],
    ),
    "take": (lambda a: (a[jnp.array([0, 2, 5])], jnp.take(a, jnp.array([1, 3]), axis=1)), [(8, 16)], [Y]),
    "sort": (lambda a: (jnp.sort(a, 1), jnp.sort(a, 0)), [(8, 16)], [X]),
    "cumsum": (lambda a: (jnp.cumsum(a, 1), jnp.cumsum(a, 0)), [(8, 16)], [X]),
    "constants": (lambda a: (jnp.zeros((8, 16)), jnp.ones(8) + a[:, 0], jnp.arange(8)), [(8, 16)], [XY]),
    "softmax": (lambda a: jax.nn.softmax(a, -1), [(8, 16)], [XY]),
    "layer_norm": (lambda a: (a - a.mean(-1, keepdims=True)) / a.std(-1, keepdims=True), [(8, 16)], [X]),
    "top_k": (lambda a: lax.top_k(a, 3), [(8, 16)], [X]),
    "one_hot": (lambda a: jax.nn.one_hot(a[:, 0].astype(int) % 4, 4), [(8, 16)], [X]),
    "bitcast": (lambda a: lax.bitcast_convert_type(a, jnp.int32), [(8, 16)], [XY]),
    "two_axes_on_one_dim": (lambda a: (a * 2, a.reshape(8, -1)), [(16, 8)], [(("x", "y"),)]),
    "scan": (lambda a: lax.scan(lambda c, x: (c * 0.5 + x, c.sum()), a[0], a), [(8, 16)], [Y]),
    "while": (
        lambda a: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, jnp.tanh(s[1])), (0, a)),
        [(8, 16)],
        [XY],
    ),
    "cond": (lambda a: lax.cond(a.sum() > 0, lambda a: a + 1, lambda a: a - 1, a), [(8, 16)], [XY]),
    "fori_matmul": (lambda a, w: lax.fori_loop(0, 3, lambda _, a: jnp.tanh(a @ w), a), [(8, 16), (16, 16)], [X, Y]),
    "convolution": (
        lambda a, k: lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        [(8, 6, 6, 4), (3, 3, 4, 8)],
        [("x",), (None, None, None, "y")],
    ),
    "fft": (lambda a: jnp.fft.fft(a).real, [(8, 16)], [X]),
    "cholesky": (lambda a: jnp.linalg.cholesky(a @ a.transpose(0, 2, 1) + 4 * jnp.eye(4)), [(8, 4, 4)], [("x",)]),
    "eigh": (lambda a: jnp.linalg.eigvalsh(a + a.transpose(0, 2, 1)), [(8, 4, 4)], [("x",)]),
    "qr": (lambda a: jnp.abs(jnp.linalg.qr(a)[1]), [(8, 4, 4)], [("x",)]),
    "solve": (lambda a: jnp.linalg.solve(a + 4 * jnp.eye(4), a), [(8, 4, 4)], [("x",)]),
    "gradient": (jax.grad(lambda a, b: jnp.tanh(a @ b).sum(), (0, 1)), [(8, 16), (16, 32)], [X, Y]),
    "vmap": (jax.vmap(lambda a: (a / a.sum(), a.max())), [(8, 16)], [X]),
    "random": (lambda a: a + jax.random.uniform(jax.random.key(3), a.shape), [(8, 16)], [XY]),
    "integers": (lambda a: ((a * 10).astype(jnp.int8), a > 0, a.astype(jnp.bfloat16)), [(8, 16)], [XY]),
}
for name, (function, shapes, specs) in FOLLOWS.items():
    PROGRAMS[f"follows_{name}"] = follows(function, shapes, specs)


@program
def placements(devices):
    """Arrays that are put, made and moved."""
    mesh = mesh_of(devices)
    x = numbers(8, 16)
    sharded = put(mesh, x, "x", "y")
    single = [jax.device_put(x[row : row + 1], device) for row, device in enumerate(devices)]
    made = jax.make_array_from_callback((8, 16), NamedSharding(mesh, P("y", "x")), lambda index: x[index])
    joined = jax.make_array_from_single_device_arrays(
        (len(devices), 16), NamedSharding(Mesh(np.asarray(devices), "d"), P("d")), single
    )
    return sharded, put(mesh, sharded, "y"), put(mesh, sharded, None, ("x", "y")), made, joined, joined * 2, made + 1


@program
def in_and_out_shardings(devices):
    mesh = mesh_of(devices)
    s = functools.partial(NamedSharding, mesh)
    f = jax.jit(
        lambda a, b: (a @ b, a), in_shardings=(s(P("x")), s(P(None, "y"))), out_shardings=(s(P("y", "x")), None)
    )
    return f(numbers(8, 16), numbers(16, 8))


@program
def reversed_devices(devices):
    mesh = mesh_of(devices[::-1])
    return jax.jit(lambda a: a * 2)(put(mesh, numbers(8, 16), "x", "y"))


@program
def part_of_the_devices(devices):
    mesh = Mesh(np.asarray(devices[1:3]), "d")
    return jax.jit(lambda a: a.T + 1)(put(mesh, numbers(8, 16), "d"))


@program
def constraints(devices):
    mesh = mesh_of(devices)
    s = functools.partial(NamedSharding, mesh)

    @jax.jit
    def f(a):
        b = lax.with_sharding_constraint(a * 2, s(P("y", "x")))
        c = lax.with_sharding_constraint(b + 1, s(P(None, P.UNCONSTRAINED)))
        d = lax.with_sharding_constraint(a.sum(0), s(P()))
        return b, c, d, b @ c.T

    return f(numbers(8, 8))


@program
def donation(devices):
    mesh = mesh_of(devices)
    x = put(mesh, numbers(8, 16), "x", "y")
    step = jax.jit(lambda a: a * 0.5 + 1, donate_argnums=0)
    for _ in range(4):
        old, x = x, step(x)
        assert old.is_deleted()
    replicated = put(mesh, numbers(4))
    y = step(replicated)
    assert replicated.is_deleted()
    return x, y


@program
def reused_arguments(devices):
    """Arguments outlive the calls, whatever memory they end up in."""
    mesh = mesh_of(devices)
    x = put(mesh, numbers(8, 16), "x", "y")
    before = [np.asarray(shard.data) for shard in x.addressable_shards]
    f = jax.jit(lambda a: a + 1)
    results = [f(x), f(x), f(f(x))]
    for shard, data in zip(x.addressable_shards, before, strict=False):
        np.testing.assert_array_equal(np.asarray(shard.data), data)
    alone = [jax.jit(jnp.sin)(shard.data) for shard in results[-1].addressable_shards]
    return *results, x, alone[-1]


def mlp_step(weights, x, y):
    def loss(weights):
        hidden = jax.nn.gelu(x @ weights["in"])
        return jnp.mean((hidden @ weights["out"] - y) ** 2)

    value, gradient = jax.value_and_grad(loss)(weights)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient), value


@program
def mlp_training(devices):
    """Data parallel along `x`, tensor parallel along `y`."""
    mesh = mesh_of(devices)
    weights = {"in": put(mesh, numbers(16, 32), None, "y"), "out": put(mesh, numbers(32, 4), "y", None)}
    x, y = put(mesh, numbers(8, 16, seed=1), "x"), put(mesh, numbers(8, 4, seed=2), "x")
    step = jax.jit(mlp_step, donate_argnums=0)
    for _ in range(3):
        weights, loss = step(weights, x, y)
    return weights, loss


def attention(params, x):
    _b, _t, _d = x.shape
    q, k, v = (jnp.einsum("btd,dhk->bthk", x, params[name]) for name in "qkv")
    scores = jax.nn.softmax(jnp.einsum("bthk,bshk->bhts", q, k) / 2, axis=-1)
    mixed = jnp.einsum("bhts,bshk->bthk", scores, v)
    x = x + jnp.einsum("bthk,hkd->btd", mixed, params["o"])
    x = (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-3)
    return x + jax.nn.relu(x @ params["up"]) @ params["down"]


@program
def transformer_training(devices):
    mesh = mesh_of(devices)
    heads = {name: put(mesh, numbers(16, 4, 4, seed=n) * 0.2, None, "y") for n, name in enumerate("qkv")}
    params = {
        **heads,
        "o": put(mesh, numbers(4, 4, 16, seed=4) * 0.2, "y"),
        "up": put(mesh, numbers(16, 32, seed=5) * 0.2, None, "y"),
        "down": put(mesh, numbers(32, 16, seed=6) * 0.2, "y", None),
    }
    x = put(mesh, numbers(8, 6, 16, seed=7), "x")

    @jax.jit
    def step(params, x):
        loss, gradient = jax.value_and_grad(lambda p: (attention(p, x) ** 2).mean())(params)
        return jax.tree.map(lambda p, g: p - 0.05 * g, params, gradient), loss

    for _ in range(2):
        params, loss = step(params, x)
    return params, loss


@program
def scan_over_layers(devices):
    mesh = mesh_of(devices)
    weights = put(mesh, numbers(3, 16, 16) * 0.3, None, None, "y")
    x = put(mesh, numbers(8, 16, seed=1), "x")
    return jax.jit(lambda w, x: lax.scan(lambda x, w: (jnp.tanh(x @ w), x.sum()), x, w))(weights, x)


@program
def explicit_mode(devices):
    mesh = mesh_of(devices, AxisType.Explicit)
    with jax.set_mesh(mesh):
        a, b = put(mesh, numbers(8, 16), "x", None), put(mesh, numbers(16, 8, seed=1), None, "y")

        @jax.jit
        def f(a, b):
            c = jnp.sin(a) @ b
            return (
                c,
                c.sum(0),
                jax.sharding.reshard(c, P("y", "x")),
                c.reshape(-1, 2, 8, out_sharding=P("x", None, "y")),
            )

        return f(a, b)


@program
def explicit_contraction(devices):
    mesh = mesh_of(devices, AxisType.Explicit)
    with jax.set_mesh(mesh):
        a, b = put(mesh, numbers(8, 16), "x", "y"), put(mesh, numbers(16, 8, seed=1), "y", None)
        return jax.jit(lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=P("x", None)))(a, b)


@program
def shard_map_of_all_axes(devices):
    mesh = mesh_of(devices)

    @jax.jit
    def f(a, b):
        local = jax.shard_map(
            lambda a, b: lax.psum(a @ b, "y") + lax.axis_index("x"),
            mesh=mesh,
            in_specs=(P("x", "y"), P("y", None)),
            out_specs=P("x", None),
        )
        c = local(jnp.sin(a), b)
        return c, c.T * 2

    return f(put(mesh, numbers(8, 16), "x", "y"), numbers(16, 4, seed=1))


@program
def shard_map_of_some_axes(devices):
    mesh = mesh_of(devices)

    @jax.jit
    def f(a):
        def body(a):
            return lax.ppermute(a, "x", [(0, 1), (1, 0)]) + a.sum()

        b = jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}, check_vma=False)(a)
        return b * 2

    return f(put(mesh, numbers(8, 16), "x", "y"))


@program
def custom_partitioning(devices):
    from jax.experimental.custom_partitioning import custom_partitioning

    mesh = mesh_of(devices)

    @custom_partitioning
    def double(x):
        return x * 2

    def partition(mesh, arguments, result):
        return mesh, lambda x: x * 2, arguments[0].sharding, (arguments[0].sharding,)

    double.def_partition(
        infer_sharding_from_operands=lambda mesh, arguments, result: arguments[0].sharding,
        partition=partition,
        sharding_rule="i j -> i j",
    )
    return jax.jit(lambda x: double(x) + 1)(put(mesh, numbers(8, 16), "x", "y"))


def described(array):
    """How the sharding is written."""
    return type(array.sharding).__name__, str(getattr(array.sharding, "spec", None))


def differs(left, right):
    return "" if described(left) == described(right) else f"{described(right)}, but stock JAX has {described(left)}"


if __name__ == "__main__":
    main(differs)
