//! Arguments that are updated in place.
//!
//! An [`InOut`] is one argument and one result in the same memory, which the Python package declares to XLA. Where the
//! argument is not used afterwards XLA gives its memory away; otherwise it makes a copy first. Either way the function
//! sees one buffer. Two parameters never share memory by accident: that is checked at each call.

use multiversion::multiversion;
use oxcall::prelude::*;

use crate::grain;

/// `y += alpha * x`, in place. The attribute has the dtype of the arrays.
#[custom_call(T = numbers, vmap = "broadcast_all")]
pub fn axpy<T: Number>(#[attr] alpha: T, #[dims(..s)] x: Array<T>, #[dims(..s)] mut y: InOut<T>, pool: ThreadPool) {
    const BLOCK: usize = 4096;
    pool.for_each_chunk(&mut y, BLOCK, grain(BLOCK), |block, y| {
        for (y, x) in y.iter_mut().zip(&x[block * BLOCK..]) {
            *y += alpha * *x;
        }
    });
}

/// Adds `x` to a running sum that keeps what rounding loses: `sum + error` is far more accurate than `sum` alone.
///
/// The rounding error of an addition is itself a float, which six more operations find without a branch: D. E. Knuth,
/// "The Art of Computer Programming" 2, section 4.2.2, theorem B. Rust never reorders float arithmetic, so the method
/// survives optimisation.
#[custom_call(T = [f32, f64], vmap = "broadcast_all")]
pub fn compensated_add<T: Float>(
    #[dims(..s)] mut sum: InOut<T>,
    #[dims(..s)] mut error: InOut<T>,
    #[dims(..s)] x: Array<T>,
) {
    add(&mut sum, &mut error, &x);
}

/// The loop of [`compensated_add`](fn@compensated_add). No version fuses a multiplication with an addition or reorders
/// anything: the results are the same on every processor.
#[multiversion(targets = "simd")]
fn add<T: Float>(sum: &mut [T], error: &mut [T], x: &[T]) {
    for ((sum, error), &x) in sum.iter_mut().zip(error).zip(x) {
        let total = *sum + x;
        let added = total - *sum;
        *error += (*sum - (total - added)) + (x - added);
        *sum = total;
    }
}

#[cfg(test)]
mod tests {
    use oxcall::testing::call;

    use super::*;

    #[test]
    fn updates_in_place_or_in_a_copy() {
        let axpy = || call::<axpy>().arg([1i32, 2, 3]).arg([10i32, 20, 30]).attr("alpha", 2i64);
        for run in [axpy().alias(1, 0), axpy()] {
            assert_eq!(run.run().unwrap().get::<i32>(0).as_slice().unwrap(), [12, 24, 36]);
        }
        let z = Complex::new(1f32, 2.0);
        let run = call::<self::axpy>().arg([z]).arg([z]).attr("alpha", Complex::new(0f32, 1.0)).run().unwrap();
        assert_eq!(run.get::<Complex<f32>>(0)[[0]], Complex::new(-1.0, 3.0));
    }

    #[test]
    fn an_alias_that_is_not_declared_is_refused() {
        let error = call::<axpy>().arg([1f32, 2.0]).arg([3f32, 4.0]).attr("alpha", 1f32).alias(0, 0).run().unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains("`x`") && error.message().contains("share memory"), "{error}");
    }

    /// Tenths, then one number that is larger than their sum, then its negative.
    #[test]
    fn compensation_keeps_what_rounding_loses() {
        let terms = [vec![0.1f32; 1000], vec![1e8, -1e8]].concat();
        let (mut sum, mut error, mut naive) = ([0f32], [0f32], 0f32);
        for &x in &terms {
            let add = call::<compensated_add>().arg(sum).arg(error).arg([x]).alias(0, 0).alias(1, 1).run().unwrap();
            (sum, error) = ([add.get::<f32>(0)[[0]]], [add.get::<f32>(1)[[0]]]);
            naive += x;
        }
        let exact: f64 = terms.iter().map(|&x| f64::from(x)).sum();
        assert!((f64::from(sum[0]) + f64::from(error[0]) - exact).abs() < 1e-5);
        assert!((f64::from(naive) - exact).abs() > 1.0, "the test is too easy: {naive}");
    }
}
