"""Arrays of one device: deletion, donation, copies, layouts."""

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.layout import Format, Layout
from jax.sharding import SingleDeviceSharding

X = np.arange(6, dtype=np.float32).reshape(2, 3)


def pointer(array):
    return array.unsafe_buffer_pointer()


def test_an_array_that_numpy_has_seen_is_not_donated():
    increment = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = jax.device_put(X)
    seen = np.asarray(x)
    np.testing.assert_array_equal(increment(x), X + 1)
    np.testing.assert_array_equal(seen, X)
    assert not x.is_deleted()
    unseen = jax.device_put(X)
    np.testing.assert_array_equal(increment(unseen), X + 1)
    assert unseen.is_deleted()


@pytest.mark.parametrize(
    ("donated", "message"),
    [
        ((0, 1), r"donate the same buffer twice in Execute\(\) \(flattened argument 1, replica 0, partition 0"),
        ((0,), r"use a buffer that was previously donated in the same call .* partition 0, first use: 0\)"),
        ((1,), r"donate a buffer which is also used by the same call"),
    ],
)
def test_one_array_is_not_donated_and_used(donated, message):
    x = jax.device_put(X)
    with pytest.raises(jax.errors.JaxRuntimeError, match=message):
        jax.jit(lambda x, y: (x + y, x - y), donate_argnums=donated)(x, x)
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda x: x + 1, RuntimeError, r"Array has been deleted with shape=float32\[2,3\]"),
        (np.asarray, RuntimeError, r"Array has been deleted"),
        (lambda x: jax.jit(lambda x: x)(x), RuntimeError, r"Array has been deleted"),
        (lambda x: jax.device_put(x, jax.devices()[1]), RuntimeError, r"Array has been deleted"),
        (lambda x: x.block_until_ready(), RuntimeError, r"deleted or donated|has been deleted"),
    ],
)
def test_deleted_arrays_cannot_be_used(use, error, message):
    x = jax.device_put(X)
    x.delete()
    assert x.is_deleted()
    assert x.shape == (2, 3)
    with pytest.raises(error, match=message):
        use(x)


def test_arrays_share_memory_only_where_they_may():
    x = jax.device_put(X, jax.devices()[0])
    here = x.devices().pop()
    assert pointer(jax.device_put(x, here)) == pointer(x)
    assert pointer(jax.device_put(x, here, may_alias=True)) == pointer(x)
    copy = jax.device_put(x, here, may_alias=False)
    assert pointer(copy) != pointer(x)
    np.testing.assert_array_equal(copy, X)
    assert pointer(x.copy()) != pointer(x)
    with pytest.raises(ValueError, match="may_alias and donate"):
        jax.device_put(x, here, donate=True, may_alias=True)


def test_a_copy_waits_for_what_it_copies():
    x = jax.jit(lambda x: jax.pure_callback(lambda x: np.asarray(x) * 2, jax.ShapeDtypeStruct((2, 3), np.float32), x))(
        X
    )
    copy = jax.device_put(x, x.devices().pop(), may_alias=False)
    np.testing.assert_array_equal(copy, X * 2)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_layouts_change_the_order_of_elements_alone(order):
    y = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    form = Format(Layout(major_to_minor=order), SingleDeviceSharding(jax.devices()[0]))
    x = jax.device_put(y, form)
    assert x.format.layout.major_to_minor == order
    np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(x.sum(0), y.sum(0))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)), y)
    doubled = jax.jit(lambda x: 2 * x, out_shardings=form, donate_argnums=0)(x)
    assert doubled.format.layout.major_to_minor == order
    np.testing.assert_array_equal(doubled, 2 * y)


def test_committed_arrays_stay_on_their_device():
    here, there = jnp.ones(3), jax.device_put(np.ones(3, np.float32), jax.devices()[3])
    assert (here.committed, there.committed) == (False, True)
    assert (here + there).devices() == {jax.devices()[3]}
    with pytest.raises(ValueError, match="incompatible devices for jitted computation"):
        jax.device_put(here, jax.devices()[0]) + there
    with jax.default_device(jax.devices()[2]):
        assert jax.jit(lambda: jnp.arange(3))().devices() == {jax.devices()[2]}


def test_what_frees_an_array_frees_it_at_once():
    before = len(jax.live_arrays())
    x = jnp.arange(3) + 1
    assert len(jax.live_arrays()) == before + 1
    del x
    assert len(jax.live_arrays()) == before
