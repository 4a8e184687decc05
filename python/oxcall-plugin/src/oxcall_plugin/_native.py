"""The C functions of a plugin's library besides PJRT's, over ctypes."""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Mapping
from typing import Any

from oxcall._errors import LoadError
from oxcall._library_file import check, refusal
from oxcall_plugin._errors import PluginError, PluginWarning

_STAGES = ("instantiate", "prepare", "initialize", "execute")


class NativePlugin:
    """A loaded plugin.

    Attributes:
        name: the name of the platform that the library was built with.
    """

    def __init__(self, path: str):
        if not os.path.exists(path):
            raise PluginError(
                f"there is no plugin at {path}: install `oxcall-plugin` as a wheel, or set OXCALL_PLUGIN_LIBRARY to "
                "the library that `cargo build --release -p oxcall-plugin-bundled` makes"
            )
        try:
            check(path)
        except LoadError as error:
            raise PluginError(str(error)) from None
        try:
            self._library = ctypes.CDLL(path)
        except OSError as error:
            raise PluginError(f"{path} cannot be loaded: {refusal(error, path, path)}") from None
        try:
            name = self._library.oxcall_plugin_name
            self._register_handler = self._library.oxcall_plugin_register_handler
            self._register_type = self._library.oxcall_plugin_register_type
            self._check = self._library.oxcall_plugin_check
            self._shadow = self._library.oxcall_plugin_shadow
            self._batch_partitionable = self._library.oxcall_plugin_batch_partitionable
        except AttributeError:
            raise PluginError(
                f"{path} is not a plugin made with `oxcall_plugin::plugin!`: it lacks `oxcall_plugin_name`"
            ) from None
        name.restype = ctypes.c_char_p
        messages = (self._check, self._register_handler, self._register_type, self._shadow, self._batch_partitionable)
        for function in messages:
            function.restype = ctypes.c_char_p
        self._register_handler.argtypes = [ctypes.c_char_p, *[ctypes.c_void_p] * 4, ctypes.c_int, ctypes.c_uint32]
        self._shadow.argtypes = [ctypes.c_char_p]
        self._batch_partitionable.argtypes = [ctypes.c_char_p]
        self._register_type.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]
        self.name = name().decode()
        _raise(self._check())

    def callbacks(self) -> Any:
        """The server of calls of Python functions by this plugin's programs."""
        from oxcall_plugin._callbacks import Callbacks

        return Callbacks(self._library)

    def register_handler(self, name: str, stages: Mapping[str, int], api_version: int, traits: int) -> None:
        """Registers a handler by the addresses of its stages; legacy ones have `execute` only.

        Handlers that are compiled into the plugin, and those of the libraries that it loads, come first.
        """
        if unknown := sorted(set(stages) - set(_STAGES) - {"record"}):
            raise PluginError(f"the handler `{name}` has the stages {unknown}; there are {', '.join(_STAGES)}")
        addresses = [stages.get(stage) for stage in _STAGES]
        _raise(self._register_handler(name.encode(), *addresses, api_version, traits))
        if api_version > 0 and (text := self._shadow(name.encode())):
            warnings.warn(text.decode(), PluginWarning, stacklevel=2)

    def register_batch_partitionable(self, name: str) -> None:
        """Says that calls of a handler have batch dimensions, and may be called with a part of them."""
        _raise(self._batch_partitionable(name.encode()))

    def register_type(self, name: str, type_id: int, type_info: int | None) -> None:
        """Registers a type of states or user data: the id at this address is set, or its value taken."""
        _raise(self._register_type(name.encode(), type_id, type_info))


def _raise(message: bytes | None) -> None:
    if message:
        raise PluginError(message.decode())
