//! Calls of pointwise functions: fused with the ops around them, with the results of the handlers.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use oxcall::element::Float;
use oxcall::half::{bf16, f16};
use oxcall::host::{HostVersion, Source, register_handler};
use oxcall::prelude::*;
use oxcall::registry::registry;
use oxcall_hlo::{Alias, CustomCall, Type, UnaryOp};

use super::custom_call::{call, emit, register};
use super::*;

#[pointwise]
fn engine_ramp<T: Real>(x: T, #[attr(default = 1.0)] beta: f64) -> T {
    (x * beta).exp().ln_1p() / beta
}

/// Every operation.
#[pointwise(derivatives = 1)]
fn engine_everything<T: Real>(x: T, y: T) -> (T, T) {
    let functions = [
        (x * 0.25).exp(),
        (x * 0.25).exp_m1(),
        (x.abs() + 1e-3).ln(),
        x.abs().ln_1p(),
        x.logistic(),
        x.tanh(),
        x.erf(),
        y.erfc(),
        x.sin(),
        x.cos(),
        (y * 0.125).tan(),
        x.abs().sqrt(),
        -x.signum(),
        (y * 3.0).floor(),
        (y * 3.0).ceil(),
        (y * 3.0).round(),
        x.powi(3),
        x.mul_add(y, 2.0),
        x.maximum(y),
        x.minimum(y),
        x.log_add_exp(y),
        x.clamp(-0.25, 0.75),
        x / (y * y + 1.0),
        x.atan2(y),
        x.hypot(y),
        (x.abs() + 0.1).powf(1.5),
        (x.abs() + 0.1).pow(y * 0.25),
        (x.abs() + 2.5).lgamma(),
        (x.abs() + 1.6).digamma(),
        (x * 0.25).sinh(),
        (x * 0.25).cosh(),
        y.asinh(),
        (x.abs() + 1.1).acosh(),
        (x.tanh() * 0.9).atanh(),
        (x.tanh() * 0.9).asin(),
        (x.tanh() * 0.9).acos(),
        y.atan(),
        (x.abs() + 0.1).cbrt(),
        (x.abs() + 0.1).log2(),
        (x.abs() + 0.1).log10(),
        x - y,
    ];
    let mut sum = T::from(0.0);
    for (index, function) in functions.into_iter().enumerate() {
        sum += function * (1.0 + index as f64 / 8.0);
    }
    let is_inside = x.less(y) & !x.equal(0.5) | x.less_equal(-2.0) | x.greater(2.0);
    (sum, is_inside.select(x, y * 2.0))
}

/// More operations than take the place of a call.
#[pointwise(derivatives = 1)]
fn engine_long<T: Real>(x: T) -> T {
    let mut sum = x;
    for index in 0..400 {
        sum = sum * x + index as f64;
    }
    sum
}

pub(super) fn engines() -> [Arc<Engine>; 2] {
    let options = || EngineOptions { platform: "oxcall".to_owned(), num_threads: 2, ..EngineOptions::default() };
    [Engine::new(options()), Engine::new(EngineOptions { no_inline: true, ..options() })]
}

/// Registers a function with its derivatives.
pub(super) fn register_all(prefix: &str) {
    for handler in registry().handlers().iter().filter(|handler| handler.name.starts_with(prefix)) {
        let (version, bundle) = (HostVersion::default(), handler.bundle());
        // SAFETY: `#[pointwise]` makes handlers.
        unsafe { register_handler(version, Source::Linked, handler.name, "Host", &bundle, 0) }.unwrap();
    }
}

/// Whether the plan of a program calls a handler.
pub(super) fn calls(program: &Program, name: &str) -> bool {
    program.steps().lines().any(|line| line.contains(&format!(" {name}(")))
}

/// The number of steps of the plan of a program.
pub(super) fn steps(program: &Program) -> usize {
    program.steps().lines().filter(|line| line.contains(" = ")).count()
}

/// A program of one call on operands of one type.
pub(super) fn one(call: CustomCall, ty: TensorType, operands: usize, results: usize) -> Module {
    func(|f| {
        let operands: Vec<ValueId> = (0..operands).map(|_| f.param(ty.clone())).collect();
        emit(f, call, &operands, &vec![Type::Tensor(ty); results])
    })
}

/// The results of a program: where it is one step, and where it calls a handler.
pub(super) fn fused_and_called(name: &str, module: impl Fn() -> Module, operands: &[Vec<f32>]) -> [Vec<f32>; 2] {
    let [fused, called] = engines().map(|engine| {
        let program = compile(&engine, module());
        let results = program.run(operands.iter().map(|values| shared(&engine, values)).collect()).unwrap();
        (program, values::<f32>(&results[0]))
    });
    assert!(!calls(&fused.0, name) && calls(&called.0, name));
    assert_eq!(steps(&fused.0), 1, "{}", fused.0.steps());
    [fused.1, called.1]
}

#[test]
fn a_call_and_its_neighbours_are_one_step() {
    register::<engine_ramp>();
    let module = || {
        func(|f| {
            let [x, y, z] = [(); 3].map(|()| f.param(f32s([1000])));
            let beta = ("beta", Attribute::Float(2.0, ElementType::F64));
            let ramp = emit(f, call("engine_ramp", &[beta]), &[x], &[f32s([1000]).into()])?[0];
            let product = binary(f, BinaryOp::Multiply, ramp, y)?;
            let bounded = f.op(OpKind::Unary(UnaryOp::Tanh), [product])?;
            Ok(vec![binary(f, BinaryOp::Add, bounded, z)?])
        })
    };
    let operands =
        [0.37f32, -0.11, 0.93].map(|step| (0..1000).map(|i| (i as f32 * step).sin() * 3.0).collect::<Vec<_>>());
    let [fused, called] = fused_and_called("engine_ramp", module, &operands);
    for (index, (fused, called)) in fused.iter().zip(&called).enumerate() {
        let [x, y, z] = [0, 1, 2].map(|operand| f64::from(operands[operand][index]));
        let exact = (((2.0 * x).exp().ln_1p() / 2.0) * y).tanh() + z;
        for found in [fused, called] {
            assert!((f64::from(*found) - exact).abs() < 1e-6, "{index}: {found}, expected {exact}");
        }
    }
}

/// Both ways round once at the end, after operations of a few units in the last place each.
fn compare<T: Float + Pod>(element: ElementType, name: &str, counts: [usize; 2], tolerance: f64) {
    let number = |index: usize| T::from_f64(((index * 37 % 1001) as f64 / 1001.0 - 0.5) * 8.0);
    let special = [0.0, -0.0, 0.5, 0.75, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let count = 311;
    let operands: Vec<Vec<T>> = (0..counts[0])
        .map(|operand| {
            let numbers = (0..count).map(|index| number(index * (operand * 2 + 1) + operand));
            let pairs = (0..49).map(|pair| special[if operand == 0 { pair / 7 } else { pair % 7 }]);
            numbers.chain(pairs.map(T::from_f64)).collect()
        })
        .collect();
    let ty = TensorType::new(element, [count + 49]);
    let [fused, called] = engines().map(|engine| {
        let program = compile(&engine, one(call(name, &[]), ty.clone(), counts[0], counts[1]));
        let results = program.run(operands.iter().map(|values| shared(&engine, values)).collect()).unwrap();
        (program, results)
    });
    assert!(!calls(&fused.0, name) && calls(&called.0, name), "{}{}", fused.0.steps(), called.0.steps());
    for (result, (fused, called)) in fused.1.iter().zip(&called.1).enumerate() {
        for (index, (fused, called)) in values::<T>(fused).into_iter().zip(values::<T>(called)).enumerate() {
            let (a, b) = (fused.as_f64(), called.as_f64());
            let near = (a - b).abs() <= tolerance * (1.0 + b.abs()) || a == b || a.is_nan() && b.is_nan();
            let at: Vec<f64> = operands.iter().map(|values| values[index].as_f64()).collect();
            assert!(near, "{name}, {element}, result {result} at {at:?}: {a} fused, {b} called");
        }
    }
}

#[test]
fn what_a_handler_has_to_do_remains_a_call() {
    register_all("engine_");
    let [engine, _] = engines();
    let ty = f32s([2, 3]);
    let is_called = |call: CustomCall, operands: usize, results: usize| {
        let name = call.target.clone();
        calls(&compile(&engine, one(call, ty.clone(), operands, results)), &name)
    };
    assert!(!is_called(call("engine_ramp", &[]), 1, 1));
    // Derivatives of long functions are longer.
    assert!(is_called(call("engine_long", &[]), 1, 1));
    assert!(!is_called(CustomCall { aliases: alias(), ..call("engine_ramp", &[]) }, 1, 1));
    assert!(is_called(CustomCall { has_side_effect: true, ..call("engine_ramp", &[]) }, 1, 1));
    let layouts = |layout: [usize; 2]| Some(vec![layout.to_vec()]);
    let laid_out = |operand, result| CustomCall {
        operand_layouts: layouts(operand),
        result_layouts: layouts(result),
        ..call("engine_ramp", &[])
    };
    assert!(!is_called(laid_out([1, 0], [1, 0]), 1, 1));
    assert!(is_called(laid_out([0, 1], [1, 0]), 1, 1));
    // A handler that is not pointwise is not called on anything but the program's operands.
    register::<engine_counted>();
    assert!(is_called(call("engine_counted", &[]), 1, 1));
    assert_eq!(COUNT.load(Relaxed), 0);
}

/// The position of the only result in its operand's memory.
fn alias() -> Vec<Alias> {
    vec![Alias { output: vec![], operand: 0, operand_path: vec![] }]
}

static COUNT: AtomicU64 = AtomicU64::new(0);

#[custom_call]
fn engine_counted(#[dims(..s)] x: Array<f32>, #[dims(..s)] mut y: Out<f32>) {
    COUNT.fetch_add(1, Relaxed);
    y.copy_from_slice(&x);
}

/// The handler says what is wrong, when it is called.
#[test]
fn mistakes_have_the_errors_of_the_handler() {
    register_all("engine_");
    let outcome = |call: CustomCall, ty: TensorType, operands| {
        let [fused, called] = engines().map(|engine| {
            let program = engine.compile(one(call.clone(), ty.clone(), operands, 1))?;
            let bytes = vec![0u8; ty.byte_size()];
            program.run((0..operands).map(|_| shared(&engine, &bytes)).collect()).map(|_| ())
        });
        let (fused, called) = (fused.unwrap_err(), called.unwrap_err());
        assert_eq!((fused.code(), fused.message()), (called.code(), called.message()));
        fused.message().to_owned()
    };
    let wrong = ("beta", Attribute::String(b"2".to_vec()));
    assert!(outcome(call("engine_ramp", &[wrong]), f32s([4]), 1).contains("`beta`"));
    let unknown = ("gamma", Attribute::Float(1.0, ElementType::F64));
    assert!(outcome(call("engine_ramp", &[unknown]), f32s([4]), 1).contains("gamma"));
    assert!(outcome(call("engine_ramp", &[]), f32s([4]), 2).contains("engine_ramp"));
    assert!(outcome(call("engine_ramp", &[]), TensorType::new(ElementType::S32, [4]), 1).contains("`x`"));
    assert!(outcome(call("engine_rmap", &[]), f32s([4]), 1).contains("Did you mean engine_ramp?"));
}

#[pointwise(derivatives = 0)]
fn engine_scaled<T: Real>(x: T, y: T) -> T {
    x.tanh() * y + x
}

/// As the ops that the call becomes, and as the handler, which reads one element several times.
#[test]
fn operands_are_broadcast_to_the_results() {
    register_all("engine_scaled");
    let whole = [5usize, 7];
    for dims in [vec![], vec![7], vec![1, 7], vec![5, 1], vec![1, 1], vec![1]] {
        let count = dims.iter().product::<usize>();
        let x: Vec<f32> = (0..35).map(|i| (i as f32 * 0.37).sin()).collect();
        let y: Vec<f32> = (0..count).map(|i| i as f32 - 2.5).collect();
        let expected: Vec<f32> = (0..35)
            .map(|i| {
                let at = if count == 1 {
                    0
                } else if count == 7 {
                    i % 7
                } else {
                    i / 7
                };
                x[i].tanh() * y[at] + x[i]
            })
            .collect();
        let module = || {
            func(|f| {
                let operands = [f.param(f32s(whole)), f.param(f32s(dims.clone()))];
                emit(f, call("engine_scaled", &[]), &operands, &[f32s(whole).into()])
            })
        };
        for found in fused_and_called("engine_scaled", module, &[x, y]) {
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-5, "{dims:?}: {found}, expected {expected}");
            }
        }
    }
}

#[test]
fn scalars_and_empty_arrays_are_fused() {
    register_all("engine_ramp");
    let [engine, _] = engines();
    for (dims, expected) in [(vec![], vec![2f32.ln()]), (vec![0, 3], vec![])] {
        let ty = f32s(dims);
        let program = compile(&engine, one(call("engine_ramp", &[]), ty, 1, 1));
        let results = program.run(vec![shared(&engine, &vec![0f32; expected.len()])]).unwrap();
        assert!(!calls(&program, "engine_ramp"));
        assert_eq!(values::<f32>(&results[0]), expected);
    }
}

#[test]
fn every_operation_is_that_of_the_handler() {
    register_all("engine_everything");
    for (name, counts) in
        [("engine_everything", [2, 2]), ("engine_everything_vjp", [4, 2]), ("engine_everything_jvp", [4, 2])]
    {
        compare::<f32>(ElementType::F32, name, counts, 1e-5);
        compare::<f64>(ElementType::F64, name, counts, 1e-13);
        compare::<f16>(ElementType::F16, name, counts, 2e-3);
        compare::<bf16>(ElementType::BF16, name, counts, 1e-2);
    }
}
