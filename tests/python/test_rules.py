"""Derivatives and batches that ops declare: `jvp`, `fwd`, `transpose`, `nondiff`, `batch` and `vmap = path`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import fake
import oxcall
from fake import op, param

# A step or two of rounding in each function: kernels call the platform's `exp`, `sin` and `cos`, XLA its own.
TOLERANCE = 8 * np.finfo(np.float64).eps


@pytest.fixture(scope="module")
def ops(library_path):
    with jax.enable_x64(True):
        yield oxcall.load(library_path("derived_ops"))


@pytest.fixture
def x():
    return jnp.asarray(np.random.default_rng(0).normal(size=(4, 3)))


@pytest.fixture
def w():
    return jnp.asarray(np.random.default_rng(1).normal(size=3))


def growth(x, w):
    return w * jnp.exp(x)


def close(found, expected):
    found, expected = (jax.tree.leaves(values) for values in (found, expected))
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE)


def loss(function):
    return lambda *args: jnp.sum(jnp.sin(function(*args)))


def targets(function, *args):
    text = jax.jit(function).lower(*args).as_text()
    names = ("growth", "growth_fwd", "growth_vjp", "growth_jvp")
    return {name: text.count(f'@"derived_ops::{name}"') for name in names}


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: jax.grad(loss(f), (0, 1)),
        lambda f: lambda x, w: jax.jvp(f, (x, w), (jnp.cos(x), jnp.sin(w))),
        lambda f: lambda x, w: jax.jvp(lambda x: f(x, w), (x,), (jnp.cos(x),)),
        lambda f: lambda x, w: jax.jvp(lambda w: f(x, w), (w,), (jnp.cos(w),)),
        lambda f: jax.jacrev(f, (0, 1)),
        lambda f: jax.jacfwd(f, (0, 1)),
        lambda f: lambda x, w: jax.linearize(f, x, w)[1](jnp.cos(x), w),
        lambda f: lambda x, w: jax.vmap(jax.grad(loss(f), (0, 1)), (0, None))(x, w),
        lambda f: lambda x, w: jax.vmap(lambda t: jax.jvp(f, (x, w), (t, w))[1])(jnp.stack([x, 2 * x])),
        lambda f: jax.grad(
            lambda x, w: jnp.sum(jax.vmap(f, (1, None), 1)(x[:, :, None] * jnp.ones(3), w) ** 2), (0, 1)
        ),
        lambda f: jax.grad(jax.checkpoint(loss(f)), (0, 1)),
        lambda f: jax.grad(
            lambda x, w: jax.lax.scan(lambda c, row: (f(c, w) * 0.1 + row, ()), x[0], x)[0].sum(), (0, 1)
        ),
    ],
)
def test_growth(ops, x, w, transform):
    close(transform(ops.growth)(x, w), transform(growth)(x, w))
    close(jax.jit(transform(ops.growth))(x, w), transform(growth)(x, w))


def test_residuals_are_shared(ops, x, w):
    assert targets(ops.growth, x, w) == {"growth": 1, "growth_fwd": 0, "growth_vjp": 0, "growth_jvp": 0}
    gradient = targets(jax.value_and_grad(loss(ops.growth), (0, 1)), x, w)
    assert gradient == {"growth": 0, "growth_fwd": 1, "growth_vjp": 1, "growth_jvp": 0}
    tangent = targets(lambda x, w: jax.jvp(ops.growth, (x, w), (x, w)), x, w)
    assert tangent == {"growth": 0, "growth_fwd": 1, "growth_vjp": 0, "growth_jvp": 1}


def test_a_batch_is_one_call_and_its_weight_stays(ops, x, w):
    batched = jax.vmap(ops.growth, (1, None), 1)
    stacked = x[:, None, :] * jnp.arange(1.0, 6.0)[None, :, None]
    close(batched(stacked, w), jax.vmap(growth, (1, None), 1)(stacked, w))
    jaxpr = str(jax.make_jaxpr(batched)(stacked, w))
    assert "scan" not in jaxpr and jaxpr.count("growth") == 1, jaxpr
    close(jax.vmap(jax.vmap(ops.growth, (0, None)), (0, None))(stacked, w), growth(stacked, w))


def test_a_batch_of_weights_is_a_loop(ops, x, w):
    weights = jnp.stack([w, 2 * w])
    close(jax.vmap(ops.growth, (None, 0))(x, weights), jax.vmap(growth, (None, 0))(x, weights))
    assert "scan" in str(jax.make_jaxpr(jax.vmap(ops.growth, (None, 0)))(x, weights))


def test_sums_over_the_batch_are_computed_for_each_element(ops, x, w):
    dy = jnp.stack([x, 3 * x])
    found = jax.vmap(ops.growth_vjp, (None, None, 0))(w, jnp.exp(x), dy)
    expected = jax.vmap(lambda dy: jax.vjp(growth, x, w)[1](dy))(dy)
    close(found, expected)


def test_a_linear_op(ops):
    x, k = jnp.arange(1.0, 4.0), jnp.array([2.0, -1.0, 0.5])

    def gain(x, k):
        return x * jax.lax.stop_gradient(k)

    for transform in (
        lambda f: jax.grad(loss(f), (0, 1)),
        lambda f: lambda x, k: jax.jvp(f, (x, k), (jnp.cos(x), k)),
        lambda f: lambda x, k: jax.linear_transpose(lambda x: f(x, k), x)(x),
    ):
        close(transform(ops.gain)(x, k), transform(gain)(x, k))


def test_the_transpose_of_a_transpose_is_not_declared(ops):
    x = jnp.arange(1.0, 4.0)
    with pytest.raises(oxcall.CallError, match="gain_transpose: it cannot be differentiated"):
        jax.hessian(lambda x: loss(ops.gain)(x, x) ** 2)(x)


def test_forward_mode_alone(ops):
    x = jnp.arange(1.0, 4.0)
    close(jax.jvp(ops.wave, (x,), (2 * x,)), jax.jvp(jnp.sin, (x,), (2 * x,)))
    close(jax.jacfwd(ops.wave)(x), jax.jacfwd(jnp.sin)(x))
    message = (
        r"wave: it has no derivative in reverse mode .* its jvp op `wave_jvp` .*`#\[custom_call\(vjp = wave_vjp\)\]`"
    )
    with pytest.raises(oxcall.CallError, match=message):
        jax.grad(lambda x: ops.wave(x).sum())(x)


def test_a_batch_by_another_op(ops):
    x = jnp.arange(6.0).reshape(2, 3)
    close(jax.vmap(ops.wave)(x), jnp.sin(x))
    assert "wave_of_batch" in str(jax.make_jaxpr(jax.vmap(ops.wave))(x))


def test_a_second_derivative_that_is_not_declared(ops, x, w):
    with pytest.raises(oxcall.CallError, match="growth_fwd: it cannot be differentiated"):
        jax.hessian(loss(ops.growth))(x, w)
    with pytest.raises(oxcall.CallError, match="growth_fwd: it cannot be differentiated"):
        jax.jvp(lambda x: jax.jvp(lambda x: ops.growth(x, w), (x,), (x,))[1], (x,), (x,))


@pytest.mark.parametrize(
    ("rules", "other", "message"),
    [
        (
            {"jvp": "f_jvp"},
            op("f_jvp", [param("ty", "ret")]),
            r"its jvp op `f_jvp` takes no tangent of argument `x`",
        ),
        (
            {"jvp": "f_jvp"},
            op("f_jvp", [param("txx"), param("ty", "ret")]),
            r"`txx` of its jvp op .*did you mean",
        ),
        ({"fwd": "f_fwd"}, op("f_fwd", [param("q"), param("y", "ret")]), r"argument `q` of its fwd op `f_fwd` matches"),
        ({"transpose": "f_t"}, op("f_t", [param("dx", "ret")]), r"its transpose op `f_t` takes no cotangent of result"),
        ({"vmap_op": "f_b"}, op("f_b", [param("z"), param("y", "ret")]), r"argument `z` of its vmap op `f_b` matches"),
        ({"jvp": "gone"}, op("g", [param("x"), param("y", "ret")]), r"its jvp op `gone` is not in this library"),
    ],
)
def test_mistakes_are_found_when_the_library_is_loaded(tmp_path, rules, other, message):
    forward = op("f", [param("x"), param("y", "ret")], **rules)
    with pytest.raises(oxcall.LoadError, match=message):
        oxcall.load(fake.build(tmp_path, "librules.so", ops=[forward, other, *fake.OPS[2:]]))


def test_documentation_says_what_is_declared(ops):
    rules = "Derivative: reverse mode `growth_vjp`, forward mode `growth_jvp`, residuals `growth_fwd`."
    assert rules in ops.growth.__doc__
    assert "Derivative: linear, with the transpose `gain_transpose`, zero for `k`." in ops.gain.__doc__
    assert "Derivative: reverse mode `cube_vjp`." in ops.cube.__doc__
    assert "Derivative: none." in ops.wave_jvp.__doc__
    assert "vmap: one call along `..b`; one call for each element where" in ops.growth.__doc__
    assert "vmap: by `wave_of_batch`." in ops.wave.__doc__
    assert "vmap: not supported." in ops.cube.__doc__
    assert "Sharded arrays under `jax.jit`: split along `..b`." in ops.growth.__doc__
    assert "Sharded arrays under `jax.jit`: called on whole arrays." in ops.cube.__doc__


def test_policies_name_residuals(ops, x, w):
    def saved(policy):
        function = jax.checkpoint(lambda x, w: loss(lambda x, w: ops.growth(jnp.sin(x), w))(x, w), policy=policy)
        return [str(type_) for type_, _ in saved_residuals(function, x, w)]

    from jax._src.ad_checkpoint import saved_residuals

    assert len(saved(jax.checkpoint_policies.nothing_saveable)) == 2
    assert len(saved(jax.checkpoint_policies.save_only_these_names("growth.s"))) == 3
    assert len(saved(jax.checkpoint_policies.save_only_these_names("s"))) == 2
    policy = jax.checkpoint_policies.save_only_these_names("growth.s")
    remat = jax.checkpoint(lambda x, w: ops.growth(jnp.sin(x), w), policy=policy)
    close(jax.grad(loss(remat), (0, 1))(x, w), jax.grad(loss(lambda x, w: growth(jnp.sin(x), w)), (0, 1))(x, w))


def test_a_sum_that_is_not_used_is_no_obstacle_to_vmap(ops, x, w):
    """The cotangent of the weight is a sum over the batch; the Jacobian by `x` does not read it."""
    jacobian = jax.jacrev(ops.growth)
    close(jacobian(x, w), jax.jacrev(growth)(x, w))
    assert "scan" not in str(jax.make_jaxpr(jacobian)(x, w))
    rows = jax.vmap(jax.grad(loss(ops.growth)), (0, None))
    close(rows(x, w), jax.vmap(jax.grad(loss(growth)), (0, None))(x, w))
    assert "scan" not in str(jax.make_jaxpr(rows)(x, w))
    # The Jacobian by the weight reads it.
    close(jax.jacrev(ops.growth, (0, 1))(x, w), jax.jacrev(growth, (0, 1))(x, w))
    close(jax.jacrev(ops.growth, 1)(x, w), jax.jacrev(growth, 1)(x, w))
    # Both in one program, as JAX remembers what it compiled.
    both = jax.jit(lambda x, w: (jax.grad(loss(ops.growth))(x, w), jax.grad(loss(ops.growth), (0, 1))(x, w)))
    close(both(x, w)[1], jax.grad(loss(growth), (0, 1))(x, w))
