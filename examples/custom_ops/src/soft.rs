//! Softmax of bfloat16, with ndarray views and the host's threads.

use multiversion::multiversion;
use oxcall::prelude::*;

use crate::grain;

/// Softmax over the rows of a matrix: `y = exp(x - max) / sum(exp(x - max))`, computed in f32.
///
/// Subtracting the row's maximum keeps `exp` from overflowing. As `jax.nn.softmax`, a row with a NaN or with nothing
/// but negative infinity becomes NaN.
#[custom_call(vmap = "sequential")]
pub fn softmax(
    #[dims(rows, n)] x: ArrayView2<'_, bf16>,
    #[dims(rows, n)] mut y: ArrayViewMut2<'_, bf16>,
    pool: ThreadPool,
) -> Result<()> {
    let n = x.ncols();
    // A task has as many rows as are worth it, so that its scratch memory is allocated once.
    let rows = grain(4 * n).max(1);
    let y = y.as_slice_mut().ok_or_else(|| Error::internal("results are dense"))?;
    pool.for_each_chunk(y, rows * n, 1, |task, y| {
        let mut wide = vec![0f32; n];
        for (i, y) in y.chunks_exact_mut(n).enumerate() {
            let x = x.row(task * rows + i);
            // As a slice: loops over ndarray's iterators do not become vector code.
            softmax_row(x.to_slice().unwrap_or_default(), &mut wide, y);
        }
    });
    Ok(())
}

/// The softmax of one row; `wide` is scratch memory of its length.
///
/// This function and what is inlined into it exist once for each set of vector instructions.
#[multiversion(targets = "simd")]
fn softmax_row(x: &[bf16], wide: &mut [f32], y: &mut [bf16]) {
    for (wide, x) in wide.iter_mut().zip(x) {
        *wide = x.widen();
    }
    let max = reduce(wide, f32::NEG_INFINITY, |max, x| if x > max { x } else { max });
    for x in &mut *wide {
        *x = exp_of_negative(*x - max);
    }
    let scale = reduce(wide, 0.0, |sum, x| sum + x).recip();
    for (y, wide) in y.iter_mut().zip(wide) {
        *y = bf16::narrow(scale * *wide);
    }
}

/// Independent lanes, so that loops need not wait for the result of the element before.
const LANES: usize = 16;

/// `combine` over all elements, in an order that suits vector registers.
#[inline(always)]
fn reduce(row: &[f32], start: f32, combine: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [start; LANES];
    let (chunks, tail) = row.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, x) in lanes.iter_mut().zip(chunk) {
            *lane = combine(*lane, *x);
        }
    }
    lanes.iter().chain(tail).fold(start, |all, x| combine(all, *x))
}

/// `exp(x)` for `x <= 0`, within 1.1 units in the last place; 0 below -87.33, where it would be subnormal; NaN for NaN.
///
/// `exp(x) = 2^i exp(r)` with an integer `i` and `|r| <= ln(2) / 2`. `r = x - i ln(2)` keeps its digits because `ln(2)`
/// is subtracted in two parts, the first so short that its products are exact: W. J. Cody and W. Waite, "Software
/// Manual for the Elementary Functions" (1980), chapter 6. `exp(r)` is its Taylor series up to the seventh power, whose
/// remainder is below 6e-9.
///
/// No branch and no call: loops over it become vector instructions, which `f32::exp` in a loop does not.
#[inline(always)]
fn exp_of_negative(x: f32) -> f32 {
    // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2: [f32; 2] = [355.0 / 512.0, -2.121_944_4e-4];
    const INVERSE_FACTORIALS: [f32; 6] = [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 1.0 / 2.0];
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let i = rounded - ROUND;
    let r = (x - i * LN_2[0]) - i * LN_2[1];
    let above_linear = INVERSE_FACTORIALS.iter().fold(0.0, |sum, c| sum * r + c) * (r * r);
    let power = f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    if x < -87.33 { 0.0 } else { (1.0 + (r + above_linear)) * power }
}

#[cfg(test)]
mod tests {
    use oxcall::ndarray::Array2;
    use oxcall::testing::call;

    use crate::testing::numbers;

    use super::*;

    fn run(x: &Array2<bf16>) -> Vec<bf16> {
        call::<softmax>().arg(x).run().unwrap().get::<bf16>(0).into_iter().collect()
    }

    #[test]
    fn rows_are_the_formula_rounded() {
        for (rows, n) in [(3, 5), (1, 1), (2, 64), (300, 333)] {
            let x = Array2::from_shape_vec((rows, n), numbers::<bf16>(rows * n))
                .unwrap()
                .mapv(|x| x * bf16::from_f32(20.0));
            let expected: Vec<f64> = x
                .rows()
                .into_iter()
                .flat_map(|row| {
                    let exp: Vec<f64> = row.iter().map(|x| f64::from(*x).exp()).collect();
                    let sum: f64 = exp.iter().sum();
                    exp.into_iter().map(move |e| e / sum)
                })
                .collect();
            // Half a unit in the last of 8 digits, and the error of f32 below it.
            for (y, expected) in run(&x).iter().zip(&expected) {
                assert!((f64::from(*y) - expected).abs() <= expected * (1.0 / 256.0 + 1e-5) + 1e-37, "{y} {expected}");
            }
        }
        assert!(run(&Array2::zeros((3, 0))).is_empty() && run(&Array2::zeros((0, 3))).is_empty());
    }

    #[test]
    fn extreme_rows() {
        let b = bf16::from_f32;
        let row = |values: &[f32]| run(&Array2::from_shape_fn((1, values.len()), |(_, i)| b(values[i])));
        assert_eq!(row(&[3e38, 3e38, -3e38]), [b(0.5), b(0.5), b(0.0)]);
        assert_eq!(row(&[f32::NEG_INFINITY, 0.0, 0.0]), [b(0.0), b(0.5), b(0.5)]);
        for values in [[f32::NAN, 0.0], [f32::INFINITY, 0.0], [f32::NEG_INFINITY; 2]] {
            assert!(row(&values)[0].is_nan(), "{values:?}");
        }
        assert!(row(&[0.0, f32::NAN, 1.0]).iter().all(|y| y.is_nan()));
    }

    /// Against the exponential of `f64`, in units of the last place of its `f32`.
    #[test]
    fn exp_is_accurate() {
        for step in 0..=1_400_000 {
            let x = -(step as f32) / 16_037.0;
            let (value, expected) = (exp_of_negative(x), f64::from(x).exp());
            let unit = f64::from((expected as f32).next_up()) - f64::from(expected as f32);
            let error = (f64::from(value) - expected).abs() / unit;
            assert!(if x < -87.33 { value == 0.0 } else { error <= 1.1 }, "exp({x}) is off by {error} units");
        }
        assert_eq!([0.0, -88.0, f32::NEG_INFINITY].map(exp_of_negative), [1.0, 0.0, 0.0]);
        assert!(exp_of_negative(f32::NAN).is_nan());
    }
}
