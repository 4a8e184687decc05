//! Handlers out of shared libraries: a C++ one by symbol, one of ours by its table.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;

use oxcall::descriptor::RawHandler;

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

const RTLD_NOW: c_int = 2;

/// A loaded library. It stays loaded: its handlers may be called until the process ends.
pub(crate) struct Library(*mut c_void);

#[repr(C)]
struct Span {
    ptr: *const u8,
    len: usize,
}

/// The beginning of `oxcall_handler`; later fields are of no use here.
#[repr(C)]
struct Handler {
    struct_size: usize,
    name: Span,
    platform: Span,
    api_version: u32,
    traits: u32,
    instantiate: *mut c_void,
    prepare: *mut c_void,
    initialize: *mut c_void,
    execute: *mut c_void,
}

#[repr(C)]
struct Table {
    struct_size: usize,
    abi_version: u32,
    reserved: u32,
    num_handlers: usize,
    handlers: *const *const Handler,
}

impl Library {
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let name = CString::new(path.to_string_lossy().as_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: a valid C string; the libraries' constructors only fill registries.
        let handle = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
        if handle.is_null() { Err(format!("{} does not load", path.display())) } else { Ok(Self(handle)) }
    }

    fn symbol(&self, name: &str) -> Result<*mut c_void, String> {
        let text = CString::new(name).map_err(|error| error.to_string())?;
        // SAFETY: the handle is of a library that is never closed.
        let address = unsafe { dlsym(self.0, text.as_ptr()) };
        if address.is_null() { Err(format!("no symbol {name}")) } else { Ok(address) }
    }

    /// A handler that is an exported function.
    pub(crate) fn exported(&self, name: &str) -> Result<RawHandler, String> {
        let address = self.symbol(name)?;
        // SAFETY: `peers.cc` defines every `peer_*` that is asked for with this signature.
        Ok(unsafe { std::mem::transmute::<*mut c_void, RawHandler>(address) })
    }

    /// The execute handler of one of our ops.
    pub(crate) fn op(&self, name: &str) -> Result<RawHandler, String> {
        let library = self.symbol("oxcall_library")?;
        // SAFETY: the C boundary gives `oxcall_library` this signature.
        let library = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> *const Table>(library) };
        // SAFETY: the table is static, and its first fields never change.
        let table = unsafe { &*library() };
        for index in 0..table.num_handlers {
            // SAFETY: the array has `num_handlers` pointers to static handlers, whose names are UTF-8.
            let (handler, found) = unsafe {
                let handler = &**table.handlers.add(index);
                (handler, std::slice::from_raw_parts(handler.name.ptr, handler.name.len))
            };
            if found == name.as_bytes() {
                // SAFETY: every handler has an execute stage, of this signature.
                return Ok(unsafe { std::mem::transmute::<*mut c_void, RawHandler>(handler.execute) });
            }
        }
        Err(format!("no op {name}"))
    }
}
