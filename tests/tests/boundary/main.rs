//! The C boundary of op libraries, as a host without Python uses it.

mod manifest;
mod panic_abort;

use std::ffi::c_void;
use std::fs;

use object::{Object, ObjectSymbol};
use oxcall::descriptor::Stage;
use oxcall::host::{self, CallFrameBuilder, HostVersion, InvokeContext};
use oxcall_tests::library::{Library, path};

/// A library of `tests/libs`.
fn open(name: &str, global: bool) -> Library {
    Library::open(&path(name), global).unwrap()
}

/// Executes a handler on `x`, with the result in memory of its own or in that of `x`.
fn execute<T: oxcall::Element>(handler: oxcall::descriptor::RawHandler, x: &mut [T], in_place: bool) -> Vec<T> {
    let mut y = x.to_vec();
    let dims = [x.len() as i64];
    let data: *mut c_void = x.as_mut_ptr().cast();
    let out = if in_place { data } else { y.as_mut_ptr().cast() };
    let mut frame = CallFrameBuilder::new();
    frame.arg(T::DTYPE, data, &dims).ret(T::DTYPE, out, &dims);
    let context = InvokeContext::builder().build();
    // SAFETY: a handler of an op library; the buffers are there, and as large as the frame says.
    unsafe { host::call(handler, &mut frame.build(), &context, Stage::Execute) }.unwrap();
    if in_place { x.to_vec() } else { y }
}

// The C library's own.
unsafe extern "C" {
    #[link_name = "cos"]
    fn c_cos(x: f64) -> f64;
}

#[test]
fn nothing_but_the_boundary_is_exported() {
    for name in ["test_ops", "clashing_ops", "duplicate_ops", "linked_ops"] {
        let bytes = fs::read(path(name)).unwrap();
        let file = object::File::parse(bytes.as_slice()).unwrap();
        let defined = file.dynamic_symbols().filter(ObjectSymbol::is_definition);
        let mut names: Vec<&str> = defined.map(|symbol| symbol.name().unwrap()).collect();
        names.sort_unstable();
        let expected = ["infer", "last_error", "library", "register_all", "register_torch", "torch_glue"];
        assert_eq!(names, expected.map(|symbol| format!("oxcall_{symbol}")), "{name}");
    }
}

#[test]
fn operations_named_like_functions_of_the_c_library() {
    // Globally, so that its symbols come before those of libraries that are loaded later.
    let library = open("test_ops", true);
    let mut x = [0f32, 1.0, 2.0];
    assert_eq!(execute(library.execute("cos"), &mut x.clone(), false), x.map(f32::cos));
    let mut numbers = [3i32, 1, 2];
    assert_eq!(execute(library.execute("sort"), &mut numbers, true), [1, 2, 3]);
    // SAFETY: a function of the C library.
    assert!((unsafe { c_cos(1.0) } - 0.5403023058681398).abs() < 1e-15);
    // By way of the C library's `read`.
    assert!(!fs::read_to_string("/proc/self/comm").unwrap().is_empty());
    // The second library has a `cos` of its own.
    let second = open("clashing_ops", true);
    assert_eq!(execute(second.execute("cos"), &mut x, false), [1.0, 2.0, 3.0]);
    assert_eq!(execute(library.execute("cos"), &mut x.clone(), false), x.map(f32::cos));
    assert_ne!(library.table(), second.table());
    assert!(second.manifest()["ops"].as_array().unwrap().iter().all(|op| op["module"] == "clashing_ops"));
}

#[test]
fn every_host_registers_everything() {
    let library = open("test_ops", false);
    for version in HostVersion::ALL {
        library.register_all(version).unwrap();
        let ops = library.manifest()["ops"].as_array().unwrap().len();
        for op in library.manifest()["ops"].as_array().unwrap() {
            let (name, platform) = (op["name"].as_str().unwrap(), op["platform"].as_str().unwrap());
            let found = host::find_handler(name, platform).unwrap();
            assert_eq!(found.execute as usize, library.execute(name) as usize, "{name}");
            let target = op["target"].as_str().unwrap();
            assert_eq!(target, format!("test_ops::{name}"));
            let by_target = host::find_handler(target, platform).unwrap();
            assert_eq!(by_target.execute as usize, found.execute as usize, "{target}");
            let stages = op["stages"].as_array().unwrap();
            let has = |stage: &str| stages.iter().any(|given| given == stage);
            assert_eq!(found.instantiate.is_some(), has("instantiate"), "{name}");
            assert_eq!(found.prepare.is_some(), has("prepare"), "{name}");
            assert_eq!(found.initialize.is_some(), has("initialize"), "{name}");
        }
        assert!(ops > 3);
        let cos = host::find_handler("cos", "cpu").unwrap();
        assert_eq!(execute(cos.execute, &mut [0f32], false), [1.0]);
    }
    assert_eq!(host::find_handler("cos", "CUDA").unwrap_err().code(), oxcall::Code::NotFound);
}

#[test]
fn a_table_that_is_null_is_an_error() {
    let library = open("test_ops", false);
    assert!(library.register_null());
}

#[test]
fn what_is_wrong_with_a_library_is_said() {
    let errors = |name: &str| {
        let library = open(name, false);
        let errors: Vec<String> =
            library.manifest()["errors"].as_array().unwrap().iter().map(|e| e.as_str().unwrap().to_owned()).collect();
        let refused = library.register_all(HostVersion::V0_12).err().map(|error| error.message().to_owned());
        assert_eq!(refused.as_ref(), errors.first(), "{name}");
        errors
    };
    assert_eq!(errors("test_ops"), [] as [String; 0]);
    let [empty_crate, empty] = errors("empty_ops").try_into().unwrap();
    assert_eq!(empty_crate, "crate `oxcall`, named in `ops: [...]`, holds no operation");
    assert!(empty.starts_with("no operation is linked in"), "{empty}");
    let [twice] = errors("duplicate_ops").try_into().unwrap();
    assert!(twice.starts_with("operation `twice` is defined twice for platform Host"), "{twice}");
    let [both] = errors("linked_ops").try_into().unwrap();
    for part in ["operation `cos` is defined twice", "in clashing_ops (", "in linked_ops ("] {
        assert!(both.contains(part), "{both}");
    }
}

#[test]
fn shapes_are_inferred() {
    let library = open("test_ops", false);
    let request = r#"{"args": [{"dtype": "f32", "dims": [2, 3]}], "attrs": {}, "dtypes": {}}"#;
    let response = library.infer(library.index("cos"), request);
    assert_eq!(response["results"], serde_json::json!([{"dtype": "f32", "dims": [2, 3]}]));
    let response = library.infer(library.index("cos"), r#"{"args": [], "attrs": {}}"#);
    assert_eq!(response["error"]["code"], "INVALID_ARGUMENT");
    assert!(response["error"]["message"].as_str().unwrap().starts_with("cos: "));
    assert_eq!(library.infer(9999, request)["error"]["code"], "INTERNAL");
    assert_eq!(library.infer(0, "{")["error"]["code"], "INTERNAL");
    assert_eq!(library.last_error(), "");
}
