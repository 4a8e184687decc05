//! Kernels of pointwise functions beside their loops for the CPU.

use oxcall::host::AttrValue;
use oxcall::pointwise::Stored;
use oxcall::prelude::*;

use crate::compare::{self, Case};
use crate::fake::{Fake, Program, fake, on_cuda};

/// Every operation of expressions, one or more for each result.
#[allow(clippy::type_complexity, reason = "a result for each operation")]
#[pointwise(derivatives = 2)]
fn every_operation<T: Real>(
    x: T,
    y: T,
) -> (T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T, T) {
    let is_low = x.less(0.25) | y.less_equal(-1.0) & !x.equal(y);
    (
        x + y * 2.0 - T::from(1.0) / 3.0,
        x / y,
        -x,
        is_low.select(x, y * 3.0),
        x.maximum(y),
        x.minimum(y),
        x.abs(),
        x.signum(),
        (x * 7.0).floor(),
        (x * 7.0).ceil(),
        (x * 7.0).round(),
        x.abs().sqrt(),
        x.exp(),
        x.exp_m1(),
        x.abs().ln(),
        x.abs().ln_1p(),
        x.logistic(),
        x.tanh(),
        x.erf(),
        x.erfc(),
        x.sin(),
        x.cos(),
        x.tan(),
        x.atan2(y),
        x.abs().pow(y),
        (x.abs() + 0.125).lgamma() + (x.abs() + 2.5).digamma(),
    )
}

/// A function with an attribute.
#[pointwise]
fn scaled_power<T: Real>(x: T, #[attr] factor: f64, #[attr(default = 2)] exponent: i32) -> T {
    x.powi(exponent) * factor
}

fn inputs<T: Stored>(count: usize, seed: usize) -> Vec<T> {
    // Multiples of an irrational number, between -4 and 4; some special ones.
    let value = |i: usize| (((i + 1) * (seed + 3)) as f64 * 0.618_033_988_749_894_9).fract() * 8.0 - 4.0;
    let special = [0.0, -0.0, 1.0, -1.0, 0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2.0, 1e-30];
    (0..count)
        .map(|i| T::from_f64(if i < special.len() { special[(i + seed) % special.len()] } else { value(i) }))
        .collect()
}

/// [`compare::difference`] of operands of 300 numbers.
fn difference<T: Stored>(
    fake: &'static Fake,
    name: &str,
    operands: usize,
    attrs: &[(&str, AttrValue)],
    least_size: f64,
) -> (f64, String) {
    let shapes = vec![vec![300]; operands];
    compare::difference::<T>(fake, &Case { name, shapes: &shapes, attrs, least_size }, inputs)
}

/// The same for a function of the gallery of so many numbers, or a derivative of it, whose tangents and cotangents are
/// finite: those that are not count on GPUs also for what is not chosen.
fn difference_of_derivative<T: Stored>(
    fake: &'static Fake,
    name: &str,
    operands: usize,
    numbers: usize,
) -> (f64, String) {
    let shapes = vec![vec![300]; operands];
    compare::difference::<T>(fake, &Case { name, shapes: &shapes, attrs: &[], least_size: 0.125 }, |count, seed| {
        const SPECIAL: usize = 10;
        if seed < numbers { inputs(count, seed) } else { inputs(count + SPECIAL, seed).split_off(SPECIAL) }
    })
}

#[test]
fn every_operation_is_that_of_the_cpu() {
    let (fake, _turn) = fake();
    let _kept = compare::kept(fake, "every_operation", &[]);
    for (bound, (distance, place)) in [
        (16.0, difference::<f32>(fake, "every_operation", 2, &[], 0.0)),
        (16.0, difference::<f64>(fake, "every_operation", 2, &[], 0.0)),
        (1.0, difference::<f16>(fake, "every_operation", 2, &[], 0.0)),
        (1.0, difference::<bf16>(fake, "every_operation", 2, &[], 0.0)),
    ] {
        println!("{distance:.1} ULP: {place}");
        assert!(distance <= bound, "{distance} ULP: {place}");
    }
}

#[test]
fn attributes_are_those_of_the_call() {
    let (fake, _turn) = fake();
    let before = fake.counts();
    for (factor, exponent) in [(0.5, 2i32), (3.0, 2), (0.5, -3)] {
        let attrs = [("factor", factor.into()), ("exponent", exponent.into())];
        let (distance, place) = difference::<f32>(fake, "scaled_power", 1, &attrs, 0.0);
        assert!(distance <= 4.0, "{distance} ULP: {place}");
    }
    let after = fake.counts();
    assert_eq!(after.loaded_modules - before.loaded_modules, 3);
    assert_eq!(after.live_modules, before.live_modules, "a program's modules end with it");
}

#[test]
fn equal_functions_share_a_module() {
    let (fake, _turn) = fake();
    let attrs = [("factor", 7.0.into()), ("exponent", 2i32.into())];
    let programs: Vec<Program> =
        (0..3).map(|_| Program::new(on_cuda("scaled_power"), &attrs, 0, fake.stream(0)).unwrap()).collect();
    let before = fake.counts();
    let (x, y) = (fake.array(0, &[2f32]), fake.unwritten::<f32>(0, 1));
    for program in &programs {
        program.run(&[x.operand()], &[y.operand()]).unwrap();
    }
    assert_eq!((y.elements(), fake.counts().loaded_modules - before.loaded_modules), (vec![28.0], 1));
}

/// The gallery's functions and their derivatives, which are sums of terms that cancel: their errors are those of the
/// terms. Those of the CPU are in another order, since its gradients of several operands are in reverse mode.
#[test]
fn functions_of_the_gallery_and_their_derivatives_are_those_of_the_cpu() {
    let (fake, _turn) = fake();
    let functions =
        [("softplus", 1, 1), ("swiglu", 2, 1), ("huber", 1, 1), ("rope_pair", 3, 2), ("logit_normal_pdf", 3, 1)];
    for (name, numbers, results) in functions {
        let derivatives = compare::derivatives(name, &vec![(); numbers], &vec![(); results]);
        let all = derivatives.map(|(name, operands, _)| (name, operands.len()));
        for (name, operands) in all.into_iter().chain([(name.to_owned(), numbers)]) {
            let _kept = compare::kept(fake, &name, &[]);
            for (bound, (distance, place)) in [
                (128.0, difference_of_derivative::<f32>(fake, &name, operands, numbers)),
                (2.0, difference_of_derivative::<bf16>(fake, &name, operands, numbers)),
            ] {
                println!("{distance:.1} ULP: {place}");
                assert!(distance <= bound, "{distance} ULP: {place}");
            }
        }
    }
}
