"""`jax.dlpack` with memory that cannot be used as it is."""

import jax
import ml_dtypes
import numpy as np
import pytest

ALIGNMENT = 64


def placed(dtype, offset):
    """Six elements, `offset` bytes behind a multiple of the alignment of arrays."""
    memory = np.zeros(6 * np.dtype(dtype).itemsize + 2 * ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT + offset
    array = memory[start:][: 6 * np.dtype(dtype).itemsize].view(dtype).reshape(2, 3)
    array[...] = np.arange(6).reshape(2, 3) % 3
    return array


@pytest.mark.parametrize("copy", [None, True])
@pytest.mark.parametrize("offset", [0, 16])
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint16", "complex64", "bool"])
def test_arrays_of_numpy(dtype, offset, copy):
    x = placed(dtype, offset)
    y = jax.dlpack.from_dlpack(x, copy=copy)
    np.testing.assert_array_equal(y, x)
    assert y.dtype == dtype
    if offset:
        assert y.unsafe_buffer_pointer() != x.ctypes.data


def test_strides_are_followed():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    for view in (x.T, x[:0]):
        np.testing.assert_array_equal(jax.dlpack.from_dlpack(view, copy=True), view)


def test_never_copying_is_refused():
    with pytest.raises(ValueError, match="is not aligned to 64 bytes"):
        jax.dlpack.from_dlpack(placed("float32", 16), copy=False)


def test_elements_that_numpy_does_not_have():
    if jax.default_backend() != "cpu":
        pytest.skip("JAX's DLPack takes arrays of its own platforms only")
    x = jax.numpy.arange(5, dtype=ml_dtypes.bfloat16)
    for copy in (None, True):
        y = jax.dlpack.from_dlpack(x, copy=copy)
        assert y.dtype == x.dtype
        np.testing.assert_array_equal(y, x)
