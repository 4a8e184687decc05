//! The plugin that the Python package `oxcall-plugin` ships.

oxcall_plugin::plugin! { name: "oxcall", ops: [oxcall_linalg] }
