//! The C edge: the function table of a platform, and the objects behind its pointers.
//!
//! Every function copies as much of its args as the caller has into a struct of the newest layout, works on that, and
//! copies it back; so each read and write is bounded by the caller's `struct_size`. Panics become `INTERNAL` errors.
//!
//! The objects own each other by `Arc` from the small to the large: buffers and programs keep their client, which keeps
//! its devices and memories. So a client may destroy them in any order.

#![allow(non_upper_case_globals, reason = "constants of the C header in patterns")]

mod buffer;
mod buffer_object;
mod client;
mod client_object;
mod device;
mod error;
mod event;
mod executable;
mod executable_object;
mod execute;
mod ffi;
mod layouts;
mod limits;
mod memory;
mod memory_descriptions;
mod named_values;
mod plugin;
mod raw;
mod serialize;
mod shardings;
mod slot;
mod table;
mod topology;
mod transfer;

pub use table::api;
