//! Root-mean-square norm and its gradient.
//!
//! One generic function serves every float dtype under one target name: the dtype is dispatched at the call. Sums are
//! accumulated in [`Float::Wide`], which is `f32` for the 16-bit types. `vjp` names the operation that computes the
//! gradient, so that `jax.grad` works; `legacy` makes the same function callable under custom call API 1, 2 and 3.

use multiversion::multiversion;
use oxcall::prelude::*;

use crate::grain;

/// Independent partial sums. A float sum must be added in the order that is written, so a plain loop would wait for one
/// addition at a time; these are added in any register at once.
const LANES: usize = 16;

/// Root-mean-square norm over the last axis: `y = x / sqrt(mean(x * x) + eps)`.
///
/// B. Zhang and R. Sennrich, "Root Mean Square Layer Normalization" (2019), equation 4, without the gain.
#[custom_call(T = floats, batch = b, vjp = rms_norm_vjp, legacy)]
pub fn rms_norm<T: Float>(
    #[attr(default = 1e-5)] eps: f64,
    #[dims(..b, n)] x: Array<T>,
    #[dims(..b, n)] mut y: Out<T>,
    pool: ThreadPool,
) {
    let n = x.shape().last().copied().unwrap_or(1);
    pool.for_each_chunk(&mut y, n, grain(n), |row, y| {
        norm_row(&x[row * n..][..n], eps, y);
    });
}

#[multiversion(targets = "simd")]
fn norm_row<T: Float>(x: &[T], eps: f64, y: &mut [T]) {
    let scale = inverse_rms(dot(x, x), x.len(), eps);
    for (y, x) in y.iter_mut().zip(x) {
        *y = T::narrow(x.widen() * scale);
    }
}

/// The gradient of [`rms_norm`](fn@rms_norm): `dx` from the input `x` and the cotangent `dy` of its result.
///
/// With `r = 1 / sqrt(mean(x * x) + eps)` the norm is `y_i = r x_i`, and `dr/dx_j = -r^3 x_j / n`. So
/// `dx_j = sum_i dy_i dy_i/dx_j = r dy_j - x_j r^3 (sum_i dy_i x_i) / n`.
///
/// Names tell the Python package what is what: an argument of the operation, or `d` and the name of an argument or
/// result for its cotangent.
#[custom_call(T = floats, batch = b, legacy)]
pub fn rms_norm_vjp<T: Float>(
    #[attr(default = 1e-5)] eps: f64,
    #[dims(..b, n)] x: Array<T>,
    #[dims(..b, n)] dy: Array<T>,
    #[dims(..b, n)] mut dx: Out<T>,
    pool: ThreadPool,
) {
    let n = x.shape().last().copied().unwrap_or(1);
    pool.for_each_chunk(&mut dx, n, grain(n), |row, dx| {
        vjp_row(&x[row * n..][..n], &dy[row * n..][..n], eps, dx);
    });
}

#[multiversion(targets = "simd")]
fn vjp_row<T: Float>(x: &[T], dy: &[T], eps: f64, dx: &mut [T]) {
    let r = inverse_rms(dot(x, x), x.len(), eps);
    let shift = r * r * r * dot(dy, x) / T::Wide::from_f64(x.len() as f64);
    for ((dx, dy), x) in dx.iter_mut().zip(dy).zip(x) {
        *dx = T::narrow(r * dy.widen() - shift * x.widen());
    }
}

pub(crate) fn inverse_rms<W: Float>(sum_of_squares: W, n: usize, eps: f64) -> W {
    (sum_of_squares / W::from_f64(n as f64) + W::from_f64(eps)).sqrt().recip()
}

/// The dot product of two slices of one length.
#[inline(always)]
pub(crate) fn dot<T: Float>(a: &[T], b: &[T]) -> T::Wide {
    sum([a, b, b], |[a, b, _]| a * b)
}

/// The sum of a term over the elements of three slices of one length.
#[inline(always)]
pub(crate) fn sum<T: Float>([a, b, c]: [&[T]; 3], term: impl Fn([T::Wide; 3]) -> T::Wide) -> T::Wide {
    let mut partial = [T::Wide::default(); LANES];
    let (a, a_tail) = a.as_chunks::<LANES>();
    let (b, b_tail) = b.as_chunks::<LANES>();
    let (c, c_tail) = c.as_chunks::<LANES>();
    for ((a, b), c) in a.iter().zip(b).zip(c) {
        for (((sum, a), b), c) in partial.iter_mut().zip(a).zip(b).zip(c) {
            *sum += term([a.widen(), b.widen(), c.widen()]);
        }
    }
    for (((sum, a), b), c) in partial.iter_mut().zip(a_tail).zip(b_tail).zip(c_tail) {
        *sum += term([a.widen(), b.widen(), c.widen()]);
    }
    // Halves are added to halves: as accurate as the partial sums, and a few additions deep.
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            let other = partial[lane + width];
            partial[lane] += other;
        }
    }
    partial[0]
}

#[cfg(test)]
mod tests {
    use oxcall::testing::call;

    use crate::testing::{assert_close, numbers};

    use super::*;

    const EPS: f64 = 1e-3;

    fn expected_norm(x: &[f64]) -> Vec<f64> {
        let mean = x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
        x.iter().map(|x| x / (mean + EPS).sqrt()).collect()
    }

    fn check_norm<T: Float>(rows: usize, n: usize, tolerance: f64) {
        let x: Vec<T> = numbers(rows * n);
        let y = call::<rms_norm>().arg(array(&x, rows, n)).attr("eps", EPS).run().unwrap().get::<T>(0);
        assert_eq!(y.shape(), [rows, n]);
        for (x, y) in x.chunks(n).zip(y.rows()) {
            let x: Vec<f64> = x.iter().map(|x| Float::as_f64(*x)).collect();
            assert_close(y.as_slice().unwrap(), &expected_norm(&x), tolerance);
        }
    }

    fn array<T: Float>(elements: &[T], rows: usize, n: usize) -> oxcall::ndarray::Array2<T> {
        oxcall::ndarray::Array2::from_shape_vec((rows, n), elements.to_vec()).unwrap()
    }

    #[test]
    fn norms_of_every_dtype() {
        check_norm::<f64>(3, 100, 1e-14);
        check_norm::<f32>(3, 100, 3e-7);
        check_norm::<f16>(3, 100, 1e-3);
        check_norm::<bf16>(3, 100, 8e-3);
        // Widths around the lanes, and enough rows for several threads.
        for n in [1, 2, LANES - 1, LANES, LANES + 1, 3 * LANES + 5] {
            check_norm::<f32>(2, n, 3e-7);
        }
        check_norm::<f32>(512, 384, 3e-7);
    }

    #[test]
    fn empty_arrays_have_empty_norms() {
        for (rows, n) in [(0, 4), (4, 0), (0, 0)] {
            let y = call::<rms_norm>().arg(array::<f32>(&[], rows, n)).run().unwrap();
            assert_eq!(y.get::<f32>(0).shape(), [rows, n]);
        }
    }

    /// The gradient against central differences of the formula in f64.
    #[test]
    fn gradient_is_the_derivative() {
        let n = 7;
        let (x, dy): (Vec<f64>, Vec<f64>) = (numbers(n), numbers::<f64>(2 * n)[n..].to_vec());
        let run = call::<rms_norm_vjp>().arg(array(&x, 1, n)).arg(array(&dy, 1, n)).attr("eps", EPS).run().unwrap();
        let loss = |x: &[f64]| expected_norm(x).iter().zip(&dy).map(|(y, dy)| y * dy).sum::<f64>();
        let expected: Vec<f64> = (0..n)
            .map(|i| {
                let step = |h: f64| {
                    let mut moved = x.clone();
                    moved[i] += h;
                    loss(&moved)
                };
                (step(1e-5) - step(-1e-5)) / 2e-5
            })
            .collect();
        assert_close(run.get::<f64>(0).as_slice().unwrap(), &expected, 1e-8);
        let narrow = |values: &[f64]| array(&values.iter().map(|v| *v as f32).collect::<Vec<_>>(), 1, n);
        let run = call::<rms_norm_vjp>().arg(narrow(&x)).arg(narrow(&dy)).attr("eps", EPS).run().unwrap();
        assert_close(run.get::<f32>(0).as_slice().unwrap(), &expected, 2e-6);
    }

    #[test]
    fn a_result_of_another_shape_is_refused() {
        let error = call::<rms_norm>().arg(array::<f32>(&[1.0; 6], 2, 3)).ret_of::<f32>(&[2, 2]).run().unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().starts_with("rms_norm: result `y` has shape [2, 2]"), "{error}");
    }
}
