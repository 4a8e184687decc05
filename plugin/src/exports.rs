//! The C symbols of a plugin besides `GetPjrtApi`: what the Python package calls. Each that can fail returns a message,
//! which is valid until the thread's next call, or null.

use std::cell::RefCell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use oxcall::host::{self, HostVersion};
use oxcall::{Error, Result};
use xla_ffi_sys::xla_ffi as sys;

use crate::name::platform_name;
use crate::registration;

/// Runs `work`, and gives its error, or its panic, as a message.
fn message(work: impl FnOnce() -> Result<()>) -> *const c_char {
    thread_local! {
        static MESSAGE: RefCell<CString> = RefCell::default();
    }
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(Error::internal("the plugin panicked")));
    let Err(error) = result else { return std::ptr::null() };
    let text = CString::new(error.message().replace('\0', "\\0")).unwrap_or_default();
    MESSAGE.with_borrow_mut(|message| {
        *message = text;
        message.as_ptr()
    })
}

/// The name of the platform, which lives for ever.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn oxcall_plugin_name() -> *const c_char {
    platform_name().as_ptr()
}

/// The version of this crate, which lives for ever. The Python package of a version takes the library of the same.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn oxcall_plugin_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Registers the linked handlers, and returns their mistakes.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn oxcall_plugin_check() -> *const c_char {
    message(registration::register_linked)
}

/// Registers a handler of custom calls for the plugin's platform.
///
/// # Safety
/// `name` is a NUL-terminated string; the others are addresses of handlers of API version 4 (`api_version` 1) or of a
/// legacy function (`api_version` 0, in `execute`), or null.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn oxcall_plugin_register_handler(
    name: *const c_char,
    instantiate: *mut c_void,
    prepare: *mut c_void,
    initialize: *mut c_void,
    execute: *mut c_void,
    api_version: c_int,
    traits: u32,
) -> *const c_char {
    message(|| {
        let platform = platform_name().to_string_lossy();
        let stages = [instantiate, prepare, initialize, execute];
        // SAFETY: as the caller guarantees.
        unsafe {
            let name = registration::text(name)?;
            registration::register_addresses(name, &platform, stages, api_version, traits)
        }
    })
}

/// Says whether programs find another handler under this name than the one that was registered here last.
///
/// # Safety
/// `name` is a NUL-terminated string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn oxcall_plugin_shadow(name: *const c_char) -> *const c_char {
    message(|| {
        // SAFETY: as the caller guarantees.
        let name = unsafe { registration::text(name) }?;
        let found = registration::shadow(name, &platform_name().to_string_lossy());
        found.map_or(Ok(()), |text| Err(Error::already_exists(text)))
    })
}

/// Says that calls of a target have batch dimensions, and may be called with a part of them.
///
/// # Safety
/// `name` is a NUL-terminated string.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn oxcall_plugin_batch_partitionable(name: *const c_char) -> *const c_char {
    message(|| {
        // SAFETY: as the caller guarantees.
        registration::register_batch_partitionable(unsafe { registration::text(name) }?);
        Ok(())
    })
}

/// Registers a type of states or user data. `id` holds an id, or 0, for which a new one is written there.
///
/// # Safety
/// `name` is a NUL-terminated string; `id` points to an `XLA_FFI_TypeId`, and `info`, unless null, to an
/// `XLA_FFI_TypeInfo`.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn oxcall_plugin_register_type(
    name: *const c_char,
    id: *mut sys::XLA_FFI_TypeId,
    info: *const sys::XLA_FFI_TypeInfo,
) -> *const c_char {
    message(|| {
        // SAFETY: as the caller guarantees.
        let (name, id) = unsafe { (registration::text(name)?, id.as_mut()) };
        let id = id.ok_or_else(|| Error::invalid_argument(format!("the id of type {name} is null")))?;
        // SAFETY: as the caller guarantees.
        let deleter = unsafe { host::type_deleter(info) };
        id.type_id = host::register_type(HostVersion::default(), name, id.type_id, deleter)?;
        Ok(())
    })
}
