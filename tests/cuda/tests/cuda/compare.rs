//! Ops on the driver made for tests beside their handlers for the CPU.

use oxcall::host::AttrValue;
use oxcall::ndarray::ArrayD;
use oxcall::pointwise::Stored;
use oxcall::prelude::*;
use oxcall::registry::registry;
use oxcall::testing::Call;

use crate::fake::{Array, Fake, Operand, Program, on_cuda};

/// The distance of two numbers in units of the last place of a format, those of `least_size` for smaller numbers; 0
/// where both are NaN.
pub(crate) fn ulps<T: Stored>(found: T, expected: T, least_size: f64) -> f64 {
    let (found, expected) = (found.as_f64(), expected.as_f64());
    if found == expected || found.is_nan() && expected.is_nan() {
        return 0.0;
    }
    let digits = match T::DTYPE {
        DType::F64 => 52,
        DType::F32 => 23,
        DType::F16 => 10,
        _ => 7,
    };
    let least = match T::DTYPE {
        DType::F64 => -1022,
        DType::F16 => -14,
        _ => -126,
    };
    let exponent = expected.abs().max(2f64.powi(least)).max(least_size).log2().floor() as i32;
    (found - expected).abs() / 2f64.powi(exponent - digits)
}

/// An op, and what it is called with.
pub(crate) struct Case<'a> {
    pub(crate) name: &'a str,
    /// The shapes of the operands.
    pub(crate) shapes: &'a [Vec<usize>],
    pub(crate) attrs: &'a [(&'a str, AttrValue)],
    /// Smaller results have the unit in the last place of this size.
    pub(crate) least_size: f64,
}

/// Compares an op's results on the CPU and by its kernel; the largest difference in ULP, with its place. `numbers` are
/// the elements of an operand: as many, of a seed.
pub(crate) fn difference<T: Stored>(
    fake: &'static Fake,
    case: &Case<'_>,
    numbers: impl Fn(usize, usize) -> Vec<T>,
) -> (f64, String) {
    let Case { name, shapes, attrs, least_size } = case;
    let given = shapes.iter().enumerate().map(|(seed, shape)| numbers(shape.iter().product(), seed));
    let given: Vec<Vec<T>> = given.collect();
    let mut call = Call::new(registry().find(name, "Host").unwrap());
    for (operand, shape) in given.iter().zip(*shapes) {
        call = call.arg(ArrayD::from_shape_vec(shape.clone(), operand.clone()).unwrap());
    }
    for (name, value) in *attrs {
        call = call.attr(*name, value.clone());
    }
    let expected = call.run().unwrap();
    let expected: Vec<ArrayD<T>> = (0..expected.values().len()).map(|index| expected.get(index)).collect();
    let shaped = |array: &Array<T>, shape: &[usize]| -> Operand {
        array.shaped(&shape.iter().map(|&dim| dim as i64).collect::<Vec<_>>())
    };
    let on_device: Vec<_> = given.iter().map(|operand| fake.array(0, operand)).collect();
    let results: Vec<_> = expected.iter().map(|result| fake.unwritten::<T>(0, result.len())).collect();
    let program = Program::new(on_cuda(name), attrs, 0, fake.stream(0)).unwrap();
    let args: Vec<_> = on_device.iter().zip(*shapes).map(|(array, shape)| shaped(array, shape)).collect();
    let rets: Vec<_> = results.iter().zip(&expected).map(|(array, result)| shaped(array, result.shape())).collect();
    program.run(&args, &rets).unwrap_or_else(|error| panic!("{error}"));
    let mut worst = (0.0, String::new());
    for (index, (result, expected)) in results.iter().zip(&expected).enumerate() {
        for (at, (found, expected)) in result.elements().into_iter().zip(expected).enumerate() {
            let distance = ulps(found, *expected, *least_size);
            if distance > worst.0 || distance.is_nan() {
                let place = format!("{name} {} of {shapes:?}: result {index}, element {at}", T::DTYPE);
                worst = (distance, format!("{place}: {found:?}, expected {expected:?}"));
                if distance.is_nan() {
                    return (f64::INFINITY, worst.1);
                }
            }
        }
    }
    worst
}

/// Keeps the module of an op, which ends with its last program otherwise: compiling it takes a second.
#[must_use]
pub(crate) fn kept(fake: &'static Fake, name: &str, attrs: &[(&str, AttrValue)]) -> Program {
    Program::new(on_cuda(name), attrs, 0, fake.stream(0)).unwrap()
}

/// The operands and the results of an op's Jacobian-vector and vector-Jacobian products.
pub(crate) fn derivatives<S: Clone>(name: &str, operands: &[S], results: &[S]) -> [(String, Vec<S>, Vec<S>); 2] {
    [
        (format!("{name}_jvp"), [operands, operands].concat(), results.to_vec()),
        (format!("{name}_vjp"), [operands, results].concat(), operands.to_vec()),
    ]
}
