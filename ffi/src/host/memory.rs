//! Scratch memory that a host lends to handlers.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use xla_ffi_sys::xla_ffi as sys;

use super::BUFFER_ALIGN;
use super::slot::{context, slot};
use crate::sync::Mutex;
use crate::{Error, Result};

/// Gives out memory of the device that a handler runs on.
pub trait ScratchAllocator: Send + Sync {
    /// `size` bytes.
    ///
    /// # Errors
    /// The reason for having none.
    fn allocate(&self, size: usize) -> Result<NonNull<c_void>>;

    /// Takes memory back.
    ///
    /// # Safety
    /// `data` came from [`allocate`](ScratchAllocator::allocate) with this `size`, and is not used any more.
    unsafe fn free(&self, data: NonNull<c_void>, size: usize);
}

/// Scratch memory from the program's heap, aligned to 64 bytes, up to a limit.
#[derive(Debug)]
pub struct HeapScratch {
    left: AtomicUsize,
}

impl HeapScratch {
    /// An allocator of at most `limit` bytes at once.
    pub fn with_limit(limit: usize) -> HeapScratch {
        HeapScratch { left: AtomicUsize::new(limit) }
    }
}

impl Default for HeapScratch {
    fn default() -> HeapScratch {
        HeapScratch::with_limit(usize::MAX)
    }
}

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size.max(BUFFER_ALIGN), BUFFER_ALIGN).ok()
}

impl ScratchAllocator for HeapScratch {
    fn allocate(&self, size: usize) -> Result<NonNull<c_void>> {
        let too_much = |left| Error::resource_exhausted(format!("{size} bytes of scratch memory, but {left} are left"));
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(size))
            .map_err(too_much)?;
        // SAFETY: the layout is not empty.
        let data = layout(size).and_then(|layout| NonNull::new(unsafe { alloc(layout) }));
        data.map(NonNull::cast).ok_or_else(|| {
            self.left.fetch_add(size, Ordering::Relaxed);
            Error::resource_exhausted(format!("the system has no {size} bytes of memory left"))
        })
    }

    unsafe fn free(&self, data: NonNull<c_void>, size: usize) {
        let layout = layout(size).expect("the layout was valid when the memory was allocated");
        // SAFETY: allocated above with this layout; the caller gives it up.
        unsafe { dealloc(data.as_ptr().cast(), layout) };
        self.left.fetch_add(size, Ordering::Relaxed);
    }
}

/// The largest alignment that XLA promises for scratch memory.
const MAX_ALIGN: usize = 16;

/// The scratch memory of one context: freed by the handler, or when the context is dropped.
pub(super) struct Scratch {
    allocator: Arc<dyn ScratchAllocator>,
    live: Mutex<HashMap<usize, (NonNull<c_void>, usize)>>,
}

// SAFETY: the addresses are only passed back to the allocator, which takes them on any thread.
unsafe impl Send for Scratch {}
// SAFETY: as above; the map is behind a lock.
unsafe impl Sync for Scratch {}

impl Scratch {
    pub(super) fn new(allocator: Arc<dyn ScratchAllocator>) -> Scratch {
        Scratch { allocator, live: Mutex::default() }
    }

    fn allocate(&self, size: usize, align: usize) -> Result<*mut c_void> {
        if !align.is_power_of_two() || align > MAX_ALIGN {
            return Err(Error::invalid_argument(format!("Unsupported alignment: {align}")));
        }
        let data = self.allocator.allocate(size)?;
        self.live.lock().insert(data.addr().get(), (data, size));
        Ok(data.as_ptr())
    }

    fn free(&self, data: *mut c_void, size: usize) -> Result<()> {
        if data.is_null() {
            return Ok(());
        }
        let mut live = self.live.lock();
        match live.get(&data.addr()) {
            Some(&(known, allocated)) if allocated == size => {
                live.remove(&data.addr());
                // SAFETY: it came from this allocator with this size, and is forgotten here.
                unsafe { self.allocator.free(known, size) };
                Ok(())
            }
            Some(&(_, allocated)) => Err(Error::invalid_argument(format!(
                "scratch memory of {allocated} bytes cannot be freed as {size} bytes"
            ))),
            None => Err(Error::invalid_argument("the memory is not scratch memory of this call")),
        }
    }
}

impl Scratch {
    /// Frees what the handler did not.
    pub(super) fn clear(&mut self) {
        let live = std::mem::take(self.live.get_mut());
        for (data, size) in live.into_values() {
            // SAFETY: it came from this allocator with this size; nobody uses it after the execution.
            unsafe { self.allocator.free(data, size) };
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.clear();
    }
}

slot! {
    /// `XLA_FFI_DeviceMemory_Allocate`.
    pub(super) fn allocate(
        args: sys::XLA_FFI_DeviceMemory_Allocate_Args,
        "XLA_FFI_DeviceMemory_Allocate_Args",
        sys::XLA_FFI_DeviceMemory_Allocate_Args_STRUCT_SIZE
    ) {
        (*args).data = context((*args).ctx)?.scratch()?.allocate((*args).size, (*args).alignment)?;
        Ok(())
    }
}

slot! {
    /// `XLA_FFI_DeviceMemory_Free`.
    pub(super) fn free(
        args: sys::XLA_FFI_DeviceMemory_Free_Args,
        "XLA_FFI_DeviceMemory_Free_Args",
        sys::XLA_FFI_DeviceMemory_Free_Args_STRUCT_SIZE
    ) {
        context((*args).ctx)?.scratch()?.free((*args).data, (*args).size)
    }
}
