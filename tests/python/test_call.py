"""Calls through real JAX, against the hand-written library."""

import functools
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import oxcall
from oxcall import _dtypes

if hasattr(jax, "shard_map"):
    shard_map = jax.shard_map
else:
    from jax.experimental.shard_map import shard_map as old_shard_map

    shard_map = functools.partial(old_shard_map, check_rep=False)


def test_eager_and_jit(ops):
    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(ops.scale(x), 2 * x)
    np.testing.assert_array_equal(jax.jit(lambda x: ops.scale(x, factor=0.5))(x), 0.5 * x)
    assert jax.eval_shape(ops.scale, x).shape == (2, 3)


def test_vmap(ops):
    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(jax.vmap(ops.scale, in_axes=1, out_axes=1)(x), 2 * x)
    if jax.__version_info__ >= (0, 6):  # before, JAX falls back to a loop and warns
        with pytest.raises(NotImplementedError, match="vmap"):
            jax.vmap(ops.increment)(x)


def test_grad_passes_attributes_to_the_backward_op(ops):
    x = jnp.arange(3.0)
    gradient = jax.jit(jax.grad(lambda x: (ops.scale(x, factor=3.0) * x).sum()))(x)
    np.testing.assert_array_equal(gradient, 6 * x)
    np.testing.assert_array_equal(
        jax.vmap(jax.grad(lambda x: ops.scale(x).sum()))(jnp.ones((2, 3))), np.full((2, 3), 2)
    )


def test_a_gradient_of_a_gradient(ops):
    """`scale_vjp` has no `vjp` of its own, and needs none where it is linear in what is differentiated."""
    with pytest.raises(
        ValueError, match=r"^scale_vjp: it cannot be differentiated.*`#\[custom_call\(vjp = scale_vjp_vjp\)\]`"
    ):
        jax.grad(lambda x: jax.grad(lambda x: (ops.scale(x) ** 2).sum())(x).sum())(jnp.ones(2))


def test_alias_updates_a_dead_operand_in_place(ops, dump):
    np.testing.assert_array_equal(ops.increment(jnp.ones(3)), [2, 2, 2])
    np.testing.assert_array_equal(jax.jit(lambda x: ops.increment(2 * x))(jnp.ones(3)), [3, 3, 3])
    assert dump() == "aliased"
    kept = jnp.ones(3)
    jax.jit(ops.increment)(kept)
    np.testing.assert_array_equal(kept, [1, 1, 1])


def test_optional_and_variadic_operands(ops):
    x = jnp.ones(2)
    np.testing.assert_array_equal(ops.total(x), x)
    np.testing.assert_array_equal(ops.total(x, x, x), 3 * x)
    with pytest.raises(oxcall.CallError, match="optional argument `bias` is None, but a later one is given"):
        ops.total(None, x)


def test_python_scalars_adopt_the_declared_dtype(ops):
    np.testing.assert_array_equal(ops.increment(1), 2)


def test_stated_result_types(ops):
    # The fake handler reads an operand that this call does not have: only the types are checked.
    result = jax.eval_shape(lambda: ops.filled(out_shape=(2, 3), dtype="float32"))
    assert (result.shape, result.dtype) == ((2, 3), jnp.float32)
    with pytest.raises(
        oxcall.CallError,
        match="filled: no argument gives the dtype of result `y`; choose it with `dtype=`: float32 or float64",
    ):
        ops.filled(out_shape=(2,))
    with pytest.raises(oxcall.CallError, match="filled: `dtype` is int32, but T is float32 or float64"):
        ops.filled(out_shape=(2,), dtype=jnp.int32)
    with pytest.raises(oxcall.CallError, match="no shape follows"):
        ops.filled(dtype="float32")


def test_several_devices(ops):
    devices = jax.devices()
    assert len(devices) == 4
    mesh = jax.sharding.Mesh(np.array(devices), ("i",))
    spec = jax.sharding.PartitionSpec("i")
    x = jnp.arange(8.0)
    sharded = jax.device_put(x, jax.sharding.NamedSharding(mesh, spec))
    np.testing.assert_array_equal(jax.jit(ops.scale)(sharded), 2 * x)
    for version in (4, 3, 1):

        def scale(x, version=version):
            return ops.scale(x, custom_call_api_version=version)

        mapped = shard_map(scale, mesh=mesh, in_specs=(spec,), out_specs=spec)
        np.testing.assert_array_equal(jax.jit(mapped)(sharded), 2 * x)
        np.testing.assert_array_equal(jax.grad(lambda x, mapped=mapped: (mapped(x) * x).sum())(sharded), 4 * x)
    # One operand varies over the mesh, the other does not.
    both = shard_map(ops.total, mesh=mesh, in_specs=(spec, jax.sharding.PartitionSpec()), out_specs=spec)
    np.testing.assert_array_equal(jax.jit(both)(sharded, jnp.ones(4)), x + 1)


def test_calls_are_split_by_batch(ops, dump):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("i",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i"))
    x = jax.device_put(jnp.arange(8.0).reshape(4, 2), rows)
    call = jax.jit(ops.rowwise, out_shardings=rows)
    np.testing.assert_array_equal(call(x), 2 * x)
    assert dump() == "2"
    assert "all-gather" not in call.lower(x).compile().as_text()
    # One row has no batch: it must not be split.
    row = jax.device_put(jnp.arange(8.0), rows)
    np.testing.assert_array_equal(jax.jit(ops.rowwise)(row), 2 * row)
    assert dump() == "8"


def test_tokens(ops, dump):
    def ordered(x):
        return ops.ordered(jax.lax.create_token(x), x)[1]

    if jax.__version_info__ < (0, 5):
        with pytest.raises(oxcall.CallError, match=r"ordered: .*aborts the process on tokens in custom calls"):
            ordered(jnp.ones(2))
        return
    np.testing.assert_array_equal(jax.jit(ordered)(jnp.ones(2)), [1, 1])
    assert dump() == "tokens"
    with pytest.raises(oxcall.CallError, match="argument `t` has dtype float32, but it takes token"):
        ops.ordered(jnp.ones(2), jnp.ones(2))
    with pytest.raises(oxcall.CallError, match="argument `x` has dtype token, but it takes float32"):
        ops.ordered(jax.lax.create_token(), jax.lax.create_token())


@pytest.mark.parametrize("version", [1, 2, 3])
def test_legacy(ops, version):
    def scale(x):
        return ops.scale(x, factor=3, custom_call_api_version=version)

    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(scale(x), 3 * x)
    np.testing.assert_array_equal(jax.jit(jax.vmap(scale))(x), 3 * x)
    np.testing.assert_array_equal(jax.grad(lambda x: scale(x).sum())(x), np.full((2, 3), 3))
    assert oxcall.last_error() == ""


def test_last_error_is_cleared_by_reading(ops):
    ops.scale(jnp.ones(2), factor=-1.0, custom_call_api_version=1).block_until_ready()
    assert oxcall.last_error() == "scale: negative factor"
    assert oxcall.last_error() == ""


def test_signature_and_doc(ops):
    assert str(inspect.signature(ops.scale)) == "(x, *, factor=2.0, custom_call_api_version=4)"
    text = str(inspect.signature(ops.inspect))
    assert "mode='fast'" in text and "mask=None" in text and "axes=[1, 2]" in text and text.endswith("**attributes)")
    assert str(inspect.signature(ops.total)) == "(bias=None, *xs, out_shape=None)"
    assert "x: T (float32 or float64) [..b, n]" in ops.scale.__doc__
    assert "Multiplies by a factor." in ops.scale.__doc__
    assert "Platforms: Host, CUDA." in ops.inspect.__doc__


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ops, x: ops.scale(), r"scale: got 0 arguments, but it takes 1 \(`x`\)"),
        (
            lambda ops, x: ops.scale(x, x),
            r"scale: got 2 arguments, but it takes 1 \(`x`\); attributes are given by keyword",
        ),
        (lambda ops, x: ops.scale(x.astype(int)), r"argument `x` has dtype int32, but T is float32 or float64"),
        (
            lambda ops, x: ops.total(x, x.astype(jnp.int8)),
            r"argument `xs` has dtype int8, but it takes float32; convert it",
        ),
        (lambda ops, x: ops.scale(None), r"scale: argument `x` is None, but it is required"),
        (lambda ops, x: ops.scale("x"), r"scale: argument `x` is not an array"),
        (lambda ops, x: ops.scale(x, custom_call_api_version=5), r"`custom_call_api_version` is 5; it is 1, 2, 3 or 4"),
    ],
)
def test_mistakes_in_operands(ops, call, message):
    with pytest.raises(oxcall.CallError, match=message):
        call(ops, jnp.ones(2))


def test_a_dtype_that_jax_lacks(ops, monkeypatch):
    def without_float32(name, known=_dtypes.numpy_dtype):
        return None if name == "f32" else known(name)

    x = jnp.ones(3)
    monkeypatch.setattr(_dtypes, "numpy_dtype", without_float32)
    with pytest.raises(
        oxcall.CallError, match=r"the installed JAX has no dtype float32; upgrade `jax` and `ml_dtypes`"
    ):
        ops.scale(x, factor=12.5)


def test_promotion_is_that_of_jax(gallery):
    """The operands of a type parameter, as those of a function of `jax.numpy`."""
    x, w = jnp.arange(6.0).reshape(2, 3), jnp.arange(1.0, 4.0)
    dtypes = [jnp.float16, jnp.bfloat16, jnp.float32, jnp.int8, jnp.int32]
    for a in dtypes:
        for b in dtypes:
            given = x.astype(a), w.astype(b)
            expected = jnp.result_type(*given)
            if not jnp.issubdtype(expected, jnp.floating):
                with pytest.raises(oxcall.CallError, match="weighted_rms_norm: argument `x` has dtype int"):
                    gallery.weighted_rms_norm(*given)
                continue
            for _ in range(2):  # the second call is a remembered one
                found = gallery.weighted_rms_norm(*given)
                assert found.dtype == expected
                np.testing.assert_array_equal(found, gallery.weighted_rms_norm(*(v.astype(expected) for v in given)))
    # Weakly typed arrays take the dtype of the others, as numbers do.
    weak = 2.0 * jnp.asarray(1.0)
    assert weak.weak_type
    for dtype in (jnp.bfloat16, jnp.float16):
        assert gallery.weighted_rms_norm(x.astype(dtype), jnp.broadcast_to(weak, (3,))).dtype == dtype
    # Cotangents have the dtypes of what was given.
    gradients = jax.grad(lambda x, w: gallery.weighted_rms_norm(x, w).sum(), (0, 1))(x.astype(jnp.bfloat16), w)
    assert [gradient.dtype for gradient in gradients] == [jnp.bfloat16, jnp.float32]
    with (
        jax.numpy_dtype_promotion("strict"),
        pytest.raises(
            oxcall.CallError,
            match=r"the arguments `x` \(bfloat16\), `w` \(float32\) have no common dtype, but T is float16",
        ),
    ):
        gallery.weighted_rms_norm(x.astype(jnp.bfloat16), w)


def test_misspelt_operands(gallery):
    x = jnp.ones((2, 3))
    with pytest.raises(
        oxcall.CallError, match=r"unexpected attribute `ww` \(did you mean `w`\?\); its attribute is `eps`"
    ):
        gallery.weighted_rms_norm(x, ww=x[0])
    with pytest.raises(oxcall.CallError, match=r"unexpected attribute `ep` \(did you mean `eps`\?\)"):
        gallery.weighted_rms_norm(x, ep=1)


def test_what_is_updated_in_place_is_not_promoted(gallery):
    x, y = jnp.ones(3), jnp.ones(3, jnp.bfloat16)
    with pytest.raises(
        oxcall.CallError, match=r"axpy: argument `y` is updated in place and has dtype bfloat16, but T is"
    ):
        gallery.axpy(x, y, alpha=1)
    assert gallery.axpy(y, x, alpha=1).dtype == jnp.float32
