"""Call Rust functions as JAX custom calls.

``oxcall.load("libmy_ops.so")`` registers every operation of a library built with the ``oxcall`` Rust crate and returns
a namespace of JAX functions. Importing this package does not import JAX; :func:`load` does.
"""

from typing import TYPE_CHECKING, Any

from oxcall._errors import CallError, LoadError, OxcallError, OxcallWarning

if TYPE_CHECKING:
    from oxcall._dlpack import from_dlpack, to_dlpack
    from oxcall._library import Library, last_error, load

__all__ = [
    "CallError",
    "Library",
    "LoadError",
    "OxcallError",
    "OxcallWarning",
    "from_dlpack",
    "last_error",
    "load",
    "to_dlpack",
]
__version__ = "0.1.0"

# Tracebacks show the name by which users catch them.
for _public in (CallError, LoadError, OxcallError, OxcallWarning):
    _public.__module__ = __name__
del _public


def __getattr__(name: str) -> Any:
    # Imported at first use: an unused plugin needs a part of this package, and should cost next to nothing.
    if name in ("Library", "last_error", "load"):
        from oxcall import _library

        return getattr(_library, name)
    if name in ("from_dlpack", "to_dlpack"):
        from oxcall import _dlpack

        return getattr(_dlpack, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
