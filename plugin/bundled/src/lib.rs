//! The plugin that the Python package `oxcall-plugin` ships.

/// Small allocations succeed where large ones have failed as errors.
#[global_allocator]
static MEMORY: oxcall_plugin::SystemAllocator = oxcall_plugin::SystemAllocator;

oxcall_plugin::plugin! { name: "oxcall", ops: [oxcall_linalg] }
