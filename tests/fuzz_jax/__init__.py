"""Random JAX programs on the plugin and on stock JAX, in one process: `cargo xtask fuzz jax`."""

DEVICES = 4  # of each platform
