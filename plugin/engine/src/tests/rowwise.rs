//! Calls of functions of rows: fused with the ops around them, with the results of the handlers.

use oxcall::element::Float;
use oxcall::half::{bf16, f16};
use oxcall::prelude::*;
use oxcall_hlo::{CustomCall, Type, UnaryOp};

use super::custom_call::{call, emit};
use super::pointwise::{calls, engines, fused_and_called, register_all};
use super::*;

#[rowwise]
fn engine_rows_softmax(x: Row) -> Row {
    let weights = (x - x.max().stop_gradient()).exp();
    weights / weights.sum()
}

/// Every kind of operand, result and reduction, and the operations that are no single ops.
#[rowwise]
fn engine_rows_mixed(x: Row, scale: PerRow, y: Row, #[attr(default = 0.5)] power: f64) -> (PerRow, Row, Row) {
    let centred = x - x.mean();
    let variance = (centred * centred).mean() + 0.1;
    let normal = (centred / variance.sqrt()).mul_add(y, scale);
    let smooth = normal.log_add_exp(y * scale.abs()) + (y.abs() + 1.5).powf(power) + (y.abs() + 1.0).lgamma();
    let kept = x.less(y).select(smooth, scale + y);
    (y.min() + scale, kept, (x.max() - x.min() + x.count()).into())
}

/// An operand: whether it has rows.
type Operand = bool;

/// The type of a batch of rows, or of their numbers.
fn ty(element: ElementType, dims: &[usize], is_row: Operand) -> TensorType {
    TensorType::new(element, dims[..dims.len() - usize::from(!is_row)].iter().copied())
}

fn one(call: CustomCall, element: ElementType, dims: &[usize], operands: &[Operand], results: &[Operand]) -> Module {
    func(|f| {
        let operands: Vec<ValueId> = operands.iter().map(|&is_row| f.param(ty(element, dims, is_row))).collect();
        let results: Vec<Type> = results.iter().map(|&is_row| ty(element, dims, is_row).into()).collect();
        emit(f, call, &operands, &results)
    })
}

#[test]
fn a_call_and_its_neighbours_are_one_step() {
    register_all("engine_rows_");
    let dims = [6, 70];
    let module = || {
        func(|f| {
            let [x, y] = [(); 2].map(|()| f.param(f32s(dims)));
            let doubled = binary(f, BinaryOp::Add, x, x)?;
            let softmax = emit(f, call("engine_rows_softmax", &[]), &[doubled], &[f32s(dims).into()])?[0];
            let product = binary(f, BinaryOp::Multiply, softmax, y)?;
            Ok(vec![f.op(OpKind::Unary(UnaryOp::Tanh), [product])?])
        })
    };
    let operands = [0.37f32, -0.11].map(|step| (0..420).map(|i| (i as f32 * step).sin() * 3.0).collect::<Vec<_>>());
    let [fused, called] = fused_and_called("engine_rows_softmax", module, &operands);
    for (index, (fused, called)) in fused.iter().zip(&called).enumerate() {
        assert!((fused - called).abs() < 1e-6, "{index}: {fused} fused, {called} called");
    }
}

fn compare<T: Float + Pod>(
    element: ElementType,
    name: &str,
    operands: &[Operand],
    results: &[Operand],
    tolerance: f64,
) {
    for dims in [&[7][..], &[3, 5], &[2, 3, 40], &[4, 600], &[3, 0], &[0, 3]] {
        let number = |index: usize| T::from_f64(((index * 37 % 1001) as f64 / 1001.0 - 0.5) * 4.0);
        let arrays: Vec<Vec<T>> = operands
            .iter()
            .enumerate()
            .map(|(operand, &is_row)| {
                let count = ty(element, dims, is_row).count();
                (0..count).map(|index| number(index * (operand * 2 + 1) + operand)).collect()
            })
            .collect();
        let [fused, called] = engines().map(|engine| {
            let program = compile(&engine, one(call(name, &[]), element, dims, operands, results));
            let results = program.run(arrays.iter().map(|values| shared(&engine, values)).collect()).unwrap();
            (program, results)
        });
        assert!(!calls(&fused.0, name) && calls(&called.0, name), "{}{}", fused.0.steps(), called.0.steps());
        for (result, (fused, called)) in fused.1.iter().zip(&called.1).enumerate() {
            for (index, (fused, called)) in values::<T>(fused).into_iter().zip(values::<T>(called)).enumerate() {
                let (a, b) = (fused.as_f64(), called.as_f64());
                let near = (a - b).abs() <= tolerance * (1.0 + b.abs()) || a == b || a.is_nan() && b.is_nan();
                assert!(near, "{name} of {element}, {dims:?}, result {result} at {index}: {a} fused, {b} called");
            }
        }
    }
}

#[test]
fn functions_and_their_derivatives_are_those_of_the_handlers() {
    register_all("engine_rows_");
    let (row, number) = (true, false);
    let operands = [row, number, row];
    let results = [number, row, row];
    let both: Vec<Operand> = operands.iter().chain(&operands).copied().collect();
    let pulled: Vec<Operand> = operands.iter().chain(&results).copied().collect();
    let pulled_jvp: Vec<Operand> = pulled.iter().chain(&pulled).copied().collect();
    for (name, operands, results) in [
        ("engine_rows_mixed", &operands[..], &results[..]),
        ("engine_rows_mixed_jvp", &both, &results),
        ("engine_rows_mixed_vjp", &pulled, &operands),
        ("engine_rows_mixed_vjp_jvp", &pulled_jvp, &operands),
        ("engine_rows_softmax", &[row], &[row]),
        ("engine_rows_softmax_vjp", &[row, row], &[row]),
    ] {
        compare::<f32>(ElementType::F32, name, operands, results, 2e-4);
        compare::<f64>(ElementType::F64, name, operands, results, 1e-11);
        compare::<f16>(ElementType::F16, name, operands, results, 2e-2);
        compare::<bf16>(ElementType::BF16, name, operands, results, 6e-2);
    }
}

/// The handler says what is wrong, when it is called.
#[test]
fn mistakes_have_the_errors_of_the_handler() {
    register_all("engine_rows_");
    let outcome_of = |call: CustomCall, dims: &[usize], operands: &[Operand], results: &[Operand]| {
        let [fused, called] = engines().map(|engine| {
            let module = one(call.clone(), ElementType::F32, dims, operands, results);
            let program = engine.compile(module)?;
            let bytes = |&is_row: &Operand| vec![0u8; ty(ElementType::F32, dims, is_row).byte_size()];
            program.run(operands.iter().map(|operand| shared(&engine, &bytes(operand))).collect()).map(|_| ())
        });
        let (fused, called) = (fused.unwrap_err(), called.unwrap_err());
        assert_eq!((fused.code(), fused.message()), (called.code(), called.message()));
        fused.message().to_owned()
    };
    let outcome = |call, operands: &[Operand], results: &[Operand]| outcome_of(call, &[2, 3], operands, results);
    let (row, number) = (true, false);
    assert!(outcome_of(call("engine_rows_softmax", &[]), &[], &[row], &[row]).contains("`x`"));
    let wrong = || call("engine_rows_mixed", &[("power", Attribute::String(b"2".to_vec()))]);
    assert!(outcome(wrong(), &[row, number, row], &[number, row, row]).contains("`power`"));
    let mixed = || call("engine_rows_mixed", &[]);
    assert!(outcome(mixed(), &[row, row, row], &[number, row, row]).contains("`scale`"));
    assert!(outcome(mixed(), &[row, number, row], &[row, row, row]).contains("engine_rows_mixed"));
    assert!(outcome(mixed(), &[row, number], &[number, row, row]).contains("engine_rows_mixed"));
}
