"""Arrays that share memory with NumPy, torch and each other, and donation."""

import copy
import gc
import importlib.util
import pickle

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import oxcall

pytestmark = pytest.mark.usefixtures("on_plugin")
X = np.arange(24, dtype=np.float32).reshape(4, 6)


def address(array):
    """Where the elements of a NumPy array lie."""
    return array.__array_interface__["data"][0]


def aligned(shape, dtype=np.float32):
    """An array of NumPy that starts at a multiple of 64 bytes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -address(memory) % 64
    return memory[start : start + size].view(dtype).reshape(shape)


@pytest.mark.parametrize("dtype", ["float32", "bool", "float8_e5m2", "bfloat16", "complex128"])
def test_numpy_sees_the_memory_itself(on_plugin, dtype):
    x = jax.device_put(X.astype(getattr(ml_dtypes, dtype, dtype)), on_plugin)
    seen = np.asarray(x)
    assert address(seen) == x.unsafe_buffer_pointer() == address(np.asarray(x)) and not seen.flags.writeable
    assert address(np.array(x)) != address(seen)
    np.testing.assert_array_equal(seen, X.astype(seen.dtype))
    del x
    gc.collect()
    np.testing.assert_array_equal(seen, X.astype(seen.dtype))
    with pytest.raises(ValueError, match="read-only"):
        seen[0, 0] = 1


def test_the_memory_of_a_deleted_array_lives_as_long_as_it_is_seen(on_plugin):
    x = jax.device_put(X, on_plugin)
    seen = np.asarray(x)
    x.delete()
    others = [jnp.full(X.shape, i) for i in range(20)]
    np.testing.assert_array_equal(seen, X)
    del others


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint16", "bool", "float16", "complex64", "float64"])
def test_to_numpy_by_dlpack(on_plugin, dtype):
    x = jax.device_put(X.astype(dtype), on_plugin)
    shared = np.from_dlpack(oxcall.to_dlpack(x))
    assert address(shared) == x.unsafe_buffer_pointer() and shared.dtype == dtype
    del x
    gc.collect()
    np.testing.assert_array_equal(shared, X.astype(dtype))


def test_capsules_own_what_they_hold(on_plugin):
    from oxcall import _dlpack

    before = len(_dlpack._exported)
    x = jax.device_put(X, on_plugin)
    exported = oxcall.to_dlpack(x)
    assert exported.__dlpack_device__() == (1, 0)
    for version in (None, (0, 8), (1, 0), (1, 1)):
        capsule = exported.__dlpack__(max_version=version)
        assert ("versioned" in repr(capsule)) == (version is not None and version >= (1, 0))
        assert len(_dlpack._exported) == before + 1
        del capsule  # nobody took the tensor out
        assert len(_dlpack._exported) == before
    copied = np.from_dlpack(exported, copy=True)
    assert address(copied) != x.unsafe_buffer_pointer()
    for wrong in ({"stream": 1}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            exported.__dlpack__(**wrong)


def test_what_is_shared_is_not_donated(on_plugin):
    x = jax.device_put(X, on_plugin)
    shared = np.from_dlpack(oxcall.to_dlpack(x))
    increment = jax.jit(lambda x: x + 1, donate_argnums=0)
    np.testing.assert_array_equal(increment(x), X + 1)
    np.testing.assert_array_equal(shared, X)


def test_what_cannot_be_shared_is_an_error(on_plugin):
    with pytest.raises(TypeError, match=r"takes a jax.Array, not ndarray"):
        oxcall.to_dlpack(X)
    with pytest.raises(TypeError, match=r"takes a jax.Array"):
        jax.jit(oxcall.to_dlpack)(X)
    with pytest.raises(BufferError, match="DLPack has no elements of int4"):
        np.from_dlpack(oxcall.to_dlpack(jax.device_put(X.astype(ml_dtypes.int4), on_plugin)))


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint64", "bool", "complex128", "float16"])
def test_from_numpy_by_dlpack(on_plugin, dtype):
    source = aligned((4, 6), dtype)
    source[...] = X.astype(dtype)
    x = oxcall.from_dlpack(source, copy=False)
    assert x.devices() == {on_plugin} and x.unsafe_buffer_pointer() == address(source) and x.dtype == dtype
    y = jax.jit(lambda x: x.reshape(-1)[::-1])(x)
    np.testing.assert_array_equal(y, X.astype(dtype).reshape(-1)[::-1])
    # Memory of somebody else is not written, even if the array is donated.
    changed = jax.jit(lambda x: jnp.where(x == 0, x[0, 1], x * 0), donate_argnums=0)(x)
    assert changed[0, 0] == 1
    np.testing.assert_array_equal(source, X.astype(dtype))


def test_the_source_lives_as_long_as_the_array(on_plugin):
    import weakref

    source = aligned((4, 6))
    source[...] = X
    base = weakref.ref(source.base)
    x = oxcall.from_dlpack(source, copy=False)
    view = np.asarray(x)
    del source
    gc.collect()
    assert base() is not None
    np.testing.assert_array_equal(x, X)
    del x, view
    gc.collect()
    assert base() is None


def test_memory_that_cannot_be_used_is_copied(on_plugin):
    misaligned = aligned((25,))[1:].reshape(4, 6)
    strided = aligned((4, 12))[:, ::2]
    for source in (misaligned, strided):
        source[...] = X
        x = oxcall.from_dlpack(source)
        assert x.devices() == {on_plugin}
        source[...] = 0
        np.testing.assert_array_equal(x, X)
        with pytest.raises(BufferError, match="cannot be used where they are"):
            oxcall.from_dlpack(source, copy=False)
    whole = aligned((4, 6))
    assert oxcall.from_dlpack(whole, copy=True).unsafe_buffer_pointer() != address(whole)


def test_jax_arrays_of_the_cpu_are_shared(on_plugin):
    theirs = jax.device_put(np.arange(100.0), jax.devices("cpu")[0])
    ours = oxcall.from_dlpack(theirs, copy=False)
    assert ours.devices() == {on_plugin} and ours.unsafe_buffer_pointer() == theirs.unsafe_buffer_pointer()
    back = oxcall.from_dlpack(oxcall.to_dlpack(ours), jax.devices("cpu")[0])
    np.testing.assert_array_equal(back, theirs)


# A folder of tests beside this one is called `torch`.
HAS_TORCH = (spec := importlib.util.find_spec("torch")) is not None and spec.origin is not None


@pytest.mark.skipif(not HAS_TORCH, reason="needs torch")
def test_torch(on_plugin):
    import torch

    x = jax.device_put(X, on_plugin)
    tensor = torch.from_dlpack(oxcall.to_dlpack(x))
    assert tensor.data_ptr() == x.unsafe_buffer_pointer()
    np.testing.assert_array_equal(tensor.numpy(), X)
    half = torch.from_dlpack(oxcall.to_dlpack(x.astype(jnp.bfloat16)))
    assert half.dtype == torch.bfloat16 and half[3, 5] == 23
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool):
        source = torch.ones(8, 8, dtype=dtype)
        ours = oxcall.from_dlpack(source, copy=False)
        assert ours.unsafe_buffer_pointer() == source.data_ptr() and bool((ours == 1).all())


DONATIONS = {
    "argnums": lambda: jax.jit(lambda x, y: x + y, donate_argnums=0),
    "argnames": lambda: jax.jit(lambda x, y: x + y, donate_argnames="x"),
    "shapes": lambda: jax.jit(lambda x, y: (x + y).reshape(6, 4), donate_argnums=(0,)),
}


@pytest.mark.parametrize("how", DONATIONS)
def test_donation(on_plugin, how):
    x, y = (jax.device_put(X, on_plugin) for _ in range(2))
    pointer = x.unsafe_buffer_pointer()
    result = DONATIONS[how]()(x=x, y=y) if how == "argnames" else DONATIONS[how]()(x, y)
    np.testing.assert_array_equal(np.asarray(result).reshape(4, 6), X * 2)
    assert x.is_deleted() and not y.is_deleted()
    if how != "shapes":
        assert result.unsafe_buffer_pointer() == pointer
    with pytest.raises(RuntimeError, match="deleted"):
        x + 1


def test_device_put_that_donates_or_aliases(on_plugin):
    x = jax.device_put(X, on_plugin)
    pointer = x.unsafe_buffer_pointer()
    moved = jax.device_put(x, on_plugin, donate=True)
    np.testing.assert_array_equal(moved, X)
    same = jax.device_put(moved, on_plugin, may_alias=True)
    assert same.unsafe_buffer_pointer() == moved.unsafe_buffer_pointer() == pointer
    other = jax.device_put(moved, on_plugin, may_alias=False)
    np.testing.assert_array_equal(other, X)
    moved.delete()
    np.testing.assert_array_equal(other, X)


def test_copies_and_pickles(on_plugin):
    x = jax.device_put(X, on_plugin)
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.copy(), jnp.array(x)):
        assert other is not x
        np.testing.assert_array_equal(other, X)
    assert jnp.asarray(x) is x
    assert copy.deepcopy(x).devices() == {on_plugin}
    assert x.copy().unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    key = jax.random.key(3)
    np.testing.assert_array_equal(jax.random.key_data(copy.deepcopy(key)), jax.random.key_data(key))


def test_python_protocols(on_plugin):
    x = jax.device_put(X, on_plugin)
    assert x.tolist() == X.tolist() and float(x[1, 2]) == 8.0 and int(x[0, 1]) == 1 and len(x) == 4
    assert [row.sum() for row in x] == [row.sum() for row in X] and 5.0 in x[0]
    assert memoryview(x).shape == (4, 6) if hasattr(type(x), "__buffer__") else True
    assert x.addressable_shards[0].data.unsafe_buffer_pointer() == x.unsafe_buffer_pointer()
    assert (x.is_fully_addressable, x.nbytes, x.on_device_size_in_bytes()) == (True, 96, 96)
    assert np.add(x, 1).dtype == np.float32 and (np.ones((4, 6), np.float32) @ x.T).shape == (4, 4)
