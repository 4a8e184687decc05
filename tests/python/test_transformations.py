"""Ops under JAX's transformations; the same computation in jax.numpy is the oracle."""

import copy
import inspect
import pickle
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

WEIGHTS = np.random.default_rng(1).normal(size=(4, 8)).astype(np.float32)
X = np.random.default_rng(2).normal(size=(4, 8)).astype(np.float32)


@pytest.fixture
def norm(gallery):
    return lambda x: gallery.rms_norm(x, eps=1e-6)


def reference(x):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)


def loss(norm):
    return lambda x: (norm(x) * WEIGHTS).sum()


def through_scan(norm):
    def step(x, _):
        return norm(x) + 0.5 * x, x.sum()

    return lambda x: (jax.lax.scan(step, x, None, length=3)[0] * WEIGHTS).sum()


# From a function of one array, what is to be equal to that of the oracle.
DERIVATIVES = {
    "grad": lambda norm: jax.grad(loss(norm))(X),
    "jit": lambda norm: jax.jit(jax.grad(loss(norm)))(X),
    "jacrev": lambda norm: jax.jacrev(norm)(X),
    "vjp": lambda norm: jax.vjp(norm, X)[1](WEIGHTS),
    "linearize": lambda norm: jax.linear_transpose(jax.linearize(norm, X)[1], X)(WEIGHTS),
    "vmap of grad": lambda norm: jax.vmap(jax.grad(lambda x: loss(norm)(x)))(np.stack([X, 2 * X])),
    "vmap of rows": lambda norm: jax.vmap(jax.grad(lambda x, w: (norm(x) * w).sum()), 1)(X.T, WEIGHTS.T),
    "grad of vmap": lambda norm: jax.grad(lambda x: jax.vmap(loss(norm))(x).sum())(np.stack([X, 2 * X])),
    "nested vmap": lambda norm: jax.vmap(jax.vmap(jax.grad(lambda x: norm(x).sum())))(np.ones((2, 3, 8)) * X[:3]),
    "scan": lambda norm: jax.grad(through_scan(norm))(X),
    "vmap of scan": lambda norm: jax.vmap(jax.grad(through_scan(norm)))(np.stack([X, 2 * X])),
    "jacrev of scan": lambda norm: jax.jacrev(through_scan(norm))(X),
    "checkpoint": lambda norm: jax.grad(jax.checkpoint(loss(norm)))(X),
    "checkpoint of scan": lambda norm: jax.jit(jax.grad(jax.checkpoint(through_scan(norm))))(X),
    "cond": lambda norm: jax.grad(lambda x: jax.lax.cond(x[0, 0] < 9, loss(norm), lambda x: x.sum(), x))(X),
    "switch under vmap": lambda norm: jax.vmap(
        jax.grad(lambda x, i: jax.lax.switch(i, [loss(norm), lambda x: x.sum()], x)), (None, 0)
    )(X, np.arange(2)),
    "map": lambda norm: jax.grad(lambda x: jax.lax.map(norm, x).sum())(X),
    "custom_vjp around": lambda norm: jax.grad(lambda x: (norm(norm(x)) ** 2).sum())(X),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives(norm, name):
    derivative = DERIVATIVES[name]
    for ours, theirs in zip(jax.tree.leaves(derivative(norm)), jax.tree.leaves(derivative(reference)), strict=True):
        # Sums of 8 and 32 terms in another order.
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5)


def test_jaxprs_show_ops_by_name(norm):
    assert "rms_norm[call=(eps=1e-06) -> (f32[4,8])]" in str(jax.make_jaxpr(norm)(X))
    assert "rms_norm_vjp[" in str(jax.make_jaxpr(jax.grad(loss(norm)))(X))
    text = jax.jit(norm).lower(X).as_text(debug_info=True)
    assert "jit(<lambda>)/rms_norm" in text


def test_a_policy_of_checkpoint_sees_the_op(norm):
    def calls(policy):
        block = jax.checkpoint(lambda x: norm(jnp.sin(x)), policy=policy)
        return str(jax.make_jaxpr(jax.grad(lambda x: block(block(x)).sum()))(X)).count("rms_norm[")

    assert calls(lambda prim, *_, **__: prim.name == "rms_norm") < calls(None)


def test_unused_calls_are_dropped(norm):
    def unused(x):
        norm(x)
        return x + 1

    assert "custom_call" not in jax.jit(unused).lower(X).compile().as_text()


@pytest.mark.parametrize(
    "forward",
    [
        lambda norm: jax.jvp(norm, (X,), (X,)),
        lambda norm: jax.jit(lambda x: jax.jvp(norm, (x,), (x,)))(X),
        lambda norm: jax.jacfwd(norm)(X),
        lambda norm: jax.linearize(norm, X)[1](X),
    ],
    ids=["jvp", "jit", "jacfwd", "linearize"],
)
def test_forward_mode_names_the_op(norm, forward):
    with pytest.raises(ValueError, match=r"^rms_norm: it has no derivative in forward mode.*`jax.grad`"):
        forward(norm)


def test_second_derivatives_name_the_op(norm):
    with pytest.raises(ValueError, match=r"^rms_norm_vjp: it cannot be differentiated.*vjp = rms_norm_vjp_vjp"):
        jax.grad(lambda x: (jax.grad(loss(norm))(x) ** 2).sum())(X)
    with pytest.raises(ValueError, match=r"^rms_norm: it has no derivative in forward mode"):
        jax.hessian(loss(norm))(X)


def test_an_op_without_a_derivative(gallery):
    x = jnp.asarray(X, jnp.bfloat16)
    with pytest.raises(ValueError, match=r"^softmax: it cannot be differentiated.*vjp = softmax_vjp"):
        jax.grad(lambda x: gallery.softmax(x).sum())(x)
    # Where its result is not differentiated, it needs none.
    stopped = jax.grad(lambda x: (jax.lax.stop_gradient(gallery.softmax(x)) * x).sum())(x)
    np.testing.assert_array_equal(stopped, gallery.softmax(x))


class Wrong:
    """A backward op whose result has another shape than the argument."""

    def __init__(self, op):
        self._info = op._info

    def _call(self, operands, *_):
        return operands[1][:, :1]


def test_a_cotangent_of_another_type(gallery, norm, monkeypatch):
    monkeypatch.setitem(gallery._ops, "rms_norm_vjp", Wrong(gallery.rms_norm_vjp))
    with pytest.raises(
        ValueError, match=r"cotangent of argument `x` as float32\[4, 1\], but the argument is float32\[4, 8\]"
    ):
        jax.grad(loss(norm))(X)


def mesh(kind):
    return jax.make_mesh((2,), ("i",), devices=jax.devices()[:2], axis_types=(kind,))


def test_shard_map(norm):
    spec = PartitionSpec("i")
    for options in ({}, {"check_vma": False}):
        sharded = jax.shard_map(norm, mesh=mesh(AxisType.Auto), in_specs=spec, out_specs=spec, **options)
        np.testing.assert_allclose(sharded(X), reference(X), rtol=2e-6)
        np.testing.assert_allclose(
            jax.jit(jax.grad(loss(sharded)))(X), jax.grad(loss(reference))(X), rtol=2e-5, atol=2e-6
        )
    inside = jax.shard_map(jax.grad(lambda x: norm(x).sum()), mesh=mesh(AxisType.Auto), in_specs=spec, out_specs=spec)
    np.testing.assert_allclose(inside(X), jax.grad(lambda x: reference(x).sum())(X), rtol=2e-5, atol=2e-6)


def test_explicit_mesh(norm):
    explicit = mesh(AxisType.Explicit)
    with jax.set_mesh(explicit):
        x = jax.device_put(X, NamedSharding(explicit, PartitionSpec()))
        np.testing.assert_allclose(jax.jit(jax.grad(loss(norm)))(x), jax.grad(loss(reference))(X), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("spec", [("i",), (None, "i")])
def test_gradients_are_split_as_operands_on_an_explicit_mesh(norm, spec):
    explicit = mesh(AxisType.Explicit)
    x = jax.device_put(X, NamedSharding(explicit, PartitionSpec(*spec)))
    gradient = jax.grad(lambda x: jnp.sin(norm(x)).sum())
    with jax.set_mesh(explicit):
        eager = gradient(x)
    for found in (eager, jax.jit(gradient)(x)):
        assert jax.typeof(found) == jax.typeof(x)
        np.testing.assert_allclose(found, jax.grad(lambda x: jnp.sin(reference(x)).sum())(X), rtol=2e-5, atol=2e-6)


def test_export_with_a_derivative(norm):
    exported = jax.export.export(jax.jit(norm), disabled_checks=[
        jax.export.DisabledSafetyCheck.custom_call("custom_op::rms_norm"),
        jax.export.DisabledSafetyCheck.custom_call("custom_op::rms_norm_vjp"),
    ])(jax.ShapeDtypeStruct(X.shape, X.dtype))  # fmt: skip
    again = jax.export.deserialize(exported.serialize(vjp_order=1))
    np.testing.assert_allclose(jax.grad(loss(again.call))(X), jax.grad(loss(reference))(X), rtol=2e-5, atol=2e-6)


def test_calls_that_differ_in_a_sign_are_not_confused(gallery):
    for factor in (0.0, -0.0, 1, 1.0, -0.0, 0.0):
        ours = gallery.axpy(jnp.ones(2), jnp.full(2, -0.0), alpha=factor)
        np.testing.assert_array_equal(np.signbit(ours), np.signbit([factor, factor]))
    with pytest.raises(ValueError, match="`alpha` takes a float32 scalar, but got True"):
        gallery.axpy(jnp.ones(2), jnp.ones(2), alpha=True)


def test_operands_by_keyword(gallery):
    by_position = gallery.axpy(X, WEIGHTS, alpha=2.0)
    for call in (
        lambda: gallery.axpy(X, y=WEIGHTS, alpha=2.0),
        lambda: gallery.axpy(alpha=2.0, y=WEIGHTS, x=X),
        jax.jit(lambda: gallery.axpy(x=X, y=WEIGHTS, alpha=2.0)),
    ):
        np.testing.assert_array_equal(call(), by_position)
    assert str(inspect.signature(gallery.axpy)) == "(x, y, *, alpha)"


def test_ops_are_copied_and_pickled_by_name(gallery):
    again = pickle.loads(pickle.dumps((gallery, gallery.rms_norm)))
    assert again == (gallery, gallery.rms_norm)
    assert copy.deepcopy({"norm": gallery.rms_norm})["norm"] is gallery.rms_norm
    program = "import pickle, sys; print(pickle.load(sys.stdin.buffer)([[3.0, 4.0]]))"
    done = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(gallery.rms_norm), capture_output=True)
    assert b"0.848" in done.stdout, done.stderr


def exported(function, *types, vjp_order=0):
    symbols = jax.export.symbolic_shape("a, b")
    scope = dict(zip(("a", "b"), symbols, strict=True))
    shapes = [jax.ShapeDtypeStruct(tuple(scope.get(dim, dim) for dim in shape), np.float32) for shape in types]
    checks = [jax.export.DisabledSafetyCheck.custom_call(f"custom_op::{name}") for name in (
        "rms_norm", "rms_norm_vjp", "low_pass", "top_k", "axpy", "affine"
    )]  # fmt: skip
    whole = jax.export.export(jax.jit(function), disabled_checks=checks)(*shapes)
    return jax.export.deserialize(whole.serialize(vjp_order=vjp_order))


def test_symbolic_shapes(gallery, norm):
    again = exported(norm, ("a", "b"), vjp_order=1)
    for shape in ((4, 8), (3, 5), (1, 1)):
        x = np.random.default_rng(3).normal(size=shape).astype(np.float32)
        np.testing.assert_allclose(again.call(x), norm(x), rtol=1e-6)
        gradient = jax.grad(lambda x: (again.call(x) ** 3).sum())(x)
        np.testing.assert_allclose(gradient, jax.grad(lambda x: (norm(x) ** 3).sum())(x), rtol=1e-5, atol=1e-5)
    low_pass = exported(lambda x: gallery.low_pass(x, cutoff=0.2, taps=5), (2, "b"))
    assert str(low_pass.out_avals[0].shape) == "(2, b - 4)"
    x = np.ones((2, 32), np.float32)
    np.testing.assert_array_equal(low_pass.call(x), gallery.low_pass(x, cutoff=0.2, taps=5))
    values, indices = exported(lambda x: gallery.top_k(x, k=2), ("a", "b")).call(X)
    np.testing.assert_array_equal(indices, gallery.top_k(X, k=2)[1])
    np.testing.assert_array_equal(values, gallery.top_k(X, k=2)[0])
    added = exported(lambda x, y: gallery.axpy(x, y, alpha=2.0), ("a", "b"), ("a", "b")).call(X, WEIGHTS)
    np.testing.assert_array_equal(added, gallery.axpy(X, WEIGHTS, alpha=2.0))


def test_symbolic_shapes_that_do_not_follow(gallery):
    with pytest.raises(ValueError, match=r"^axpy: `\.\.s` is \[a, b\], but \[b, a\] in argument `y`; export"):
        exported(lambda x, y: gallery.axpy(x, y, alpha=2.0), ("a", "b"), ("b", "a"))
    with pytest.raises(ValueError, match=r"^concatenate: an argument has symbolic dimensions, and a function of the"):
        exported(lambda x, y: gallery.concatenate(x, y), ("a", "b"), ("a", "b"))
