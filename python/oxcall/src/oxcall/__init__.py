"""Call Rust functions as JAX custom calls.

``oxcall.load("libmy_ops.so")`` registers every operation of a library built with the ``oxcall`` Rust crate and returns
a namespace of JAX functions. Importing this package does not import JAX; :func:`load` does.
"""

from oxcall._errors import CallError, LoadError, OxcallError, OxcallWarning
from oxcall._library import Library, last_error, load

__all__ = ["CallError", "Library", "LoadError", "OxcallError", "OxcallWarning", "last_error", "load"]
__version__ = "0.1.0"
