//! Transforms of real numbers: of an even length by complex numbers of half of it, of an odd length by complex numbers.
//!
//! Neighbours become the parts of complex numbers, whose transform `z` is that of the even places plus `i` times that
//! of the odd ones. Symmetry separates them, and they are joined in double precision, where only the result of that
//! step is rounded.

use std::sync::Arc;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use rustfft::{Fft, FftDirection, FftNum};

use super::Real;
use super::roots::root;
use crate::element::Complex;
use crate::math::level::vectorised;

/// A transform from real numbers, or back to them without a factor.
pub(super) struct RealPlan<F: FftNum + Pod> {
    len: usize,
    /// Of `len`, or if that is even of half as many.
    complex: Arc<dyn Fft<F>>,
    /// -i e^(-2 pi i k / len), or the conjugates for the way back, for a k from 1 to below a quarter of `len`; none if
    /// that is odd. The real parts, and the imaginary ones.
    twiddles: [Vec<f64>; 2],
}

impl<F: Real> RealPlan<F> {
    pub(super) fn new(len: usize, direction: FftDirection) -> RealPlan<F> {
        let (complex, quarter) = if len.is_multiple_of(2) { (len / 2, len.div_ceil(4)) } else { (len, 0) };
        let sign = if direction == FftDirection::Forward { 1.0 } else { -1.0 };
        let twiddles =
            [(1..quarter).map(|k| root(k, len).im).collect(), (1..quarter).map(|k| -sign * root(k, len).re).collect()];
        RealPlan { len, complex: F::plan(complex, direction), twiddles }
    }

    /// The number of real numbers.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The number of complex numbers.
    pub(super) fn complex_len(&self) -> usize {
        self.len / 2 + 1
    }

    fn is_even(&self) -> bool {
        self.len.is_multiple_of(2)
    }

    /// The elements of scratch that a line takes.
    pub(super) fn scratch_len(&self) -> usize {
        if self.is_even() {
            self.complex.get_immutable_scratch_len()
        } else {
            self.len + self.complex.get_inplace_scratch_len()
        }
    }

    /// The first half of the transform of `input`.
    pub(super) fn forward(&self, input: &[F], out: &mut [Complex<F>], scratch: &mut [Complex<F>]) {
        if self.is_even() {
            self.complex.process_immutable_with_scratch(cast_slice(input), &mut out[..self.len / 2], scratch);
            split(out, &self.twiddles);
            return;
        }
        let (line, scratch) = scratch.split_at_mut(self.len);
        line.iter_mut().zip(input).for_each(|(to, &x)| *to = Complex::new(x, F::zero()));
        self.complex.process_with_scratch(line, scratch);
        out.copy_from_slice(&line[..self.complex_len()]);
    }

    /// The real numbers of which `line`, which is overwritten, is the first half of the transform.
    pub(super) fn inverse(&self, line: &mut [Complex<F>], out: &mut [F], scratch: &mut [Complex<F>]) {
        if self.is_even() {
            join(line, &self.twiddles);
            self.complex.process_immutable_with_scratch(&line[..self.len / 2], cast_slice_mut(out), scratch);
            return;
        }
        let (whole, scratch) = scratch.split_at_mut(self.len);
        let (half, mirrored) = whole.split_at_mut(line.len());
        half.copy_from_slice(line);
        mirrored.iter_mut().zip(line[1..].iter().rev()).for_each(|(to, z)| *to = z.conj());
        self.complex.process_with_scratch(whole, scratch);
        out.iter_mut().zip(whole).for_each(|(to, z)| *to = z.re);
    }
}

/// The number of pairs that are computed side by side.
const LANES: usize = 8;

/// Replaces pairs from both ends of `line` by their sum and difference: for a and the conjugate of b of a pair, which
/// are multiplied with `factor`, s = a + b and d = a - b become s + t d and the conjugate of s - t d, t being the
/// twiddle.
#[inline(always)]
fn combine<F: Real>(line: &mut [Complex<F>], twiddles: &[Vec<f64>; 2], factor: f64) {
    let count = twiddles[0].len();
    let (low, rest) = line.split_at_mut(count);
    let high = rest.split_at_mut(rest.len() - count).1;
    let (low, low_rest) = low.as_chunks_mut::<LANES>();
    let (high_rest, high) = high.as_rchunks_mut::<LANES>();
    let [(re, re_rest), (im, im_rest)] = [0, 1].map(|part| twiddles[part].as_chunks::<LANES>());
    for (((low, high), re), im) in low.iter_mut().zip(high.iter_mut().rev()).zip(re).zip(im) {
        combine_chunk(low, high, re, im, factor);
    }
    for (((low, high), re), im) in low_rest.iter_mut().zip(high_rest.iter_mut().rev()).zip(re_rest).zip(im_rest) {
        combine_chunk(std::array::from_mut(low), std::array::from_mut(high), &[*re], &[*im], factor);
    }
}

#[inline(always)]
fn combine_chunk<F: Real, const N: usize>(
    low: &mut [Complex<F>; N],
    high: &mut [Complex<F>; N],
    re: &[f64; N],
    im: &[f64; N],
    factor: f64,
) {
    let a = [low.map(|z| factor * z.re.to_double()), low.map(|z| factor * z.im.to_double())];
    let mut b = [high.map(|z| factor * z.re.to_double()), high.map(|z| -factor * z.im.to_double())];
    b.iter_mut().for_each(|part| part.reverse());
    let (mut sums, mut differences) = ([[F::zero(); N]; 2], [[F::zero(); N]; 2]);
    for i in 0..N {
        let (sum, difference) = ([a[0][i] + b[0][i], a[1][i] + b[1][i]], [a[0][i] - b[0][i], a[1][i] - b[1][i]]);
        let turned = [re[i] * difference[0] - im[i] * difference[1], re[i] * difference[1] + im[i] * difference[0]];
        sums[0][i] = F::of_double(sum[0] + turned[0]);
        sums[1][i] = F::of_double(sum[1] + turned[1]);
        differences[0][i] = F::of_double(sum[0] - turned[0]);
        differences[1][i] = F::of_double(turned[1] - sum[1]);
    }
    for i in 0..N {
        low[i] = Complex::new(sums[0][i], sums[1][i]);
        high[N - 1 - i] = Complex::new(differences[0][i], differences[1][i]);
    }
}

vectorised! {
/// Makes the transform of half as many complex numbers, which all but the last of `line` hold, that of real ones.
fn split<F: Real>(line: &mut [Complex<F>], twiddles: &[Vec<f64>; 2]) {
    let half = line.len() - 1;
    let Complex { re, im } = line[0];
    (line[0], line[half]) = (Complex::new(re + im, F::zero()), Complex::new(re - im, F::zero()));
    if half.is_multiple_of(2) {
        line[half / 2] = line[half / 2].conj();
    }
    combine(&mut line[1..half], twiddles, 0.5);
}
}

vectorised! {
/// The inverse of [`split`], times two.
fn join<F: Real>(line: &mut [Complex<F>], twiddles: &[Vec<f64>; 2]) {
    let half = line.len() - 1;
    let (first, last) = (line[0].re, line[half].re);
    line[0] = Complex::new(first + last, first - last);
    if half.is_multiple_of(2) {
        let middle = line[half / 2].conj();
        line[half / 2] = middle + middle;
    }
    combine(&mut line[1..half], twiddles, 1.0);
}
}
