"""Arrays of devices that use this machine's memory, shared with other libraries by DLPack and never copied.

JAX's own DLPack serves the platforms that it lists. Here the memory is what `numpy.asarray` shows of an array, which
JAX does not copy for such a device.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

_CPU = (1, 0)
_VERSION = (1, 0)
_READ_ONLY = 1
_OLD, _NEW = b"dltensor", b"dltensor_versioned"

# DLPack's codes of kinds of elements.
_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_EXTENDED = {
    "bfloat16": 4,
    "float8_e3m4": 7,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 9,
    "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11,
    "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
    "float8_e8m0fnu": 14,
}


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class _DataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    """`DLManagedTensor`."""

    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):
    """`DLManagedTensorVersioned`."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


# What tensors that are out there refer to, by the number in their context.
_exported: dict[int, Any] = {}
_numbers = itertools.count(1)


def _forget(kind: type[_Managed] | type[_Versioned]) -> Callable[[int], None]:
    def deleter(address: int) -> None:
        _exported.pop(kind.from_address(address).context, None)

    return ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)


_delete = {kind: _forget(kind) for kind in (_Managed, _Versioned)}

_api = ctypes.pythonapi
_capsule_new = _api.PyCapsule_New
_capsule_new.restype, _capsule_new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_capsule_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy(capsule: int) -> None:
    """A capsule that still owns its tensor: a consumer renames the capsule."""
    for name, kind in ((_OLD, _Managed), (_NEW, _Versioned)):
        if _capsule_is_valid(capsule, name):
            _delete[kind](_capsule_pointer(capsule, name))


class DLPackArray:
    """The result of :func:`to_dlpack`: an object that `numpy.from_dlpack` and `torch.from_dlpack` take."""

    def __init__(self, array: np.ndarray[Any, Any]):
        self._array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule that holds a tensor, as the DLPack protocol has it."""
        if stream is not None:
            raise BufferError("memory of the CPU has no streams")
        if dl_device is not None and tuple(map(int, dl_device)) != _CPU:
            raise BufferError(f"the memory is the CPU's; it cannot be shared as that of device {dl_device}")
        array = self._array.copy() if copy else self._array
        versioned = max_version is not None and tuple(max_version) >= _VERSION
        kind, name = (_Versioned, _NEW) if versioned else (_Managed, _OLD)
        managed = kind()
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        strides = (ctypes.c_int64 * array.ndim)(*(stride // array.itemsize for stride in array.strides))
        tensor = managed.tensor
        tensor.data = array.__array_interface__["data"][0]
        tensor.device = _Device(*_CPU)
        tensor.ndim = array.ndim
        tensor.dtype = _data_type(array.dtype)
        tensor.shape, tensor.strides = shape, strides
        if versioned:
            managed.major, managed.minor = _VERSION
            managed.flags = 0 if copy else _READ_ONLY
        managed.context = next(_numbers)
        managed.deleter = ctypes.cast(_delete[kind], ctypes.c_void_p)
        _exported[managed.context] = (managed, shape, strides, array)
        return _capsule_new(ctypes.addressof(managed), name, ctypes.cast(_destroy, ctypes.c_void_p))


def array_of(capsule: Any) -> np.ndarray[Any, Any]:
    """The elements of a tensor that its capsule still owns: a view, valid as long as the capsule lives."""
    for name, kind in ((_OLD, _Managed), (_NEW, _Versioned)):
        if _capsule_is_valid(id(capsule), name):
            tensor = kind.from_address(_capsule_pointer(id(capsule), name)).tensor
            break
    else:
        raise BufferError("the tensor has been taken out of its capsule")
    dtype = _dtype(tensor.dtype)
    shape = tuple(tensor.shape[: tensor.ndim])
    if tensor.device.type != _CPU[0]:
        raise BufferError(f"the memory is that of a device of DLPack's type {tensor.device.type}, not of the CPU")
    if 0 in shape:
        return np.empty(shape, dtype)
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else _dense(shape)
    # Strides may be negative: the elements lie on both sides of the first one.
    first = (tensor.data or 0) + tensor.byte_offset
    spans = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    before, after = (sum(span for span in spans if (span < 0) == negative) for negative in (True, False))
    size = (after - before + 1) * dtype.itemsize
    memory = (ctypes.c_uint8 * size).from_address(first + before * dtype.itemsize)
    offset = -before * dtype.itemsize
    return np.ndarray(shape, dtype, memory, offset, [stride * dtype.itemsize for stride in strides])


def _dense(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(np.prod(shape[dim + 1 :])) for dim in range(len(shape)))


def _dtype(data_type: _DataType) -> np.dtype[Any]:
    import ml_dtypes

    for name, code in _EXTENDED.items():
        if code == data_type.code and hasattr(ml_dtypes, name):
            return np.dtype(getattr(ml_dtypes, name))
    for kind, code in _KINDS.items():
        if code == data_type.code and data_type.lanes == 1:
            return np.dtype(np.bool_ if kind == "b" else f"{kind}{data_type.bits // 8}")
    raise BufferError(f"elements of DLPack's type {data_type.code} with {data_type.bits} bits are not supported")


def _data_type(dtype: np.dtype[Any]) -> _DataType:
    if (code := _EXTENDED.get(dtype.name)) is None and dtype.isbuiltin == 1:
        code = _KINDS.get(dtype.kind)
    if code is None:
        raise BufferError(f"DLPack has no elements of {dtype.name}")
    return _DataType(code, 8 * dtype.itemsize, 1)


def to_dlpack(x: Any) -> DLPackArray:
    """A JAX array of this machine's memory as an object that other libraries take by DLPack, without a copy.

    Nobody may write to the memory, which is kept until the last tensor on it is gone; the array cannot be donated
    meanwhile::

        tensor = torch.from_dlpack(oxcall.to_dlpack(x))
        array = numpy.from_dlpack(oxcall.to_dlpack(x))

    Args:
        x: a `jax.Array` on one device.

    Raises:
        BufferError: it is not in this machine's memory, or on several devices.
    """
    import jax

    if not isinstance(x, jax.Array) or isinstance(x, jax.core.Tracer):
        raise TypeError(f"`to_dlpack` takes a jax.Array, not {type(x).__name__}")
    if len(x.devices()) != 1:
        raise BufferError(f"the array lies on {len(x.devices())} devices; share each of its `addressable_shards`")
    array = np.asarray(x)
    _data_type(array.dtype)
    if x.size and array.__array_interface__["data"][0] != x.addressable_data(0).unsafe_buffer_pointer():
        (device,) = x.devices()
        raise BufferError(f"the array on {device} is not in this machine's memory, so that it cannot be shared")
    return DLPackArray(array)


def from_dlpack(external: Any, device: Any = None, *, copy: bool | None = None) -> Any:
    """A JAX array on memory of another library, which gives it by DLPack.

    Args:
        external: an object with `__dlpack__`, such as a `torch.Tensor` or a `numpy.ndarray` on the CPU. Nobody may
            write to its memory while the array lives.
        device: where the array is to be, by default JAX's default device.
        copy: whether the elements are copied: `True`, always; `False`, never; `None`, if they have to be, since the
            memory does not start at a multiple of 64 bytes, its elements are not dense, or the device has memory of its
            own.

    Raises:
        BufferError: `copy` is `False`, and the elements have to be copied.
    """
    import jax

    from oxcall import _jax

    device = device or _jax.default_device()
    if not copy:
        try:
            return _jax.view_of_dlpack(external, device)
        except Exception as error:  # jaxlib has several types for what it cannot do
            if copy is False:
                raise BufferError(f"the elements cannot be used where they are: {error}") from error
    return jax.device_put(np.array(_as_numpy(external)), device)


def _as_numpy(external: Any) -> Any:
    if isinstance(external, np.ndarray):
        return external
    try:
        return np.from_dlpack(external)
    except (BufferError, RuntimeError):  # NumPy's DLPack lacks bfloat16 and its like
        import jax

        return np.asarray(jax.dlpack.from_dlpack(external))
