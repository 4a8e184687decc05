//! Root-mean-square norm with a weight, and its derivatives in both modes.
//!
//! `batch = b` says that rows are independent, `#[sum(b)]` that the cotangent of the weight is their sum. From this
//! follow `vmap`, and calls that are split among devices, with one all-reduce for the weight's gradient.

use multiversion::multiversion;
use oxcall::prelude::*;

use crate::grain;
use crate::norm::{dot, inverse_rms, sum};

/// Into how many blocks of rows a gradient is divided at the most, each with its own summand of `dw`.
const BLOCKS: usize = 64;

/// Root-mean-square norm over the last axis, times a weight: `y = w * x / sqrt(mean(x * x) + eps)`.
///
/// B. Zhang and R. Sennrich, "Root Mean Square Layer Normalization" (2019), equation 4, with the gain `w`.
#[custom_call(T = floats, batch = b, vjp = weighted_rms_norm_vjp, jvp = weighted_rms_norm_jvp)]
pub fn weighted_rms_norm<T: Float>(
    #[attr(default = 1e-5)] eps: f64,
    #[dims(..b, n)] x: Array<T>,
    #[dims(n)] w: Array<T>,
    #[dims(..b, n)] mut y: Out<T>,
    pool: ThreadPool,
) {
    let n = w.len();
    pool.for_each_chunk(&mut y, n.max(1), grain(n), |row, y| norm_row(&x[row * n..][..n], &w, eps, y));
}

#[multiversion(targets = "simd")]
fn norm_row<T: Float>(x: &[T], w: &[T], eps: f64, y: &mut [T]) {
    let r = inverse_rms(dot(x, x), x.len(), eps);
    for ((y, x), w) in y.iter_mut().zip(x).zip(w) {
        *y = T::narrow(w.widen() * (x.widen() * r));
    }
}

/// The gradient of [`weighted_rms_norm`](fn@weighted_rms_norm): `dx` and `dw` from the cotangent `dy`.
///
/// With `r = 1 / sqrt(mean(x * x) + eps)`, `dw_i` is the sum of `dy_i x_i r` over all rows, and
/// `dx_i = r w_i dy_i - x_i r^3 (sum_j w_j dy_j x_j) / n`.
#[custom_call(T = floats, batch = b)]
pub fn weighted_rms_norm_vjp<T: Float>(
    #[attr(default = 1e-5)] eps: f64,
    #[dims(..b, n)] x: Array<T>,
    #[dims(n)] w: Array<T>,
    #[dims(..b, n)] dy: Array<T>,
    #[dims(..b, n)] mut dx: Out<T>,
    #[dims(n)]
    #[sum(b)]
    mut dw: Out<T>,
    pool: ThreadPool,
) {
    let n = w.len();
    // The blocks depend on the shape alone, so that any number of threads gives the same sums.
    let rows = (dx.len() / n.max(1)).div_ceil(BLOCKS).max(grain(n)).max(1);
    let blocks = dx.chunks_mut((rows * n).max(1));
    let mut blocks: Vec<(&mut [T], Vec<T::Wide>)> = blocks.map(|dx| (dx, vec![T::Wide::default(); n])).collect();
    pool.for_each_chunk(&mut blocks, 1, 1, |block, parts| {
        for (dx, dw) in parts {
            for (index, dx) in dx.chunks_mut(n).enumerate() {
                let row = (block * rows + index) * n;
                vjp_row(&x[row..][..n], &w, &dy[row..][..n], eps, dx, dw);
            }
        }
    });
    for (index, dw) in dw.iter_mut().enumerate() {
        *dw = T::narrow(blocks.iter().fold(T::Wide::default(), |sum, (_, summands)| sum + summands[index]));
    }
}

#[multiversion(targets = "simd")]
fn vjp_row<T: Float>(x: &[T], w: &[T], dy: &[T], eps: f64, dx: &mut [T], dw: &mut [T::Wide]) {
    let r = inverse_rms(dot(x, x), x.len(), eps);
    let shift = r * r * r * sum([x, w, dy], |[x, w, dy]| x * w * dy) / T::Wide::from_f64(x.len() as f64);
    for ((((dx, dw), x), w), dy) in dx.iter_mut().zip(dw).zip(x).zip(w).zip(dy) {
        let (x, dy) = (x.widen(), dy.widen());
        *dx = T::narrow(r * w.widen() * dy - shift * x);
        *dw += dy * (x * r);
    }
}

/// The derivative of [`weighted_rms_norm`](fn@weighted_rms_norm) in forward mode: `ty` from the tangents `tx` and `tw`.
///
/// `ty_i = r (tw_i x_i + w_i tx_i) - w_i x_i r^3 (sum_j x_j tx_j) / n`.
#[custom_call(T = floats, batch = b)]
pub fn weighted_rms_norm_jvp<T: Float>(
    #[attr(default = 1e-5)] eps: f64,
    #[dims(..b, n)] x: Array<T>,
    #[dims(n)] w: Array<T>,
    #[dims(..b, n)] tx: Array<T>,
    #[dims(n)] tw: Array<T>,
    #[dims(..b, n)] mut ty: Out<T>,
    pool: ThreadPool,
) {
    let n = w.len();
    pool.for_each_chunk(&mut ty, n.max(1), grain(n), |row, ty| {
        jvp_row([&x[row * n..][..n], &w], [&tx[row * n..][..n], &tw], eps, ty);
    });
}

#[multiversion(targets = "simd")]
fn jvp_row<T: Float>([x, w]: [&[T]; 2], [tx, tw]: [&[T]; 2], eps: f64, ty: &mut [T]) {
    let r = inverse_rms(dot(x, x), x.len(), eps);
    let shift = r * r * r * dot(x, tx) / T::Wide::from_f64(x.len() as f64);
    for ((((ty, x), w), tx), tw) in ty.iter_mut().zip(x).zip(w).zip(tx).zip(tw) {
        let (x, w) = (x.widen(), w.widen());
        *ty = T::narrow(r * (tw.widen() * x + w * tx.widen()) - shift * w * x);
    }
}

#[cfg(test)]
mod tests {
    use oxcall::ndarray::{Array1, Array2};
    use oxcall::testing::call;

    use crate::testing::{assert_close, numbers};

    use super::*;

    const EPS: f64 = 1e-3;

    fn expected(x: &[f64], w: &[f64]) -> Vec<f64> {
        let rows = x.chunks(w.len()).map(|x| {
            let mean = x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
            x.iter().zip(w).map(move |(x, w)| w * x / (mean + EPS).sqrt()).collect::<Vec<_>>()
        });
        rows.flatten().collect()
    }

    fn rows(elements: &[f64], n: usize) -> Array2<f64> {
        Array2::from_shape_vec((elements.len() / n, n), elements.to_vec()).unwrap()
    }

    fn norm(x: &[f64], w: &[f64]) -> Vec<f64> {
        let call = call::<weighted_rms_norm>().arg(rows(x, w.len())).arg(Array1::from(w.to_vec())).attr("eps", EPS);
        call.run().unwrap().get::<f64>(0).as_slice().unwrap().to_vec()
    }

    fn moved(values: &[f64], by: &[f64], step: f64) -> Vec<f64> {
        values.iter().zip(by).map(|(value, by)| value + step * by).collect()
    }

    #[test]
    fn norms_have_their_weight() {
        for (count, n) in [(3, 100), (1, 1), (200, 384)] {
            let (x, w) = (numbers::<f64>(count * n), numbers::<f64>(n));
            assert_close(&norm(&x, &w), &expected(&x, &w), 1e-14);
        }
        for (count, n) in [(0, 4), (4, 0)] {
            let x = Array2::<f32>::zeros((count, n));
            let run = call::<weighted_rms_norm>().arg(x).arg(Array1::<f32>::ones(n)).run().unwrap();
            assert_eq!(run.get::<f32>(0).shape(), [count, n]);
        }
    }

    /// Both derivatives against central differences of the formula, along random directions.
    #[test]
    fn derivatives_are_those_of_the_formula() {
        // With several blocks of rows.
        for (count, n) in [(2, 7), (9000, 8)] {
            let all = numbers::<f64>(2 * count * n + 2 * n);
            let (x, rest) = all.split_at(count * n);
            let (tx, rest) = rest.split_at(count * n);
            let (w, tw) = rest.split_at(n);
            let step = |h: f64| expected(&moved(x, tx, h), &moved(w, tw, h));
            let (ahead, behind) = (step(1e-5), step(-1e-5));
            let tangent: Vec<f64> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / 2e-5).collect();
            let weight = |w: &[f64]| Array1::from(w.to_vec());
            let forward = call::<weighted_rms_norm_jvp>().arg(rows(x, n)).arg(weight(w)).arg(rows(tx, n));
            let forward = forward.arg(weight(tw)).attr("eps", EPS).run().unwrap();
            assert_close(forward.get::<f64>(0).as_slice().unwrap(), &tangent, 1e-7);
            // The dot products of tangents and cotangents are equal.
            let dy = numbers::<f64>(3 * count * n)[2 * count * n..].to_vec();
            let backward = call::<weighted_rms_norm_vjp>().arg(rows(x, n)).arg(weight(w)).arg(rows(&dy, n));
            let backward = backward.attr("eps", EPS).run().unwrap();
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let (dx, dw) = (backward.get::<f64>(0), backward.get::<f64>(1));
            let outward = product(dx.as_slice().unwrap(), tx) + product(dw.as_slice().unwrap(), tw);
            let inward = product(forward.get::<f64>(0).as_slice().unwrap(), &dy);
            assert!((outward - inward).abs() <= 1e-11 * (count as f64) * inward.abs().max(1.0), "{outward} {inward}");
        }
    }

    #[test]
    fn no_rows_have_a_gradient_of_zeros() {
        let empty = || Array2::<f32>::zeros((0, 3));
        let run = call::<weighted_rms_norm_vjp>().arg(empty()).arg([1f32, 2.0, 3.0]).arg(empty()).run().unwrap();
        assert_eq!(run.get::<f32>(1).as_slice().unwrap(), [0.0; 3]);
    }
}
