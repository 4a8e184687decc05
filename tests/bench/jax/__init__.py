"""Calls of ops from JAX, beside calls of the same handlers by `jax.ffi.ffi_call`."""
