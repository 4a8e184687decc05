//! Custom calls through the engine: programs as text, compiled and executed.
//!
//! XLA's own lists of tests, one module for each file, one function for each test, by its name:
//! `xla/tests/custom_call_test.cc` ([`custom_call_test`]), `xla/service/gpu/custom_call_test.cc`
//! ([`gpu_custom_call_test`]), `xla/ffi/api/ffi_test.cc` ([`api_ffi_test`]) and `xla/ffi/ffi_test.cc` ([`ffi_test`]).
//! What cannot apply here is named, with the reason, at the top of each module. [`mistakes`] and [`under_load`] are our
//! own.

mod api_ffi_test;
mod custom_call_test;
mod ffi_test;
mod gpu_custom_call_test;
mod mistakes;
mod under_load;

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, Once};

use bytemuck::Pod;
use oxcall::host::{self, HostVersion, LegacyFunction, Source};
use oxcall::registry::registry;
use oxcall::{Code, Error};
use oxcall_engine::{Argument, Buffer, Engine, EngineOptions, ExecuteOptions, Program};

const PLATFORM: &str = "oxcall";

/// An engine of two threads, with all handlers of this test.
fn engine() -> Arc<Engine> {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        for handler in registry().handlers() {
            let (bundle, traits) = (handler.bundle(), handler.traits.bits());
            // SAFETY: `#[custom_call]` makes handlers.
            unsafe {
                host::register_handler(HostVersion::default(), Source::Linked, handler.name, PLATFORM, &bundle, traits)
            }
            .unwrap();
        }
    });
    Engine::new(EngineOptions { platform: PLATFORM.to_owned(), num_threads: 2, ..EngineOptions::default() })
}

/// Registers a function of API v1 to v3.
///
/// # Safety
/// Programs call it by its version.
unsafe fn register_legacy(name: &str, function: *const c_void) {
    // SAFETY: as the caller guarantees.
    unsafe { host::register_legacy(Source::Client, name, PLATFORM, LegacyFunction(function)) }.unwrap();
}

/// Reads, verifies and compiles a program.
fn compile(engine: &Arc<Engine>, program: &str) -> Result<Program, Error> {
    let invalid = |error: oxcall_hlo::Error| Error::invalid_argument(error.to_string());
    let module = oxcall_hlo::parse_text(program).map_err(invalid)?;
    oxcall_hlo::verify(&module).map_err(invalid)?;
    engine.compile(module)
}

/// Values as an argument's bytes.
fn bytes<T: Pod>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

fn arguments(engine: &Engine, values: &[Vec<u8>]) -> Vec<Argument> {
    let buffer = |bytes: &Vec<u8>| Buffer::copy_of(engine.allocator(), bytes).unwrap();
    values.iter().map(|bytes| Argument::Shared(Arc::new(buffer(bytes)))).collect()
}

/// The values of a result.
fn get<T: Pod>(buffer: &Buffer) -> Vec<T> {
    buffer.as_bytes().chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

/// Compiles a program and runs it.
fn run(program: &str, values: &[Vec<u8>]) -> Result<Vec<Buffer>, Error> {
    let engine = engine();
    compile(&engine, program)?.run(arguments(&engine, values))
}

/// Runs a program with options, and waits.
fn execute(program: &Program, options: &ExecuteOptions) -> Result<Vec<Buffer>, Error> {
    let (sender, receiver) = std::sync::mpsc::channel();
    program.execute(Vec::new(), options, move |results| sender.send(results).unwrap());
    receiver.recv().unwrap()
}

/// Options with user data of the type that is registered under `name`.
fn with_user_data<T: Sync>(name: &'static str, data: &'static T) -> ExecuteOptions {
    static IDS: Mutex<BTreeMap<&'static str, i64>> = Mutex::new(BTreeMap::new());
    // As PJRT's server does: not as a host that handlers see.
    let new = || host::register_type(HostVersion::V0_4_34, name, 0, None).unwrap();
    let id = *IDS.lock().unwrap().entry(name).or_insert_with(new);
    // SAFETY: the name is that of `T` in this test.
    let user_data = unsafe { oxcall_engine::UserData::new(id, std::ptr::from_ref(data).cast_mut().cast()) };
    ExecuteOptions { user_data: vec![user_data], ..ExecuteOptions::default() }
}

/// A program of one typed call: `attributes` are those of its dictionary, `more` of the op itself.
fn one_call_with(target: &str, attributes: &str, more: &str, operands: &[&str], results: &[&str]) -> String {
    one_op(target, &format!("mhlo.backend_config = {{{attributes}}}{more}"), operands, results)
}

/// [`one_call_with`] attributes alone.
fn one_call(target: &str, attributes: &str, operands: &[&str], results: &[&str]) -> String {
    one_call_with(target, attributes, "", operands, results)
}

/// A program of one custom call with these attributes of the op.
fn one_op(target: &str, attributes: &str, operands: &[&str], results: &[&str]) -> String {
    let list = |text: &dyn Fn(usize, &str) -> String, types: &[&str]| {
        types.iter().enumerate().map(|(index, ty)| text(index, ty)).collect::<Vec<_>>().join(", ")
    };
    let (parameters, values) =
        (list(&|i, ty| format!("%a{i}: {ty}"), operands), list(&|i, _| format!("%a{i}"), operands));
    let (in_types, out_types) = (operands.join(", "), results.join(", "));
    let returned = list(&|i, _| if results.len() == 1 { "%r".to_owned() } else { format!("%r#{i}") }, results);
    let (defined, returned) = match results.len() {
        0 => (String::new(), "return".to_owned()),
        1 => ("%r = ".to_owned(), format!("return {returned} : {out_types}")),
        count => (format!("%r:{count} = "), format!("return {returned} : {out_types}")),
    };
    format!(
        "func.func @main({parameters}) -> ({out_types}) {{
           {defined}stablehlo.custom_call @\"{target}\"({values}) {{{attributes}}} : ({in_types}) -> ({out_types})
           {returned}
         }}"
    )
}

/// Checks that a program fails, with a code and parts of the message.
#[track_caller]
fn fails<T>(outcome: Result<T, Error>, code: Code, parts: &[&str]) {
    let Err(error) = outcome else { panic!("no error") };
    assert_eq!(error.code(), code, "{error}");
    for part in parts {
        assert!(error.message().contains(part), "`{part}` is not in: {error}");
    }
}
