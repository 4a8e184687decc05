"""Wheels of op libraries.

Modules:

* `hook`: the build hook of hatchling. It alone imports hatchling.
* `settings`: the hook's table in pyproject.toml.
* `cargo`: the build of the crate.
* `zig`: the linker of portable libraries.
* `tag`: the wheel's platform, from the library's symbols.
* `module`: the Python module of the ops.
* `command`: `oxcall build`.
"""
