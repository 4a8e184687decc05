//! Calls of handlers.

use std::mem::offset_of;
use std::ptr;

use xla_ffi_sys::xla_ffi as sys;

use super::error::take;
use super::{CallFrame, Future, HostVersion, InvokeContext, exception};
use crate::descriptor::{RawHandler, Recorded, Stage};
use crate::metadata::PointwiseQuery;
use crate::{Error, Result};

/// Calls a handler of one stage as a host does. `Ok(None)` means that the call is done, a [`Future`] that it will be.
///
/// The context's version decides which API table the handler sees. XLA passes only attributes to the instantiate
/// stage.
///
/// # Errors
/// The error that the handler returned, with its code and message; `UNKNOWN` for a C++ exception, on Linux x86-64.
///
/// # Safety
/// * `handler` obeys the contract of the XLA FFI.
/// * Every buffer of the frame is valid for its dtype and shape until the call is done (with a future: until the
///   future is), and no other code writes arguments or uses results meanwhile.
/// * Pointers given to the context (stream, user data, extensions) are what the handler takes them for.
pub unsafe fn call(
    handler: RawHandler,
    frame: &mut CallFrame,
    context: &InvokeContext,
    stage: Stage,
) -> Result<Option<Future>> {
    // SAFETY: a live call frame that nobody else uses, since it is borrowed exclusively; otherwise as above.
    unsafe { call_frame(handler, frame.as_ptr(), context, stage) }
}

/// [`call`] with a frame in the C layout.
///
/// # Errors
/// As there.
///
/// # Safety
/// As there; `frame` is a whole call frame that no other code uses meanwhile.
#[inline]
pub(crate) unsafe fn call_frame(
    handler: RawHandler,
    frame: *mut sys::XLA_FFI_CallFrame,
    context: &InvokeContext,
    stage: Stage,
) -> Result<Option<Future>> {
    // SAFETY: as the caller guarantees.
    unsafe {
        (*frame).extension_start = ptr::null_mut();
        (*frame).api = context.version().api();
        (*frame).ctx = context.as_raw();
        (*frame).stage = stage as sys::XLA_FFI_ExecutionStage;
        (*frame).future = ptr::null_mut();
    }
    // SAFETY: the frame is complete; the caller vouches for the handler and the buffers.
    let outcome = unsafe { exception::call(handler, frame) };
    // SAFETY: the handler made the future and the error, if any, through the frame's API table, and gave them up.
    let (future, outcome) = unsafe { (Future::take((*frame).future), outcome.map(|error| take(error))) };
    match outcome? {
        Some(error) => Err(error),
        None => Ok(future),
    }
}

/// The metadata of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// The version of the API that it was made for, major and minor.
    pub version: (i32, i32),
    /// Bits of `XLA_FFI_Handler_Traits`.
    pub traits: sys::XLA_FFI_Handler_Traits,
    /// The id of the type of its state; `None` where it has none, or the host has no such field.
    pub state_type_id: Option<i64>,
    /// Whether it tells its expression, which [`trace`](super::trace) asks for.
    pub recorded: Recorded,
}

/// Left in fields that the handler may or may not write.
const UNTOUCHED: i64 = i64::MIN;

/// Asks a handler for its metadata as the host `version` does: hosts before 0.8.1 pass no API table.
///
/// # Errors
/// The error that the handler returned; `INTERNAL` when it ignores the query, or writes past that version's struct.
///
/// # Safety
/// `handler` obeys the contract of the XLA FFI.
pub unsafe fn metadata(handler: RawHandler, version: HostVersion) -> Result<Metadata> {
    let with_api = version.queries_with_api();
    let mut metadata = sys::XLA_FFI_Metadata {
        // The size has never counted `state_type_id`.
        struct_size: sys::XLA_FFI_Metadata_STRUCT_SIZE as usize,
        api_version: sys::XLA_FFI_Api_Version {
            struct_size: sys::XLA_FFI_Api_Version_STRUCT_SIZE as usize,
            major_version: i32::MIN,
            ..Default::default()
        },
        traits: 0,
        state_type_id: sys::XLA_FFI_TypeId { type_id: if with_api { 0 } else { UNTOUCHED } },
    };
    let mut pointwise = PointwiseQuery::new();
    let mut extension = sys::XLA_FFI_Metadata_Extension {
        extension_base: sys::XLA_FFI_InternalExtension {
            struct_size: sys::XLA_FFI_Metadata_Extension_STRUCT_SIZE as usize,
            type_: sys::XLA_FFI_Extension_Metadata,
            next: (&raw mut pointwise).cast(),
        },
        metadata: &raw mut metadata,
    };
    let mut frame = sys::XLA_FFI_CallFrame {
        struct_size: sys::XLA_FFI_CallFrame_STRUCT_SIZE as usize,
        extension_start: (&raw mut extension).cast(),
        api: if with_api { version.api() } else { ptr::null() },
        stage: sys::XLA_FFI_ExecutionStage_EXECUTE,
        ..Default::default()
    };
    frame.args.struct_size = sys::XLA_FFI_Args_STRUCT_SIZE as usize;
    frame.rets.struct_size = sys::XLA_FFI_Rets_STRUCT_SIZE as usize;
    frame.attrs.struct_size = sys::XLA_FFI_Attrs_STRUCT_SIZE as usize;
    // SAFETY: the frame is a metadata query; the caller vouches for the handler.
    let error = unsafe { exception::call(handler, &raw mut frame) }?;
    // SAFETY: the handler made the error; without an API table it has no way to, and returns null.
    if let Some(error) = unsafe { take(error) } {
        return Err(error);
    }
    if metadata.api_version.major_version == i32::MIN {
        return Err(Error::internal("the handler did not answer the metadata query"));
    }
    let state_type_id = metadata.state_type_id.type_id;
    if !with_api && state_type_id != UNTOUCHED {
        let offset = offset_of!(sys::XLA_FFI_Metadata, state_type_id);
        return Err(Error::internal(format!("the handler wrote past the {offset} bytes of XLA_FFI_Metadata")));
    }
    Ok(Metadata {
        version: (metadata.api_version.major_version, metadata.api_version.minor_version),
        traits: metadata.traits,
        state_type_id: Some(state_type_id).filter(|&id| with_api && id != 0),
        recorded: pointwise.answer(),
    })
}
