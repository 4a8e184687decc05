//! The host against handlers written by hand, from the layouts of the C headers.

mod attrs;
mod context;
mod future;
mod pointwise;
mod registry;
mod state;
mod table;

use std::ffi::c_void;

use xla_ffi_sys::xla_ffi as sys;

use super::*;
use crate::Result;
use crate::descriptor::Stage;

type AnySlot = unsafe extern "C" fn(*mut c_void) -> *mut sys::XLA_FFI_Error;

/// Slot `index` of a table, by its offset in the C header.
fn slot(api: &'static sys::XLA_FFI_Api, index: usize) -> AnySlot {
    let table = std::ptr::from_ref(api).cast::<Option<AnySlot>>();
    // SAFETY: the functions begin at byte 48, one pointer each; all have this C signature (slots 1 and 2, which
    // return nothing, are not called through it).
    unsafe { table.add(48 / 8 + index).read() }.expect("no slot is null")
}

/// Calls a slot with an args struct of whatever layout the test is about.
fn invoke<A>(slot: AnySlot, args: &mut A) -> Result<()> {
    // SAFETY: the struct begins with its size; the tests fill it as the function needs.
    let error = unsafe { slot(std::ptr::from_mut(args).cast()) };
    // SAFETY: made by the table.
    unsafe { error::take(error) }.map_or(Ok(()), Err)
}

/// Calls a handler with no buffers.
fn run(handler: crate::descriptor::RawHandler, context: &InvokeContext, stage: Stage) -> Result<Option<Future>> {
    let mut frame = CallFrameBuilder::new().build();
    // SAFETY: the handlers of the tests obey the contract, and the frame has no buffers.
    unsafe { call(handler, &mut frame, context, stage) }
}

/// The error that a handler returns to its host.
fn fail(error: crate::Error) -> *mut sys::XLA_FFI_Error {
    error::into_raw(error)
}

/// The frame's API table and version.
///
/// # Safety
/// `frame` is a live call frame with an API table.
unsafe fn api_of(frame: *const sys::XLA_FFI_CallFrame) -> (&'static sys::XLA_FFI_Api, i32) {
    // SAFETY: the tables are static.
    let api = unsafe { &*(*frame).api };
    (api, api.api_version.minor_version)
}

/// The table slot of `Future_Create` in `version`; the other two follow.
fn future_slot(version: HostVersion) -> usize {
    if version == HostVersion::V0_4_34 { 12 } else { 13 }
}
