//! Programs that call handlers wrongly: every error names the target, and what is wrong.

use oxcall::prelude::*;

use super::*;

const V3: &str = "tensor<3xf32>";

#[custom_call]
fn scaled(#[attr] factor: f32, #[dims(n)] x: &[f32], #[dims(n)] y: &mut [f32]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y = factor * x);
}

#[track_caller]
fn refused(program: &str, values: &[Vec<u8>], parts: &[&str]) {
    fails(run(program, values), Code::InvalidArgument, parts);
}

#[test]
fn operands_results_and_shapes() {
    let x = [bytes(&[1f32, 2.0, 3.0])];
    let call = |operands: &[&str], results: &[&str]| one_call("scaled", "factor = 2.0 : f32", operands, results);
    refused(&call(&[], &[V3]), &[], &["scaled", "1 argument (x)", "got 0"]);
    refused(&call(&[V3, V3], &[V3]), &[x.clone(), x.clone()].concat(), &["scaled", "1 argument", "2"]);
    refused(&call(&[V3], &[V3, V3]), &x, &["scaled", "1 result", "2"]);
    refused(&call(&["tensor<3xi32>"], &[V3]), &x, &["scaled", "`x`", "f32", "s32"]);
    refused(&call(&[V3], &["tensor<4xf32>"]), &x, &["scaled", "`y`", "n", "3", "4"]);
    refused(&call(&[V3], &["tensor<3xbf16>"]), &x, &["scaled", "`y`", "bf16"]);
}

#[test]
fn attributes() {
    let x = [bytes(&[1f32, 2.0, 3.0])];
    let call = |attributes: &str| one_call("scaled", attributes, &[V3], &[V3]);
    refused(&call(""), &x, &["scaled", "`factor`", "missing"]);
    refused(&call("factr = 2.0 : f32"), &x, &["scaled", "`factr`", "did you mean `factor`"]);
    refused(&call("factor = \"two\""), &x, &["scaled", "`factor`", "\"two\""]);
    refused(&call("factor = 1.0e300 : f64"), &x, &["scaled", "`factor`"]);
    for (value, what) in [
        ("unit", "without value"),
        ("@symbol", "symbol"),
        ("[1 : i32, 2 : i32]", "a list"),
        ("tensor<2xf32>", "a type"),
        ("{inner = @symbol}", "factor.inner"),
    ] {
        refused(&call(&format!("factor = {value}")), &x, &["custom_call", "attribute: factor", what]);
    }
    let legacy = one_op("scaled", "api_version = 4 : i32, backend_config = \"factor = 2\"", &[V3], &[V3]);
    refused(&legacy, &x, &["scaled", "dictionary", "api_version 3"]);
    let program = one_call("scaled", "factor = 1.0 : f32", &["tensor<3xf32>", "tensor<3xf6E2M3FN>"], &[V3]);
    fails(run(&program, &[]), Code::Unimplemented, &["scaled", "operand 1", "f6E2M3FN"]);
}

#[test]
fn layouts() {
    let x = [bytes(&[1f32, 2.0, 3.0])];
    for (layouts, parts) in [
        (
            "operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<0> : tensor<1xindex>]",
            ["operand_layouts", "permutation"],
        ),
        ("operand_layouts = [], result_layouts = [dense<0> : tensor<1xindex>]", ["operand_layouts", "each operand"]),
        (
            "operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<1> : tensor<1xindex>]",
            ["result_layouts", "permutation"],
        ),
    ] {
        refused(&one_call_with("scaled", "factor = 1.0 : f32", &format!(", {layouts}"), &[V3], &[V3]), &x, &parts);
    }
}

#[test]
fn aliases() {
    let x = [bytes(&[1f32, 2.0, 3.0])];
    let aliased = |operand: usize| {
        let alias = format!(
            ", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = {operand}, \
             operand_tuple_indices = []>]"
        );
        one_call_with("scaled", "factor = 1.0 : f32", &alias, &[V3], &[V3])
    };
    // The handler did not say that it may work in place.
    refused(&aliased(0), &x, &["scaled", "`x`", "`y`", "memory"]);
    refused(&aliased(1), &x, &["output_operand_aliases", "operand 1"]);
}

#[test]
fn typed_and_legacy_are_told_apart() {
    let _ = engine();
    let outcome = run(&one_op("scaled", "api_version = 3 : i32", &[V3], &[V3]), &[vec![0; 12]]);
    fails(outcome, Code::NotFound, &["scaled", "a typed FFI handler has this name"]);
    unsafe extern "C" fn nothing() {}
    // SAFETY: nobody calls it.
    unsafe { register_legacy("mistakes_legacy", nothing as *const c_void) };
    let outcome = run(&one_call("mistakes_legacy", "", &[V3], &[V3]), &[vec![0; 12]]);
    fails(outcome, Code::NotFound, &["mistakes_legacy", "a function of the legacy API has this name"]);
    let outcome = run(&one_op("scaled", "api_version = 0 : i32", &[V3], &[V3]), &[vec![0; 12]]);
    fails(outcome, Code::InvalidArgument, &["custom-call API version"]);
}

#[stage(instantiate)]
fn refuses_to_start(#[attr] from: i64) -> Result<i64> {
    Err(Error::out_of_range(format!("it cannot start from {from}")))
}

#[custom_call(instantiate = refuses_to_start)]
fn never_starts(#[state] _state: &i64, _y: ScalarOut<f32>) {}

/// Errors of the instantiate stage are errors of compiling, with the op's place.
#[test]
fn instantiation() {
    let engine = engine();
    let program = one_call("never_starts", "from = 7 : i64", &[], &["tensor<f32>"]);
    let program = program.replace("-> (tensor<f32>)\n", "-> (tensor<f32>) loc(\"model.py\":12:3)\n");
    let parts = ["stablehlo.custom_call", "never_starts", "it cannot start from 7", "model.py"];
    fails(compile(&engine, &program), Code::OutOfRange, &parts);
}

/// A handler as C++ writes it, whose errors do not say whose they are.
unsafe extern "C" fn anonymous(
    frame: *mut xla_ffi_sys::xla_ffi::XLA_FFI_CallFrame,
) -> *mut xla_ffi_sys::xla_ffi::XLA_FFI_Error {
    use xla_ffi_sys::xla_ffi as sys;
    // SAFETY: a call frame: a metadata query, or a call with an API table.
    unsafe {
        if !(*frame).extension_start.is_null() {
            let extension = (*frame).extension_start.cast::<sys::XLA_FFI_Metadata_Extension>();
            (*(*extension).metadata).api_version =
                sys::XLA_FFI_Api_Version { struct_size: 24, minor_version: 3, ..Default::default() };
            return std::ptr::null_mut();
        }
        let mut args = sys::XLA_FFI_Error_Create_Args {
            struct_size: sys::XLA_FFI_Error_Create_Args_STRUCT_SIZE as usize,
            message: c"Wrong number of arguments: expected 2 but got 1".as_ptr(),
            errc: 3,
            ..Default::default()
        };
        (*(*frame).api).XLA_FFI_Error_Create.unwrap()(&raw mut args)
    }
}

#[test]
fn foreign_errors_are_given_a_name() {
    let bundle = xla_ffi_sys::xla_ffi::XLA_FFI_Handler_Bundle { execute: Some(anonymous), ..Default::default() };
    // SAFETY: a handler.
    unsafe { host::register_handler(HostVersion::default(), Source::Client, "mistakes_foreign", PLATFORM, &bundle, 0) }
        .unwrap();
    refused(
        &one_call("mistakes_foreign", "", &[], &["tensor<f32>"]),
        &[],
        &["custom call to mistakes_foreign: Wrong number of arguments: expected 2 but got 1"],
    );
}
