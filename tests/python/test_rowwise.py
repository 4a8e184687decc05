"""Row-wise functions of the gallery against formulas in jax.numpy: values, derivatives, batches, shapes, splits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import oxcall
from formulas import TRANSFORMS, check_transform, close, loss


@pytest.fixture(scope="module", autouse=True)
def _x64():
    with jax.enable_x64(True):
        yield


def softmax_cross_entropy(logits, labels):
    return -jnp.sum(labels * jax.nn.log_softmax(logits), axis=-1)


def layer_norm(x, gain, bias, eps=1e-5):
    return gain * jax.nn.standardize(x, epsilon=eps) + bias


def tempered_softmax(logits, temperature):
    scaled = logits / temperature[..., None]
    return [jax.nn.softmax(scaled), jax.nn.logsumexp(scaled, axis=-1)]


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape))


# Operands are made in the tests, where JAX has `f64`.
CASES = {
    "softmax_cross_entropy": (softmax_cross_entropy, lambda: (normal(0, 4, 5), normal(1, 4, 5))),
    "layer_norm": (layer_norm, lambda: (normal(0, 4, 5), normal(1, 4, 5), normal(2, 4, 5))),
    "tempered_softmax": (tempered_softmax, lambda: (normal(0, 4, 5), 1 + normal(1, 4) ** 2)),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_are_those_of_the_formula(gallery, name, transform):
    formula, operands = CASES[name]
    check_transform(TRANSFORMS[transform], gallery[name], formula, operands())


def test_third_derivatives_are_not_declared(gallery):
    def slope(function):
        return jax.grad(lambda x: function(x).sum())

    third = slope(slope(slope(lambda x: gallery.layer_norm(x, 1.0, 0.0))))
    with pytest.raises(oxcall.CallError, match="layer_norm_vjp_vjp: it cannot be differentiated"):
        third(jnp.ones(3))


def test_attributes_reach_the_derivatives(gallery):
    x, gain, bias = CASES["layer_norm"][1]()
    for eps in (0.5, 3.0):
        close(
            jax.grad(lambda x, eps=eps: jnp.sin(gallery.layer_norm(x, gain, bias, eps=eps)).sum())(x),
            jax.grad(lambda x, eps=eps: jnp.sin(layer_norm(x, gain, bias, eps)).sum())(x),
        )


def test_operands_of_rows_are_broadcast_and_promoted(gallery):
    x, gain, bias = normal(0, 2, 4, 5), normal(1, 5), normal(2, 4, 1)
    close(gallery.layer_norm(x, gain, bias), layer_norm(x, gain, bias))
    close(
        jax.grad(loss(gallery.layer_norm), (0, 1, 2))(x, gain, bias),
        jax.grad(loss(layer_norm), (0, 1, 2))(x, gain, bias),
    )
    assert gallery.layer_norm(x.astype(jnp.bfloat16), 1.0, 0.0).dtype == jnp.bfloat16


def test_numbers_of_rows_have_the_batch(gallery):
    with pytest.raises(oxcall.CallError, match=r"`temperature` has shape \[3\]"):
        gallery.tempered_softmax(normal(0, 4, 5), normal(1, 3))
    close(
        jax.vmap(gallery.tempered_softmax, (0, None))(normal(0, 4, 5), jnp.asarray(2.0)),
        tempered_softmax(normal(0, 4, 5), jnp.full(4, 2.0)),
    )
    close(
        jax.vmap(gallery.tempered_softmax, (1, 0))(normal(0, 3, 4, 5), 1 + normal(1, 4, 3) ** 2),
        jax.vmap(tempered_softmax, (1, 0))(normal(0, 3, 4, 5), 1 + normal(1, 4, 3) ** 2),
    )


@pytest.mark.parametrize("shape", [(0, 7), (3, 0), (2, 1), (5, 7), (2, 1000), (3000, 30), (2, 100_000)])
@pytest.mark.parametrize("dtype", [jnp.float64, jnp.float32, jnp.bfloat16, jnp.float16])
def test_all_lengths_batches_and_dtypes_are_accurate(gallery, dtype, shape):
    """Against the formula in doubles of the operands as they are; halves are rounded once, at the end."""
    logits, labels = (normal(seed, *shape).astype(dtype) for seed in (0, 1))
    wide = [x.astype(jnp.float64) for x in (logits, labels)]
    digits = float(jnp.finfo(dtype).eps)
    if shape[-1] == 0:
        np.testing.assert_array_equal(gallery.softmax_cross_entropy(logits, labels), np.zeros(shape[0], dtype))
        return
    # Terms of both signs: the error is one of the largest sum of some of them.
    sizes = jnp.sum(jnp.abs(wide[1] * jax.nn.log_softmax(wide[0])), axis=-1)
    found = gallery.softmax_cross_entropy(logits, labels)
    exact = softmax_cross_entropy(*wide)
    bound = 8 * float(jnp.finfo(jnp.float64 if dtype == jnp.float64 else jnp.float32).eps) * sizes
    assert found.dtype == dtype
    # One number of `float16` may be too large for it.
    is_finite = jnp.abs(exact) < float(jnp.finfo(dtype).max)
    error = jnp.abs(found.astype(jnp.float64) - exact)
    assert jnp.all(jnp.where(is_finite, error <= bound + digits * jnp.abs(exact) / 1.9, jnp.isinf(found)))
    # A small variance would leave few digits of the mean.
    found = gallery.layer_norm(logits, jnp.ones(1, dtype), jnp.zeros(1, dtype), eps=1e-3)
    exact = layer_norm(wide[0], 1.0, 0.0, 1e-3)
    allowed = 8 * max(digits, 2**-23 if dtype != jnp.float64 else 0) if dtype in (jnp.float64, jnp.float32) else digits
    np.testing.assert_array_less(jnp.abs(found.astype(jnp.float64) - exact), allowed * (jnp.abs(exact) + 1) + 1e-300)


def test_infinities_and_nan_are_those_of_the_formula(gallery):
    rows = jnp.array(
        [[0.0, -jnp.inf, 1.0], [jnp.inf, 0.0, 1.0], [jnp.nan, 0.0, 1.0], [-jnp.inf] * 3, [1e308, -1e308, 0.0]]
    )
    temperature = jnp.ones(5)
    for row in range(5):
        found = gallery.tempered_softmax(rows[row], temperature[row])
        expected = tempered_softmax(rows[row], temperature[row])
        np.testing.assert_array_equal(found[0], expected[0])


def test_elements_that_are_equal_share_derivatives(gallery):
    x = jnp.array([[2.0, 1.0, 2.0], [3.0, 3.0, 3.0]])
    np.testing.assert_allclose(
        jax.grad(lambda x: gallery.tempered_softmax(x, jnp.ones(2))[1].sum())(x), jax.nn.softmax(x), rtol=1e-14
    )


def test_symbolic_shapes_and_splits(gallery):
    a, n = jax.export.symbolic_shape("a, n")
    shaped = [jax.ShapeDtypeStruct(shape, jnp.float64) for shape in ((a, 3, n), (a, 3, n))]
    checks = [jax.export.DisabledSafetyCheck.custom_call(gallery.softmax_cross_entropy.target)]
    exported = jax.export.export(jax.jit(gallery.softmax_cross_entropy), disabled_checks=checks)(*shaped)
    assert exported.out_avals[0].shape == (a, 3)
    args = normal(0, 2, 3, 4), normal(1, 2, 3, 4)
    close(exported.call(*args), softmax_cross_entropy(*args))
    logits, labels = normal(0, 8, 4), normal(1, 8, 4)
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("rows",))
    spread = jax.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))
    gradient = jax.grad(lambda *args: gallery.softmax_cross_entropy(*args).sum())
    args = jax.device_put((logits, labels), spread)
    program = jax.jit(gradient).lower(*args).compile()
    assert "all-gather" not in program.as_text()
    close(program(*args), jax.grad(lambda *args: softmax_cross_entropy(*args).sum())(logits, labels))


@pytest.mark.parametrize("spec", [("a", "b"), (None, "b"), ("a", None), (("a", "b"), None), (None, ("a", "b"))])
def test_rows_on_explicit_meshes(gallery, spec):
    """Also split along the rows, which one device computes as a whole: the gradient is split as the operand is."""
    mesh = jax.make_mesh(
        (2, 2), ("a", "b"), devices=jax.devices()[:4], axis_types=(jax.sharding.AxisType.Explicit,) * 2
    )
    logits, labels = normal(0, 8, 4), normal(1, 8, 4)
    spread = jax.device_put(logits, jax.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec)))
    for op, formula in (
        (lambda x: gallery.softmax_cross_entropy(x, labels), lambda x: softmax_cross_entropy(x, labels)),
        (lambda x: gallery.layer_norm(x, labels[0], labels[1]), lambda x: layer_norm(x, labels[0], labels[1])),
        (lambda x: gallery.softplus(x), lambda x: jnp.logaddexp(x, 0.0)),
        (lambda x: gallery.swiglu(labels, x), lambda x: labels * jax.nn.sigmoid(labels) * x),
    ):
        gradient = jax.grad(lambda x, op=op: jnp.sin(op(x)).sum())
        with jax.set_mesh(mesh):
            eager = gradient(spread)
        for found in (eager, jax.jit(gradient)(spread)):
            assert jax.typeof(found) == jax.typeof(spread)
            close(found, jax.grad(lambda x, formula=formula: jnp.sin(formula(x)).sum())(logits))
        moved = jax.jit(lambda x, op=op: jax.jvp(jax.grad(lambda x: jnp.sin(op(x)).sum()), (x,), (x,))[1])(spread)
        close(
            moved,
            jax.jvp(jax.grad(lambda x, formula=formula: jnp.sin(formula(x)).sum()), (logits,), (logits,))[1],
        )


def test_mistakes_are_told_by_the_types_of_parameters(gallery):
    with pytest.raises(oxcall.CallError, match=r"argument `x` has shape \[\], but `Row` expects \[..batch, n\]"):
        gallery.layer_norm(1.0, 1.0, 1.0)
    message = r"`temperature` has shape \[5\], but `PerRow` with batch = \[2\] \(from argument `logits`\) expects \[2\]"
    with pytest.raises(oxcall.CallError, match=message):
        gallery.tempered_softmax(normal(0, 2, 3), normal(1, 5))


def test_many_rows_are_computed_on_several_threads(gallery):
    logits, labels = (normal(seed, 20_003, 33).astype(jnp.float32) for seed in (0, 1))
    found = gallery.softmax_cross_entropy(logits, labels)
    np.testing.assert_allclose(found, softmax_cross_entropy(logits, labels), rtol=1e-4, atol=1e-4)
