//! Memory of a client that a buffer uses as its own.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The client's callback for the end of a loan of its memory.
pub(crate) type OnDelete = Option<unsafe extern "C" fn(data: *mut c_void, argument: *mut c_void)>;

/// Memory that a client lends until this is dropped: a dense tensor, not written meanwhile.
pub struct LentMemory {
    data: *mut c_void,
    len: usize,
    on_delete: OnDelete,
    argument: *mut c_void,
    /// Whether the client is told: not if it was refused, since it keeps the memory then.
    accepted: Arc<AtomicBool>,
}

// SAFETY: the memory is only read, and clients let any thread give it back.
unsafe impl Send for LentMemory {}
// SAFETY: as above.
unsafe impl Sync for LentMemory {}

impl LentMemory {
    /// The memory, and what says that it was accepted.
    ///
    /// # Safety
    /// `len` bytes at `data` are readable and unchanged until `on_delete` is called, which may be on any thread.
    pub(crate) unsafe fn from_raw(
        data: *mut c_void,
        len: usize,
        on_delete: OnDelete,
        argument: *mut c_void,
    ) -> (LentMemory, Arc<AtomicBool>) {
        let accepted = Arc::new(AtomicBool::new(false));
        (LentMemory { data, len, on_delete, argument, accepted: accepted.clone() }, accepted)
    }

    /// The elements, in the order of the layout that came along.
    pub fn as_bytes(&self) -> &[u8] {
        if self.len == 0 || self.data.is_null() {
            return &[];
        }
        // SAFETY: by the contract of `from_raw`.
        unsafe { std::slice::from_raw_parts(self.data.cast(), self.len) }
    }
}

impl Drop for LentMemory {
    fn drop(&mut self) {
        if let Some(on_delete) = self.on_delete
            && self.accepted.load(Ordering::Acquire)
        {
            // SAFETY: the client gave the function for one call with these.
            unsafe { on_delete(self.data, self.argument) };
        }
    }
}

impl fmt::Debug for LentMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LentMemory").field("data", &self.data).field("len", &self.len).finish_non_exhaustive()
    }
}
