//! `xla/service/gpu/custom_call_test.cc`, as far as it is not about GPUs.
//!
//! Not here: streams, command buffers and `InstantiateCanAccessTargetGpuComputeCapability`; `CalledComputation` and the
//! compiler's `HloComputation`, which only handlers of XLA's own sources can see (what else those tests ask of a
//! context, the device and scratch memory, is in `with_called_computation`); start and done pairs and the `Pin` and
//! `Unpin` calls of `HloBuffer` tests, which are HLO that StableHLO cannot say: chains of updates in place are here
//! without them.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicUsize};

use oxcall::AttrStruct;
use oxcall::prelude::*;

use super::*;

unsafe extern "C" {
    fn XlaCustomCallStatusSetFailure(status: *mut c_void, message: *const std::ffi::c_char, len: usize);
    fn XlaCustomCallStatusSetSuccess(status: *mut c_void);
}

unsafe extern "C" fn with_status(
    _out: *mut c_void,
    _ins: *const *const c_void,
    opaque: *const u8,
    len: usize,
    status: *mut c_void,
) {
    // SAFETY: the string of the program, and the status of this call.
    unsafe {
        XlaCustomCallStatusSetFailure(status, c"Failed".as_ptr(), 6);
        if std::slice::from_raw_parts(opaque, len) == b"succeed" {
            XlaCustomCallStatusSetSuccess(status);
        }
    }
}

fn call_with_status(config: &str) -> Result<Vec<Buffer>> {
    // SAFETY: the program calls it by version 3.
    unsafe { register_legacy("Callback_WithStatus", with_status as *const c_void) };
    let attributes = format!("api_version = 3 : i32, backend_config = \"{config}\"");
    run(&one_op("Callback_WithStatus", &attributes, &[], &["tensor<f32>"]), &[])
}

#[test]
fn with_status_succeeded() {
    assert!(call_with_status("succeed").is_ok());
}

#[test]
fn with_status_failed() {
    fails(call_with_status("fail"), Code::Internal, &["Failed", "Callback_WithStatus"]);
}

#[test]
fn with_no_callback() {
    let outcome = run(&one_op("NoCallback", "api_version = 3 : i32", &[], &["tensor<f32>"]), &[]);
    fails(outcome, Code::NotFound, &["No registered implementation for custom call to NoCallback", "api_version=0"]);
}

#[custom_call]
fn refuses_value(#[attr] value: i32, _y: ScalarOut<f32>) -> Result<()> {
    Err(Error::internal(format!("Uh oh, wrong value: {value}")))
}

#[test]
fn runtime_custom_call_always_fail() {
    let outcome = run(&one_call("refuses_value", "value = 42 : i32", &[], &["tensor<f32>"]), &[]);
    fails(outcome, Code::Internal, &["Uh oh, wrong value: 42"]);
}

/// XLA:GPU takes attributes as text, too, in a JSON backend config. In StableHLO they are a dictionary, in two forms.
#[test]
fn pass_attributes_by_backend_config() {
    for attributes in
        ["mhlo.backend_config = {value = 42 : i32}", "api_version = 4 : i32, backend_config = {value = 42 : i32}"]
    {
        let outcome = run(&one_op("refuses_value", attributes, &[], &["tensor<f32>"]), &[]);
        fails(outcome, Code::Internal, &["Uh oh, wrong value: 42"]);
    }
}

#[custom_call]
fn memcpy(x: AnyArray, mut y: AnyOut) {
    y.copy_from_bytes(x.as_bytes());
}

#[test]
fn exported_ffi_memcpy() {
    let program = "func.func @main() -> tensor<128xf32> {
      %c = stablehlo.constant dense<42.0> : tensor<f32>
      %x = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<128xf32>
      %y = stablehlo.custom_call @memcpy(%x) {mhlo.backend_config = {}} : (tensor<128xf32>) -> tensor<128xf32>
      return %y : tensor<128xf32>
    }";
    assert_eq!(get::<f32>(&run(program, &[]).unwrap()[0]), [42.0; 128]);
}

#[custom_call]
fn show_pointed(#[attr] text: Pointer<String>, mut y: ScalarOut<u64>) {
    // SAFETY: the tests below give the address of a string that outlives the call.
    let text = unsafe { &*text.as_ptr() };
    y.set(text.bytes().map(u64::from).sum());
}

fn sum_of_pointed(text: &str) -> u64 {
    let text = text.to_owned();
    let address = (&raw const text).expose_provenance();
    let program = one_call("show_pointed", &format!("text = {address} : i64"), &[], &["tensor<ui64>"]);
    get::<u64>(&run(&program, &[]).unwrap()[0])[0]
}

#[test]
fn pass_user_pointer_with_attrs() {
    assert_eq!(sum_of_pointed("abc"), 294);
}

#[test]
fn exported_ffi_opaque() {
    assert_eq!(sum_of_pointed("a\0c"), 196, "a NUL ends the string");
}

static INVOKED: AtomicUsize = AtomicUsize::new(0);

#[custom_call(side_effect)]
fn counts_calls(_done: TokenOut) {
    INVOKED.fetch_add(1, Relaxed);
}

#[test]
fn exported_ffi_is_invoked() {
    let program = one_call_with("counts_calls", "", ", has_side_effect = true", &[], &["!stablehlo.token"]);
    let program = program.replace("-> (!stablehlo.token) {", "{").replace("return %r : !stablehlo.token", "return");
    run(&program, &[]).unwrap();
    assert_eq!(INVOKED.load(Relaxed), 1);
}

#[test]
fn exported_ffi_unknown_target() {
    let outcome = run(&one_call("__xla_test$$unknown_target", "", &[], &["tensor<f32>"]), &[]);
    fails(outcome, Code::NotFound, &["No FFI handler registered for __xla_test$$unknown_target"]);
}

#[custom_call]
fn succeeds(#[dims(1)] _y: Out<f32>) -> Result<()> {
    Ok(())
}

#[test]
fn exported_ffi_with_status_succeeded() {
    assert!(run(&one_call("succeeds", "", &[], &["tensor<1xf32>"]), &[]).is_ok());
}

/// Writes `#` for tokens and `.` for tensors, of all operands, then of all results.
#[custom_call]
fn shows_tokens(#[attr] pattern: &str, args: Variadic<AnyArray>, mut rets: Variadic<AnyOut>) -> Result<()> {
    let mark = |dtype| if dtype == DType::Token { '#' } else { '.' };
    let shown: String =
        args.iter().map(|arg| mark(arg.dtype())).chain(rets.iter().map(|ret| mark(ret.dtype()))).collect();
    if shown != pattern {
        return Err(Error::invalid_argument(format!("{shown} is not {pattern}")));
    }
    rets.iter_mut().for_each(|ret| ret.as_bytes_mut().fill(1));
    Ok(())
}

/// One of XLA's five instances: the types of operands and result, and the buffers that come of them.
fn exported_tokens_test(operands: &[&str], result: &str, pattern: &str) {
    const VALUES: &str = "%x = stablehlo.constant dense<1.0> : tensor<4xf32>
      %t = stablehlo.create_token : !stablehlo.token";
    // Each operand is built from its type.
    let mut body = VALUES.to_owned();
    let mut names = Vec::new();
    for (index, ty) in operands.iter().enumerate() {
        names.push(build(&mut body, ty, &format!("%o{index}")));
    }
    let program = format!(
        "func.func @main() {{
           {body}
           %r = stablehlo.custom_call @shows_tokens({}) {{mhlo.backend_config = {{pattern = \"{pattern}\"}},
                has_side_effect = true}} : ({}) -> {result}
           return
         }}",
        names.join(", "),
        operands.join(", ")
    );
    run(&program, &[]).unwrap_or_else(|error| panic!("{error}\n{program}"));
}

/// Adds the ops that make a value of type `ty`, and gives its name.
fn build(body: &mut String, ty: &str, name: &str) -> String {
    let Some(elements) = ty.strip_prefix("tuple<").and_then(|ty| ty.strip_suffix('>')) else {
        return if ty.contains("token") { "%t" } else { "%x" }.to_owned();
    };
    let mut depth = 0;
    let split: Vec<&str> = elements
        .split(|c: char| {
            depth += i32::from(c == '<') - i32::from(c == '>');
            c == ',' && depth == 0
        })
        .map(str::trim)
        .collect();
    let values: Vec<String> =
        split.iter().enumerate().map(|(index, ty)| build(body, ty, &format!("{name}_{index}"))).collect();
    *body += &format!("\n      {name} = stablehlo.tuple {} : {ty}", values.join(", "));
    name.to_owned()
}

#[test]
fn exported_tokens_test_1() {
    exported_tokens_test(&["!stablehlo.token"], "!stablehlo.token", "##");
}

#[test]
fn exported_tokens_test_2() {
    exported_tokens_test(&["!stablehlo.token"], "tensor<4xf32>", "#.");
}

#[test]
fn exported_tokens_test_3() {
    exported_tokens_test(&["tuple<!stablehlo.token, tensor<4xf32>>"], "tuple<tensor<4xf32>, !stablehlo.token>", "#..#");
}

#[test]
fn exported_tokens_test_4() {
    let nested = "tuple<tensor<4xf32>, tuple<!stablehlo.token, tensor<4xf32>>, !stablehlo.token>";
    exported_tokens_test(&[nested, "!stablehlo.token"], "tensor<4xf32>", ".#.##.");
}

#[test]
fn exported_tokens_test_5() {
    let nested = "tuple<!stablehlo.token, tuple<!stablehlo.token, tensor<4xf32>>>";
    exported_tokens_test(&["tensor<4xf32>", nested], nested, ".##.##.");
}

#[derive(AttrStruct)]
struct Range {
    lo: i64,
    hi: i64,
}

#[custom_call]
fn takes_attributes(#[attr] int32: &[i32], #[attr] range: Range, mut y: ScalarOut<i64>) {
    y.set(int32.iter().map(|&n| i64::from(n)).sum::<i64>() + 100 * range.lo + 1000 * range.hi);
}

#[test]
fn ffi_attributes() {
    let attributes = "int32 = array<i32: 1, 2, 3, 4>, range = {lo = 0 : i64, hi = 42 : i64}";
    let results = run(&one_call("takes_attributes", attributes, &[], &["tensor<i64>"]), &[]);
    assert_eq!(get::<i64>(&results.unwrap()[0]), [42_010]);
}

#[custom_call]
fn asks_context(device: DeviceOrdinal, scratch: Scratch, #[dims(2)] mut y: Out<i64>) -> Result<()> {
    let memory = scratch.allocate(1024, 16)?;
    y.copy_from_slice(&[i64::from(device.0), memory.len() as i64]);
    Ok(())
}

/// The function that the call refers to is compiled, and not given to the handler.
#[test]
fn with_called_computation() {
    let program = "func.func private @called(%x: tensor<f32>) -> tensor<f32> {
      return %x : tensor<f32>
    }
    func.func @main() -> tensor<2xi64> {
      %y = stablehlo.custom_call @asks_context() {mhlo.backend_config = {}, called_computations = [@called]}
        : () -> tensor<2xi64>
      return %y : tensor<2xi64>
    }";
    assert_eq!(get::<i64>(&run(program, &[]).unwrap()[0]), [0, 1024]);
}

struct Log(AtomicI32);

oxcall::user_data!(unsafe Log as "gpu_custom_call_test.log");

#[stage(prepare)]
fn log_prepare(log: UserData<'_, Log>) -> i32 {
    log.0.fetch_add(1, Relaxed)
}

#[stage(initialize)]
fn log_initialize(log: UserData<'_, Log>) -> i32 {
    log.0.fetch_add(10, Relaxed)
}

#[custom_call(prepare = log_prepare, initialize = log_initialize)]
fn logs_stages(log: UserData<'_, Log>, mut y: ScalarOut<i32>) {
    y.set(log.0.fetch_add(100, Relaxed) + 100);
}

#[test]
fn ffi_execution_context() {
    static LOG: Log = Log(AtomicI32::new(0));
    let engine = engine();
    let program = compile(&engine, &one_call("logs_stages", "", &[], &["tensor<i32>"])).unwrap();
    let options = with_user_data("gpu_custom_call_test.log", &LOG);
    for expected in [111, 222] {
        assert_eq!(get::<i32>(&execute(&program, &options).unwrap()[0]), [expected]);
    }
}

struct Initial(i32);

#[stage(instantiate)]
fn initial_state() -> Initial {
    Initial(42)
}

#[custom_call(instantiate = initial_state)]
fn reads_state(#[state] state: &Initial, mut y: ScalarOut<i32>) {
    y.set(state.0);
}

#[test]
fn ffi_execution_state() {
    assert_eq!(get::<i32>(&run(&one_call("reads_state", "", &[], &["tensor<i32>"]), &[]).unwrap()[0]), [42]);
}

/// Adds one in place, and gives the address of its memory.
#[custom_call]
fn increment_in_place(#[dims(n)] mut x: InOut<i32>, mut address: ScalarOut<u64>) {
    x.iter_mut().for_each(|x| *x += 1);
    address.set(x.as_ptr().addr() as u64);
}

const ALIAS_0: &str = "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], \
                       operand_index = 0, operand_tuple_indices = []>]";

/// Three updates in place: all in one memory.
#[test]
fn hlo_buffer_straight_line() {
    let call = |x: &str, y: &str| {
        format!(
            "{y}:2 = stablehlo.custom_call @increment_in_place({x}) {{mhlo.backend_config = {{}}, {ALIAS_0}}}
               : (tensor<4xi32>) -> (tensor<4xi32>, tensor<ui64>)"
        )
    };
    let program = format!(
        "func.func @main() -> (tensor<4xi32>, tensor<ui64>, tensor<ui64>, tensor<ui64>) {{
           %x = stablehlo.iota dim = 0 : tensor<4xi32>
           {}
           {}
           {}
           return %c#0, %a#1, %b#1, %c#1 : tensor<4xi32>, tensor<ui64>, tensor<ui64>, tensor<ui64>
         }}",
        call("%x", "%a"),
        call("%a#0", "%b"),
        call("%b#0", "%c")
    );
    let results = run(&program, &[]).unwrap();
    assert_eq!(get::<i32>(&results[0]), [3, 4, 5, 6]);
    let address = |index: usize| get::<u64>(&results[index])[0];
    assert!(address(1) == address(2) && address(2) == address(3), "a copy was made");
}

/// Seven updates in a loop.
#[test]
fn hlo_buffer_rotated() {
    let program = format!(
        "func.func @main() -> tensor<4xi32> {{
           %zero = stablehlo.constant dense<0> : tensor<i32>
           %one = stablehlo.constant dense<1> : tensor<i32>
           %seven = stablehlo.constant dense<7> : tensor<i32>
           %x = stablehlo.iota dim = 0 : tensor<4xi32>
           %r:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xi32>
             cond {{
               %more = stablehlo.compare LT, %i, %seven : (tensor<i32>, tensor<i32>) -> tensor<i1>
               stablehlo.return %more : tensor<i1>
             }} do {{
               %next = stablehlo.add %i, %one : tensor<i32>
               %z:2 = stablehlo.custom_call @increment_in_place(%y) {{mhlo.backend_config = {{}}, {ALIAS_0}}}
                 : (tensor<4xi32>) -> (tensor<4xi32>, tensor<ui64>)
               stablehlo.return %next, %z#0 : tensor<i32>, tensor<4xi32>
             }}
           return %r#1 : tensor<4xi32>
         }}"
    );
    assert_eq!(get::<i32>(&run(&program, &[]).unwrap()[0]), [7, 8, 9, 10]);
}

/// Two asynchronous updates of two buffers, then one that needs both.
#[test]
fn custom_call_concurrent_update_two_buffers() {
    let program = format!(
        "func.func @main() -> tensor<4xi32> {{
           %x = stablehlo.iota dim = 0 : tensor<4xi32>
           %y = stablehlo.iota dim = 0 : tensor<4xi32>
           %a = stablehlo.custom_call @double_later(%x) {{mhlo.backend_config = {{}}, {alias}}}
             : (tensor<4xi32>) -> tensor<4xi32>
           %b = stablehlo.custom_call @double_later(%y) {{mhlo.backend_config = {{}}, {alias}}}
             : (tensor<4xi32>) -> tensor<4xi32>
           %c = stablehlo.add %a, %b : tensor<4xi32>
           return %c : tensor<4xi32>
         }}",
        alias = ALIAS_0.replace("[0]", "[]")
    );
    assert_eq!(get::<i32>(&run(&program, &[]).unwrap()[0]), [0, 4, 8, 12]);
}

#[custom_call]
fn double_later<'f>(#[dims(n)] mut x: InOut<'f, i32>, later: Async<'f>) -> Result<Future<'f>> {
    later.spawn(move || {
        x.iter_mut().for_each(|x| *x *= 2);
        Ok(())
    })
}
