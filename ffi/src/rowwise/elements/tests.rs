//! Loops over arrays of all sizes and formats.

use half::{bf16, f16};

use super::*;
use crate::element::Float;
use crate::pointwise::block::BLOCK;
use crate::pointwise::{Active, Mask, Real, Scalar, jvp, vjp};
use crate::prelude::{Array, Out, ThreadPool};
use crate::rowwise::Element;
use crate::rowwise::run::Kernels;
use crate::testing::call;

/// x sin(y) and x + y, and their derivatives.
#[derive(Clone, Copy)]
struct Waves;

impl Map<2, 2> for Waves {
    fn call<T: Real>(self, [x, y]: [T; 2]) -> [T; 2] {
        [x * y.sin(), x + y]
    }
}

#[derive(Clone, Copy)]
struct Gradient(Waves);

impl Map<4, 2> for Gradient {
    fn call<T: Real>(self, [x, y, da, db]: [T; 4]) -> [T; 2] {
        vjp(|numbers| self.0.call(numbers), [x, y], [da, db], Active::ALL)
    }
}

mod ops {
    use super::*;
    use crate::custom_call;

    #[custom_call(T = floats, crate = crate)]
    pub(super) fn waves<T: Element>(
        #[dims(..s)] x: Array<T>,
        #[dims(..s)] y: Array<T>,
        #[dims(..s)] mut a: Out<T>,
        #[dims(..s)] mut b: Out<T>,
        pool: ThreadPool,
    ) {
        let operands = [&x, &y].map(|array| Operand::new(array, array.shape(), a.shape()));
        run(&Plan::new(Waves), operands, [&mut a, &mut b], pool);
    }
}

fn numbers<T: Float>(count: usize, seed: u32) -> Vec<T> {
    let number = |index: usize| (index as u32 + 1).wrapping_mul(0x9e37_79b9 ^ seed) as f64 / 2f64.powi(31) - 1.0;
    (0..count).map(|index| T::from_f64(3.0 * number(index))).collect()
}

fn check<T: Element>(count: usize, bound: f64) {
    let (x, y) = (numbers::<T>(count, 0), numbers::<T>(count, 0x55));
    let outputs = call::<ops::waves>().arg(x.clone()).arg(y.clone()).threads(3).run().unwrap();
    let (a, b) = (outputs.get::<T>(0), outputs.get::<T>(1));
    assert_eq!((a.len(), b.len()), (count, count));
    for (index, (x, y)) in x.iter().zip(&y).enumerate() {
        let (x, y) = (x.as_f64(), y.as_f64());
        let near = |found: T, exact: f64| (found.as_f64() - exact).abs() <= bound * exact.abs().max(1e-3);
        assert!(near(a[index], x * y.sin()), "{index} of {count}: {x} sin({y}) = {:?}", a[index]);
        assert!(near(b[index], x + y), "{index} of {count}: {x} + {y} = {:?}", b[index]);
    }
}

#[test]
fn arrays_of_all_sizes_are_computed_whole() {
    for count in [0, 1, 2, 15, 16, 17, BLOCK - 1, BLOCK, BLOCK + 1, 4 * BLOCK - 3, 40_000] {
        check::<f32>(count, 2e-7);
        check::<f64>(count, 4e-16);
        check::<f16>(count, 1e-3);
        check::<bf16>(count, 8e-3);
    }
}

/// Halves are rounded once: with a rounding after each function, most of these would differ.
#[test]
fn halves_are_rounded_once() {
    let (x, y) = (numbers::<bf16>(1000, 0), numbers::<bf16>(1000, 7));
    let outputs = call::<ops::waves>().arg(x.clone()).arg(y.clone()).run().unwrap();
    let a = outputs.get::<bf16>(0);
    for (index, (x, y)) in x.iter().zip(&y).enumerate() {
        let exact = x.as_f64() * y.as_f64().sin();
        assert_eq!(a[index], bf16::from_f64(exact), "{x} sin({y})");
    }
}

/// An angle beyond the kernels' range is exact, and its neighbours have the bits that they have without it.
#[test]
fn unusual_operands_change_no_others() {
    let sine = |y: Vec<f32>| {
        let outputs = call::<ops::waves>().arg(vec![1f32; y.len()]).arg(y).run().unwrap();
        outputs.get::<f32>(0).iter().copied().collect::<Vec<_>>()
    };
    let count = BLOCK + 44;
    let y = numbers::<f32>(count, 3);
    let usual = sine(y.clone());
    let mut changed = y;
    for (index, angle) in [(3, 1e6), (BLOCK + 14, 1e20), (count - 1, -6543.21)] {
        changed[index] = angle;
    }
    let found = sine(changed.clone());
    for index in 0..count {
        let exact = f64::from(changed[index]).sin() as f32;
        let expected = if [3, BLOCK + 14, count - 1].contains(&index) { exact } else { usual[index] };
        assert_eq!(found[index].to_bits(), expected.to_bits(), "{index}: sin({})", changed[index]);
    }
}

#[test]
fn gradients_sum_over_results() {
    let (x, y, da, db) = (0.7, 1.3, 2.0, -0.5);
    let found = Gradient(Waves).call([x, y, da, db].map(Scalar::<f64>));
    let expected = [da * f64::sin(y) + db, da * x * f64::cos(y) + db];
    for (Scalar(found), expected) in found.into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
    }
    let moved = jvp(|numbers| Waves.call(numbers), [x, y].map(Scalar::<f64>), [3.0, 4.0].map(Scalar), Active::ALL);
    assert!((moved[0].0 - (3.0 * y.sin() + 4.0 * x * y.cos())).abs() < 1e-15);
    assert_eq!(moved[1].0, 7.0);
}

#[derive(Clone, Copy)]
struct Long;

impl Map<2, 3> for Long {
    fn call<T: Real>(self, [x, y]: [T; 2]) -> [T; 3] {
        let mut sum = x;
        for step in 0..10_000 {
            sum = (sum * sum + y) * f64::from(step % 3);
        }
        let _ = sum.exp();
        [sum, x, T::from(2.0) * 3.0]
    }
}

/// A chain of thousands of operations takes the memory of a few; what no result depends on is not computed, nor are
/// factors of 1, and two operations take one step where the first is read once.
#[test]
fn registers_are_used_again() {
    let plan = Plan::new(Long);
    assert_eq!((plan.registers, plan.constants.len(), plan.steps.len()), (1, 3, 16_667));
    assert_eq!(plan.steps.last().map(|step| step.target), Some(Target::Result(0)));
    assert_eq!(plan.copies, [(1, Source::Operand(0)), (2, Source::Constant(2))]);
    assert_eq!(plan.constants, [0.0, 2.0, 6.0]);
}

/// A random function of cheap operations, some of whose values several others read.
fn cheap(seed: u32) -> Program {
    let mut state = seed;
    let mut below = |count: usize| {
        state = state.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
        (state >> 16) as usize % count
    };
    record(&[Kind::Row; 3], |operands| {
        let mut values: Vec<Row> = operands.iter().map(|value| Row::of(*value)).collect();
        for _ in 0..24 {
            let (a, b) = (values[values.len() - 1 - below(values.len().min(4))], values[below(values.len())]);
            let constant = [1.0, -1.0, 0.5, -3.0, 0.0, -0.0][below(6)];
            values.push(match below(11) {
                0 => a + b,
                1 => a - b,
                2 => b - a,
                3 => a * b,
                4 | 5 => -a,
                6 => a * constant,
                7 => a / constant,
                8 => a.less(b).select(-a, -b),
                9 => a.abs(),
                _ => a + constant,
            });
        }
        values.iter().rev().step_by(5).take(3).map(|value| result(*value)).collect()
    })
}

/// What is computed has the bits of what was recorded, operation by operation.
#[test]
fn computed_programs_have_the_results_of_recorded_ones() {
    let special = [0.0, -0.0, 1.0, -1.0, 1e-40, -3e38, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.1, -7.3];
    let operands: Vec<Vec<f32>> = (0..3)
        .map(|operand| {
            (0..BLOCK + 77).map(|index| special[(index * (operand + 1) + index / 11 * operand) % 11]).collect()
        })
        .collect();
    let shape = [operands[0].len()];
    let (mut recorded_steps, mut computed_steps) = (0, 0);
    for seed in 0..300u32 {
        let program = cheap(seed.wrapping_mul(0x9e37_79b9));
        let expression = program.expression().unwrap();
        recorded_steps += Plan::computing(program.clone(), &program).steps.len();
        let plan = Plan::of(program);
        computed_steps += plan.steps.len();
        let mut results = vec![vec![0f32; shape[0]]; plan.results];
        let inputs: Vec<Operand<'_, f32>> =
            operands.iter().map(|operand| Operand::new(operand, &shape, &shape)).collect();
        let mut outputs: Vec<&mut [f32]> = results.iter_mut().map(|result| &mut result[..]).collect();
        super::run::piece(&plan, &inputs, &mut outputs, 0, true);
        for index in 0..shape[0] {
            let numbers: Vec<Scalar<f32>> = operands.iter().map(|operand| Scalar(operand[index])).collect();
            for (found, Scalar(expected)) in results.iter().zip(expression.evaluate(&numbers)) {
                let (found, is_nan) = (found[index], expected.is_nan());
                assert!(
                    if is_nan { found.is_nan() } else { found.to_bits() == expected.to_bits() },
                    "{found} for {expected} of {numbers:?} in {expression:?}"
                );
            }
        }
    }
    assert!(computed_steps * 4 < recorded_steps * 3, "{computed_steps} of {recorded_steps}");
}

#[derive(Clone, Copy)]
struct Gelu;

impl Map<1, 1> for Gelu {
    fn call<T: Real>(self, [x]: [T; 1]) -> [T; 1] {
        [x * 0.5 * (-x * std::f64::consts::FRAC_1_SQRT_2).erfc()]
    }
}

#[derive(Clone, Copy)]
struct Slope;

impl Map<2, 1> for Slope {
    fn call<T: Real>(self, [x, cotangent]: [T; 2]) -> [T; 1] {
        vjp(|numbers| Gelu.call(numbers), [x], [cotangent], Active::ALL)
    }
}

/// The derivative of `gelu` has eleven cheap operations, most of them in pairs, with one half in a constant, and one
/// exponential.
#[test]
fn cheap_operations_are_pairs_and_exponentials_are_shared() {
    let plan = Plan::new(Slope);
    assert_eq!(plan.steps.len(), 6, "{:?}", plan.steps);
    assert!(plan.steps.iter().all(|step| step.op != Op::Exp), "{:?}", plan.steps);
}

/// Exponentials before and after their erfc, as results, as factors of large and of tiny constants, and of others.
#[derive(Clone, Copy)]
struct Exponentials;

impl Map<1, 7> for Exponentials {
    fn call<T: Real>(self, [x]: [T; 1]) -> [T; 7] {
        let gauss = (-(x * x)).exp();
        let twice = x + x;
        let other = (-(twice * twice)).exp();
        let quarter = gauss * (twice.abs() * 0.25);
        [gauss * -1.5, x.erfc(), gauss, gauss * 1e30, gauss * 1e-20, other * (-x).erfc(), quarter]
    }
}

fn computed<T: Kernels, const I: usize, const O: usize>(map: impl Map<I, O>, inputs: [&[T]; I]) -> Vec<Vec<T>> {
    let len = inputs[0].len();
    let mut results = vec![vec![T::from_f64(0.0); len]; O];
    let operands: Vec<Operand<'_, T>> = inputs.iter().map(|input| Operand::new(input, &[len], &[len])).collect();
    let mut outputs: Vec<&mut [T]> = results.iter_mut().map(|result| &mut result[..]).collect();
    super::run::piece(&Plan::new(map), &operands, &mut outputs, 0, true);
    results
}

fn erfc(x: f64) -> f64 {
    Scalar(x).erfc().0
}

/// By the standard formulas in doubles; to a part of a number, and of the least normal one.
#[test]
fn shared_exponentials_are_accurate() {
    let special = [0.0, -0.0, 1e-30, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 20.0, -11.0, 1e30];
    let numbers: Vec<f32> = (0..2 * BLOCK + 7).map(|index| (index as f32 - 515.0) / 50.0).chain(special).collect();
    let check = |found: f64, exact: f64, [bound, least]: [f64; 2], x: f64, index: usize| {
        let is_near = (found - exact).abs() <= bound * exact.abs() + least || found == exact;
        assert!(is_near || (found.is_nan() && exact.is_nan()), "{index} of {x}: {found:e} for {exact:e}");
    };
    let exact = |x: f64| {
        let gauss = (-x * x).exp();
        let quarter = gauss * (x.abs() / 2.0);
        [gauss * -1.5, erfc(x), gauss, gauss * 1e30, gauss * 1e-20, (-4.0 * x * x).exp() * erfc(-x), quarter]
    };
    let singles = computed(Exponentials, [&numbers]);
    let wide: Vec<f64> = numbers.iter().map(|x| f64::from(*x)).collect();
    let doubles = computed(Exponentials, [&wide]);
    for (at, &x) in wide.iter().enumerate() {
        for (index, exact) in exact(x).into_iter().enumerate() {
            // The exponential of the last one is not shared: it loses as many digits as x^2 has before the point. A
            // factor of 1e30 comes after the exponential has been rounded, and so does |x|.
            let least = match index {
                3 => 1e-15,
                6 => 2e-45 * (1.0 + x.abs()),
                _ => 2e-45,
            };
            let of_square = if index == 5 { 4.0 * x * x } else { 2.0 };
            check(f64::from(singles[index][at]), exact, [1e-6 + 1e-7 * of_square, least], x, index);
            check(doubles[index][at], exact, [1e-15 + 3e-16 * (x * x).max(of_square), 1e-290], x, index);
        }
    }
    let ones = vec![1.0; numbers.len()];
    let [slopes] = &computed(Slope, [&numbers, &ones])[..] else { unreachable!("one result") };
    for (found, &x) in slopes.iter().zip(&wide).filter(|(_, x)| x.abs() < 10.0) {
        let of_normal = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let exact = 0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2) + x * of_normal;
        let size = 0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2) + x.abs() * of_normal;
        assert!((f64::from(*found) - exact).abs() <= (1e-6 + 1e-7 * x * x) * size, "{x}: {found} for {exact}");
    }
}
