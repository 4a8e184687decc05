//! The place of a call: stream, run, device.

use std::ffi::c_void;
use std::marker::PhantomData;

use super::{Context, FromContext};
use crate::Result;

/// The platform's stream on which a device handler must enqueue its work, for example a `CUstream`.
///
/// Host platforms have none: asking for it is an error there.
#[derive(Clone, Copy, Debug)]
pub struct Stream<'f> {
    raw: *mut c_void,
    _call: PhantomData<&'f c_void>,
}

// SAFETY: an address, which only unsafe code can use.
unsafe impl Send for Stream<'_> {}
// SAFETY: as above.
unsafe impl Sync for Stream<'_> {}

impl Stream<'_> {
    /// The platform's handle.
    pub fn as_ptr(&self) -> *mut c_void {
        self.raw
    }
}

impl<'f> FromContext<'f> for Stream<'f> {
    const OUTLIVES_FRAME: bool = false;

    fn from_context(context: &Context<'f>) -> Result<Self> {
        Ok(Stream { raw: context.api.stream(context.ctx)?, _call: PhantomData })
    }
}

/// The id of the program's run: the same for all calls of one execution.
///
/// Hosts before jaxlib 0.6 have none, or do not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub i64);

impl<'f> FromContext<'f> for RunId {
    const OUTLIVES_FRAME: bool = false;

    fn from_context(context: &Context<'f>) -> Result<Self> {
        context.api.run_id(context.ctx).map(RunId)
    }
}

/// The number of the device that runs the call.
///
/// Hosts before jaxlib 0.6 have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceOrdinal(pub i32);

impl<'f> FromContext<'f> for DeviceOrdinal {
    const OUTLIVES_FRAME: bool = false;

    fn from_context(context: &Context<'f>) -> Result<Self> {
        context.api.device_ordinal(context.ctx).map(DeviceOrdinal)
    }
}
