//! Transforms of real numbers: of an even length by complex numbers of half of it, of an odd length by complex numbers.
//!
//! Neighbours become the parts of complex numbers, whose transform `z` is that of the even places plus `i` times that of
//! the odd ones. Both are told apart by symmetry, and joined, in double precision: what that step rounds is its result.

use std::sync::Arc;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};

use super::Real;
use crate::element::Complex;
use crate::kernels::simd::vectorised;

/// A transform from real numbers, or back to them without a factor.
pub(super) struct RealPlan<F: FftNum + Pod> {
    len: usize,
    /// Of `len`, or if that is even of half as many.
    complex: Arc<dyn Fft<F>>,
    /// -i e^(-2 pi i k / len), for a k from 1 to below a quarter of `len`; empty if that is odd.
    twiddles: Vec<Complex<f64>>,
}

impl<F: Real> RealPlan<F> {
    pub(super) fn new(len: usize, direction: FftDirection) -> RealPlan<F> {
        let (complex, quarter) = if len.is_multiple_of(2) { (len / 2, len.div_ceil(4)) } else { (len, 0) };
        let twiddles = (1..quarter).map(|k| twiddle(k, len)).collect();
        RealPlan { len, complex: FftPlanner::new().plan_fft(complex, direction), twiddles }
    }

    /// The number of real numbers.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The number of complex ones.
    pub(super) fn complex_len(&self) -> usize {
        self.len / 2 + 1
    }

    fn is_even(&self) -> bool {
        self.len.is_multiple_of(2)
    }

    /// The elements of scratch that a line takes.
    pub(super) fn scratch_len(&self) -> usize {
        match self.is_even() {
            true => self.complex.get_immutable_scratch_len(),
            false => self.len + self.complex.get_inplace_scratch_len(),
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

/// -i e^(-2 pi i k / len) of a k below a quarter of `len`: the sine and cosine of an angle of at most pi / 4, since a larger
/// one is rounded more.
fn twiddle(k: usize, len: usize) -> Complex<f64> {
    let angle = |k: usize| std::f64::consts::TAU * (k as f64 / len as f64);
    let (sin, cos) = if 8 * k <= len {
        angle(k).sin_cos()
    } else {
        // Of what is left to a quarter turn, in quarters of a place.
        let (sin, cos) = (angle(len - 4 * k) / 4.0).sin_cos();
        (cos, sin)
    };
    Complex::new(-sin, -cos)
}

#[inline(always)]
fn wide<F: Real>(z: Complex<F>) -> Complex<f64> {
    Complex::new(z.re.to_double(), z.im.to_double())
}

#[inline(always)]
fn narrow<F: Real>(z: Complex<f64>) -> Complex<F> {
    Complex::new(F::of_double(z.re), F::of_double(z.im))
}

vectorised! {
/// Makes the transform of half as many complex numbers, which all but the last of `line` hold, that of real ones.
fn split<F: Real>(line: &mut [Complex<F>], twiddles: &[Complex<f64>]) {
    let half = line.len() - 1;
    let Complex { re, im } = line[0];
    (line[0], line[half]) = (Complex::new(re + im, F::zero()), Complex::new(re - im, F::zero()));
    if half.is_multiple_of(2) {
        line[half / 2] = line[half / 2].conj();
    }
    let (low, high) = line[1..half].split_at_mut(twiddles.len());
    let high = high.iter_mut().rev();
    for ((low, high), twiddle) in low.iter_mut().zip(high).zip(twiddles) {
        let (a, b) = (wide(*low), wide(*high).conj());
        let (even, odd) = ((a + b) * 0.5, twiddle * (a - b) * 0.5);
        (*low, *high) = (narrow(even + odd), narrow((even - odd).conj()));
    }
}
}

vectorised! {
/// The other way round, times two.
fn join<F: Real>(line: &mut [Complex<F>], twiddles: &[Complex<f64>]) {
    let half = line.len() - 1;
    let (first, last) = (line[0].re, line[half].re);
    line[0] = Complex::new(first + last, first - last);
    if half > 0 && half.is_multiple_of(2) {
        let middle = line[half / 2].conj();
        line[half / 2] = middle + middle;
    }
    let (low, high) = line[1..half].split_at_mut(twiddles.len());
    let high = high.iter_mut().rev();
    for ((low, high), twiddle) in low.iter_mut().zip(high).zip(twiddles) {
        let (a, b) = (wide(*low), wide(*high).conj());
        let (even, odd) = (a + b, twiddle.conj() * (a - b));
        (*low, *high) = (narrow(even + odd), narrow((even - odd).conj()));
    }
}
}
