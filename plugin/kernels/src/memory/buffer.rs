//! Buffers: the memory of arguments and results.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;
use std::{fmt, slice};

use oxcall::Error;

use super::allocator::{Allocator, Block};
use super::raw::{BUFFER_ALIGN, NOWHERE, RawBuffer};

/// Dense memory aligned to [`BUFFER_ALIGN`](oxcall::host::BUFFER_ALIGN) that holds the elements of one array, each in
/// whole bytes.
pub struct Buffer {
    data: NonNull<u8>,
    len: usize,
    owner: Owner,
}

enum Owner {
    /// No bytes, so no memory.
    Nobody,
    Allocator(Arc<Allocator>, Block),
    /// Read-only memory of another owner.
    Foreign {
        _keep: Box<dyn Any + Send + Sync>,
    },
}

// SAFETY: the memory is owned, and shared only as `&[u8]`.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// A buffer without bytes.
    #[inline]
    pub fn empty() -> Buffer {
        Buffer { data: NOWHERE, len: 0, owner: Owner::Nobody }
    }

    /// A buffer of `len` bytes with unspecified contents.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if memory runs out.
    pub fn allocate(allocator: &Arc<Allocator>, len: usize) -> Result<Buffer, Error> {
        if len == 0 {
            return Ok(Buffer::empty());
        }
        let block = allocator.allocate(len)?;
        Ok(Buffer { data: block.data, len, owner: Owner::Allocator(Arc::clone(allocator), block) })
    }

    /// A buffer with a copy of `bytes`.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED if memory runs out.
    pub fn copy_of(allocator: &Arc<Allocator>, bytes: &[u8]) -> Result<Buffer, Error> {
        let mut buffer = Buffer::allocate(allocator, bytes.len())?;
        buffer.as_bytes_mut().copy_from_slice(bytes);
        Ok(buffer)
    }

    /// A view of foreign memory, which `owner` keeps alive.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if `data` is not aligned to [`BUFFER_ALIGN`](oxcall::host::BUFFER_ALIGN).
    ///
    /// # Safety
    /// While `owner` lives, `data` points to `len` initialised bytes, and nothing writes them.
    pub unsafe fn foreign(data: NonNull<u8>, len: usize, owner: Box<dyn Any + Send + Sync>) -> Result<Buffer, Error> {
        if !data.addr().get().is_multiple_of(BUFFER_ALIGN) {
            return Err(Error::invalid_argument(format!(
                "unaligned data: {data:p} is not aligned to {BUFFER_ALIGN} bytes. "
            )));
        }
        Ok(Buffer { data, len, owner: Owner::Foreign { _keep: owner } })
    }

    /// The size in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the size is 0.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the first byte; aligned and not null even if the buffer is empty.
    #[inline]
    pub fn as_ptr(&self) -> *const u8 {
        self.data.as_ptr()
    }

    /// The contents.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        // SAFETY: the buffer owns `len` initialised bytes; they are written only through `&mut`, or by a plan that owns
        // the buffer.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }

    /// The contents, for writing.
    ///
    /// # Panics
    /// If the memory is [foreign](Buffer::foreign).
    #[inline]
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        assert!(self.is_writable(), "foreign memory is only read");
        // SAFETY: as in `as_bytes`, and borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }

    /// Whether the owner of the buffer may write its memory.
    #[inline]
    pub fn is_writable(&self) -> bool {
        !matches!(self.owner, Owner::Foreign { .. })
    }

    /// The address and size, for a plan's table.
    #[inline]
    pub fn raw(&self) -> RawBuffer {
        RawBuffer { data: self.data.as_ptr(), len: self.len }
    }
}

impl Drop for Buffer {
    #[inline]
    fn drop(&mut self) {
        if let Owner::Allocator(allocator, block) = &self.owner {
            // SAFETY: the block came from this allocator, and ends with the buffer.
            unsafe { allocator.free(*block) };
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("data", &self.data).field("len", &self.len).finish()
    }
}
