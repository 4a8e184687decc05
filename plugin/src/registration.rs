//! Handlers of custom calls from outside the program: compiled in, in libraries of ops, or given by address.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use oxcall::descriptor::RawHandler;
use oxcall::host::{self, HostVersion, LegacyFunction, Source};
use oxcall::registry::{Problem, registry};
use oxcall::sync::Mutex;
use oxcall::{Error, Result};
use oxcall_pjrt::Platform;
use xla_ffi_sys::xla_ffi as sys;

use crate::platform::CpuPlatform;

/// Handlers are registered as the newest host does, which accepts every version of the API up to its own; calls use
/// the tables of the version that each handler reports.
const HOST: HostVersion = HostVersion::V0_12;

/// The targets of custom calls that may be called with a part of their first dimensions.
static BATCH_PARTITIONABLE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Says that calls of `target` have batch dimensions, and may be called with a part of them.
pub(crate) fn register_batch_partitionable(target: &str) {
    BATCH_PARTITIONABLE.lock().insert(target.to_owned());
}

/// The targets that [`register_batch_partitionable`] was told.
pub(crate) fn batch_partitionable() -> BTreeSet<String> {
    BATCH_PARTITIONABLE.lock().clone()
}

/// Registers the handlers that are linked into this library for its platform, once.
///
/// # Errors
/// `FAILED_PRECONDITION` with the mistakes in the registry.
pub(crate) fn register_linked() -> Result<()> {
    static FAILURE: OnceLock<Option<String>> = OnceLock::new();
    let failure = FAILURE.get_or_init(|| register_all_linked(CpuPlatform::name()).err().map(|error| error.to_string()));
    failure.clone().map_or(Ok(()), |failure| Err(Error::failed_precondition(failure)))
}

fn register_all_linked(platform: &str) -> Result<()> {
    // A plugin may have no ops of its own, which a library of ops may not.
    let problem = registry().problems().iter().find(|problem| !matches!(problem, Problem::NoOperation));
    if let Some(problem) = problem {
        return Err(Error::failed_precondition(problem.to_string()));
    }
    for handler in registry().handlers() {
        let platform = if handler.platform == "Host" { platform } else { handler.platform };
        // SAFETY: functions that `#[custom_call]` made obey the contract.
        unsafe {
            let (bundle, traits) = (handler.bundle(), handler.traits.bits());
            for target in handler.targets() {
                host::register_handler(HOST, Source::Linked, &target, platform, &bundle, traits)?;
                if let Some(legacy) = handler.legacy {
                    // Of the CPU, as all of this platform: so not by its own name.
                    let platform = handler.platform;
                    host::register_legacy_versions(Source::Linked, &target, platform, legacy.addresses())?;
                }
            }
        }
    }
    Ok(())
}

/// Loads a library of ops and registers its handlers under their own platforms. Libraries are never closed.
///
/// # Errors
/// `NOT_FOUND` if it cannot be opened, `INVALID_ARGUMENT` if it is not a library of ops; the errors that it
/// reports.
pub(crate) fn register_library(path: &str) -> Result<()> {
    type RegisterAll = unsafe extern "C" fn(*const sys::XLA_FFI_Api) -> *mut sys::XLA_FFI_Error;
    // SAFETY: the user asks for the library's code to run.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|error| {
        // The system's words, which name the file that is missing or the symbol, are the source.
        let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        Error::not_found(format!("cannot open the library of ops {path}: {cause}"))
    })?;
    // SAFETY: the symbol's type is part of the C boundary of libraries of ops.
    let register_all = unsafe { library.get::<RegisterAll>(b"oxcall_register_all\0") }.map(|symbol| *symbol);
    let register_all = register_all.map_err(|_| {
        Error::invalid_argument(format!("{path} is not a library of ops: it lacks the symbol `oxcall_register_all`"))
    })?;
    // SAFETY: as above. Without the symbol there are no functions of legacy versions.
    let table = unsafe { library.get::<unsafe extern "C" fn() -> *const c_void>(b"oxcall_library\0") };
    let table = table.map(|symbol| *symbol).ok();
    std::mem::forget(library);
    // SAFETY: the library is never closed.
    let registered = unsafe { host::register_library(HOST, register_all) };
    // SAFETY: as above.
    let legacy = || table.map_or(Ok(()), |table| unsafe { host::register_legacy_library(table) });
    registered.and_then(|()| legacy()).map_err(|error| error.context(format!("loading {path}")))
}

/// Registers handlers that are given by address. Legacy ones (`api_version` 0) have an execute function only.
///
/// # Errors
/// As [`host::register_handler`].
///
/// # Safety
/// The addresses are those of handlers of the API version, in the order of `sys::XLA_FFI_Handler_Bundle`.
pub(crate) unsafe fn register_addresses(
    name: &str,
    platform: &str,
    stages: [*mut c_void; 4],
    api_version: i32,
    traits: u32,
) -> Result<()> {
    match api_version {
        0 => {
            // SAFETY: as the caller guarantees.
            unsafe { host::register_legacy(Source::Client, name, platform, LegacyFunction(stages[3])) }
        }
        1 => {
            let handler = |address: *mut c_void| -> sys::XLA_FFI_Handler {
                // SAFETY: the caller guarantees that it is a handler; null is `None`.
                unsafe { std::mem::transmute::<*mut c_void, Option<RawHandler>>(address) }
            };
            let [instantiate, prepare, initialize, execute] = stages.map(handler);
            let bundle = sys::XLA_FFI_Handler_Bundle { instantiate, prepare, initialize, execute, record: None };
            // SAFETY: as the caller guarantees.
            unsafe { host::register_handler(HOST, Source::Client, name, platform, &bundle, traits) }
        }
        other => Err(Error::invalid_argument(format!(
            "handler `{name}`: api_version is {other}; expected 0 (legacy function) or 1 (typed FFI)"
        ))),
    }
}

/// A warning if programs find another handler under `name` than the one that the client registered.
pub(crate) fn shadow(name: &str, platform: &str) -> Option<String> {
    let handlers: Vec<_> = host::registered_handlers().into_iter().filter(|(known, ..)| known == name).collect();
    let of =
        |source| handlers.iter().find(move |(_, _, handler)| handler.source == source).map(|(.., handler)| handler);
    let given = handlers.iter().find(|(_, of, handler)| of == platform && handler.source == Source::Client)?;
    let (first, place) = match (of(Source::Linked), of(Source::Library)) {
        (Some(linked), _) => (linked, "compiled into the plugin"),
        (None, Some(library)) => (library, "of a library of ops that the plugin loaded"),
        (None, None) => return None,
    };
    let differs = first.execute as usize != given.2.execute as usize;
    differs.then(|| {
        format!(
            "custom calls to `{name}` on the platform {platform} run the handler {place}, not the one registered here: \
             register it under another name"
        )
    })
}

/// The text at `name`.
///
/// # Errors
/// `INVALID_ARGUMENT` if it is null or not UTF-8.
///
/// # Safety
/// A NUL-terminated string, or null.
pub(crate) unsafe fn text<'a>(name: *const c_char) -> Result<&'a str> {
    if name.is_null() {
        return Err(Error::invalid_argument("a name passed to the plugin is null"));
    }
    // SAFETY: as the caller guarantees.
    let name = unsafe { CStr::from_ptr(name) };
    name.to_str().map_err(|_| Error::invalid_argument(format!("the name {name:?} is not valid UTF-8")))
}
