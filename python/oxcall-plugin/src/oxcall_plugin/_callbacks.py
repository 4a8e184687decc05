"""Host callbacks: calls of Python functions by programs that run on a plugin.

The plugin knows nothing of Python. It queues the calls, and threads of Python, which are started when the first program
with a callback is lowered, take them from there. The program is suspended meanwhile and holds no thread; so a function
may take its time, wait for other threads, and use JAX, on the plugin too.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_CALL = 1  # the first word of a call; that of a function to be forgotten is 0
_IDLE = 4  # threads that stay when there is nothing to do


class HostBuffer:
    """Memory of a call, as NumPy sees it: what an array of it holds on to."""

    def __init__(self, address: int, size: int, writeable: bool, free: Callable[[], Any] | None):
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (size,),
            "data": (address, not writeable),
        }
        self._free = free

    def __del__(self) -> None:
        if self._free is not None:
            self._free()

    def array(self, dtype: np.dtype[Any], shape: Sequence[int]) -> np.ndarray[Any, Any]:
        """The memory as an array."""
        return np.asarray(self).view(dtype).reshape(shape)


class Callback:
    """A function, and how its arrays look.

    Attributes:
        function: takes a list of operands, and gives arrays; with ``in_place``, it also takes the results and gives
            nothing.
        operands: the operands' dtypes.
        results: the results' dtypes.
        in_place: whether it works on the program's own memory.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        operands: Sequence[np.dtype[Any]],
        results: Sequence[np.dtype[Any]],
        in_place: bool = False,
    ):
        self.function = function
        self.operands = tuple(operands)
        self.results = tuple(results)
        self.in_place = in_place


class Callbacks:
    """The functions that the programs of one plugin call."""

    def __init__(self, library: ctypes.CDLL):
        self._add = library.oxcall_plugin_callback_add
        self._add.restype, self._add.argtypes = ctypes.c_uint64, (ctypes.c_char_p,)
        self._drop = library.oxcall_plugin_callback_drop
        self._drop.restype, self._drop.argtypes = ctypes.c_uint32, (ctypes.c_uint64,)
        self._next = library.oxcall_plugin_callback_next
        self._next.restype, self._next.argtypes = ctypes.c_size_t, (ctypes.c_void_p, ctypes.c_size_t)
        self._free = library.oxcall_plugin_callback_free
        self._free.restype, self._free.argtypes = None, (ctypes.c_size_t,)
        self._finish = library.oxcall_plugin_callback_finish
        self._finish.restype = None
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        self._finish.argtypes = (ctypes.c_uint64, pointer, pointer, size, ctypes.c_char_p)
        self._close = library.oxcall_plugin_callback_close
        self._close.restype, self._close.argtypes = ctypes.c_double, ()
        self._functions: dict[int, Callback] = {}
        self._lock = threading.Lock()
        self._idle = 0
        self._serves = False
        self._threads: set[threading.Thread] = set()

    def add(self, callback: Callback, name: str) -> tuple[int, Any]:
        """The number by which programs call a function, and an object that a program to be compiled keeps.

        Once that object is gone, the function lives as long as compiled programs that call it.
        """
        self._start()
        number = self._add(name.encode(errors="replace"))
        self._functions[number] = callback
        kept = _Kept()
        weakref.finalize(kept, self._forget, number).atexit = False
        return number, kept

    def _forget(self, number: int) -> None:
        if self._drop(number):
            self._functions.pop(number, None)

    def _start(self) -> None:
        with self._lock:
            if self._serves:
                return
            self._serves = True
            self._idle += 1
        atexit.register(self._end)
        os.register_at_fork(after_in_child=self._forked)
        self._thread()

    def _forked(self) -> None:
        # Threads are not copied; the child starts its own when it lowers a program with callbacks.
        self._lock = threading.Lock()
        self._idle, self._serves = 0, False
        self._threads = set()

    def _end(self) -> None:
        # JAX waits for effects that are under way when Python ends, but later than this.
        _wait_for_effects()
        limit = self._close()
        # Python stops threads that still run when it ends. Amid a destructor of jaxlib's arrays, that would abort the
        # process: so they have to end before, unless there is a limit for functions that never do.
        until = time.monotonic() + limit
        for thread in list(self._threads):
            thread.join(min(max(until - time.monotonic(), 0.0), threading.TIMEOUT_MAX))

    def _thread(self) -> None:
        # A thread of Python's own, which Python may stop while it waits: no frame of the plugin is below.
        thread = threading.Thread(target=self._run, name="oxcall-callback", daemon=True)
        self._threads.add(thread)
        try:
            thread.start()
        except RuntimeError:
            self._threads.discard(thread)
            raise

    def _run(self) -> None:
        try:
            self._serve()
        finally:
            self._threads.discard(threading.current_thread())

    def _serve(self) -> None:
        words = (ctypes.c_int64 * 64)()
        while count := self._next(words, len(words)):
            if count > len(words):
                words = (ctypes.c_int64 * count)()
                continue
            item = words[:count]
            if item[0] != _CALL:
                self._functions.pop(item[1], None)
                continue
            self._leave_another()
            self._answer(item)
            with self._lock:
                if self._idle >= _IDLE:
                    return
                self._idle += 1

    def _leave_another(self) -> None:
        """Keeps one thread waiting for calls: the call that this thread is about to make may wait for another one."""
        with self._lock:
            self._idle -= 1
            start = self._idle == 0
            self._idle += start
        if start:
            try:
                self._thread()
            except RuntimeError:  # Python is about to end
                with self._lock:
                    self._idle -= 1

    def _answer(self, item: list[int]) -> None:
        call = item[1]
        try:
            outputs = self._call(item)
            addresses = (ctypes.c_void_p * len(outputs))(*[_address(output) for output in outputs])
            lengths = (ctypes.c_size_t * len(outputs))(*[output.nbytes for output in outputs])
            self._finish(call, addresses, lengths, len(outputs), None)
        except BaseException as error:  # whatever it is, the program has to hear of it
            in_place = getattr(self._functions.get(item[2]), "in_place", False)
            what = "Error when calling buffer callback" if in_place else "CpuCallback error calling callback"
            text = f"{what}: {''.join(traceback.format_exception(error))}"
            self._finish(call, None, None, 0, text.encode(errors="replace").replace(b"\0", b"\\0"))

    def _call(self, item: list[int]) -> list[np.ndarray[Any, Any]]:
        _, _, number, _device, num_operands, _num_results = item[:6]
        callback = self._functions[number]
        dtypes = (*callback.operands, *callback.results)
        arrays: list[np.ndarray[Any, Any]] = []
        at = 6
        for index, dtype in enumerate(dtypes):
            _code, handle, address, size, rank = item[at : at + 5]
            shape = item[at + 5 : at + 5 + rank]
            at += 5 + rank
            if handle:
                arrays.append(HostBuffer(address, size, False, _Freer(self._free, handle)).array(dtype, shape))
            elif callback.in_place:
                arrays.append(HostBuffer(address, size, index >= num_operands, None).array(dtype, shape))
        if callback.in_place:
            callback.function(arrays[:num_operands], arrays[num_operands:])
            return []
        return [np.asarray(output, order="C") for output in callback.function(arrays)]


class _Kept:
    """The objects that a program lowered with a function keeps alive."""


class _Freer:
    """Gives memory back."""

    __slots__ = ("_free", "_handle")

    def __init__(self, free: Callable[[int], None], handle: int):
        self._free, self._handle = free, handle

    def __call__(self) -> None:
        self._free(self._handle)


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _wait_for_effects() -> None:
    try:
        from jax._src import dispatch

        dispatch.runtime_tokens.block_until_ready()
    except Exception:  # JAX tells of it when it waits for them itself
        return
