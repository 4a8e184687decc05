//! Addresses and sizes of buffers.

use std::ptr::NonNull;

/// The alignment of every buffer, in bytes.
pub const BUFFER_ALIGN: usize = oxcall::host::BUFFER_ALIGN;

/// The address of empty buffers.
pub const NOWHERE: NonNull<u8> = NonNull::without_provenance(std::num::NonZero::new(BUFFER_ALIGN).expect("not zero"));

/// A buffer's address, and its size in bytes.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct RawBuffer {
    /// The address.
    pub data: *mut u8,
    /// The size in bytes.
    pub len: usize,
}

// SAFETY: it is an address; code that makes slices from it argues for them there.
unsafe impl Send for RawBuffer {}
// SAFETY: as above.
unsafe impl Sync for RawBuffer {}
