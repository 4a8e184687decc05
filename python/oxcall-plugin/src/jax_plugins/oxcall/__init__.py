"""The module by which JAX finds the plugin: it imports it and calls `initialize`."""

from oxcall_plugin import initialize

__all__ = ["initialize"]
