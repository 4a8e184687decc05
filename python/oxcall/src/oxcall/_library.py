"""Loading libraries: registration with JAX and PyTorch, reloading after a rebuild, and the namespace of ops."""

from __future__ import annotations

import dataclasses
import os
import threading
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from oxcall import _torch
from oxcall._abi import ENTRY, NativeLibrary
from oxcall._described import OpWithoutJax
from oxcall._errors import LoadError, OxcallWarning, listing, nearest
from oxcall._image import Stamp, image_of, stamp_of
from oxcall._library_file import AnyPath, full_path
from oxcall._manifest import OpInfo
from oxcall._pairing import check_rules
from oxcall._targets import Targets, build_of
from oxcall._torch import announce

if TYPE_CHECKING:
    from typing import TypeAlias

    from oxcall._op import Op

    AnyOp: TypeAlias = Op | OpWithoutJax


class Library:
    """The ops of a library, as attributes: ``ops.rms_norm(x, eps=1e-6)`` calls one from JAX, and ``ops.rms_norm.torch``
    is the PyTorch operator.

    ``ops["rms_norm"]`` is the same; use it for an op whose name is not an identifier, or is one of this class's own
    attributes.

    Attributes:
        name: the library's name in messages.
        path: the file that was loaded.
        image_path: the copy of it that the process uses, for `ctypes.CDLL`: under `path`, that would load the file
            once more.
        manifest: the library's manifest, a dictionary.
    """

    def __init__(self, name: str, path: str, native: NativeLibrary, ops: dict[str, AnyOp]):
        self.name = name
        self.path = path
        self.image_path = native.image.path
        self.manifest = native.manifest
        self._native = native
        self._ops = ops

    def __getitem__(self, name: str) -> AnyOp:
        try:
            return self._ops[name]
        except KeyError:
            raise KeyError(f"{self.name} has no op `{name}`{nearest(name, self._ops)}") from None

    def __getattr__(self, name: str) -> AnyOp:
        ops: dict[str, AnyOp] = self.__dict__.get("_ops", {})
        if name in ops:
            return ops[name]
        hint = nearest(name, ops) or f"; it has {listing(ops)}"
        raise AttributeError(f"{self.__dict__.get('name', 'oxcall.Library')} has no op `{name}`{hint}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._ops})

    def __iter__(self) -> Iterator[str]:
        return iter(self._ops)

    def __len__(self) -> int:
        return len(self._ops)

    def __contains__(self, name: object) -> bool:
        return name in self._ops

    def __reduce__(self) -> tuple[Any, ...]:
        return load, (self.path,)

    def __repr__(self) -> str:
        return f"<oxcall.Library {self.name} ({self.path}): {', '.join(self._ops)}>"


@dataclasses.dataclass
class _Loaded:
    stamp: Stamp
    library: Library


class _Process:
    """The libraries loaded in this process. They are never unloaded: jitted code holds the addresses of handlers."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.loaded: dict[str, _Loaded] = {}
        self.natives: list[NativeLibrary] = []
        self.targets = Targets()


_PROCESS = _Process()


def load(path: AnyPath, *, name: str | None = None) -> Library:
    """Loads an op library, registers its ops with JAX and PyTorch, and returns them.

    One of the two is enough. With PyTorch, ops are registered at once if it is imported, else as soon as it is.

    Every op is registered under `<namespace>::<op>` and, where nothing has that name yet, under `<op>`; where it asked
    for it, with `.v1`, `.v2` and `.v3` behind that for the legacy custom call API. Loading a file again returns the
    same :class:`Library`. If the file was rebuilt since, the new build is loaded beside the old one under other target
    names, and a warning says what still uses the old one.

    Args:
        path: the shared library.
        name: the library's name in messages; by default the file's, without `lib` and suffix.

    Raises:
        LoadError: the file is not a library that this process can use, the library reports mistakes in its registry,
            or JAX is too old, or neither JAX nor PyTorch is installed.
    """
    shown = full_path(path)
    with _PROCESS.lock:
        stamp = stamp_of(shown)
        known = _PROCESS.loaded.get(shown)
        if known is not None and (stamp is None or known.stamp == stamp):
            return known.library
        image = image_of(shown, ENTRY)
        if known is not None and known.library._native.image.path == image.path:
            known.stamp = image.stamp
            return known.library
        announce(image.path, shown)
        native = NativeLibrary(image)
        library = _register(name or _default_name(shown), native)
        _PROCESS.loaded[shown] = _Loaded(image.stamp, library)
        _PROCESS.natives.append(native)
        if known is not None:
            _warn_reloaded(library)
        return library


def read(path: AnyPath) -> tuple[NativeLibrary, list[OpInfo]]:
    """A library and its manifest, without JAX and without registering anything."""
    native = NativeLibrary(image_of(full_path(path), ENTRY))
    return native, native.ops


def last_error() -> str:
    """The last failures of API v1 calls, which cannot report any; empty if there were none. Clears them."""
    with _PROCESS.lock:
        return "\n".join(filter(None, (native.last_error() for native in _PROCESS.natives)))


def _default_name(path: str) -> str:
    return os.path.basename(path).split(".")[0].removeprefix("lib")


def _register(name: str, native: NativeLibrary) -> Library:
    if errors := native.manifest.get("errors"):
        listed = "\n".join(f"  - {error}" for error in errors)
        raise LoadError(f"{native.path} reports mistakes in its ops:\n{listed}")
    jax = _import_jax()
    build = build_of(native.image.path)
    operators = _torch.Operators(native)
    implementations: dict[str, list[OpInfo]] = {}
    for op in native.ops:
        implementations.setdefault(op.name, []).append(op)
    # Declarations of one op for several platforms agree; the CPU's answers for shapes.
    declared = {
        op_name: next((info for info in infos if info.platform == "Host"), infos[0])
        for op_name, infos in implementations.items()
    }
    try:
        check_rules(declared)
    except LoadError as error:
        raise LoadError(f"{native.path}: {error}") from None
    ops: dict[str, Any] = {}
    for op_name, infos in implementations.items():
        info = declared[op_name]
        described = (native, info, [info.platform for info in infos], operators.__getitem__)
        if jax is None:
            ops[op_name] = OpWithoutJax(*described)
        else:
            from oxcall._op import Op

            handlers = [native.handlers[info.index] for info in infos]
            try:
                target = _PROCESS.targets.register(jax, build, info, infos, handlers)
            except LoadError as error:
                raise LoadError(f"{native.path}: {error}") from error
            ops[op_name] = Op(*described, target, ops.__getitem__)
    operators.register_when_imported(ops)
    return Library(name, native.path, native, ops)


def _import_jax() -> Any:
    """The module that knows JAX; ``None`` where only PyTorch is installed."""
    try:
        from oxcall import _jax
    except ModuleNotFoundError as error:
        if error.name not in ("jax", "jaxlib"):
            raise
        if _torch.is_installed():
            return None
        raise LoadError(
            "oxcall.load needs JAX or PyTorch, and neither is installed: `pip install jax` or `pip install torch`"
        ) from error
    return _jax


def _warn_reloaded(library: Library) -> None:
    targets = [op.target for op in library._ops.values() if not isinstance(op, OpWithoutJax)]
    warnings.warn(
        f"{library.path} has changed since it was loaded, and the new build is loaded beside the old one: its ops are "
        f"registered under the targets {listing(targets)}. Call the ops of the library that this `load` returned. "
        "Functions that jax.jit has compiled, raw jax.ffi.ffi_call to the old target names, and libraries returned by "
        "earlier calls keep the old code; `jax.clear_caches()` makes functions that look up the new ops compile anew. "
        "PyTorch keeps the operators of the old build until the process ends.",
        OxcallWarning,
        stacklevel=3,
    )
