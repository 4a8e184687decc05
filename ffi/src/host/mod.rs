//! The host side of the XLA FFI: what XLA does when it registers and calls handlers, in Rust.
//!
//! * [`HostVersion`] names the ABI of each jaxlib version, and has its API table.
//! * [`CallFrameBuilder`] makes a [`CallFrame`]: arguments, results and attributes.
//! * [`InvokeContext`] is what a handler may ask for: stream, threads, scratch memory, states, user data, ...
//! * [`call()`] calls a handler; [`metadata`] asks what it is; [`trace`] asks for its [`Expression`].
//! * [`register_handler`], [`find_handler`], [`registered_handlers`]: the handlers of this process, by [`Source`];
//!   [`register_library`]: those of a library.
//! * [`register_legacy`], [`register_legacy_versions`], [`register_legacy_library`], [`find_legacy`],
//!   [`registered_legacy`]: functions of API v1 to v3.
//!
//! All errors carry the codes and the texts of XLA where it has some.

mod api;
mod arena;
mod attrs;
mod bytes;
mod call;
mod context;
mod error;
mod exception;
mod frame;
mod future;
mod legacy;
mod memory;
mod pointwise;
mod pool;
mod registry;
mod slot;
mod state;
mod types;
mod version;

pub use api::api;
pub(crate) use arena::Arena;
pub use attrs::AttrValue;
pub(crate) use bytes::array_bytes;
pub use bytes::{AlignedBytes, BUFFER_ALIGN};
pub(crate) use call::call_frame;
pub use call::{Metadata, call, metadata};
pub use context::{InvokeContext, InvokeContextBuilder};
pub(crate) use error::take as take_error;
#[doc(hidden)]
pub use exception::{EndingFunction, call_ending};
pub use frame::{CallFrame, CallFrameBuilder};
pub use future::Future;
pub use legacy::{
    LegacyFunction, find_legacy, register_legacy, register_legacy_library, register_legacy_versions, registered_legacy,
};
pub use memory::{HeapScratch, ScratchAllocator};
#[doc(inline)]
pub use oxcall_math::real::{Expression, Kind, Opcode, Operation};
pub use pointwise::trace;
pub(crate) use pool::LazyPool;
pub use pool::{TaskPool, ThreadPool};
pub(crate) use registry::check_version;
pub use registry::{Registration, Source, find_handler, register_handler, register_library, registered_handlers};
pub use state::StageState;
pub use types::{Deleter, register_type, type_deleter};
pub use version::HostVersion;

#[cfg(test)]
mod tests;
