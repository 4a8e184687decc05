//! `xla/ffi/ffi_test.cc`: the API inside XLA, and its registry. What it shares with `xla/ffi/api/ffi_test.cc` is in
//! [`api_ffi_test`](super::api_ffi_test).
//!
//! Not here: `StaticHandlerSymbolRegistration` and `PlatformStream`, which are about C++ symbols and types,
//! `RunOptionsCtx` (the CPU has no stream; the toy device of `plugin/pjrt/tests` has), and `FromAbslStatus` and the
//! like. The registry's own tests are in `ffi/src/host/tests/registry.rs`.

use oxcall::descriptor::RawHandler;
use oxcall::prelude::*;
use xla_ffi_sys::xla_ffi as sys;

use super::*;

const F32: &str = "tensor<f32>";

/// `StaticHandlerRegistration`: a platform is found by its other spellings.
#[test]
fn static_handler_registration() {
    let _ = engine();
    let handler = registry().find("ignores_attrs", "Host").unwrap();
    let bundle = handler.bundle();
    // SAFETY: `#[custom_call]` makes handlers.
    unsafe { host::register_handler(HostVersion::default(), Source::Client, "ffi_test.any", "Host", &bundle, 0) }
        .unwrap();
    for platform in ["Host", "host", "cpu", "CPU", "Cpu"] {
        assert!(host::find_handler("ffi_test.any", platform).is_ok(), "{platform}");
    }
    // A program finds what is registered for any CPU.
    let results = run(&one_call("ffi_test.any", "", &[], &[F32]), &[]);
    assert_eq!(get::<f32>(&results.unwrap()[0]), [1.0]);
}

/// Traits that are given with the registration add to those of the handler.
#[test]
fn registration_traits_backwards_compatibility() {
    let _ = engine();
    let bundle = registry().find("ignores_attrs", "Host").unwrap().bundle();
    // SAFETY: `#[custom_call]` makes handlers.
    unsafe { host::register_handler(HostVersion::default(), Source::Client, "ffi_test.traits", "Host", &bundle, 1) }
        .unwrap();
    assert_eq!(host::find_handler("ffi_test.traits", "Host").unwrap().traits, 1);
}

#[custom_call]
fn forwards_error(_y: ScalarOut<f32>) -> Result<()> {
    Err(Error::aborted("Ooops!"))
}

#[test]
fn forward_error() {
    fails(run(&one_call("forwards_error", "", &[], &[F32]), &[]), Code::Aborted, &["Ooops!"]);
}

#[custom_call]
fn panics(_y: ScalarOut<f32>) {
    panic!("Ooops!");
}

/// `CatchException` and `CatchExceptionExplicit`; C++'s exceptions are tried in `tests/tests/peers`.
#[test]
fn catch_exception() {
    let engine = engine();
    let program = compile(&engine, &one_call("panics", "", &[], &[F32])).unwrap();
    for _ in 0..2 {
        fails(program.run(Vec::new()), Code::Internal, &["panics", "Ooops!"]);
    }
    let other = compile(&engine, &one_call("ignores_attrs", "", &[], &[F32])).unwrap();
    assert!(other.run(Vec::new()).is_ok());
}

#[custom_call]
fn takes_two(_a: Scalar<f32>, _b: Scalar<f32>, mut y: ScalarOut<f32>) {
    y.set(0.0);
}

#[test]
fn wrong_num_args() {
    let outcome = run(&one_call("takes_two", "", &[F32], &[F32]), &[vec![0; 4]]);
    fails(outcome, Code::InvalidArgument, &["takes_two", "2 arguments", "got 1"]);
}

#[custom_call]
fn takes_one_attr(#[attr] i32: i32, mut y: ScalarOut<f32>) {
    y.set(i32 as f32);
}

#[test]
fn wrong_num_attrs() {
    let outcome = run(&one_call("takes_one_attr", "i32 = 42 : i32, f32 = 42.0 : f32", &[], &[F32]), &[]);
    fails(outcome, Code::InvalidArgument, &["takes_one_attr", "`f32`"]);
    fails(run(&one_call("takes_one_attr", "", &[], &[F32]), &[]), Code::InvalidArgument, &["`i32`"]);
}

#[custom_call]
fn ignores_attrs(#[attr(rest)] _rest: Dict<'_>, mut y: ScalarOut<f32>) {
    y.set(1.0);
}

#[test]
fn ignore_attrs() {
    assert!(run(&one_call("ignores_attrs", "i32 = 42 : i32, s = \"foo\"", &[], &[F32]), &[]).is_ok());
}

#[custom_call]
fn builtin(
    #[attr] pred: bool,
    #[attr] i8: i8,
    #[attr] i16: i16,
    #[attr] i32: i32,
    #[attr] i64: i64,
    #[attr] f32: f32,
    #[attr] f64: f64,
    #[attr] str: &str,
    mut y: ScalarOut<f64>,
) {
    assert!(pred && str == "foo");
    y.set(f64::from(i8) + f64::from(i16) + f64::from(i32) + i64 as f64 + f64::from(f32) + f64);
}

/// `BuiltinAttributes` and `BuiltinAttributesAutoBinding`.
#[test]
fn builtin_attributes() {
    let attributes = "pred = true, i8 = 1 : i8, i16 = 2 : i16, i32 = 3 : i32, i64 = 4 : i64, f32 = 5.0 : f32, \
                      f64 = 6.0 : f64, str = \"foo\"";
    assert_eq!(get::<f64>(&run(&one_call("builtin", attributes, &[], &["tensor<f64>"]), &[]).unwrap()[0]), [21.0]);
}

/// XLA compares names at sorted places, and lists the places; here each mistake is named.
#[test]
fn decoding_errors() {
    let attributes = "pred = true, i8 = 1 : i8, i16 = 2 : i16, not_i32_should_fail = 3 : i32, i64 = 4 : i64, \
                      f32 = 5.0 : f32, f64 = 6.0 : f64, str = \"foo\"";
    let outcome = run(&one_call("builtin", attributes, &[], &["tensor<f64>"]), &[]);
    fails(outcome, Code::InvalidArgument, &["builtin", "`i32`", "`not_i32_should_fail`"]);
}

#[custom_call]
fn takes_complex(#[dims(n)] x: &[Complex<f32>], #[dims(n)] y: &mut [Complex<f32>]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y = x.conj());
}

#[test]
fn complex_buffer_argument() {
    let ty = "tensor<2xcomplex<f32>>";
    let results = run(&one_call("takes_complex", "", &[ty], &[ty]), &[bytes(&[1f32, 2.0, 3.0, -4.0])]);
    assert_eq!(get::<f32>(&results.unwrap()[0]), [1.0, -2.0, 3.0, 4.0]);
}

#[custom_call]
fn adds_in_place(#[dims(n)] mut x: InOut<f32>, #[dims(n)] z: &[f32], #[attr] scale: f32) {
    x.iter_mut().zip(z).for_each(|(x, z)| *x += scale * z);
}

/// A frame is built once and patched for each call: other buffers, the same dimensions and attributes.
#[test]
fn update_buffer_arguments_and_results() {
    let aliases = ", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], \
                   operand_index = 0, operand_tuple_indices = []>]";
    let ty = "tensor<3xf32>";
    let program = one_call_with("adds_in_place", "scale = 2.0 : f32", aliases, &[ty, ty], &[ty]);
    let engine = engine();
    let program = compile(&engine, &program).unwrap();
    for round in 0..4 {
        let x = [round as f32; 3];
        let results = program.run(arguments(&engine, &[bytes(&x), bytes(&[1f32, 2.0, 3.0])])).unwrap();
        assert_eq!(get::<f32>(&results[0]), [x[0] + 2.0, x[0] + 4.0, x[0] + 6.0]);
    }
}

unsafe extern "C" fn some_handler<const ID: u8>(frame: *mut sys::XLA_FFI_CallFrame) -> *mut sys::XLA_FFI_Error {
    // SAFETY: only asked for its metadata.
    unsafe {
        let extension = (*frame).extension_start.cast::<sys::XLA_FFI_Metadata_Extension>();
        (*(*extension).metadata).api_version =
            sys::XLA_FFI_Api_Version { struct_size: 24, minor_version: 1, ..Default::default() };
        (*(*extension).metadata).traits = u32::from(ID);
    }
    std::ptr::null_mut()
}

/// `DuplicateHandlerTraits`, `DuplicateHandlerAddress` and `AllowRegisterDuplicateWhenEqual`.
#[test]
fn duplicate_handlers() {
    // Pointers of their own: a generic function may have several addresses.
    let (one, two): (RawHandler, RawHandler) = (some_handler::<0>, some_handler::<2>);
    let register = |execute: RawHandler, traits| {
        let bundle = sys::XLA_FFI_Handler_Bundle { execute: Some(execute), ..Default::default() };
        // SAFETY: nobody calls it.
        unsafe {
            host::register_handler(HostVersion::default(), Source::Client, "ffi_test.twice", "Host", &bundle, traits)
        }
    };
    register(one, 0).unwrap();
    register(one, 0).unwrap();
    for (execute, traits) in [(one, 1), (two, 0)] {
        fails(
            register(execute, traits),
            Code::AlreadyExists,
            &["Duplicate FFI handler registration for ffi_test.twice"],
        );
    }
}
