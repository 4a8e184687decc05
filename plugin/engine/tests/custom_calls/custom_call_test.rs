//! `xla/tests/custom_call_test.cc`.
//!
//! The tests that XLA has disabled (`FfiNestedTupleOutput`, `FfiNestedTupleInputAndOutput`,
//! `IgnoresEmptyTupleParameter`, `HandleTupleDifferentRanks`, `Tokens`) are here, too. Layouts of a program's
//! parameters, which XLA forces in two tests, are not a thing of StableHLO: the layouts of the calls say the same.

use std::ffi::{c_char, c_void};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicI64};

use oxcall::AttrEnum;
use oxcall::prelude::*;

use super::*;

const F32: &str = "tensor<f32>";
const M22: &str = "tensor<2x2xf32>";

unsafe extern "C" {
    fn XlaCustomCallStatusSetFailure(status: *mut c_void, message: *const c_char, len: usize);
}

fn fail(status: *mut c_void, message: &str) {
    // SAFETY: the status of a call, and a text of its length.
    unsafe { XlaCustomCallStatusSetFailure(status, message.as_ptr().cast(), message.len()) }
}

unsafe extern "C" fn r0_f32_add2(out: *mut f32, ins: *const *const f32) {
    // SAFETY: programs give a scalar, and take one.
    unsafe { *out = **ins + 2.0 }
}

unsafe extern "C" fn r0_f32_add2_in_place(_out: *mut f32, ins: *const *mut f32) {
    // SAFETY: programs give a scalar whose memory is the result's.
    unsafe { **ins += 2.0 }
}

unsafe extern "C" fn r2_f32_reduce_sum(out: *mut f32, ins: *const *const [f32; 4]) {
    // SAFETY: programs give four numbers, and take one.
    unsafe { *out = (**ins).iter().sum() }
}

unsafe extern "C" fn r0_f32_add2_succeed(out: *mut f32, ins: *const *const f32, _status: *mut c_void) {
    // SAFETY: programs give a scalar, and take one.
    unsafe { *out = **ins + 2.0 }
}

unsafe extern "C" fn custom_call_fail(_out: *mut f32, ins: *const *const f32, status: *mut c_void) {
    // SAFETY: programs give a scalar.
    fail(status, &format!("Failed: {:.1}", unsafe { **ins }));
}

unsafe extern "C" fn fail_with_config(
    _out: *mut f32,
    _ins: *const *const f32,
    opaque: *const u8,
    len: usize,
    status: *mut c_void,
) {
    // SAFETY: the string of the program.
    let text = unsafe { std::slice::from_raw_parts(opaque, len) };
    fail(status, &format!("Fail with raw backend config str: {}.", std::str::from_utf8(text).unwrap()));
}

fn register_all() {
    for (name, function) in [
        ("R0F32Add2", r0_f32_add2 as *const c_void),
        ("R0F32Add2InPlace", r0_f32_add2_in_place as *const c_void),
        ("R2F32ReduceSum", r2_f32_reduce_sum as *const c_void),
        ("R0F32Add2Succeed", r0_f32_add2_succeed as *const c_void),
        ("CustomCallFail", custom_call_fail as *const c_void),
        ("CustomCallFailWithBackendConfigStr", fail_with_config as *const c_void),
    ] {
        // SAFETY: the programs below call each by the version of its signature.
        unsafe { register_legacy(name, function) };
    }
}

const ALIAS: &str = "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], \
                     operand_index = 0, operand_tuple_indices = []>]";

#[test]
fn custom_call_r0_f32_add2() {
    register_all();
    let results = run(&one_op("R0F32Add2", "api_version = 1 : i32", &[F32], &[F32]), &[bytes(&[42f32])]);
    assert_eq!(get::<f32>(&results.unwrap()[0]), [44.0]);
}

#[test]
fn custom_call_r0_f32_add2_aliased() {
    register_all();
    let program = one_op("R0F32Add2InPlace", &format!("api_version = 1 : i32, {ALIAS}"), &[F32], &[F32]);
    let x = bytes(&[42f32]);
    let engine = engine();
    let (program, arguments) = (compile(&engine, &program).unwrap(), arguments(&engine, &[x]));
    let Argument::Shared(given) = &arguments[0] else { unreachable!() };
    let given = Arc::clone(given);
    assert_eq!(get::<f32>(&program.run(arguments).unwrap()[0]), [44.0]);
    assert_eq!(get::<f32>(&given), [42.0], "an argument that was not donated is written");
}

#[test]
fn custom_call_r2_f32_reduce() {
    register_all();
    let program = "func.func @main() -> tensor<f32> {
      %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
      %y = stablehlo.custom_call @R2F32ReduceSum(%x) {api_version = 1 : i32} : (tensor<2x2xf32>) -> tensor<f32>
      return %y : tensor<f32>
    }";
    assert_eq!(get::<f32>(&run(program, &[]).unwrap()[0]), [10.0]);
}

#[test]
fn reports_success() {
    register_all();
    let results = run(&one_op("R0F32Add2Succeed", "api_version = 2 : i32", &[F32], &[F32]), &[bytes(&[42f32])]);
    assert_eq!(get::<f32>(&results.unwrap()[0]), [44.0]);
}

#[test]
fn reports_failure() {
    register_all();
    let outcome = run(&one_op("CustomCallFail", "api_version = 2 : i32", &[F32], &[F32]), &[bytes(&[42f32])]);
    fails(outcome, Code::Internal, &["Failed: 42.0", "CustomCallFail"]);
}

#[test]
fn reports_first_failure() {
    register_all();
    let program = "func.func @main() -> tensor<f32> {
      %a = stablehlo.constant dense<1.0> : tensor<f32>
      %b = stablehlo.constant dense<2.0> : tensor<f32>
      %x = stablehlo.custom_call @CustomCallFail(%a) {api_version = 2 : i32} : (tensor<f32>) -> tensor<f32>
      %y = stablehlo.custom_call @CustomCallFail(%b) {api_version = 2 : i32} : (tensor<f32>) -> tensor<f32>
      %z = stablehlo.add %x, %y : tensor<f32>
      return %z : tensor<f32>
    }";
    fails(run(program, &[]), Code::Internal, &["Failed: 1.0"]);
}

#[test]
fn transitive_custom_call_reports_first_failure() {
    register_all();
    let program = "func.func private @sub(%x: tensor<f32>) -> tensor<f32> {
      %y = stablehlo.custom_call @CustomCallFail(%x) {api_version = 2 : i32} : (tensor<f32>) -> tensor<f32>
      return %y : tensor<f32>
    }
    func.func @main() -> tensor<f32> {
      %a = stablehlo.constant dense<1.0> : tensor<f32>
      %b = stablehlo.constant dense<2.0> : tensor<f32>
      %x = func.call @sub(%a) : (tensor<f32>) -> tensor<f32>
      %y = func.call @sub(%b) : (tensor<f32>) -> tensor<f32>
      %z = stablehlo.add %x, %y : tensor<f32>
      return %z : tensor<f32>
    }";
    fails(run(program, &[]), Code::Internal, &["Failed: 1.0"]);
}

#[test]
fn fill_status_msg_with_backend_config_str() {
    register_all();
    let attributes = "api_version = 3 : i32, backend_config = \"foo\"";
    let outcome = run(&one_op("CustomCallFailWithBackendConfigStr", attributes, &[F32], &[F32]), &[bytes(&[1f32])]);
    fails(outcome, Code::Internal, &["Fail with raw backend config str: foo."]);
}

#[test]
fn illegal_custom_call_target() {
    for attributes in ["api_version = 1 : i32", "api_version = 4 : i32, backend_config = {}"] {
        let outcome = run(&one_op("$illegal", attributes, &[], &["tensor<1xf32>"]), &[]);
        fails(outcome, Code::InvalidArgument, &["\"$illegal\"", "reserved for internal use"]);
    }
}

#[custom_call]
fn always_succeed(#[dims()] _y: ScalarOut<f32>) {}

#[test]
fn ffi_reports_success() {
    assert_eq!(get::<f32>(&run(&one_call("always_succeed", "", &[], &[F32]), &[]).unwrap()[0]).len(), 1);
}

#[test]
fn ffi_unknown_target() {
    let outcome = run(&one_call("alwys_succeed", "", &[], &[F32]), &[]);
    let parts = [
        "No registered implementation for custom call to alwys_succeed",
        "Did you mean always_succeed?",
        "always_fail, ",
        "jax.ffi.register_ffi_target(\"alwys_succeed\", ..., platform=\"oxcall\")",
    ];
    fails(outcome, Code::NotFound, &parts);
}

#[custom_call]
fn always_fail(#[attr] value: i32, _y: ScalarOut<f32>) -> Result<()> {
    Err(Error::internal(format!("Failed: {value}")))
}

#[test]
fn ffi_reports_failure() {
    let outcome = run(&one_call("always_fail", "value = 42 : i32", &[], &[F32]), &[]);
    fails(outcome, Code::Internal, &["Failed: 42", "always_fail"]);
}

#[test]
fn ffi_reports_one_of_failures() {
    let program = "func.func @main() -> tensor<f32> {
      %x = stablehlo.custom_call @always_fail() {api_version = 4 : i32, backend_config = {value = 1 : i32}}
        : () -> tensor<f32>
      %y = stablehlo.custom_call @always_fail() {api_version = 4 : i32, backend_config = {value = 2 : i32}}
        : () -> tensor<f32>
      %z = stablehlo.add %x, %y : tensor<f32>
      return %z : tensor<f32>
    }";
    fails(run(program, &[]), Code::Internal, &["Failed: 1"]);
}

#[test]
fn ffi_transitive_custom_call_reports_one_of_failures() {
    let program = "func.func private @one() -> tensor<f32> {
      %y = stablehlo.custom_call @always_fail() {mhlo.backend_config = {value = 1 : i32}} : () -> tensor<f32>
      return %y : tensor<f32>
    }
    func.func private @two() -> tensor<f32> {
      %y = stablehlo.custom_call @always_fail() {mhlo.backend_config = {value = 2 : i32}} : () -> tensor<f32>
      return %y : tensor<f32>
    }
    func.func @main() -> tensor<f32> {
      %x = func.call @one() : () -> tensor<f32>
      %y = func.call @two() : () -> tensor<f32>
      %z = stablehlo.add %x, %y : tensor<f32>
      return %z : tensor<f32>
    }";
    fails(run(program, &[]), Code::Internal, &["Failed: 1"]);
}

#[custom_call]
fn add_2(x: Scalar<f32>, mut y: ScalarOut<f32>) {
    y.set(x.get() + 2.0);
}

#[test]
fn ffi_wrong_number_of_arguments() {
    let outcome = run(&one_call("add_2", "", &[F32, F32], &[F32]), &[bytes(&[1f32]), bytes(&[1f32])]);
    fails(outcome, Code::InvalidArgument, &["add_2", "1 argument", "2"]);
}

#[test]
fn ffi_wrong_rank_of_argument() {
    let outcome = run(&one_call("add_2", "", &["tensor<1xf32>"], &[F32]), &[bytes(&[1f32])]);
    fails(outcome, Code::InvalidArgument, &["add_2", "`x`", "rank"]);
}

#[test]
fn ffi_wrong_d_type_of_argument() {
    let outcome = run(&one_call("add_2", "", &["tensor<i32>"], &[F32]), &[bytes(&[1i32])]);
    fails(outcome, Code::InvalidArgument, &["add_2", "`x`", "f32", "s32"]);
}

#[test]
fn ffi_handle_typed_buffers() {
    let program = "func.func @main() -> tensor<f32> {
      %x = stablehlo.constant dense<42.0> : tensor<f32>
      %y = stablehlo.custom_call @add_2(%x) {mhlo.backend_config = {}} : (tensor<f32>) -> tensor<f32>
      return %y : tensor<f32>
    }";
    assert_eq!(get::<f32>(&run(program, &[]).unwrap()[0]), [44.0]);
}

#[test]
fn ffi_handle_input_as_parameters() {
    assert_eq!(get::<f32>(&run(&one_call("add_2", "", &[F32], &[F32]), &[bytes(&[42f32])]).unwrap()[0]), [44.0]);
}

#[custom_call]
fn add_2_any(x: AnyArray, mut y: AnyOut) -> Result<()> {
    match x.dtype() {
        DType::F32 => y.cast_mut::<f32>()?[0] = x.cast::<f32>()?[0] + 2.0,
        DType::F64 => y.cast_mut::<f64>()?[0] = x.cast::<f64>()?[0] + 2.0,
        other => return Err(Error::unimplemented(format!("x of {other}"))),
    }
    Ok(())
}

#[test]
fn ffi_handle_buffer_base_float() {
    let results = run(&one_call("add_2_any", "", &[F32], &[F32]), &[bytes(&[42f32])]);
    assert_eq!(get::<f32>(&results.unwrap()[0]), [44.0]);
}

#[test]
fn ffi_handle_buffer_base_double() {
    let program = one_call("add_2_any", "", &["tensor<f64>"], &["tensor<f64>"]);
    assert_eq!(get::<f64>(&run(&program, &[bytes(&[42f64])]).unwrap()[0]), [44.0]);
    let program = one_call("add_2_any", "", &["tensor<i8>"], &["tensor<i8>"]);
    fails(run(&program, &[bytes(&[1i8])]), Code::Unimplemented, &["add_2_any", "x of s8"]);
}

#[custom_call]
fn add_n(#[attr] n: f32, x: Scalar<f32>, mut y: ScalarOut<f32>) {
    y.set(x.get() + n);
}

#[test]
fn ffi_handle_attr() {
    let results = run(&one_call("add_n", "n = 3.0 : f32", &[F32], &[F32]), &[bytes(&[42f32])]);
    assert_eq!(get::<f32>(&results.unwrap()[0]), [45.0]);
}

#[custom_call]
fn add_pointed(#[attr] n: Pointer<f32>, x: Scalar<f32>, mut y: ScalarOut<f32>) {
    // SAFETY: the test below gives the address of a number that outlives the call.
    y.set(x.get() + unsafe { *n.as_ptr() });
}

#[test]
fn ffi_handle_attr_pointer() {
    let n = 4f32;
    let address = (&raw const n).expose_provenance();
    let program = one_call("add_pointed", &format!("n = {address} : i64"), &[F32], &[F32]);
    assert_eq!(get::<f32>(&run(&program, &[bytes(&[42f32])]).unwrap()[0]), [46.0]);
}

#[custom_call]
fn reduce_all(x: ArrayView2<'_, f32>, mut y: ScalarOut<f32>) {
    y.set(x.iter().sum());
}

#[test]
fn ffi_handle_r2_vector() {
    let results = run(&one_call("reduce_all", "", &[M22], &[F32]), &[bytes(&[1f32, 2.0, 3.0, 4.0])]);
    assert_eq!(get::<f32>(&results.unwrap()[0]), [10.0]);
}

#[derive(AttrEnum, Clone, Copy, PartialEq)]
enum InitMethod {
    Zero,
    One,
}

#[custom_call]
fn fill_by(#[attr] method: InitMethod, #[dims()] mut y: ScalarOut<f32>) {
    y.set(f32::from(u8::from(method == InitMethod::One)));
}

/// Ours takes a variant by name, or its number as an integer of any width, so what XLA refuses (an `i16` for an `i8`)
/// is taken, and another kind of value is refused.
#[test]
fn ffi_wrong_enum_type() {
    let go = |attribute: &str| run(&one_call("fill_by", attribute, &[], &[F32]), &[]);
    assert_eq!(get::<f32>(&go("method = 1 : i16").unwrap()[0]), [1.0]);
    for attribute in ["method = 1.0 : f32", "method = 2 : i8", "method = \"two\"", "method = array<i8: 1>"] {
        fails(go(attribute), Code::InvalidArgument, &["fill_by", "`method`"]);
    }
}

/// Four instances in XLA: `i8` and `i32`, each with both values.
#[test]
fn ffi_handle_enum_attr() {
    for (attribute, expected) in
        [("0 : i8", 0f32), ("1 : i8", 1.0), ("0 : i32", 0.0), ("1 : i32", 1.0), ("\"zero\"", 0.0), ("\"one\"", 1.0)]
    {
        let results = run(&one_call("fill_by", &format!("method = {attribute}"), &[], &[F32]), &[]);
        assert_eq!(get::<f32>(&results.unwrap()[0]), [expected], "{attribute}");
    }
}

#[custom_call]
fn add_1_to_values(x: Array<f32>, #[dims(1, 2, 2)] mut y: Out<f32>) {
    y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = x + 1.0);
}

#[test]
fn ffi_used_in_other_computations() {
    let program = "func.func @main() -> tensor<2x2x2xf32> {
      %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
      %a = stablehlo.custom_call @add_1_to_values(%x) {mhlo.backend_config = {}} : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
      %b = stablehlo.custom_call @add_1_to_values(%a) {mhlo.backend_config = {}} : (tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
      %c = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<2x2x2xf32>
      return %c : tensor<2x2x2xf32>
    }";
    let expected = [2f32, 3.0, 4.0, 5.0, 3.0, 4.0, 5.0, 6.0];
    assert_eq!(get::<f32>(&run(program, &[]).unwrap()[0]), expected);
}

/// Elements in the order of memory, plus one.
#[custom_call]
fn add_1_in_memory(x: Array<f32>, #[dims(2, 2)] mut y: Out<f32>) {
    y.iter_mut().zip(x.iter()).for_each(|(y, x)| *y = x + 1.0);
}

const ROWS: &str = "dense<[1, 0]> : tensor<2xindex>";
const COLUMNS: &str = "dense<[0, 1]> : tensor<2xindex>";

fn layouts(operand: &str, result: &str) -> String {
    format!(", operand_layouts = [{operand}], result_layouts = [{result}]")
}

#[test]
fn ffi_input_and_output_layout_differ() {
    let program = one_call_with("add_1_in_memory", "", &layouts(ROWS, COLUMNS), &[M22], &[M22]);
    let results = run(&program, &[bytes(&[1f32, 2.0, 3.0, 4.0])]);
    // The handler sees memory: its first row is the result's first column.
    assert_eq!(get::<f32>(&results.unwrap()[0]), [2.0, 4.0, 3.0, 5.0]);
}

#[test]
fn ffi_layout_constrained() {
    for layout in [ROWS, COLUMNS] {
        let program = one_call_with("add_1_in_memory", "", &layouts(layout, layout), &[M22], &[M22]);
        let results = run(&program, &[bytes(&[1f32, 2.0, 3.0, 4.0])]);
        assert_eq!(get::<f32>(&results.unwrap()[0]), [2.0, 3.0, 4.0, 5.0], "{layout}");
    }
}

#[custom_call]
fn tuple_swap(a: Scalar<f32>, b: Scalar<f32>, mut x: ScalarOut<f32>, mut y: ScalarOut<f32>) {
    x.set(b.get());
    y.set(a.get());
}

#[test]
fn ffi_tuple_output() {
    let results = run(&one_call("tuple_swap", "", &[F32, F32], &[F32, F32]), &[bytes(&[7f32]), bytes(&[42f32])]);
    let results = results.unwrap();
    assert_eq!((get::<f32>(&results[0]), get::<f32>(&results[1])), (vec![42.0], vec![7.0]));
}

/// Runs a swap of two numbers that is written with tuples.
fn swaps(body: &str) {
    let program = format!(
        "func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>) {{ {body}
           return %x, %y : tensor<f32>, tensor<f32>
         }}"
    );
    let results = run(&program, &[bytes(&[7f32]), bytes(&[42f32])]).unwrap();
    assert_eq!((get::<f32>(&results[0]), get::<f32>(&results[1])), (vec![42.0], vec![7.0]), "{body}");
}

#[test]
fn ffi_tuple_input() {
    swaps(
        "%t = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<f32>>
         %x, %y = stablehlo.custom_call @tuple_swap(%t) {mhlo.backend_config = {}}
           : (tuple<tensor<f32>, tensor<f32>>) -> (tensor<f32>, tensor<f32>)",
    );
}

#[test]
fn ffi_nested_tuple_input() {
    swaps(
        "%t = stablehlo.tuple %b : tuple<tensor<f32>>
         %u = stablehlo.tuple %a, %t : tuple<tensor<f32>, tuple<tensor<f32>>>
         %x, %y = stablehlo.custom_call @tuple_swap(%u) {mhlo.backend_config = {}}
           : (tuple<tensor<f32>, tuple<tensor<f32>>>) -> (tensor<f32>, tensor<f32>)",
    );
}

#[test]
fn ffi_nested_tuple_output() {
    swaps(
        "%r = stablehlo.custom_call @tuple_swap(%a, %b) {mhlo.backend_config = {}}
           : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tuple<tensor<f32>>>
         %x = stablehlo.get_tuple_element %r[0] : (tuple<tensor<f32>, tuple<tensor<f32>>>) -> tensor<f32>
         %s = stablehlo.get_tuple_element %r[1] : (tuple<tensor<f32>, tuple<tensor<f32>>>) -> tuple<tensor<f32>>
         %y = stablehlo.get_tuple_element %s[0] : (tuple<tensor<f32>>) -> tensor<f32>",
    );
}

#[test]
fn ffi_nested_tuple_input_and_output() {
    swaps(
        "%t = stablehlo.tuple %b : tuple<tensor<f32>>
         %u = stablehlo.tuple %a, %t : tuple<tensor<f32>, tuple<tensor<f32>>>
         %r = stablehlo.custom_call @tuple_swap(%u) {mhlo.backend_config = {}}
           : (tuple<tensor<f32>, tuple<tensor<f32>>>) -> tuple<tuple<tensor<f32>>, tensor<f32>>
         %s = stablehlo.get_tuple_element %r[0] : (tuple<tuple<tensor<f32>>, tensor<f32>>) -> tuple<tensor<f32>>
         %x = stablehlo.get_tuple_element %s[0] : (tuple<tensor<f32>>) -> tensor<f32>
         %y = stablehlo.get_tuple_element %r[1] : (tuple<tuple<tensor<f32>>, tensor<f32>>) -> tensor<f32>",
    );
}

#[test]
fn ignores_empty_tuple_parameter() {
    swaps(
        "%t = stablehlo.tuple : tuple<>
         %u = stablehlo.tuple %a, %t, %b : tuple<tensor<f32>, tuple<>, tensor<f32>>
         %x, %y = stablehlo.custom_call @tuple_swap(%u) {mhlo.backend_config = {}}
           : (tuple<tensor<f32>, tuple<>, tensor<f32>>) -> (tensor<f32>, tensor<f32>)",
    );
}

#[test]
fn layouts_beside_tuples_stay_with_their_operands() {
    let program = "func.func @main(%a: tensor<f32>, %x: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %t = stablehlo.tuple %a, %a : tuple<tensor<f32>, tensor<f32>>
      %y = stablehlo.custom_call @second_in_memory(%t, %x) {mhlo.backend_config = {},
          operand_layouts = [dense<> : tensor<0xindex>, dense<[0, 1]> : tensor<2xindex>],
          result_layouts = [dense<[1, 0]> : tensor<2xindex>]}
        : (tuple<tensor<f32>, tensor<f32>>, tensor<2x2xf32>) -> tensor<2x2xf32>
      return %y : tensor<2x2xf32>
    }";
    let results = run(program, &[bytes(&[0f32]), bytes(&[1f32, 2.0, 3.0, 4.0])]);
    assert_eq!(get::<f32>(&results.unwrap()[0]), [1.0, 3.0, 2.0, 4.0]);
}

#[custom_call]
fn second_in_memory(_a: Scalar<f32>, _b: Scalar<f32>, x: Array<f32>, #[dims(2, 2)] mut y: Out<f32>) {
    y.copy_from_slice(&x);
}

#[custom_call]
fn tuple_different_ranks(
    a: Scalar<i32>,
    b: ArrayView1<'_, i32>,
    #[dims(n)] mut x: Out<i32>,
    #[dims(n)] _like: &[i32],
    mut y: ScalarOut<i32>,
) {
    x.iter_mut().zip(&b).for_each(|(x, b)| *x = b + a.get());
    y.set(b.sum());
}

#[test]
fn handle_tuple_different_ranks() {
    let program = "func.func @main(%a: tensor<i32>, %b: tensor<3xi32>) -> (tensor<3xi32>, tensor<i32>) {
      %t = stablehlo.tuple %a, %b, %b : tuple<tensor<i32>, tensor<3xi32>, tensor<3xi32>>
      %r = stablehlo.custom_call @tuple_different_ranks(%t) {mhlo.backend_config = {}}
        : (tuple<tensor<i32>, tensor<3xi32>, tensor<3xi32>>) -> tuple<tensor<3xi32>, tensor<i32>>
      %x = stablehlo.get_tuple_element %r[0] : (tuple<tensor<3xi32>, tensor<i32>>) -> tensor<3xi32>
      %y = stablehlo.get_tuple_element %r[1] : (tuple<tensor<3xi32>, tensor<i32>>) -> tensor<i32>
      return %x, %y : tensor<3xi32>, tensor<i32>
    }";
    let results = run(program, &[bytes(&[10i32]), bytes(&[1i32, 2, 3])]).unwrap();
    assert_eq!((get::<i32>(&results[0]), get::<i32>(&results[1])), (vec![11, 12, 13], vec![6]));
}

#[custom_call]
fn pass_token(_before: Token, x: Scalar<f32>, mut y: ScalarOut<f32>, _after: TokenOut) {
    y.set(-x.get());
}

#[test]
fn tokens() {
    let program = "func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %t = stablehlo.create_token : !stablehlo.token
      %u = stablehlo.tuple %t, %x : tuple<!stablehlo.token, tensor<f32>>
      %y, %s = stablehlo.custom_call @pass_token(%u) {mhlo.backend_config = {}}
        : (tuple<!stablehlo.token, tensor<f32>>) -> (tensor<f32>, !stablehlo.token)
      %z, %r = stablehlo.custom_call @pass_token(%s, %y) {mhlo.backend_config = {}}
        : (!stablehlo.token, tensor<f32>) -> (tensor<f32>, !stablehlo.token)
      return %z : tensor<f32>
    }";
    assert_eq!(get::<f32>(&run(program, &[bytes(&[5f32])]).unwrap()[0]), [5.0]);
}

/// Both buffers in the other's place, as other types of the same values.
#[custom_call]
fn swap_to_s16_u32(a: AnyArray, b: AnyArray, mut x: AnyOut, mut y: AnyOut) -> Result<()> {
    let (a, b) = (a.cast::<u32>()?, b.cast::<i16>()?);
    x.cast_mut::<i16>()?.copy_from_slice(&b);
    y.cast_mut::<u32>()?.copy_from_slice(&a);
    Ok(())
}

#[test]
fn swap_tuple_any_buffers_to_s16_u32() {
    let program =
        one_call("swap_to_s16_u32", "", &["tensor<1xui32>", "tensor<2xi16>"], &["tensor<2xi16>", "tensor<1xui32>"]);
    let results = run(&program, &[bytes(&[0xDEAD_BEEFu32]), bytes(&[-7i16, 7])]).unwrap();
    assert_eq!((get::<i16>(&results[0]), get::<u32>(&results[1])), (vec![-7, 7], vec![0xDEAD_BEEF]));
}

#[custom_call]
fn swap_u32_s16(#[dims(n)] a: &[u32], #[dims(m)] b: &[i16], #[dims(m)] x: &mut [i16], #[dims(n)] y: &mut [u32]) {
    x.copy_from_slice(b);
    y.copy_from_slice(a);
}

#[test]
fn swap_tuple_u32_s16_to_s16_u32() {
    let program =
        one_call("swap_u32_s16", "", &["tensor<1xui32>", "tensor<2xi16>"], &["tensor<2xi16>", "tensor<1xui32>"]);
    let results = run(&program, &[bytes(&[0xDEAD_BEEFu32]), bytes(&[-7i16, 7])]).unwrap();
    assert_eq!((get::<i16>(&results[0]), get::<u32>(&results[1])), (vec![-7, 7], vec![0xDEAD_BEEF]));
}

#[custom_call]
fn concatenate_rows(#[dims(n, m)] xs: Variadic<Array<f32>>, #[dims(_, m)] mut y: Out<f32>) {
    let mut rest = y.as_mut_slice();
    for x in &xs {
        let (head, tail) = rest.split_at_mut(x.len());
        head.copy_from_slice(x);
        rest = tail;
    }
}

#[test]
fn handle_r2_tuple() {
    let program = "func.func @main(%a: tensor<1x2xf32>, %b: tensor<1x2xf32>, %c: tensor<1x2xf32>) -> tensor<3x2xf32> {
      %t = stablehlo.tuple %a, %b, %c : tuple<tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>>
      %y = stablehlo.custom_call @concatenate_rows(%t) {mhlo.backend_config = {}}
        : (tuple<tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>>) -> tensor<3x2xf32>
      return %y : tensor<3x2xf32>
    }";
    let rows = [bytes(&[1f32, 2.0]), bytes(&[3f32, 4.0]), bytes(&[5f32, 6.0])];
    assert_eq!(get::<f32>(&run(program, &rows).unwrap()[0]), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[custom_call]
fn count_on_threads(pool: ThreadPool, #[dims(2)] mut y: Out<i64>) {
    let sum = AtomicI64::new(0);
    pool.parallel_for(1000, 1, |range| {
        range.for_each(|index| {
            sum.fetch_add(index as i64, Relaxed);
        });
    });
    y.copy_from_slice(&[pool.num_threads() as i64, sum.into_inner()]);
}

#[test]
fn intra_op_thread_pool() {
    let results = run(&one_call("count_on_threads", "", &[], &["tensor<2xi64>"]), &[]);
    assert_eq!(get::<i64>(&results.unwrap()[0]), [2, 499_500]);
}

struct SomeState(AtomicI32);

#[stage(instantiate)]
fn new_state(#[attr(default = 42)] initial: i32) -> SomeState {
    SomeState(AtomicI32::new(initial))
}

/// The state, which every call increments.
#[custom_call(instantiate = new_state)]
fn stateful(#[state] state: &SomeState, mut y: ScalarOut<i32>) {
    y.set(state.0.fetch_add(1, Relaxed) + 1);
}

/// A loop of `count` calls of `stateful`.
fn state_loop(count: i32, attributes: &str) -> i32 {
    let program = format!(
        "func.func @main() -> tensor<i32> {{
           %zero = stablehlo.constant dense<0> : tensor<i32>
           %one = stablehlo.constant dense<1> : tensor<i32>
           %count = stablehlo.constant dense<{count}> : tensor<i32>
           %r:2 = stablehlo.while(%i = %zero, %last = %zero) : tensor<i32>, tensor<i32>
             cond {{
               %more = stablehlo.compare LT, %i, %count : (tensor<i32>, tensor<i32>) -> tensor<i1>
               stablehlo.return %more : tensor<i1>
             }} do {{
               %next = stablehlo.add %i, %one : tensor<i32>
               %y = stablehlo.custom_call @stateful() {{mhlo.backend_config = {{{attributes}}}}} : () -> tensor<i32>
               stablehlo.return %next, %y : tensor<i32>, tensor<i32>
             }}
           return %r#1 : tensor<i32>
         }}"
    );
    get::<i32>(&run(&program, &[]).unwrap()[0])[0]
}

#[test]
fn ffi_execution_state_instantiate() {
    use std::sync::atomic::AtomicUsize;
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    struct Nothing;

    #[stage(instantiate)]
    fn count_instances() -> Nothing {
        CALLS.fetch_add(1, Relaxed);
        Nothing
    }

    #[custom_call(instantiate = count_instances)]
    fn counts_instances(#[state] _nothing: &Nothing, mut y: ScalarOut<i32>) {
        y.set(1);
    }

    let engine = engine();
    let program = compile(&engine, &one_call("counts_instances", "", &[], &["tensor<i32>"])).unwrap();
    for _ in 0..3 {
        program.run(Vec::new()).unwrap();
    }
    assert_eq!(CALLS.load(Relaxed), 1);
}

#[test]
fn ffi_execution_state_execute() {
    assert_eq!(state_loop(2, ""), 44);
}

#[test]
fn ffi_execution_state_instantiate_with_attribute() {
    assert_eq!(state_loop(1, "initial = 42 : i32"), 43);
}

#[test]
fn ffi_execution_state_execute_with_attribute() {
    assert_eq!(state_loop(3, "initial = 43 : i32"), 46);
}

struct Number(i32);

oxcall::user_data!(unsafe Number as "custom_call_test.number");

#[custom_call]
fn read_user_data(number: UserData<'_, Number>, mut y: ScalarOut<i32>) {
    y.set(number.0);
}

#[test]
fn ffi_execution_context() {
    let engine = engine();
    let program = compile(&engine, &one_call("read_user_data", "", &[], &["tensor<i32>"])).unwrap();
    let missing = program.run(Vec::new());
    fails(missing, Code::NotFound, &["read_user_data", "`number`", "User data with type id"]);
    static NUMBER: Number = Number(42);
    let options = with_user_data("custom_call_test.number", &NUMBER);
    assert_eq!(get::<i32>(&execute(&program, &options).unwrap()[0]), [42]);
}
