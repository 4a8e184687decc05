"""Where JAX looks for plugins: it imports this module and calls `initialize`."""

from oxcall_plugin import initialize

__all__ = ["initialize"]
