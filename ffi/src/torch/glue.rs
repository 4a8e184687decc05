//! The Python part: autocast, derivatives, batching, sharding, symbolic shapes and torch_xla, for which there is no C
//! interface.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::Once;

use serde_json::Value;

use super::registration::report;
use crate::loaded;
use crate::manifest::manifest;
use crate::registry::registry;

/// The program, which gets the manifest and the report of this library as JSON.
const PROGRAM: &str = concat!(
    include_str!("glue/dtypes.py"),
    include_str!("glue/operators.py"),
    include_str!("glue/autocast.py"),
    include_str!("glue/rules.py"),
    include_str!("glue/derivatives.py"),
    include_str!("glue/views.py"),
    include_str!("glue/batching.py"),
    include_str!("glue/sharding.py"),
    include_str!("glue/shapes.py"),
    include_str!("glue/xla.py"),
    include_str!("glue/register.py"),
);

/// The Python program that completes this library's operators; empty where there is no torch.
pub(crate) fn program() -> String {
    let report = report();
    if report["torch"].is_null() {
        return String::new();
    }
    let [manifest, report] = [manifest(registry()), report].map(|value| literal(&value.to_string()));
    format!("MANIFEST = {manifest}\nREPORT = {report}\n{PROGRAM}")
}

/// A Python literal: literals of JSON are valid ones.
fn literal(text: &str) -> String {
    Value::from(text).to_string()
}

/// Makes Python run this library's program as soon as possible. It is called while the dynamic linker loads the
/// library: taking Python's lock there could wait for a thread that waits for the linker's.
pub(super) fn schedule() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Some(add) = loaded::global(c"Py_AddPendingCall") else { return };
        type Pending = unsafe extern "C" fn(*mut c_void) -> c_int;
        // SAFETY: the function of this name in Python's interface, which any thread may call.
        unsafe {
            let add = std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn(Pending, *mut c_void) -> c_int>(add);
            add(run, std::ptr::null_mut());
        }
    });
}

/// Called by Python, between two instructions of its main thread. A fault of the library becomes an exception of the
/// code that loads it; a mistake in the program is shown on stderr.
unsafe extern "C" fn run(_: *mut c_void) -> c_int {
    wait_for_loading();
    let problems =
        std::panic::catch_unwind(|| registry().problems().iter().map(ToString::to_string).collect::<Vec<_>>());
    if let Ok(problems) = &problems
        && !problems.is_empty()
        && raise(&problems.join("\n"))
    {
        return -1;
    }
    let program = std::panic::catch_unwind(program).unwrap_or_default();
    if execute(&format!("PROGRAM = {}\n{LOADER}", literal(&program))) { 0 } else { -1 }
}

/// Runs the program in a separate namespace. A fault of the library is raised, a mistake in the program is shown; a
/// process with only libtorch runs nothing.
const LOADER: &str = "
import sys, traceback
if 'torch' in sys.modules:
    try:
        exec(compile(PROGRAM, '<operators of torch>', 'exec'), {'PENDING': True})
    except Exception as error:
        if getattr(error, 'is_of_library', False):
            raise
        traceback.print_exc()
";

/// Runs a text. Returns whether there was no exception; otherwise one is set.
fn execute(text: &str) -> bool {
    type NewDict = unsafe extern "C" fn() -> *mut c_void;
    type Release = unsafe extern "C" fn(*mut c_void);
    type Run = unsafe extern "C" fn(*const c_char, c_int, *mut c_void, *mut c_void, *mut c_void) -> *mut c_void;
    /// `Py_file_input`: statements.
    const STATEMENTS: c_int = 257;
    let (Some(new), Some(release), Some(run), Ok(text)) = (
        loaded::global(c"PyDict_New"),
        loaded::global(c"Py_DecRef"),
        loaded::global(c"PyRun_StringFlags"),
        CString::new(text),
    ) else {
        return true;
    };
    // SAFETY: the functions of these names in Python's interface; Python's lock is held here. This function owns the
    // dictionary and the result, whose release also takes null.
    unsafe {
        let new = std::mem::transmute::<NonNull<c_void>, NewDict>(new);
        let release = std::mem::transmute::<NonNull<c_void>, Release>(release);
        let run = std::mem::transmute::<NonNull<c_void>, Run>(run);
        let names = new();
        if names.is_null() {
            return false;
        }
        let result = run(text.as_ptr(), STATEMENTS, names, names, std::ptr::null_mut());
        release(names);
        release(result);
        !result.is_null()
    }
}

/// Sets a `RuntimeError`; false if this Python does not have it.
fn raise(message: &str) -> bool {
    let (Some(class), Some(set), Ok(message)) =
        (loaded::global(c"PyExc_RuntimeError"), loaded::global(c"PyErr_SetString"), CString::new(message))
    else {
        return false;
    };
    // SAFETY: the variable and the function of these names in Python's interface; Python's lock is held here.
    unsafe {
        let set = std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn(*mut c_void, *const c_char)>(set);
        set(class.cast::<*mut c_void>().read(), message.as_ptr());
    }
    true
}

/// Waits until no other thread is loading a library: it may be this library, whose operations are all known only after
/// the last constructor has run. Python's lock is released meanwhile.
fn wait_for_loading() {
    let (Some(save), Some(restore)) = (loaded::global(c"PyEval_SaveThread"), loaded::global(c"PyEval_RestoreThread"))
    else {
        return;
    };
    // SAFETY: the functions of these names in Python's interface; this thread holds Python's lock, and holds it again
    // afterwards.
    unsafe {
        let save = std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn() -> *mut c_void>(save);
        let restore = std::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn(*mut c_void)>(restore);
        let state = save();
        // The search for a library takes the lock under which libraries are loaded.
        let _ = loaded::Library::find(c"libtorch_cpu.so");
        restore(state);
    }
}
