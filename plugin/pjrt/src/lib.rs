//! A PJRT C API server over safe traits.
//!
//! A device's author implements [`Platform`], [`Client`], [`Buffer`] and [`Executable`], none of which needs `unsafe`,
//! and gets a complete PJRT plugin: [`api`] makes the function table of a platform, and [`export_platform!`] the symbol
//! `GetPjrtApi` that frameworks look up. The server knows nothing of programs or devices; it does what all of them have
//! in common: the C layouts of every version, ownership and lifetimes, events and their callbacks, donation, external
//! references, errors and panics.
//!
//! | to do this | there is |
//! |---|---|
//! | describe devices | [`Topology`], [`DeviceDescription`], [`MemoryDescription`] |
//! | move data | [`HostSource`], [`HostDestination`], [`LentMemory`], [`Shape`], [`Layout`], [`ElementType`] |
//! | be asynchronous | [`Event`], [`Promise`] |
//! | compile | [`Program`], [`CompileOptions`] |
//! | run | [`Launch`], [`Argument`], [`Execution`] |
//! | call handlers of the XLA FFI | [`CustomCall`] |
//!
//! # Modules
//!
//! * `platform`, `client`, `buffer`, `executable`: the traits that a device implements.
//! * `topology`, `layout`, `sharding`, `element`, `value`, `analysis`, `options`: the types in their interfaces.
//! * `event`, `sync`: events and promises, with callbacks in turn; synchronisation.
//! * `host_memory`: memory that a client lends, of any strides.
//! * `custom_call`: handlers for platforms whose memory the host can read.
//! * `server`: the C edge.

#![deny(unsafe_code)]

mod analysis;
mod buffer;
mod client;
#[allow(unsafe_code, reason = "calls C functions")]
mod custom_call;
mod element;
mod event;
#[cfg(test)]
#[path = "event/tests.rs"]
mod event_tests;
mod executable;
#[allow(unsafe_code, reason = "reads and writes memory that a client lends")]
mod host_memory;
mod layout;
mod options;
mod platform;
#[allow(unsafe_code, reason = "the C edge")]
mod server;
mod sharding;
mod sync;
mod topology;
mod value;

pub use analysis::{CompiledMemoryStats, MemoryStats};
pub use buffer::{Buffer, Shape};
pub use client::{Client, Program};
pub use custom_call::{CallContext, CustomCall, TensorMut, TensorRef};
pub use element::ElementType;
pub use event::{Event, Promise};
pub use executable::{Argument, DeviceLaunch, Executable, Execution, ExecutionOptions, Launch, TensorSpec, UserData};
pub use host_memory::{HostDestination, HostSource, LentMemory};
pub use layout::Layout;
pub use options::{CompileOptions, DeviceAssignment};
pub use platform::Platform;
pub use server::api;
pub use sharding::OpSharding;
pub use topology::{DeviceDescription, DeviceId, MemoryDescription, MemoryId, Topology};
pub use value::{Attributes, Value};

pub use oxcall::{Code, Error, Result};
#[doc(hidden)]
pub use xla_ffi_sys::pjrt::PJRT_Api;
