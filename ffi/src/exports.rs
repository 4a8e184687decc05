//! The C symbols of an op library. `docs/c-boundary.md` has their declarations.
//!
//! They are looked up on one library's handle, and nothing inside refers to them by name, so that two libraries in
//! one process never call each other's. Handlers themselves are not exported: they are reached through the table.
//!
//! Unit tests define none of these symbols: they are linked with the crate's ordinary build, which has them.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use serde_json::{Map, Value, json};
use xla_ffi_sys::xla_ffi as sys;

use crate::api::HostApi;
use crate::descriptor::{Handler, Legacy, Stage};
use crate::entry::{address, create};
#[cfg(feature = "legacy")]
use crate::legacy;
use crate::manifest::{ABI_VERSION, manifest};
use crate::registry::registry;
use crate::shape::{self, Shape};
#[cfg(feature = "torch")]
use crate::torch;
#[cfg(not(feature = "torch"))]
use crate::without_torch as torch;
use crate::{Code, DType, Error, Result, panics};

/// UTF-8 text that is not NUL-terminated.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) ptr: *const u8,
    pub(crate) len: usize,
}

impl Span {
    fn of(text: &'static str) -> Span {
        Span { ptr: text.as_ptr(), len: text.len() }
    }
}

/// One implementation of an operation, as C sees it. New fields are added at the end.
#[repr(C)]
pub(crate) struct CHandler {
    pub(crate) struct_size: usize,
    pub(crate) name: Span,
    pub(crate) platform: Span,
    api_version: u32,
    traits: u32,
    stages: [*mut c_void; 5],
    /// As [`Legacy::addresses`] has them, or null.
    pub(crate) legacy: [*mut c_void; 5],
    /// [`Handler::target`].
    pub(crate) target: Span,
}

/// The library, as C sees it. New fields are added at the end.
#[repr(C)]
pub(crate) struct CLibrary {
    struct_size: usize,
    pub(crate) abi_version: u32,
    reserved: u32,
    pub(crate) num_handlers: usize,
    pub(crate) handlers: *const *const CHandler,
    manifest: Span,
}

// SAFETY: constant once made.
unsafe impl Send for CHandler {}
// SAFETY: as above.
unsafe impl Sync for CHandler {}
// SAFETY: constant once made.
unsafe impl Send for CLibrary {}
// SAFETY: as above.
unsafe impl Sync for CLibrary {}

/// A receiver of a text: called once, with the pointer that came along with it.
type Sink = unsafe extern "C" fn(user: *mut c_void, text: *const c_char, len: usize);

fn c_handler(handler: &'static Handler) -> CHandler {
    let stage = |stage: Stage| handler.stage(stage).map_or(std::ptr::null_mut(), address);
    CHandler {
        struct_size: size_of::<CHandler>(),
        name: Span::of(handler.name),
        platform: Span::of(handler.platform),
        api_version: 4,
        traits: handler.traits.bits(),
        // The record stage (API 0.4) cannot be written with this SDK: its place stays null.
        stages: [
            stage(Stage::Instantiate),
            stage(Stage::Prepare),
            stage(Stage::Initialize),
            stage(Stage::Execute),
            std::ptr::null_mut(),
        ],
        legacy: handler.legacy.map_or([std::ptr::null_mut(); 5], Legacy::addresses),
        target: Span::of(handler.target().leak()),
    }
}

fn c_library() -> &'static CLibrary {
    static LIBRARY: OnceLock<CLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let handlers: Vec<*const CHandler> = registry()
            .handlers()
            .iter()
            .map(|handler| std::ptr::from_ref(Box::leak(Box::new(c_handler(handler)))))
            .collect();
        let handlers: &'static [*const CHandler] = handlers.leak();
        let manifest: &'static str = manifest(registry()).to_string().leak();
        CLibrary {
            struct_size: size_of::<CLibrary>(),
            abi_version: ABI_VERSION,
            reserved: 0,
            num_handlers: handlers.len(),
            handlers: handlers.as_ptr(),
            manifest: Span::of(manifest),
        }
    })
}

/// The library's table; null only if making it panicked.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) extern "C" fn oxcall_library() -> *const CLibrary {
    catch_unwind(c_library).map_or(std::ptr::null(), std::ptr::from_ref)
}

/// Registers every handler with an XLA host, under its target and its name, for its platform. Returns an error of the
/// host, or null.
///
/// # Safety
/// `api` is the host's API table.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn oxcall_register_all(api: *const sys::XLA_FFI_Api) -> *mut sys::XLA_FFI_Error {
    // SAFETY: as the caller guarantees.
    let Some(api) = (unsafe { HostApi::new(api) }) else {
        panics::tell("oxcall_register_all was given no API table");
        return std::ptr::NonNull::<sys::XLA_FFI_Error>::dangling().as_ptr();
    };
    let result = catch_unwind(AssertUnwindSafe(|| register_all(api)))
        .unwrap_or_else(|payload| Err(Error::internal(panics::describe(payload))));
    match result {
        Ok(()) => std::ptr::null_mut(),
        Err(error) => create(api, &error),
    }
}

fn register_all(api: HostApi<'_>) -> Result<()> {
    if let Some(problem) = registry().problems().first() {
        return Err(Error::failed_precondition(problem.to_string()));
    }
    for handler in registry().handlers() {
        for target in handler.targets() {
            api.register_handler(&target, handler.platform, handler.bundle(), handler.traits.bits())
                .map_err(|error| error.context(format_args!("registering `{target}`")))?;
        }
    }
    Ok(())
}

/// Output shapes and dtypes of a call: JSON in, JSON out.
///
/// # Safety
/// `request` points to `len` bytes; `sink` may be called with `user`.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn oxcall_infer(
    handler: usize,
    request: *const u8,
    len: usize,
    sink: Sink,
    user: *mut c_void,
) {
    let request = if request.is_null() {
        &[]
    } else {
        // SAFETY: as the caller guarantees.
        unsafe { std::slice::from_raw_parts(request, len) }
    };
    let result = catch_unwind(|| infer(handler, request))
        .unwrap_or_else(|payload| Err(Error::internal(panics::describe(payload))));
    let response = match result {
        Ok(shapes) => json!({
            "results": shapes.iter().map(|shape| json!({
                "dtype": shape.dtype.name(),
                "dims": shape.dims,
            })).collect::<Vec<_>>(),
        }),
        Err(error) => json!({ "error": { "code": code_name(error.code()), "message": error.message() } }),
    };
    let text = response.to_string();
    // SAFETY: as the caller guarantees.
    unsafe { sink(user, text.as_ptr().cast(), text.len()) }
}

fn infer(handler: usize, request: &[u8]) -> Result<Vec<Shape>> {
    let malformed = |what: &str| Error::internal(format!("a malformed request for shapes: {what}"));
    let handler =
        registry().handlers().get(handler).ok_or_else(|| malformed("there is no handler with this number"))?;
    let request: Value = serde_json::from_slice(request).map_err(|error| malformed(&error.to_string()))?;
    let dtype = |value: &Value| {
        value
            .as_str()
            .and_then(DType::from_name)
            .ok_or_else(|| Error::invalid_argument(format!("{}: unknown dtype {value}", handler.name)))
    };
    let mut args = Vec::new();
    for arg in request["args"].as_array().ok_or_else(|| malformed("no `args`"))? {
        let dims = arg["dims"].as_array().ok_or_else(|| malformed("no `dims`"))?;
        let dims = dims.iter().map(|dim| dim.as_i64().ok_or_else(|| malformed("a dimension is not an integer")));
        args.push(Shape { dtype: dtype(&arg["dtype"])?, dims: dims.collect::<Result<_>>()? });
    }
    let empty = Map::new();
    let attrs = request["attrs"].as_object().unwrap_or(&empty);
    let mut dtypes = Vec::new();
    for (name, value) in request["dtypes"].as_object().unwrap_or(&empty) {
        dtypes.push((name.as_str(), dtype(value)?));
    }
    let results = request["num_results"].as_u64().map(|n| n as usize);
    shape::infer(handler, &args, attrs, &dtypes, results)
}

/// `INVALID_ARGUMENT` and so on, as absl spells them.
fn code_name(code: Code) -> String {
    let mut name = String::new();
    for (i, c) in format!("{code:?}").char_indices() {
        if i > 0 && c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(c.to_ascii_uppercase());
    }
    name
}

/// Registers all operations with the process's torch, unless they are already, and reports the outcome of each as JSON.
/// Returns how many are operators of torch now, or -1 if there is no torch to register with.
///
/// # Safety
/// `sink` is null or may be called with `user`.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn oxcall_register_torch(sink: Option<Sink>, user: *mut c_void) -> i32 {
    let (count, report) = catch_unwind(|| {
        let count = torch::register().map_or(-1, |count| i32::try_from(count).unwrap_or(i32::MAX));
        (count, torch::report().to_string())
    })
    .unwrap_or_else(|payload| {
        (-1, json!({ "torch": null, "reason": panics::describe(payload), "ops": [] }).to_string())
    });
    if let Some(sink) = sink {
        // SAFETY: as the caller guarantees.
        unsafe { sink(user, report.as_ptr().cast(), report.len()) }
    }
    count
}

/// The Python program that completes the operators of torch; empty where there is no torch.
///
/// # Safety
/// `sink` may be called with `user`.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn oxcall_torch_glue(sink: Sink, user: *mut c_void) {
    let text = catch_unwind(torch::program).unwrap_or_default();
    // SAFETY: as the caller guarantees.
    unsafe { sink(user, text.as_ptr().cast(), text.len()) }
}

/// The last failure of a call under API v1, which cannot report any; empty if there is none. Clears it.
///
/// # Safety
/// `sink` may be called with `user`.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub(crate) unsafe extern "C" fn oxcall_last_error(sink: Sink, user: *mut c_void) {
    #[cfg(feature = "legacy")]
    let text = catch_unwind(legacy::take_last_error).unwrap_or_default();
    #[cfg(not(feature = "legacy"))]
    let text = String::new();
    // SAFETY: as the caller guarantees.
    unsafe { sink(user, text.as_ptr().cast(), text.len()) }
}

/// Unit tests, which do not export the functions, use them here.
#[cfg(test)]
const _: [*const (); 6] = [
    oxcall_library as *const (),
    oxcall_register_all as *const (),
    oxcall_infer as *const (),
    oxcall_register_torch as *const (),
    oxcall_torch_glue as *const (),
    oxcall_last_error as *const (),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_names_are_absl_names() {
        assert_eq!(code_name(Code::InvalidArgument), "INVALID_ARGUMENT");
        assert_eq!(code_name(Code::Internal), "INTERNAL");
    }

    #[test]
    #[cfg_attr(miri, ignore = "a function has several addresses there")]
    fn tables_have_the_addresses_of_handlers() {
        unsafe extern "C" fn handler(_: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
            std::ptr::null_mut()
        }
        assert_eq!(address(handler).addr(), (handler as *const ()).addr());
    }
}
