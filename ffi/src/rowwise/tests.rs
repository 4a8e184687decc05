//! Row-wise functions of all dtypes, lengths and batches against doubles; derivatives against differences.

use half::{bf16, f16};
use ndarray::{Array1, Array2, ArrayD};

use super::ahead::CACHED;
use super::{Kind, Plan, Rule, Value, result, run};
use crate::DType;
use crate::element::Float;
use crate::pointwise::block::BLOCK;
use crate::pointwise::{Active, Mask, Real, Stored};
use crate::prelude::{Array, Out, ThreadPool};
use crate::rowwise::{Operand, PerRow, Row};
use crate::testing::call;

mod ops {
    use super::*;
    use crate::{custom_call, rowwise};

    #[rowwise(crate = crate)]
    pub(super) fn softmax(x: Row) -> Row {
        let weights = (x - x.max()).exp();
        weights / weights.sum()
    }

    #[rowwise(crate = crate)]
    pub(super) fn statistics(x: Row) -> (PerRow, PerRow, PerRow, PerRow, Row) {
        (x.max(), x.min(), x.mean(), x.sum(), x - x.mean())
    }

    #[rowwise(crate = crate)]
    pub(super) fn gated(x: Row, scale: PerRow, #[attr(default = 0.5)] gate: f64) -> (Row, PerRow, Row) {
        let kept = x.greater(gate).select(x * scale, Row::from(0.0));
        // The second result is the same for all elements.
        (kept, kept.abs().max() + scale, kept.sum().into())
    }

    #[rowwise(crate = crate)]
    pub(super) fn waves(x: Row) -> (Row, PerRow) {
        (x.sin() * 2.0, x.sin().max())
    }

    /// A function of the list below, or a derivative of it.
    #[custom_call(crate = crate)]
    pub(super) fn listed(
        #[attr] which: usize,
        #[dims(..b, n)] x: Array<f64>,
        #[dims(..b, n)] mut y: Out<f64>,
        pool: ThreadPool,
    ) {
        run(&plan(which, &[]), [&x], [&mut y], x.shape(), pool);
    }

    #[custom_call(crate = crate)]
    pub(super) fn derived(
        #[attr] which: usize,
        #[attr] forward: bool,
        #[dims(..b, n)] x: Array<f64>,
        #[dims(..b, n)] t: Array<f64>,
        #[dims(..b, n)] mut y: Out<f64>,
        pool: ThreadPool,
    ) {
        let rule = if forward { Rule::Jvp } else { Rule::Vjp };
        run(&plan(which, &[rule]), [&x, &t], [&mut y], x.shape(), pool);
    }
}

/// Functions that have every operation with a derivative in them, between numbers of one row and of its elements.
const FUNCTIONS: &[fn(Row) -> Row] = &[
    |x| x / (x * x).sum().sqrt() + x.max() * x.min() - x.mean(),
    |x| (x - x.stop_gradient()) * x.exp().sum().ln() + x.tanh().mean() * x.logistic(),
    |x| x.sin() * x.cos().sum() + x.tan() / x.count() - 2.0 / (x.abs() + 1.5).ln_1p(),
    |x| x.exp_m1() * x.erf().max() + x.erfc() * (x * 0.25).mul_add(x.sum(), x.max()),
    |x| x.maximum(x.mean()) + x.minimum(x.sum()) * x.log_add_exp(x.mean()) - x.clamp(-0.4, 0.4),
    |x| x.less(0.1).select(x * x, x.powi(3)) + x.floor() * x.signum() + (x.max() - x.mean() + 1.0).recip().exp(),
    |x| (x.less(0.5) & !x.less(-0.5)).select(x.mean().into(), x) * x.max().less(0.9).select(x.sum(), x.max() * 2.0),
    |x| Row::from(x.mean()) * 3.0,
    |x| Row::from(x.mean()).sum() * Row::from(x.min()).max() + x,
    |x| x.sinh() + x.cosh() * 2.0 + x.asinh() * 4.0 + (x * 0.5).atanh(),
];

fn plan(which: usize, rules: &[Rule]) -> Plan {
    let function = |operands: &[Value]| vec![result(FUNCTIONS[which](Row::of(operands[0])))];
    Plan::new(&[Kind::Row], function, rules.iter().map(|&rule| (rule, Active::ALL)))
}

/// Numbers between -1 and 1, no two of which are alike.
fn numbers<T: Float>(rows: usize, len: usize, seed: u32) -> Array2<T> {
    let number = |index: usize| (index as u32 + 1).wrapping_mul(0x9e37_79b9 ^ seed) as f64 / 2f64.powi(31) - 1.0;
    Array2::from_shape_fn((rows, len), |(row, index)| T::from_f64(number(row * len + index)))
}

/// The greatest error, in units of the last place of the exact numbers, of which none is taken as smaller than `least`.
fn ulps<T: Float>(found: &ArrayD<T>, exact: &[f64], least: f64) -> f64 {
    assert_eq!(found.len(), exact.len());
    let digits = match T::DTYPE {
        DType::F64 => 53,
        DType::F32 => 24,
        DType::F16 => 11,
        _ => 8,
    };
    let unit = |x: f64| 2f64.powi(x.abs().max(least).log2().floor() as i32 + 1 - digits);
    let error = |(found, exact): (&T, &f64)| (found.as_f64() - exact).abs() / unit(*exact);
    found.iter().zip(exact).map(error).fold(0.0, f64::max)
}

fn doubles<T: Float>(x: &Array2<T>) -> Array2<f64> {
    x.mapv(Float::as_f64)
}

/// Lengths around steps and blocks, and batches around what one thread computes.
const SHAPES: &[(usize, usize)] = &[
    (3, 1),
    (5, 7),
    (2, 64),
    (2, BLOCK - 1),
    (3, BLOCK),
    (2, BLOCK + 1),
    (2, 4 * BLOCK - 3),
    (700, 100),
    (2, 100_000),
    (0, 7),
];

/// A sum of doubles that is as good as exact: the errors of all additions are added to it.
fn exact_sum(x: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0, 0.0);
    for x in x {
        let next = sum + x;
        let added = next - sum;
        lost += (sum - (next - added)) + (x - added);
        sum = next;
    }
    sum + lost
}

fn check_softmax<T: Stored>(bound: f64) {
    for &(rows, len) in SHAPES {
        let x = numbers::<T>(rows, len, 0).mapv(|x| T::from_f64(8.0 * x.as_f64()));
        let out = call::<ops::softmax>().arg(x.clone()).threads(3).run().unwrap().get::<T>(0);
        assert_eq!(out.shape(), [rows, len]);
        let mut exact = Vec::new();
        for row in doubles(&x).rows() {
            let weights: Vec<f64> = row.iter().map(|x| x.exp()).collect();
            let sum = exact_sum(&weights);
            exact.extend(weights.iter().map(|weight| weight / sum));
        }
        // Halves below the normal numbers have fewer digits.
        let error = ulps(&out, &exact, if T::DTYPE == DType::F16 { 1e-4 } else { 1e-300 });
        assert!(error <= bound, "{rows} x {len} of {}: {error} ULP", T::DTYPE);
    }
}

#[test]
fn softmax_of_all_shapes_is_accurate() {
    check_softmax::<f64>(12.0);
    check_softmax::<f32>(12.0);
    check_softmax::<f16>(0.51);
    check_softmax::<bf16>(0.51);
}

fn check_statistics<T: Stored>(bound: f64) {
    for &(rows, len) in SHAPES {
        let x = numbers::<T>(rows, len, 3).mapv(|x| T::from_f64(x.as_f64() + 1.25));
        let out = call::<ops::statistics>().arg(x.clone()).threads(3).run().unwrap();
        let wide = doubles(&x);
        let of_rows =
            |f: &dyn Fn(&[f64]) -> f64| -> Vec<f64> { wide.rows().into_iter().map(|row| f(&row.to_vec())).collect() };
        let max = of_rows(&|row| row.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        let min = of_rows(&|row| row.iter().copied().fold(f64::INFINITY, f64::min));
        let sum = of_rows(&exact_sum);
        let mean: Vec<f64> = sum.iter().map(|sum| sum / len as f64).collect();
        let centred: Vec<f64> =
            wide.rows().into_iter().zip(&mean).flat_map(|(row, mean)| row.mapv(|x| x - mean).to_vec()).collect();
        let context = format!("{rows} x {len} of {}", T::DTYPE);
        for (index, (exact, bound)) in [(max, 0.0), (min, 0.0), (mean, bound), (sum, bound)].into_iter().enumerate() {
            let found = out.get::<T>(index);
            assert_eq!(found.shape(), [rows]);
            // A sum of halves may be beyond the largest of them.
            let is_small = |x: &f64| T::from_f64(*x).as_f64().is_finite();
            if exact.iter().all(is_small) {
                let error = ulps(&found, &exact, 1e-300);
                assert!(error <= bound, "result {index} of {context}: {error} ULP");
            } else {
                assert!(found.iter().all(|x| x.as_f64() == f64::INFINITY));
            }
        }
        let error = ulps(&out.get::<T>(4), &centred, 1.0);
        assert!(error <= bound.max(1.0) + 1.0, "differences of {context}: {error} ULP");
    }
}

/// Differences from the mean have the digits that the elements have, however far from 0.
fn check_differences<T: Stored>(bound: f64) {
    for centre in [1000.0, -30000.0] {
        let x = numbers::<T>(3, 700, 5).mapv(|x| T::from_f64(centre + 0.01 * centre * x.as_f64()));
        let found = call::<ops::statistics>().arg(x.clone()).run().unwrap().get::<T>(4);
        let wide = doubles(&x);
        let exact = wide.rows().into_iter().flat_map(|row| {
            let mean = exact_sum(row.as_slice().unwrap()) / 700.0;
            row.iter().map(|x| x - mean).collect::<Vec<_>>()
        });
        let error = ulps(&found, &exact.collect::<Vec<_>>(), 1e-3);
        assert!(error <= bound, "{} around {centre}: {error} ULP", T::DTYPE);
    }
}

#[test]
fn differences_from_a_mean_far_from_0_are_accurate() {
    check_differences::<f32>(0.51);
    check_differences::<f16>(0.51);
    check_differences::<bf16>(0.51);
}

#[test]
fn reductions_of_all_shapes_are_accurate() {
    check_statistics::<f64>(2.5);
    check_statistics::<f32>(0.51);
    check_statistics::<f16>(0.51);
    check_statistics::<bf16>(0.51);
}

#[test]
fn rows_without_elements_have_reductions() {
    let out = call::<ops::statistics>().arg(Array2::<f32>::zeros((2, 0))).run().unwrap();
    assert_eq!(out.get::<f32>(0).as_slice().unwrap(), [f32::NEG_INFINITY; 2]);
    assert_eq!(out.get::<f32>(1).as_slice().unwrap(), [f32::INFINITY; 2]);
    assert!(out.get::<f32>(2).iter().all(|mean| mean.is_nan()));
    assert_eq!(out.get::<f32>(3).as_slice().unwrap(), [0.0; 2]);
    assert_eq!(out.get::<f32>(4).shape(), [2, 0]);
}

/// The result of a row does not depend on where it is, nor on the threads, nor on whether the next one is fetched
/// ahead.
#[test]
fn rows_are_computed_alike_wherever_they_are() {
    let (rows, len) = (500, 300);
    assert!(2 * rows * len * size_of::<f32>() > CACHED);
    let x = numbers::<f32>(rows, len, 9);
    let all = call::<ops::softmax>().arg(x.clone()).threads(4).run().unwrap().get::<f32>(0);
    for row in [0, 1, 250, rows - 1] {
        let alone = call::<ops::softmax>().arg(x.row(row).to_owned()).run().unwrap().get::<f32>(0);
        assert_eq!(all.index_axis(ndarray::Axis(0), row), alone.view());
    }
}

#[test]
fn numbers_of_rows_are_operands_and_results() {
    let x = numbers::<f32>(4, BLOCK + 44, 1);
    let scale = Array1::from_vec(vec![1.0f32, -2.0, 0.0, 3.0]);
    let out = call::<ops::gated>().arg(x.clone()).arg(scale.clone()).attr("gate", 0.25).run().unwrap();
    for (row, x) in x.rows().into_iter().enumerate() {
        let kept: Vec<f32> = x.iter().map(|x| if *x > 0.25 { x * scale[row] } else { 0.0 }).collect();
        assert_eq!(out.get::<f32>(0).index_axis(ndarray::Axis(0), row).iter().copied().collect::<Vec<_>>(), kept);
        let largest = kept.iter().fold(0f32, |largest, x| largest.max(x.abs()));
        assert_eq!(out.get::<f32>(1)[[row]], largest + scale[row]);
        let sum: f64 = kept.iter().map(|x| f64::from(*x)).sum();
        for found in out.get::<f32>(2).index_axis(ndarray::Axis(0), row) {
            assert!((f64::from(*found) - sum).abs() <= 1e-6 * sum.abs(), "{found} {sum}");
        }
    }
    let error = call::<ops::gated>().arg(x).arg(Array1::<f32>::zeros(3)).run().unwrap_err();
    assert!(
        error.message().starts_with("gated: argument `scale` has shape [3], but `PerRow` with batch = [4]"),
        "{error}"
    );
}

#[test]
fn infinities_and_nan_are_those_of_the_formula() {
    let inf = f32::INFINITY;
    let row = |values: &[f32]| call::<ops::softmax>().arg(values.to_vec()).run().unwrap().get::<f32>(0);
    assert_eq!(row(&[-inf, 0.0, 0.0]).as_slice().unwrap(), [0.0, 0.5, 0.5]);
    for values in [&[f32::NAN, 0.0][..], &[inf, 0.0], &[-inf, -inf], &[0.0, f32::NAN, 1.0]] {
        assert!(row(values).iter().any(|x| x.is_nan()), "{values:?}");
    }
    let reduced = |values: &[f32]| {
        let out = call::<ops::statistics>().arg(values.to_vec()).run().unwrap();
        [0, 1, 3].map(|index| out.get::<f32>(index)[[]])
    };
    assert_eq!(reduced(&[1.0, inf, 2.0]), [inf, 1.0, inf]);
    assert_eq!(reduced(&[-inf, 3e38]), [3e38, -inf, -inf]);
    assert!(reduced(&[1.0, f32::NAN]).iter().all(|x| x.is_nan()));
    assert!(reduced(&[inf, -inf])[2].is_nan());
    // In different blocks.
    let mut long = vec![1f32; 1000];
    (long[10], long[900]) = (inf, f32::MAX);
    assert_eq!(reduced(&long), [inf, 1.0, inf]);
    long[500] = f32::NAN;
    assert!(reduced(&long).iter().all(|x| x.is_nan()));
}

/// Sums of a row do not lose what is small beside them.
#[test]
fn errors_of_long_sums_do_not_grow() {
    let mut x = vec![1e-3f32; 200_000];
    x[0] = 1e6;
    let exact = x.iter().map(|x| f64::from(*x)).sum::<f64>();
    let sum = call::<ops::statistics>().arg(x).run().unwrap().get::<f32>(3)[[]];
    assert!((f64::from(sum) - exact).abs() <= 0.07, "{sum} {exact}");
}

#[test]
fn unusual_angles_are_computed_again() {
    let count = BLOCK + 44;
    let mut x = numbers::<f32>(1, count, 3);
    let usual = call::<ops::waves>().arg(x.clone()).run().unwrap().get::<f32>(0);
    (x[[0, 3]], x[[0, BLOCK]]) = (1e6, -1e20);
    let out = call::<ops::waves>().arg(x.clone()).run().unwrap().get::<f32>(0);
    for index in 0..count {
        let exact = (2.0 * f64::from(x[[0, index]]).sin()) as f32;
        let expected = if [3, BLOCK].contains(&index) { exact } else { usual[[0, index]] };
        assert_eq!(out[[0, index]], expected, "{index}");
    }
}

/// Jacobian-vector products are differences of the function; vector-Jacobian products are their transposes.
#[test]
fn derivatives_are_those_of_the_functions() {
    for which in 0..FUNCTIONS.len() {
        for len in [1, 5, BLOCK + 44] {
            let x = numbers::<f64>(2, len, 0x51).mapv(|x| 0.9 * x);
            let tangent = numbers::<f64>(2, len, 0x77);
            let cotangent = numbers::<f64>(2, len, 0x3b1);
            let value = |x: Array2<f64>| call::<ops::listed>().attr("which", which as i64).arg(x).run().unwrap();
            let derived = |forward: bool, moved: &Array2<f64>| {
                let call = call::<ops::derived>().attr("which", which as i64).attr("forward", forward);
                call.arg(x.clone()).arg(moved.clone()).run().unwrap().get::<f64>(0)
            };
            let h = 1e-6;
            let forward = derived(true, &tangent);
            let [above, below] = [h, -h].map(|h| value(&x + &(&tangent * h)).get::<f64>(0));
            let scale = forward.iter().fold(1.0f64, |most, x| most.max(x.abs()));
            for ((found, above), below) in forward.iter().zip(&above).zip(&below) {
                let expected = (above - below) / (2.0 * h);
                // Those of what stands still for derivatives move it.
                let bound = if which == 1 { f64::INFINITY } else { 1e-7 * scale };
                assert!((found - expected).abs() <= bound, "{which}, {len}: {found} {expected}");
            }
            let backward = derived(false, &cotangent);
            let dot = |a: &ArrayD<f64>, b: &Array2<f64>| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let (a, b) = (dot(&forward, &cotangent), dot(&backward, &tangent));
            assert!((a - b).abs() <= 1e-12 * scale * len as f64, "{which}, {len}: {a} {b}");
        }
    }
}

/// Elements that are equally large share the derivative of the largest; what stands still has none.
#[test]
fn ties_share_and_constants_have_no_derivative() {
    let plan = |function: fn(Row) -> PerRow, rule| {
        Plan::new(&[Kind::Row], |x| vec![result(function(Row::of(x[0])))], [(rule, Active::ALL)])
    };
    let pool_free = |plan: Plan, x: &[f64], t: &[f64]| derivative_of(plan, x, t);
    let found = pool_free(plan(Row::max, Rule::Vjp), &[2.0, 1.0, 2.0], &[3.0]);
    assert_eq!(found, [1.5, 0.0, 1.5]);
    let found = pool_free(plan(Row::min, Rule::Vjp), &[2.0, 1.0, 2.0], &[3.0]);
    assert_eq!(found, [0.0, 3.0, 0.0]);
    let found = pool_free(plan(|x| (x.stop_gradient() * x).sum(), Rule::Vjp), &[2.0, 1.0, 5.0], &[1.0]);
    assert_eq!(found, [2.0, 1.0, 5.0]);
}

/// These functions are recorded with |x|, which has no derivative at 0, but have derivatives there.
#[test]
fn hyperbolic_functions_have_derivatives_at_0() {
    let slopes = |function: fn(Row) -> Row| {
        let plan = Plan::new(&[Kind::Row], |x| vec![result(function(Row::of(x[0])).sum())], [(Rule::Vjp, Active::ALL)]);
        derivative_of(plan, &[0.0, -0.0], &[1.0])
    };
    assert_eq!(slopes(Row::sinh), [1.0; 2]);
    assert_eq!(slopes(Row::asinh), [1.0; 2]);
    assert_eq!(slopes(Row::atanh), [1.0; 2]);
    assert_eq!(slopes(Row::cosh), [0.0; 2]);
}

/// The vector-Jacobian product of a number of a row.
fn derivative_of(plan: Plan, x: &[f64], cotangent: &[f64]) -> Vec<f64> {
    use std::sync::Mutex;
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    static PLAN: Mutex<Option<Plan>> = Mutex::new(None);
    use crate::custom_call;
    #[custom_call(crate = crate)]
    fn planned(#[dims(n)] x: Array<f64>, #[dims()] d: Array<f64>, #[dims(n)] mut y: Out<f64>, pool: ThreadPool) {
        let plan = PLAN.lock().unwrap();
        run(plan.as_ref().unwrap(), [&x, &d], [&mut y], x.shape(), pool);
    }
    *PLAN.lock().unwrap() = Some(plan);
    let d = ndarray::arr0(cotangent[0]);
    call::<planned>().arg(x.to_vec()).arg(d).run().unwrap().get::<f64>(0).into_iter().collect()
}
