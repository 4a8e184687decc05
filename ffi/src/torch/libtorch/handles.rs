//! Owned values of a kernel's stack: strings, lists, optional values.

use std::ffi::c_void;
use std::ptr;

use super::shim::{ListHandle, Shim, StringHandle, check};
use crate::{Error, Result};

/// Reports a function that this torch lacks, though a schema that needs it was registered; schemas of this crate never
/// do.
#[cold]
fn missing(symbol: &str) -> Error {
    Error::internal(format!("this torch has no function `{symbol}`"))
}

/// Reads an optional value, and frees its box.
///
/// # Safety
/// `value` is the value that a kernel gets for an argument of type `T?`, taken for the first time.
pub(crate) unsafe fn optional(shim: &Shim, value: u64) -> Option<u64> {
    let boxed = ptr::with_exposed_provenance_mut::<u64>(value as usize);
    if boxed.is_null() {
        return None;
    }
    // SAFETY: a non-null value is the address of a value that the kernel has to free.
    unsafe {
        let inner = boxed.read();
        delete_box(shim, boxed);
        Some(inner)
    }
}

/// Frees the box of an optional value. Before torch 2.13 there is no function for it: boxes are made by `operator new`,
/// whose memory is that of `malloc` in every build of torch.
///
/// # Safety
/// torch made the box for a kernel, and it is not used again.
unsafe fn delete_box(shim: &Shim, boxed: *mut u64) {
    unsafe extern "C" {
        fn free(memory: *mut c_void);
    }
    // SAFETY: as the caller guarantees.
    unsafe {
        match shim.delete_value {
            Some(delete) => {
                delete(boxed);
            }
            None => free(boxed.cast()),
        }
    }
}

/// An owned string, deleted on drop.
pub(crate) struct Str {
    shim: &'static Shim,
    handle: StringHandle,
}

impl Str {
    /// # Safety
    /// The value that a kernel gets for an argument of type `str`, taken for the first time.
    pub(crate) unsafe fn own(shim: &'static Shim, value: u64) -> Str {
        Str { shim, handle: ptr::with_exposed_provenance_mut(value as usize) }
    }

    /// The bytes of the string.
    pub(crate) fn bytes(&self) -> Result<&[u8]> {
        let length = self.shim.string_length.ok_or_else(|| missing("torch_string_length"))?;
        let c_str = self.shim.string_data.ok_or_else(|| missing("torch_string_c_str"))?;
        let (mut len, mut data) = (0, ptr::null());
        // SAFETY: a live string.
        let status = unsafe { length(self.handle, &raw mut len) | c_str(self.handle, &raw mut data) };
        check(self.shim, status, "reading a string")?;
        if data.is_null() {
            return Ok(&[]);
        }
        // SAFETY: borrowed from the string, which has as many bytes.
        Ok(unsafe { std::slice::from_raw_parts(data.cast(), len) })
    }
}

impl Drop for Str {
    fn drop(&mut self) {
        if let Some(delete) = self.shim.delete_string {
            // SAFETY: this value owns the string, which is not used again.
            unsafe { delete(self.handle) };
        }
    }
}

/// An owned list, deleted on drop. Its elements belong to the code that takes them out.
pub(crate) struct List {
    shim: &'static Shim,
    handle: ListHandle,
}

impl List {
    /// # Safety
    /// The value that a kernel gets for an argument of type `T[]`, taken for the first time.
    pub(crate) unsafe fn own(shim: &'static Shim, value: u64) -> List {
        List { shim, handle: ptr::with_exposed_provenance_mut(value as usize) }
    }

    /// An empty list with the given capacity.
    pub(crate) fn with_capacity(shim: &'static Shim, capacity: usize) -> Result<List> {
        let new = shim.new_list.ok_or_else(|| missing("torch_new_list_reserve_size"))?;
        let mut handle = ptr::null_mut();
        // SAFETY: the new list belongs to the value returned below.
        check(shim, unsafe { new(capacity, &raw mut handle) }, "making a list")?;
        Ok(List { shim, handle })
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> Result<usize> {
        let size = self.shim.list_size.ok_or_else(|| missing("torch_list_size"))?;
        let mut len = 0;
        // SAFETY: a live list.
        check(self.shim, unsafe { size(self.handle, &raw mut len) }, "reading a list")?;
        Ok(len)
    }

    /// Takes an element out; the caller has to delete a handle.
    pub(crate) fn take(&self, index: usize) -> Result<u64> {
        let item = self.shim.list_item.ok_or_else(|| missing("torch_list_get_item"))?;
        let mut value = 0;
        // SAFETY: a live list, which checks the index.
        check(self.shim, unsafe { item(self.handle, index, &raw mut value) }, "reading a list")?;
        Ok(value)
    }

    /// Adds an element, which then belongs to the list.
    pub(crate) fn push(&self, value: u64) -> Result<()> {
        let push = self.shim.list_push.ok_or_else(|| missing("torch_list_push_back"))?;
        // SAFETY: a live list.
        check(self.shim, unsafe { push(self.handle, value) }, "making a list")
    }

    /// Gives the list away.
    pub(crate) fn into_value(self) -> u64 {
        std::mem::ManuallyDrop::new(self).handle.expose_provenance() as u64
    }
}

impl Drop for List {
    fn drop(&mut self) {
        if let Some(delete) = self.shim.delete_list {
            // SAFETY: this value owns the list, which is not used again.
            unsafe { delete(self.handle) };
        }
    }
}
