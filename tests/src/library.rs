//! A library of handlers, opened as C does: one of ours by its table, a C++ one by its symbols.

use std::env;
use std::ffi::{c_char, c_void};
use std::mem::transmute;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use libloading::os::unix::{Library as Handle, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use oxcall::descriptor::RawHandler;
use oxcall::host::HostVersion;
use oxcall::{Code, Error, Result};
use serde_json::Value;
use xla_ffi_sys::xla_ffi as sys;

#[repr(C)]
#[derive(Debug)]
struct Span {
    ptr: *const u8,
    len: usize,
}

impl Span {
    /// # Safety
    /// The span points to UTF-8 that lives for ever.
    unsafe fn text(&self) -> &'static str {
        // SAFETY: as the caller guarantees.
        std::str::from_utf8(unsafe { std::slice::from_raw_parts(self.ptr, self.len) }).expect("UTF-8")
    }
}

/// `oxcall_handler`.
#[repr(C)]
struct Handler {
    struct_size: usize,
    name: Span,
    platform: Span,
    api_version: u32,
    traits: u32,
    stages: [*mut c_void; 5],
    legacy: [*mut c_void; 5],
    target: Span,
}

/// `oxcall_library_t`.
#[repr(C)]
#[derive(Debug)]
pub struct Table {
    struct_size: usize,
    abi_version: u32,
    reserved: u32,
    num_handlers: usize,
    handlers: *const *const Handler,
    manifest: Span,
}

type Sink = unsafe extern "C" fn(*mut c_void, *const c_char, usize);

/// A library; it is never closed.
#[derive(Debug)]
pub struct Library {
    handle: std::mem::ManuallyDrop<Handle>,
    manifest: Value,
}

/// Where a library of `tests/libs` is: where the task runner says, or else it is built.
///
/// # Panics
/// If it cannot be built.
pub fn path(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        if let Some(folder) = env::var_os("OXCALL_TEST_LIBS") {
            return folder.into();
        }
        let mut command = Command::new(env!("CARGO"));
        command.args(["build", "--quiet", "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
        for package in ["test_ops", "clashing_ops", "duplicate_ops", "empty_ops", "linked_ops"] {
            command.args(["--package", package]);
        }
        assert!(command.status().unwrap().success());
        // Tests are in `<profile>/deps`.
        Path::new(&env::current_exe().unwrap()).ancestors().nth(2).unwrap().to_path_buf()
    });
    folder.join(format!("{}{name}{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX))
}

/// A text that a sink is given, once.
unsafe extern "C" fn keep(user: *mut c_void, text: *const c_char, len: usize) {
    // SAFETY: the `Option` that was given along, and a text of that length.
    unsafe {
        let slot = &mut *user.cast::<Option<String>>();
        let bytes = if len == 0 { &[] } else { std::slice::from_raw_parts(text.cast::<u8>(), len) };
        assert!(slot.replace(String::from_utf8(bytes.to_vec()).unwrap()).is_none(), "called twice");
    }
}

impl Library {
    /// Opens a file, whose symbols later libraries see if `global`.
    ///
    /// # Errors
    /// It does not load.
    ///
    /// # Panics
    /// If its table or its manifest is broken.
    pub fn open(path: &Path, global: bool) -> Result<Library> {
        let mode = RTLD_NOW | if global { RTLD_GLOBAL } else { RTLD_LOCAL };
        // SAFETY: an op library or one of C++ handlers, whose constructors only fill registries.
        let handle = unsafe { Handle::open(Some(path), mode) }?;
        let mut library = Library { handle: std::mem::ManuallyDrop::new(handle), manifest: Value::Null };
        // SAFETY: only asked whether it is there.
        if unsafe { library.handle.get::<*const c_void>("oxcall_library") }.is_ok() {
            // SAFETY: the table lives as long as the library.
            let manifest = unsafe { (*library.table()).manifest.text() };
            library.manifest = serde_json::from_str(manifest).unwrap();
        }
        Ok(library)
    }

    /// A handler that is an exported function.
    ///
    /// # Errors
    /// There is no such symbol.
    ///
    /// # Safety
    /// It is a handler.
    pub unsafe fn exported(&self, name: &str) -> Result<RawHandler> {
        // SAFETY: as the caller guarantees.
        Ok(*unsafe { self.handle.get::<RawHandler>(name) }?)
    }

    /// A function of the boundary.
    ///
    /// # Safety
    /// `F` is its type.
    unsafe fn function<F: Copy>(&self, name: &str) -> F {
        // SAFETY: as the caller guarantees.
        *unsafe { self.handle.get::<F>(name) }.unwrap()
    }

    /// The library's table.
    ///
    /// # Panics
    /// If there is none, or it is broken.
    pub fn table(&self) -> *const Table {
        // SAFETY: the function of this name has this type.
        let library: extern "C" fn() -> *const Table = unsafe { self.function("oxcall_library") };
        let table = library();
        // SAFETY: the table lives as long as the library.
        let head = unsafe { &*table };
        assert_eq!((head.struct_size, head.abi_version, head.reserved), (size_of::<Table>(), 1, 0));
        assert_eq!(library(), table, "it is made once");
        table
    }

    fn handlers(&self) -> Vec<&'static Handler> {
        // SAFETY: the table lives as long as the library, and has as many handlers as it says.
        unsafe {
            let table = &*self.table();
            if table.num_handlers == 0 {
                return Vec::new();
            }
            let handlers = std::slice::from_raw_parts(table.handlers, table.num_handlers);
            handlers.iter().map(|handler| &**handler).collect()
        }
    }

    /// The manifest; null for a library of C++ handlers.
    pub fn manifest(&self) -> &Value {
        &self.manifest
    }

    /// The place of an operation in the table and in the manifest.
    ///
    /// # Panics
    /// If there is no such operation, or the two differ.
    pub fn index(&self, name: &str) -> usize {
        let ops = self.manifest["ops"].as_array().expect("an op library");
        let index = ops.iter().position(|op| op["name"] == name).unwrap_or_else(|| panic!("no op {name}"));
        // SAFETY: names live as long as the library.
        assert_eq!(unsafe { self.handlers()[index].name.text() }, name);
        index
    }

    /// The execute handler of an operation.
    ///
    /// # Panics
    /// As [`index`](Library::index).
    pub fn execute(&self, name: &str) -> RawHandler {
        // SAFETY: execute is never null, and a handler.
        unsafe { transmute::<*mut c_void, RawHandler>(self.handlers()[self.index(name)].stages[3]) }
    }

    /// Compares each handler with its part of the manifest.
    ///
    /// # Panics
    /// If they differ.
    pub fn check_handlers(&self) {
        const STAGES: [&str; 5] = ["instantiate", "prepare", "initialize", "execute", "record"];
        let ops = self.manifest["ops"].as_array().unwrap();
        let handlers = self.handlers();
        assert_eq!(ops.len(), handlers.len());
        for (op, handler) in ops.iter().zip(handlers) {
            assert_eq!((handler.struct_size, handler.api_version), (size_of::<Handler>(), 4));
            // SAFETY: texts live as long as the library.
            unsafe {
                assert_eq!(
                    (handler.name.text(), handler.target.text(), handler.platform.text()),
                    (op["name"].as_str().unwrap(), op["target"].as_str().unwrap(), op["platform"].as_str().unwrap())
                );
            };
            assert_eq!(handler.traits, u32::from(op["traits"]["command_buffer"] == true));
            for (stage, address) in STAGES.into_iter().zip(handler.stages) {
                let listed = op["stages"].as_array().unwrap().iter().any(|given| given == stage);
                assert_eq!(listed, !address.is_null(), "{op} {stage}");
            }
            assert!(handler.legacy.iter().all(|address| address.is_null() != (op["legacy"] == true)), "{op}");
        }
    }

    /// Registers everything with a host.
    ///
    /// # Errors
    /// Those of the library.
    ///
    /// # Panics
    /// If an error cannot be read.
    pub fn register_all(&self, version: HostVersion) -> Result<()> {
        // SAFETY: the function of this name has this type.
        let register: unsafe extern "C" fn(*const sys::XLA_FFI_Api) -> *mut sys::XLA_FFI_Error =
            unsafe { self.function("oxcall_register_all") };
        // SAFETY: a table of this crate's host.
        let error = unsafe { register(version.api()) };
        if error.is_null() {
            return Ok(());
        }
        let mut details = sys::XLA_FFI_Error_GetDetails_Args {
            struct_size: sys::XLA_FFI_Error_GetDetails_Args_STRUCT_SIZE as usize,
            error,
            ..Default::default()
        };
        // SAFETY: an error of this host, whose message is a C string.
        unsafe {
            HostVersion::V0_12.api().XLA_FFI_Error_GetDetails.unwrap()(&raw mut details);
            let message = std::ffi::CStr::from_ptr(details.message).to_str().unwrap();
            Err(Error::new(Code::from_code(details.errc).unwrap(), message))
        }
    }

    /// Whether registration with no table fails.
    pub fn register_null(&self) -> bool {
        // SAFETY: as above; null is refused.
        let register: unsafe extern "C" fn(*const sys::XLA_FFI_Api) -> *mut sys::XLA_FFI_Error =
            unsafe { self.function("oxcall_register_all") };
        // SAFETY: as above.
        !unsafe { register(std::ptr::null()) }.is_null()
    }

    /// The answer to a request for shapes.
    ///
    /// # Panics
    /// If there is none.
    pub fn infer(&self, handler: usize, request: &str) -> Value {
        // SAFETY: the function of this name has this type.
        let infer: unsafe extern "C" fn(usize, *const u8, usize, Sink, *mut c_void) =
            unsafe { self.function("oxcall_infer") };
        let mut response: Option<String> = None;
        // SAFETY: the request is there; the sink takes the option.
        unsafe { infer(handler, request.as_ptr(), request.len(), keep, (&raw mut response).cast()) };
        serde_json::from_str(&response.expect("the sink is called")).unwrap()
    }

    /// The last failure of a call under API v1.
    ///
    /// # Panics
    /// If the library does not answer.
    pub fn last_error(&self) -> String {
        // SAFETY: the function of this name has this type.
        let last_error: unsafe extern "C" fn(Sink, *mut c_void) = unsafe { self.function("oxcall_last_error") };
        let mut response: Option<String> = None;
        // SAFETY: the sink takes the option.
        unsafe { last_error(keep, (&raw mut response).cast()) };
        response.expect("the sink is called")
    }
}
