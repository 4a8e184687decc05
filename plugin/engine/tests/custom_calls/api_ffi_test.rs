//! `xla/ffi/api/ffi_test.cc`: the API that handlers are written with, here as handlers meet it in programs.
//!
//! Not here: `Expected`, `BindingPlatformStreamInference` and `DefineAutoSymbol`, which are about C++'s templates,
//! result type and exported symbols, and the benchmarks (`cargo xtask bench ffi`). Names that differ only by the C++
//! type of a binding share a test, which says so. The C layouts are tested in `ffi/src/host/tests`, and C++'s side of
//! all this in `tests/tests/peers`.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicUsize};
use std::sync::{Barrier, Mutex, mpsc};

use oxcall::attr::AttrValue;
use oxcall::prelude::*;
use oxcall::{AttrEnum, AttrStruct};

use super::*;

const F32: &str = "tensor<f32>";
const S32: &str = "tensor<i32>";

/// The types that StableHLO and the XLA FFI have in common: how a program writes one, its code and its bits.
const TYPES: [(&str, u32, usize); 28] = [
    ("i1", 1, 8),
    ("i2", 26, 2),
    ("i4", 21, 4),
    ("i8", 2, 8),
    ("i16", 3, 16),
    ("i32", 4, 32),
    ("i64", 5, 64),
    ("ui2", 27, 2),
    ("ui4", 22, 4),
    ("ui8", 6, 8),
    ("ui16", 7, 16),
    ("ui32", 8, 32),
    ("ui64", 9, 64),
    ("f16", 10, 16),
    ("f32", 11, 32),
    ("f64", 12, 64),
    ("bf16", 16, 16),
    ("complex<f32>", 15, 64),
    ("complex<f64>", 18, 128),
    ("f4E2M1FN", 32, 4),
    ("f8E5M2", 19, 8),
    ("f8E4M3FN", 20, 8),
    ("f8E4M3B11FNUZ", 23, 8),
    ("f8E5M2FNUZ", 24, 8),
    ("f8E4M3FNUZ", 25, 8),
    ("f8E4M3", 28, 8),
    ("f8E3M4", 29, 8),
    ("f8E8M0FNU", 33, 8),
];

/// The code of its dtype, and its size in bytes.
#[custom_call]
fn describes(x: AnyArray, #[dims(2)] mut y: Out<u32>) {
    y.copy_from_slice(&[x.dtype().code(), x.as_bytes().len() as u32]);
}

#[test]
fn data_type_enum_value_and_byte_width() {
    for (ty, code, bits) in TYPES {
        let program = one_call("describes", "", &[&format!("tensor<8x{ty}>")], &["tensor<2xui32>"]);
        // Programs have a byte or more for each element, handlers as many bits as the type has.
        let results = run(&program, &[vec![0; 8 * bits.div_ceil(8)]]).unwrap_or_else(|error| panic!("{ty}: {error}"));
        assert_eq!(get::<u32>(&results[0]), [code, bits as u32], "{ty}");
    }
    let program = "func.func @main() -> tensor<2xui32> {
      %t = stablehlo.create_token : !stablehlo.token
      %y = stablehlo.custom_call @describes(%t) {mhlo.backend_config = {}} : (!stablehlo.token) -> tensor<2xui32>
      return %y : tensor<2xui32>
    }";
    assert_eq!(get::<u32>(&run(program, &[]).unwrap()[0]), [17, 0]);
}

#[custom_call]
fn fails_with(#[attr] code: u32, _y: ScalarOut<f32>) -> Result<()> {
    Err(Error::new(Code::from_code(code).unwrap(), "Test error"))
}

#[test]
fn error_enum_value_and_return_error() {
    for code in 1..=16u32 {
        let outcome = run(&one_call("fails_with", &format!("code = {code} : i32"), &[], &[F32]), &[]);
        fails(outcome, Code::from_code(code).unwrap(), &["Test error"]);
    }
}

/// How a call of [`completes`] ends.
type Ending = Result<()>;

static ENDINGS: Mutex<Vec<(i64, mpsc::Receiver<Ending>)>> = Mutex::new(Vec::new());

/// Completes as somebody else says, on a thread of its own.
#[custom_call]
fn completes<'f>(#[attr] key: i64, mut y: ScalarOut<'f, f32>, later: Async<'f>) -> Result<Future<'f>> {
    let ending = {
        let mut endings = ENDINGS.lock().unwrap();
        let index = endings.iter().position(|(of, _)| *of == key).unwrap();
        endings.swap_remove(index).1
    };
    later.spawn(move || {
        y.set(1.0);
        ending.recv().unwrap()
    })
}

/// Starts a program of one such call, gives what completes it, and what its results come from.
fn completed_later(key: i64) -> (mpsc::Sender<Ending>, mpsc::Receiver<Result<Vec<Buffer>>>) {
    let (end, ending) = mpsc::channel();
    ENDINGS.lock().unwrap().push((key, ending));
    let engine = engine();
    let program = compile(&engine, &one_call("completes", &format!("key = {key} : i64"), &[], &[F32])).unwrap();
    let (sender, results) = mpsc::channel();
    program.execute(Vec::new(), &ExecuteOptions::default(), move |outcome| sender.send(outcome).unwrap());
    (end, results)
}

/// `FutureSetAvailable` and `FutureSetAvailableFromThreadPool`.
#[test]
fn future_set_available() {
    let (end, results) = completed_later(1);
    assert!(results.try_recv().is_err(), "done before the future is");
    end.send(Ok(())).unwrap();
    assert_eq!(get::<f32>(&results.recv().unwrap().unwrap()[0]), [1.0]);
}

/// `FutureSetError` and `FutureSetErrorFromThreadPool`.
#[test]
fn future_set_error() {
    let (end, results) = completed_later(2);
    end.send(Err(Error::aborted("Test error"))).unwrap();
    fails(results.recv().unwrap(), Code::Aborted, &["Test error", "completes"]);
}

#[custom_call]
fn races<'f>(mut y: ScalarOut<'f, i32>, later: Async<'f>) -> Result<Future<'f>> {
    // The future may complete before, while or after the host looks at it.
    later.spawn_with(
        move || {
            y.set(7);
            Ok(())
        },
        |job| {
            let together = Arc::new(Barrier::new(2));
            let theirs = Arc::clone(&together);
            std::thread::spawn(move || {
                theirs.wait();
                job();
            });
            together.wait();
        },
    )
}

#[test]
fn future_race() {
    let engine = engine();
    let program = compile(&engine, &one_call("races", "", &[], &[S32])).unwrap();
    for _ in 0..200 {
        assert_eq!(get::<i32>(&program.run(Vec::new()).unwrap()[0]), [7]);
    }
}

/// `CountDownSuccess`, `CountDownError` and both from a pool: a promise that the last of several threads keeps.
#[custom_call]
fn counts_down<'f>(#[attr] fail: bool, _y: ScalarOut<'f, f32>, later: Async<'f>) -> Result<Future<'f>> {
    let (promise, future) = later.promise()?;
    let left = Arc::new((AtomicUsize::new(4), Mutex::new((Some(promise), None))));
    for index in 0..4 {
        let left = Arc::clone(&left);
        std::thread::spawn(move || {
            let mut last = left.1.lock().unwrap();
            if fail && index == 2 {
                last.1 = Some(Error::internal("Test error"));
            }
            if left.0.fetch_sub(1, Relaxed) == 1 {
                let outcome = last.1.take().map_or(Ok(()), Err);
                last.0.take().unwrap().set(outcome);
            }
        });
    }
    Ok(future)
}

#[test]
fn count_down() {
    assert!(run(&one_call("counts_down", "fail = false", &[], &[F32]), &[]).is_ok());
    fails(run(&one_call("counts_down", "fail = true", &[], &[F32]), &[]), Code::Internal, &["Test error"]);
}

#[custom_call]
fn tells_run(run: RunId, device: DeviceOrdinal, context: Context, #[dims(4)] mut y: Out<i64>) -> Result<()> {
    let (again, there) = (context.get::<RunId>()?, context.get::<DeviceOrdinal>()?);
    y.copy_from_slice(&[run.0, i64::from(device.0), again.0, i64::from(there.0)]);
    Ok(())
}

/// `RunId`, `RunIdViaContext` and `DeviceOrdinal`.
#[test]
fn run_id_and_device_ordinal() {
    let engine = engine();
    let program = compile(&engine, &one_call("tells_run", "", &[], &["tensor<4xi64>"])).unwrap();
    let options = ExecuteOptions { run_id: Some(42), device_ordinal: 43, ..ExecuteOptions::default() };
    assert_eq!(get::<i64>(&execute(&program, &options).unwrap()[0]), [42, 43, 42, 43]);
}

/// Addresses, ranks and dimensions of an argument and a result.
#[custom_call]
fn tells_buffers(x: AnyArray, z: ArrayView2<'_, f32>, w: AnyOut, #[dims(7)] mut y: Out<u64>) -> Result<()> {
    let typed = x.cast::<f32>()?;
    assert_eq!((typed.as_ptr().cast(), w.dtype()), (x.as_bytes().as_ptr(), DType::F32));
    let address = x.as_bytes().as_ptr().addr() as u64;
    let dims = [x.shape(), z.shape(), w.shape()].concat();
    y[0] = address % 64;
    y[1..].iter_mut().zip(dims).for_each(|(y, dim)| *y = dim as u64);
    Ok(())
}

/// `AnyBufferArgument`, `BufferArgument` and `AnyBufferResult`.
#[test]
fn buffer_arguments_and_results() {
    let operands = ["tensor<2x3xf32>", "tensor<4x5xf32>"];
    let program = one_call("tells_buffers", "", &operands, &["tensor<6x1xf32>", "tensor<7xui64>"]);
    let results = run(&program, &[vec![0; 24], vec![0; 80]]).unwrap();
    assert_eq!(get::<u64>(&results[1]), [0, 2, 3, 4, 5, 6, 1]);
}

#[custom_call]
fn takes_vector(x: ArrayView1<'_, f32>, mut y: ScalarOut<f32>) {
    y.set(x.sum());
}

#[test]
fn missing_buffer_argument() {
    fails(run(&one_call("takes_vector", "", &[], &[F32]), &[]), Code::InvalidArgument, &["takes_vector", "1 argument"]);
}

#[test]
fn wrong_rank_buffer_argument() {
    let program = one_call("takes_vector", "", &["tensor<1x1xf32>"], &[F32]);
    fails(run(&program, &[vec![0; 4]]), Code::InvalidArgument, &["takes_vector", "`x`", "rank 1", "rank 2"]);
}

#[test]
fn wrong_type_buffer_argument() {
    let program = one_call("takes_vector", "", &["tensor<1xi32>"], &[F32]);
    fails(run(&program, &[vec![0; 4]]), Code::InvalidArgument, &["takes_vector", "`x`", "f32", "s32"]);
}

/// XLA counts; here the name that is too many is said.
#[test]
fn wrong_number_of_arguments() {
    let program = one_call("takes_vector", "foo = 1 : i32, bar = 2 : i32", &["tensor<1xf32>"], &[F32]);
    fails(run(&program, &[vec![0; 4]]), Code::InvalidArgument, &["takes_vector", "`bar`", "`foo`"]);
}

#[custom_call]
fn takes_token(_t: Token, mut y: ScalarOut<f32>) {
    y.set(3.0);
}

#[test]
fn token_argument() {
    let program = "func.func @main() -> tensor<f32> {
      %t = stablehlo.after_all : !stablehlo.token
      %y = stablehlo.custom_call @takes_token(%t) {mhlo.backend_config = {}} : (!stablehlo.token) -> tensor<f32>
      return %y : tensor<f32>
    }";
    assert_eq!(get::<f32>(&run(program, &[]).unwrap()[0]), [3.0]);
}

#[custom_call]
fn takes_the_rest(
    _first: Scalar<f32>,
    rest: Variadic<AnyArray>,
    mut y: ScalarOut<u64>,
    mut others: Variadic<AnyOut>,
) -> Result<()> {
    assert!(rest.get(rest.len()).is_none());
    assert!(rest.iter().all(|arg| arg.cast::<i32>().is_ok() && arg.cast::<f32>().is_err()));
    others.iter_mut().for_each(|other| other.as_bytes_mut().fill(0));
    y.set((10 * rest.len() + others.len()) as u64);
    Ok(())
}

/// `RemainingArgs` and `RemainingRets`.
#[test]
fn remaining_args_and_rets() {
    for (operands, results, expected) in [(1, 1, 0), (3, 1, 20), (1, 3, 2), (2, 2, 11)] {
        let (mut ins, mut outs) = (vec![F32], vec!["tensor<ui64>"]);
        ins.extend(vec![S32; operands - 1]);
        outs.extend(vec![S32; results - 1]);
        let values = vec![vec![0; 4]; operands];
        let got = run(&one_call("takes_the_rest", "", &ins, &outs), &values).unwrap();
        assert_eq!(get::<u64>(&got[0]), [expected]);
    }
}

#[custom_call]
fn takes_options(
    _x: Scalar<f32>,
    bias: Option<Scalar<f32>>,
    more: Option<Scalar<i32>>,
    mut y: ScalarOut<u64>,
    extra: Option<ScalarOut<f32>>,
) {
    let code =
        [bias.is_some(), more.is_some(), extra.is_some()].iter().fold(0, |code, &there| 2 * code + u64::from(there));
    if let Some(mut extra) = extra {
        extra.set(bias.map_or(-1.0, |bias| bias.get()));
    }
    y.set(code);
}

/// `OptionalArgs` and `OptionalRets`.
#[test]
fn optional_args_and_rets() {
    let got = |operands: &[&str], results: &[&str]| {
        let values: Vec<_> = operands.iter().map(|_| bytes(&[1.5f32])).collect();
        let results = run(&one_call("takes_options", "", operands, results), &values).unwrap();
        (get::<u64>(&results[0])[0], results.get(1).map(|extra| get::<f32>(extra)[0]))
    };
    assert_eq!(got(&[F32], &["tensor<ui64>"]), (0, None));
    assert_eq!(got(&[F32, F32], &["tensor<ui64>"]), (4, None));
    assert_eq!(got(&[F32, F32, S32], &["tensor<ui64>", F32]), (7, Some(1.5)));
    assert_eq!(got(&[F32], &["tensor<ui64>", F32]), (1, Some(-1.0)));
    let program = one_call("takes_options", "", &[F32, F32, S32, F32], &["tensor<ui64>"]);
    fails(run(&program, &vec![vec![0; 4]; 4]), Code::InvalidArgument, &["takes_options", "4"]);
}

#[derive(AttrStruct)]
struct PairOfNumbers {
    i32: i32,
    f32: f32,
}

/// `AutoBinding`, `AutoBindingResult`, `AutoBindingStructs`, `StructAttr` and `AttrsAsStruct`: parameters are always
/// bound by the function's signature.
#[custom_call]
fn binds_struct(#[attr] pair: PairOfNumbers, x: Scalar<f32>, mut y: ScalarOut<f32>) {
    y.set(x.get() * pair.f32 + pair.i32 as f32);
}

#[test]
fn auto_binding_structs() {
    let program = one_call("binds_struct", "pair = {i32 = 42 : i32, f32 = 0.5 : f32}", &[F32], &[F32]);
    assert_eq!(get::<f32>(&run(&program, &[bytes(&[4f32])]).unwrap()[0]), [44.0]);
}

/// `AutoBindingDictionary` and `AttrsAsDictionary`.
#[custom_call]
fn binds_dictionary(#[attr(rest)] attrs: Dict<'_>, mut y: ScalarOut<i32>) -> Result<()> {
    let names: Vec<&str> = attrs.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["f32", "i32", "str"], "they are sorted");
    assert!(attrs.get::<i32>("i64")?.is_none() && attrs.get::<i32>("str").is_err());
    assert_eq!(attrs.get::<&str>("str")?, Some("foo"));
    let (i32, f32) = (attrs.get::<i32>("i32")?.unwrap(), attrs.get::<f32>("f32")?.unwrap());
    y.set(i32 + f32 as i32);
    Ok(())
}

#[test]
fn attrs_as_dictionary() {
    let program = one_call("binds_dictionary", "str = \"foo\", i32 = 42 : i32, f32 = 2.0 : f32", &[], &[S32]);
    assert_eq!(get::<i32>(&run(&program, &[]).unwrap()[0]), [44]);
}

#[custom_call]
fn binds_two_dictionaries(#[attr] dict0: Dict<'_>, #[attr] dict1: Dict<'_>, mut y: ScalarOut<f32>) -> Result<()> {
    let (x, z) = (dict0.get::<i32>("x")?.unwrap(), dict1.get::<f32>("x")?.unwrap());
    y.set(x as f32 + z);
    Ok(())
}

#[test]
fn dictionary_attr() {
    let program = one_call("binds_two_dictionaries", "dict0 = {x = 42 : i32}, dict1 = {x = 0.5 : f32}", &[], &[F32]);
    assert_eq!(get::<f32>(&run(&program, &[]).unwrap()[0]), [42.5]);
}

#[custom_call]
fn binds_any(#[attr] value: AttrValue<'_>, mut y: ScalarOut<i32>) {
    y.set(match value {
        AttrValue::Scalar(scalar) => scalar.dtype().map_or(0, |dtype| dtype.code() as i32),
        AttrValue::Array(array) => 100 + array.len() as i32,
        AttrValue::String(text) => 1000 + text.len() as i32,
        AttrValue::Dictionary(dict) => 2000 + dict.len() as i32,
        _ => -1,
    });
}

#[test]
fn variant_attr_decoding() {
    for (value, expected) in [
        ("1 : i32", 4),
        ("1 : i64", 5),
        ("1.0 : f64", 12),
        ("true", 1),
        ("1.5 : bf16", 16),
        ("200 : ui8", 6),
        ("array<i8: 1, 2>", 102),
        ("array<i64>", 100),
        ("dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>", 104),
        ("\"text\"", 1004),
        ("{a = {b = {c = 1 : i32}}}", 2001),
    ] {
        let results = run(&one_call("binds_any", &format!("value = {value}"), &[], &[S32]), &[]);
        let results = results.unwrap_or_else(|error| panic!("{value}: {error}"));
        assert_eq!(get::<i32>(&results[0]), [expected], "{value}");
    }
}

#[custom_call]
fn sums_arrays(
    #[attr] i8s: &[i8],
    #[attr] i16s: &[i16],
    #[attr] i32s: &[i32],
    #[attr] i64s: &[i64],
    #[attr] u8s: &[u8],
    #[attr] u16s: &[u16],
    #[attr] u32s: &[u32],
    #[attr] u64s: &[u64],
    #[attr] f32s: &[f32],
    #[attr] f64s: &[f64],
    mut y: ScalarOut<f64>,
) {
    fn sum<T: num_traits::ToPrimitive>(values: &[T]) -> f64 {
        values.iter().filter_map(T::to_f64).sum()
    }
    let signed = sum(i8s) + sum(i16s) + sum(i32s) + sum(i64s);
    y.set(signed + sum(u8s) + sum(u16s) + sum(u32s) + sum(u64s) + sum(f32s) + sum(f64s));
}

#[test]
fn array_attr() {
    let dense = |name: &str, ty: &str| format!("{name}s = dense<[1, 2]> : tensor<2x{ty}>");
    let mut attributes: Vec<String> =
        ["i8", "i16", "i32", "i64"].iter().map(|ty| format!("{ty}s = array<{ty}: 1, 2>")).collect();
    attributes.extend(["u8", "u16", "u32", "u64"].iter().map(|ty| dense(ty, &ty.replace('u', "ui"))));
    attributes.extend(["f32", "f64"].iter().map(|ty| format!("{ty}s = array<{ty}: 1.0, 2.0>")));
    let results = run(&one_call("sums_arrays", &attributes.join(", "), &[], &["tensor<f64>"]), &[]);
    assert_eq!(get::<f64>(&results.unwrap()[0]), [30.0]);
}

#[custom_call]
fn reads_pointer(#[attr] counter: Pointer<AtomicI32>, mut y: ScalarOut<i32>) {
    // SAFETY: the test below gives the address of a static.
    y.set(unsafe { &*counter.as_ptr() }.fetch_add(1, Relaxed));
}

#[test]
fn pointer_attr() {
    static COUNTER: AtomicI32 = AtomicI32::new(42);
    let address = (&raw const COUNTER).expose_provenance();
    let program = one_call("reads_pointer", &format!("counter = {address} : i64"), &[], &[S32]);
    assert_eq!(get::<i32>(&run(&program, &[]).unwrap()[0]), [42]);
    assert_eq!(COUNTER.load(Relaxed), 43);
}

#[derive(AttrEnum, Clone, Copy)]
#[repr(i64)]
enum Large {
    One = 1,
    Huge = 1 << 40,
}

#[custom_call]
fn reads_enum(#[attr] value: Large, mut y: ScalarOut<i64>) {
    y.set(value as i64);
}

#[test]
fn enum_attr() {
    for (text, expected) in [("1 : i32", 1), ("1099511627776 : i64", 1 << 40), ("\"huge\"", 1 << 40)] {
        let program = one_call("reads_enum", &format!("value = {text}"), &[], &["tensor<i64>"]);
        assert_eq!(get::<i64>(&run(&program, &[]).unwrap()[0]), [expected], "{text}");
    }
}

#[test]
fn wrong_enum_attr_type() {
    for text in ["3 : i64", "1.0 : f32", "{i32 = 1 : i32}"] {
        let program = one_call("reads_enum", &format!("value = {text}"), &[], &["tensor<i64>"]);
        fails(run(&program, &[]), Code::InvalidArgument, &["reads_enum", "`value`"]);
    }
}

struct Text(String);

oxcall::user_data!(unsafe Text as "api_ffi_test.text");

#[custom_call]
fn reads_text(text: UserData<'_, Text>, mut y: ScalarOut<u64>) {
    y.set(text.0.len() as u64);
}

#[test]
fn user_data() {
    static TEXT: std::sync::LazyLock<Text> = std::sync::LazyLock::new(|| Text("foo".to_owned()));
    let engine = engine();
    let program = compile(&engine, &one_call("reads_text", "", &[], &["tensor<ui64>"])).unwrap();
    assert_eq!(get::<u64>(&execute(&program, &with_user_data("api_ffi_test.text", &*TEXT)).unwrap()[0]), [3]);
}

struct Kept(AtomicUsize);

#[stage(instantiate)]
fn keeps() -> Kept {
    Kept(AtomicUsize::new(42))
}

/// The state's value and address.
#[custom_call(instantiate = keeps)]
fn stateful_handler(#[state] kept: &Kept, #[dims(2)] mut y: Out<u64>) {
    y.copy_from_slice(&[kept.0.load(Relaxed) as u64, std::ptr::from_ref(kept).addr() as u64]);
}

#[test]
fn stateful_handlers() {
    let engine = engine();
    let program = compile(&engine, &one_call("stateful_handler", "", &[], &["tensor<2xui64>"])).unwrap();
    let first = get::<u64>(&program.run(Vec::new()).unwrap()[0]);
    assert_eq!(first[0], 42);
    assert_eq!(get::<u64>(&program.run(Vec::new()).unwrap()[0]), first);
}

#[custom_call]
fn uses_scratch(#[attr] size: usize, scratch: Scratch, mut y: ScalarOut<u64>) -> Result<()> {
    let kept = scratch.allocate(size, 16)?;
    let leaked = std::mem::ManuallyDrop::new(scratch.allocate(size, 16)?);
    y.set((kept.len() + leaked.len()) as u64);
    Ok(())
}

/// Here the CPU has scratch memory; what a handler forgets is freed with the execution.
#[test]
fn scratch_allocator() {
    let engine = engine();
    let program = compile(&engine, &one_call("uses_scratch", "size = 1000 : i64", &[], &["tensor<ui64>"])).unwrap();
    for _ in 0..2 {
        assert_eq!(get::<u64>(&program.run(Vec::new()).unwrap()[0]), [2000]);
        assert_eq!(engine.allocator().memory_use().live, 0, "scratch memory is lost");
    }
}

/// `ScratchAllocatorUnimplemented`: what cannot be allocated is an error with the reason.
#[test]
fn scratch_allocator_has_no_more() {
    let program = one_call("uses_scratch", "size = 4611686018427387904 : i64", &[], &["tensor<ui64>"]);
    fails(run(&program, &[]), Code::ResourceExhausted, &["uses_scratch", "scratch memory"]);
}

#[custom_call]
fn waits_for_the_pool(pool: ThreadPool, mut y: ScalarOut<i64>) {
    // Two at once, or neither goes on.
    let together = Barrier::new(2);
    pool.parallel_for(2, 1, |range| {
        range.for_each(|_| {
            together.wait();
        });
    });
    y.set(pool.num_threads() as i64);
}

#[test]
fn thread_pool() {
    let results = run(&one_call("waits_for_the_pool", "", &[], &["tensor<i64>"]), &[]);
    assert_eq!(get::<i64>(&results.unwrap()[0]), [2]);
}

#[custom_call]
fn answers_later<'f>(mut y: ScalarOut<'f, i32>, later: Async<'f>) -> Result<Future<'f>> {
    later.spawn(move || {
        y.set(42);
        Ok(())
    })
}

#[test]
fn async_handler() {
    let engine = engine();
    let program = compile(&engine, &one_call("answers_later", "", &[], &[S32])).unwrap();
    assert_eq!(get::<i32>(&program.run(Vec::new()).unwrap()[0]), [42]);
    for launch in [oxcall_engine::Launch::Auto, oxcall_engine::Launch::Inline, oxcall_engine::Launch::Elsewhere] {
        let options = ExecuteOptions { launch, ..ExecuteOptions::default() };
        assert_eq!(get::<i32>(&execute(&program, &options).unwrap()[0]), [42]);
    }
}

#[custom_call(command_buffer)]
fn has_a_trait(mut y: ScalarOut<i32>) {
    y.set(1);
}

/// `Metadata` and `MetadataTraits`.
#[test]
fn metadata() {
    let _ = engine();
    let with = host::find_handler("has_a_trait", PLATFORM).unwrap();
    let without = host::find_handler("stateful_handler", PLATFORM).unwrap();
    assert_eq!((with.traits, without.traits), (1, 0));
    assert_eq!((with.minor, with.source), (HostVersion::default().minor(), Source::Linked));
    // SAFETY: handlers.
    let id = unsafe { host::metadata(without.instantiate.unwrap(), HostVersion::default()) }.unwrap().state_type_id;
    assert!(id.is_some());
    assert_eq!(get::<i32>(&run(&one_call("has_a_trait", "", &[], &[S32]), &[]).unwrap()[0]), [1]);
}
