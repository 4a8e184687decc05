//! The C edge: the function table of a platform, and the objects behind its pointers.
//!
//! Every function copies as much of its args as the caller has into a struct of the newest layout, works on that, and
//! copies it back; so each read and write is bounded by the caller's `struct_size`. Panics become `INTERNAL` errors.
//!
//! The objects own each other by `Arc` from the small to the large: buffers and programs keep their client, which keeps
//! its devices and memories. So a client may destroy them in any order.
//!
//! * `table`, `slot`: the function table; what all functions have in common.
//! * `raw`, `limits`: pointers as Rust; limits of counts.
//! * `buffer`, `client`, `device`, ...: the functions, by object.
//! * `*_object`: the objects behind the pointers.
//!
//! # Facts about frameworks
//!
//! * A framework calls slots without looking whether they are null: every slot is filled (`table`).
//! * It does not clear the fields that a function is to fill in: every field is written (`device`, `executable`).
//! * It asks each error for its code and payloads, and then the errors of these calls too: neither ever fails
//!   (`error`).
//! * Many simple questions (a buffer's device, a device's id) end the process if they fail: they are answered from the
//!   object alone.
//! * From minor version 105 on, a `PJRT_Memory` begins with a table of functions, and by the header a `PJRT_Error` too
//!   (`memory`, `error`).
//! * `PJRT_Plugin_Attributes_Args` says 24 bytes in old headers (0.54, 0.70), and callers read the field behind them
//!   (`plugin`: `slot!(... at least ...)`).
//! * Structs grew without a new name (`slot!(... as ...)`, `xla_ffi_sys::pjrt_later`).
//! * Version 2 of the FFI extension had another field in the middle of a struct: it is told by its size, and refused
//!   (`ffi`).
//! * torch_xla compiles for as many replicas as there are devices, and executes each by a call of its own (`execute`).
//! * Callbacks of events run on our threads, and each may start the next program: they take turns, so that a chain
//!   needs no stack (`event::due`).

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
