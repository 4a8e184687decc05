//! Custom calls by the XLA FFI.

use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI64, AtomicU64};

use oxcall::Code;
use oxcall::descriptor::Op;
use oxcall::element::U4;
use oxcall::host::{HostVersion, Source, register_handler};
use oxcall::prelude::*;
use oxcall_hlo::{Alias, CustomCall, CustomCallApiVersion, Literal, Type};

use super::*;

/// Registers an operation for any host.
pub(super) fn register<O: Op>() {
    let handler = O::HANDLER;
    // SAFETY: `#[custom_call]` makes handlers.
    unsafe { register_handler(HostVersion::default(), Source::Linked, handler.name, "Host", &handler.bundle(), 0) }
        .unwrap();
}

/// A call as JAX writes it.
pub(super) fn call(target: &str, attributes: &[(&str, Attribute)]) -> CustomCall {
    let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    CustomCall {
        target: target.to_owned(),
        has_side_effect: false,
        backend_config: Attribute::String(Vec::new()),
        attributes: vec![("mhlo.backend_config".to_owned(), Attribute::Dictionary(attributes))],
        api_version: CustomCallApiVersion::Original,
        operand_layouts: None,
        result_layouts: None,
        aliases: Vec::new(),
        called_computations: Vec::new(),
    }
}

pub(super) fn emit(
    f: &mut FuncBuilder,
    call: CustomCall,
    operands: &[ValueId],
    results: &[Type],
) -> Result<Vec<ValueId>, oxcall_hlo::Error> {
    f.with_types(OpKind::CustomCall(Box::new(call)), operands, results)
}

#[custom_call]
fn engine_affine(
    #[attr] slope: f32,
    #[attr(default = 0.0)] shift: f32,
    #[dims(..s)] x: Array<f32>,
    #[dims(..s)] mut y: Out<f32>,
) -> Result<()> {
    if slope < 0.0 {
        return Err(Error::out_of_range(format!("slope {slope} is negative")));
    }
    for (y, x) in y.iter_mut().zip(x.iter()) {
        *y = slope * x + shift;
    }
    Ok(())
}

/// Registers `engine_affine`, for other tests.
pub(super) fn register_affine() {
    register::<engine_affine>();
}

fn slope(value: f64) -> (&'static str, Attribute) {
    ("slope", Attribute::Float(value, ElementType::F32))
}

#[test]
fn chains_of_calls() {
    register::<engine_affine>();
    let module = func(|f| {
        let mut x = f.param(f32s([8]));
        for _ in 0..100 {
            let shift = ("shift", Attribute::Float(1.0, ElementType::F64));
            x = emit(f, call("engine_affine", &[slope(1.0), shift]), &[x], &[f32s([8]).into()])?[0];
        }
        Ok(vec![x])
    });
    let results = run(module, &|e| vec![shared(e, &[1f32; 8])]).unwrap();
    assert_eq!(values::<f32>(&results[0]), [101f32; 8]);
}

#[test]
fn calls_of_torch_xla_repeat_their_attributes_in_the_target() {
    register::<engine_affine>();
    let module = |value: f64| {
        func(|f| {
            let x = f.param(f32s([8]));
            let target = format!("engine_affine{{slope = {value:?} : f64}}");
            emit(f, call(&target, &[slope(value)]), &[x], &[f32s([8]).into()])
        })
    };
    let results = run(module(3.0), &|e| vec![shared(e, &[1f32; 8])]).unwrap();
    assert_eq!(values::<f32>(&results[0]), [3f32; 8]);
    let error = run(module(-1.0), &|e| vec![shared(e, &[1f32; 8])]).unwrap_err();
    assert_eq!(error.message(), "engine_affine: slope -1 is negative");
}

#[test]
fn errors_of_handlers_are_those_of_the_execution() {
    register::<engine_affine>();
    let engine = engine();
    let module = |value| {
        func(|f| {
            let x = f.param(f32s([8]));
            emit(f, call("engine_affine", &[slope(value)]), &[x], &[f32s([8]).into()])
        })
    };
    let program = compile(&engine, module(-1.0));
    for _ in 0..2 {
        let error = program.run(vec![shared(&engine, &[1f32; 8])]).unwrap_err();
        assert_eq!((error.code(), error.message()), (Code::OutOfRange, "engine_affine: slope -1 is negative"));
    }
    assert!(compile(&engine, module(1.0)).run(vec![shared(&engine, &[1f32; 8])]).is_ok());
}

#[test]
fn unknown_targets_fail_when_compiled() {
    register::<engine_affine>();
    let module = func(|f| {
        let x = f.param(f32s([8]));
        emit(f, call("engine_afine", &[]), &[x], &[f32s([8]).into()])
    });
    let error = engine().compile(module).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    for text in [
        "No registered implementation for custom call to engine_afine for platform oxcall",
        "No FFI handler registered for engine_afine",
        "Did you mean engine_affine?",
        "jax.ffi.register_ffi_target(\"engine_afine\", ..., platform=\"oxcall\")",
    ] {
        assert!(error.message().contains(text), "{error}");
    }
}

#[derive(AttrStruct)]
struct Inner {
    low: i64,
    name: String,
}

#[custom_call]
fn engine_attributes(
    #[attr] flag: bool,
    #[attr] inner: Inner,
    #[attr] numbers: &[i32],
    #[attr] weights: &[f32],
    mut y: ScalarOut<i64>,
) {
    assert!(flag && inner.name == "ä");
    y.set(inner.low + numbers.iter().map(|&n| i64::from(n)).sum::<i64>() + weights.iter().sum::<f32>() as i64);
}

#[test]
fn attributes_of_every_kind() {
    register::<engine_attributes>();
    let bytes = |numbers: &[i32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let numbers = Literal::dense(TensorType::new(ElementType::S32, [3]), bytes(&[1, 2, 3]));
    let weights = Literal::splat(f32s([2, 2]), 0.5f32.to_le_bytes());
    let inner = Attribute::Dictionary(vec![
        ("low".to_owned(), Attribute::Integer(-100, ElementType::S64)),
        ("name".to_owned(), Attribute::String("ä".into())),
    ]);
    let attributes = [
        ("flag", Attribute::Bool(true)),
        ("inner", inner),
        ("numbers", Attribute::DenseArray(numbers)),
        ("weights", Attribute::Dense(weights)),
    ];
    let s64 = TensorType::scalar(ElementType::S64);
    let module = func(|f| emit(f, call("engine_attributes", &attributes), &[], &[s64.clone().into()]));
    assert_eq!(values::<i64>(&run(module, &|_| vec![]).unwrap()[0]), [-92]);
    let module = func(|f| emit(f, call("engine_attributes", &[("flag", Attribute::Unit)]), &[], &[s64.into()]));
    let error = engine().compile(module).unwrap_err();
    assert!(error.message().contains("Unsupported attribute type for attribute: flag"), "{error}");
}

static LIVE: AtomicI64 = AtomicI64::new(0);

/// Tests that count live states take turns.
static STATES: Mutex<()> = Mutex::new(());

struct Counted(AtomicU64);

impl Counted {
    fn new(from: u64) -> Counted {
        LIVE.fetch_add(1, Relaxed);
        Counted(AtomicU64::new(from))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Relaxed);
    }
}

#[stage(instantiate)]
fn engine_start(#[attr] from: u64) -> Result<Counted> {
    Ok(Counted::new(from))
}

#[stage(prepare)]
fn engine_prepare(#[attr] from: u64) -> Result<Counted> {
    Ok(Counted::new(1000 * from))
}

#[custom_call(instantiate = engine_start, prepare = engine_prepare)]
fn engine_count(#[state] counter: &Counted, #[state(prepare)] prepared: &Counted, mut y: ScalarOut<u64>) {
    y.set(counter.0.fetch_add(1, Relaxed) + prepared.0.fetch_add(100, Relaxed));
}

#[test]
fn states_live_as_long_as_they_should() {
    let _turn = STATES.lock().unwrap();
    register::<engine_count>();
    let u64s: Type = TensorType::scalar(ElementType::U64).into();
    let from = |value| ("from", Attribute::Integer(value, ElementType::S64));
    let module = func(|f| {
        let first = emit(f, call("engine_count", &[from(1)]), &[], std::slice::from_ref(&u64s))?;
        let second = emit(f, call("engine_count", &[from(5)]), &[], std::slice::from_ref(&u64s))?;
        Ok([first, second].concat())
    });
    let engine = engine();
    let program = compile(&engine, module);
    assert_eq!(LIVE.load(Relaxed), 2);
    for run in 0..3 {
        let results = program.run(vec![]).unwrap();
        assert_eq!(values::<u64>(&results[0]), [1001 + run]);
        assert_eq!(values::<u64>(&results[1]), [5005 + run]);
        assert_eq!(LIVE.load(Relaxed), 2, "states of an execution outlive it");
    }
    drop(program);
    assert_eq!(LIVE.load(Relaxed), 0);
}

#[custom_call]
fn engine_context(
    run: RunId,
    device: DeviceOrdinal,
    pool: ThreadPool,
    scratch: Scratch,
    #[dims(3)] mut y: Out<i64>,
) -> Result<()> {
    let memory = scratch.allocate(1000, 16)?;
    assert_eq!(memory.len(), 1000);
    y.copy_from_slice(&[run.0, device.0.into(), pool.num_threads() as i64]);
    Ok(())
}

#[test]
fn contexts_know_the_execution() {
    register::<engine_context>();
    let ty = TensorType::new(ElementType::S64, [3]);
    let module = func(|f| emit(f, call("engine_context", &[]), &[], &[ty.into()]));
    let engine = engine();
    let program = compile(&engine, module);
    for (run_id, device_ordinal) in [(7, 0), (8, 0), (9, 3)] {
        let (sender, receiver) = std::sync::mpsc::channel();
        let options = crate::ExecuteOptions { run_id: Some(run_id), device_ordinal, ..Default::default() };
        program.execute(vec![], &options, move |results| sender.send(results).unwrap());
        let results = receiver.recv().unwrap().unwrap();
        assert_eq!(values::<i64>(&results[0]), [run_id, device_ordinal.into(), 2]);
    }
    assert_eq!(engine.allocator().memory_use().live, 0, "scratch memory is lost");
}

#[custom_call]
fn engine_later<'f>(
    #[dims(..s)] x: Array<'f, f32>,
    #[dims(..s)] mut y: Out<'f, f32>,
    later: Async<'f>,
) -> Result<Future<'f>> {
    later.spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(5));
        if x[0] < 0.0 {
            return Err(Error::aborted("negative"));
        }
        for (y, x) in y.iter_mut().zip(x.iter()) {
            *y = x + 1.0;
        }
        Ok(())
    })
}

#[test]
fn futures_are_waited_for() {
    register::<engine_later>();
    let module = func(|f| {
        let mut x = f.param(f32s([4]));
        for _ in 0..3 {
            x = emit(f, call("engine_later", &[]), &[x], &[f32s([4]).into()])?[0];
            x = binary(f, BinaryOp::Add, x, x)?;
        }
        Ok(vec![x])
    });
    let engine = engine();
    let program = compile(&engine, module);
    let results = program.run(vec![shared(&engine, &[1f32; 4])]).unwrap();
    assert_eq!(values::<f32>(&results[0]), [22f32; 4]);
    let error = program.run(vec![shared(&engine, &[-1f32; 4])]).unwrap_err();
    assert_eq!((error.code(), error.message()), (Code::Aborted, "engine_later: negative"));
}

#[custom_call]
fn engine_accumulate(#[dims(..s)] mut x: InOut<f32>, #[dims(..s)] y: Array<f32>) {
    for (x, y) in x.iter_mut().zip(y.iter()) {
        *x += y;
    }
}

#[test]
fn aliases_share_memory_and_spare_what_is_needed() {
    register::<engine_accumulate>();
    let mut accumulate = call("engine_accumulate", &[]);
    accumulate.aliases = vec![Alias { output: vec![], operand: 0, operand_path: vec![] }];
    let mut module = func(|f| {
        let x = f.param(f32s([2]));
        let y = f.param(f32s([2]));
        let first = emit(f, accumulate.clone(), &[x, y], &[f32s([2]).into()])?[0];
        // The first result is used again: the second call gets a copy.
        let second = emit(f, accumulate, &[first, y], &[f32s([2]).into()])?[0];
        Ok(vec![binary(f, BinaryOp::Multiply, first, second)?, first])
    });
    let arguments = |e: &Engine| vec![shared(e, &[1f32, 2.0]), shared(e, &[10f32, 20.0])];
    let results = run(module.clone(), &arguments).unwrap();
    assert_eq!(values::<f32>(&results[0]), [231.0, 924.0]);
    assert_eq!(values::<f32>(&results[1]), [11.0, 22.0]);
    donate(&mut module, 0, 1);
    let engine = engine();
    let program = compile(&engine, module);
    let argument = donated(&engine, &[1f32, 2.0]);
    let place = argument.buffer().as_ptr();
    let results = program.run(vec![argument, shared(&engine, &[10f32, 20.0])]).unwrap();
    assert_eq!((results[1].as_ptr(), values::<f32>(&results[1])), (place, vec![11.0, 22.0]));
    assert_eq!(values::<f32>(&results[0]), [231.0, 924.0]);
}

/// Gives the elements in the order of memory.
#[custom_call]
fn engine_memory(x: Array<f32>, #[dims(6)] mut y: Out<f32>, mut z: Out<f32>) {
    y.copy_from_slice(&x);
    z.copy_from_slice(&x);
}

#[test]
fn layouts_are_those_asked_for() {
    register::<engine_memory>();
    let mut columns = call("engine_memory", &[]);
    columns.operand_layouts = Some(vec![vec![0, 1]]);
    columns.result_layouts = Some(vec![vec![0], vec![0, 1]]);
    let module = func(|f| {
        let x = f.param(f32s([2, 3]));
        emit(f, columns, &[x], &[f32s([6]).into(), f32s([2, 3]).into()])
    });
    let x = [1f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let results = run(module, &|e| vec![shared(e, &x)]).unwrap();
    assert_eq!(values::<f32>(&results[0]), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(values::<f32>(&results[1]), x);
}

#[custom_call]
fn engine_flip(#[dims(n)] x: Array<U4>, #[dims(n)] mut y: Out<U4>) {
    for index in 0..x.len() {
        y.set(index, U4::wrapping(15 - x.get(index).unwrap().get()));
    }
}

#[test]
fn narrow_elements_are_packed_for_handlers() {
    register::<engine_flip>();
    let ty = TensorType::new(ElementType::U4, [5]);
    let module = func(|f| {
        let x = f.param(ty.clone());
        emit(f, call("engine_flip", &[]), &[x], &[ty.into()])
    });
    let results = run(module, &|e| vec![shared(e, &[0u8, 1, 7, 8, 15])]).unwrap();
    assert_eq!(results[0].as_bytes(), [15, 14, 8, 7, 0]);
}

#[custom_call]
fn engine_token(_before: Token, #[dims(n)] x: Array<f32>, mut _after: TokenOut, #[dims(n)] mut y: Out<f32>) {
    y.copy_from_slice(&x);
}

#[test]
fn tokens_and_empty_buffers_are_passed() {
    register::<engine_token>();
    let module = func(|f| {
        let x = f.param(f32s([0]));
        let token = f.op(OpKind::AfterAll, [])?;
        let results = emit(f, call("engine_token", &[]), &[token, x], &[Type::Token, f32s([0]).into()])?;
        Ok(vec![results[1]])
    });
    assert!(run(module, &|e| vec![shared::<f32>(e, &[])]).unwrap()[0].is_empty());
}

#[custom_call]
fn engine_effect(#[dims(n)] x: Array<f32>, #[dims(n)] mut y: Out<f32>) {
    y.copy_from_slice(&x);
}

#[test]
fn ops_are_not_fused_around_calls_that_keep_their_order() {
    register::<engine_effect>();
    let effect = CustomCall { has_side_effect: true, ..call("engine_effect", &[]) };
    let module = func(|f| {
        let x = f.param(f32s([2]));
        let before = binary(f, BinaryOp::Add, x, x)?;
        emit(f, effect.clone(), &[before], &[f32s([2]).into()])?;
        // Nothing but the order leads from the first call to the second.
        let second = emit(f, effect, &[x], &[f32s([2]).into()])?[0];
        Ok(vec![binary(f, BinaryOp::Multiply, before, second)?])
    });
    let results = run(module, &|e| vec![shared(e, &[1f32, 3.0])]).unwrap();
    assert_eq!(values::<f32>(&results[0]), [2.0, 18.0]);
}
