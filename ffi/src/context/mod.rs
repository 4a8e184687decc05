//! Contexts: what a handler can ask its host for.

mod device;
mod extension;
mod options;
mod pool;
mod scratch;
mod task;
mod user_data;

pub use device::{DeviceOrdinal, RunId, Stream};
pub use extension::Extension;
pub use options::CustomOptions;
pub(crate) use pool::CHUNKS;
pub use pool::ThreadPool;
pub use scratch::{Scratch, ScratchBuffer};
pub(crate) use task::Pending;
pub use task::{Async, Future, Promise};
pub use user_data::{UserData, UserDataType};

use std::marker::PhantomData;

use xla_ffi_sys::xla_ffi as sys;

use crate::api::HostApi;
use crate::frame::Frame;
use crate::{Error, Result};

/// The host's side of one call: every context can be asked for here, when it is needed.
///
/// Contexts end with the handler, also where it returns a [`Future`]: none of them can be sent to another thread.
#[derive(Clone, Copy)]
pub struct Context<'f> {
    api: HostApi<'f>,
    ctx: *mut sys::XLA_FFI_InvokeContext,
    pending: Option<&'f Pending>,
    op: &'static str,
    /// Invariant: work that is spawned during `'f` may not borrow what ends before, such as the handler's variables.
    _call: PhantomData<fn(&'f ()) -> &'f ()>,
}

/// A type, other than a buffer, of a parameter without `#[attr]` or `#[state]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a context of a custom call",
    label = "not a context type",
    note = "contexts are Context, Stream, Scratch, ThreadPool, RunId, DeviceOrdinal, UserData<T>, CustomOptions and Async"
)]
pub trait FromContext<'f>: Sized {
    /// Whether buffers may be used after the handler has returned, which takes an [`Async`] inside.
    #[doc(hidden)]
    const OUTLIVES_FRAME: bool = true;

    /// Asks the host.
    ///
    /// # Errors
    /// If the host does not have it; the message says why.
    fn from_context(context: &Context<'f>) -> Result<Self>;
}

impl<'f> Context<'f> {
    pub(crate) fn of(frame: &Frame<'f>, op: &'static str) -> Context<'f> {
        Context { api: frame.api(), ctx: frame.ctx(), pending: frame.pending(), op, _call: PhantomData }
    }

    /// The call's work beyond its return.
    fn pending(&self) -> Result<&'f Pending> {
        self.pending.ok_or_else(|| {
            Error::unimplemented("only a `#[custom_call]` function with a parameter of type `Async` can complete later")
        })
    }

    fn op(&self) -> &'static str {
        self.op
    }

    /// The context of a type.
    ///
    /// # Errors
    /// If the host does not have it. An [`Async`] is there only if the function has one as a parameter, or a context of
    /// the user's own type that may have one inside.
    pub fn get<C: FromContext<'f>>(&self) -> Result<C> {
        C::from_context(self)
    }

    /// The minor version of the host's XLA FFI API 0.
    pub fn api_minor(&self) -> i32 {
        self.api.minor()
    }

    /// The host's extension of a type, as `XLA_FFI_Extension` lists them (128: record, 129: collectives).
    ///
    /// # Errors
    /// Hosts before API 0.4 have none (`UNIMPLEMENTED`); others lack this one (`NOT_FOUND`).
    pub fn extension(&self, extension_type: i64) -> Result<Extension<'f>> {
        Extension::find(self, extension_type)
    }
}

impl<'f> FromContext<'f> for Context<'f> {
    const OUTLIVES_FRAME: bool = false;

    #[inline(always)]
    fn from_context(context: &Context<'f>) -> Result<Self> {
        Ok(*context)
    }
}
