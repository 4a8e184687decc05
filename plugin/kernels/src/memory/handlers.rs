//! Scratch memory for handlers of custom calls.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::sync::Mutex;

use oxcall::Result;
use oxcall::host::ScratchAllocator;

use super::{Allocator, Buffer};

/// Lends memory of an [`Allocator`].
pub struct PoolScratch {
    allocator: Arc<Allocator>,
    lent: Mutex<HashMap<NonNull<c_void>, Buffer>>,
}

// SAFETY: the addresses serve only as keys.
unsafe impl Send for PoolScratch {}
// SAFETY: as above; the map is behind a lock.
unsafe impl Sync for PoolScratch {}

impl PoolScratch {
    /// Lends memory of this allocator.
    pub fn new(allocator: Arc<Allocator>) -> PoolScratch {
        PoolScratch { allocator, lent: Mutex::default() }
    }
}

impl ScratchAllocator for PoolScratch {
    fn allocate(&self, size: usize) -> Result<NonNull<c_void>> {
        // Each piece needs its own address, even an empty one.
        let buffer = Buffer::allocate(&self.allocator, size.max(1))?;
        let data = NonNull::new(buffer.as_ptr().cast_mut()).expect("buffers are not null").cast();
        self.lent.lock().insert(data, buffer);
        Ok(data)
    }

    unsafe fn free(&self, data: NonNull<c_void>, _size: usize) {
        self.lent.lock().remove(&data);
    }
}
