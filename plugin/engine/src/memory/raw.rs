//! Places of buffers.

use std::ptr::NonNull;

/// Every buffer starts at a multiple of this, in bytes.
pub(crate) const BUFFER_ALIGN: usize = oxcall::host::BUFFER_ALIGN;

/// The address of buffers without bytes.
pub(crate) const NOWHERE: NonNull<u8> =
    NonNull::without_provenance(std::num::NonZero::new(BUFFER_ALIGN).expect("not zero"));

/// A buffer's place and size in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawBuffer {
    pub(crate) data: *mut u8,
    pub(crate) len: usize,
}

// SAFETY: it is an address; those who make slices of it say why they may.
unsafe impl Send for RawBuffer {}
// SAFETY: as above.
unsafe impl Sync for RawBuffer {}
