"""Speed of the plugin beside stock JAX on the CPU: `cargo xtask bench plugin`.

The same jitted program runs on both platforms, in turns, in one process, with the same number of threads.
"""
