"""The C boundary of an op library, over ctypes. Nothing here needs JAX."""

from __future__ import annotations

import ctypes
import functools
import json
from typing import Any

from oxcall._errors import LoadError
from oxcall._image import Image, not_a_library
from oxcall._manifest import OpInfo, read_op

ABI_VERSION = 1

# The function that every library exports.
ENTRY = "oxcall_library"

_SINK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Span(ctypes.Structure):
    """UTF-8 text, not NUL-terminated."""

    _fields_ = (("ptr", ctypes.c_void_p), ("len", ctypes.c_size_t))

    def text(self) -> str:
        return ctypes.string_at(self.ptr, self.len).decode() if self.ptr and self.len else ""


class Handler(ctypes.Structure):
    """One implementation of an operation for one platform: entry points as addresses, ``None`` where absent."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("name", Span),
        ("platform", Span),
        ("api_version", ctypes.c_uint32),
        ("traits", ctypes.c_uint32),
        ("instantiate", ctypes.c_void_p),
        ("prepare", ctypes.c_void_p),
        ("initialize", ctypes.c_void_p),
        ("execute", ctypes.c_void_p),
        ("record", ctypes.c_void_p),
        ("cpu_v1", ctypes.c_void_p),
        ("cpu_v2", ctypes.c_void_p),
        ("cpu_v3", ctypes.c_void_p),
        ("gpu_v1", ctypes.c_void_p),
        ("gpu_v2", ctypes.c_void_p),
    )


class LibraryTable(ctypes.Structure):
    """The table that ``oxcall_library()`` returns."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("abi_version", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("num_handlers", ctypes.c_size_t),
        ("handlers", ctypes.POINTER(ctypes.POINTER(Handler))),
        ("manifest", Span),
    )


class NativeLibrary:
    """An op library that is loaded into the process. It is never unloaded: jitted code holds its addresses."""

    def __init__(self, image: Image):
        """Loads an image.

        Raises:
            LoadError: the dynamic linker refuses it, it is not an oxcall library, or it speaks another version of the
                boundary.
        """
        self.image = image
        self.path = image.shown
        self._dll = image.open()
        try:
            entry = self._dll.oxcall_library
        except AttributeError:
            raise not_a_library(self.path, ENTRY) from None
        entry.argtypes = ()
        entry.restype = ctypes.POINTER(LibraryTable)
        table = entry()
        if not table:
            raise LoadError(f"{self.path}: `oxcall_library` returned a null pointer; the library is broken.")
        self._check(table.contents)
        count, pointers = table.contents.num_handlers, table.contents.handlers
        if count and not (pointers and all(pointers[i] for i in range(count))):
            raise LoadError(f"{self.path}: its table of {count} handlers has a null pointer; the library is broken.")
        self.handlers = [pointers[i].contents for i in range(count)]
        for handler in self.handlers:
            if handler.struct_size < ctypes.sizeof(Handler):
                raise self._too_old(f"a handler record has {handler.struct_size} bytes")
        self.manifest: dict[str, Any] = self._manifest(table.contents)
        self.ops: list[OpInfo] = []
        for index, entry in enumerate(self.manifest["ops"]):
            try:
                self.ops.append(read_op(index, entry))
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise LoadError(
                    f"{self.path}: op {index} of the manifest is not as version {ABI_VERSION} of the library boundary "
                    f"has it ({type(error).__name__}: {error}); the library is broken."
                ) from error

    def _check(self, table: LibraryTable) -> None:
        if table.abi_version > ABI_VERSION:
            raise LoadError(
                f"{self.path} was built with a newer oxcall: version {table.abi_version} of the library boundary, and "
                f"this package reads version {ABI_VERSION}. Upgrade it with `pip install --upgrade oxcall`."
            )
        if table.abi_version < ABI_VERSION:
            raise self._too_old(f"version {table.abi_version} of the library boundary")
        if table.struct_size < ctypes.sizeof(LibraryTable):
            raise self._too_old(f"its library record has {table.struct_size} bytes")

    def _too_old(self, detail: str) -> LoadError:
        return LoadError(
            f"{self.path} was built with an older oxcall that this package no longer reads ({detail}; it "
            f"reads version {ABI_VERSION}). Update the `oxcall` crate with `cargo update -p oxcall` and rebuild the "
            "library."
        )

    def _manifest(self, table: LibraryTable) -> dict[str, Any]:
        try:
            manifest = json.loads(table.manifest.text())
        except ValueError as error:
            raise LoadError(f"{self.path}: the manifest is not valid JSON ({error}); the library is broken.") from error
        if not isinstance(manifest, dict) or not isinstance(manifest.get("ops"), list):
            raise LoadError(f"{self.path}: the manifest has no list of `ops`; the library is broken.")
        if len(manifest["ops"]) != len(self.handlers):
            raise LoadError(
                f"{self.path}: the manifest lists {len(manifest['ops'])} ops, but the handler table has "
                f"{len(self.handlers)}; the library is broken."
            )
        return manifest

    @functools.cached_property
    def _infer(self) -> Any:
        return self._answering("oxcall_infer", None, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)

    def _answering(self, name: str, result: Any, *arguments: Any) -> Any:
        """A function of the library that answers by calling Python.

        It is called with Python's lock. Without, it would take the lock in its callback, with frames of the library
        below: where Python has begun to end, it ends such a thread, and frames of Rust cannot be unwound.
        """
        return ctypes.PYFUNCTYPE(result, *arguments, _SINK, ctypes.c_void_p)((name, self._dll))

    def infer(self, handler: int, request: str) -> dict[str, Any]:
        """Asks the library for the results of a call; both sides are JSON."""
        encoded = request.encode()
        return json.loads(_collect(lambda sink: self._infer(handler, encoded, len(encoded), sink, None)))

    def register_torch(self) -> tuple[dict[str, Any], str]:
        """Registers the ops with the process's torch, unless they are already.

        Returns what became of each, and the Python program that completes them; it is empty without torch.

        Raises:
            LoadError: the library was built before there were torch operators.
        """
        try:
            register = self._answering("oxcall_register_torch", ctypes.c_int32)
            glue = self._answering("oxcall_torch_glue", None)
        except AttributeError:
            raise self._too_old("it has no operators for PyTorch") from None
        report = json.loads(_collect(lambda sink: register(sink, None)))
        return report, _collect(lambda sink: glue(sink, None)).decode()

    def last_error(self) -> str:
        """The last failure of an API v1 call, which cannot report one; clears it."""
        function = self._answering("oxcall_last_error", None)
        return _collect(lambda sink: function(sink, None)).decode(errors="replace")


def _collect(call: Any) -> bytes:
    chunks: list[bytes] = []

    def sink(_user: int, ptr: int, length: int) -> None:
        chunks.append(ctypes.string_at(ptr, length) if ptr and length else b"")

    call(_SINK(sink))
    return b"".join(chunks)
