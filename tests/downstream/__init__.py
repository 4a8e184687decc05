"""The tests of libraries that are written in JAX, on the plugin under the name of JAX's CPU, and on stock JAX."""
