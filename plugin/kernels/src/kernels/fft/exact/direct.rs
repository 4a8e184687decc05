//! Transforms by definition, of short lengths.
//!
//! Sums and differences of the numbers at equal distances from the first one meet cosines and sines alone, which are
//! those of two results at once.

#![allow(clippy::needless_range_loop, reason = "lanes of several numbers at once, as they are in vectors")]

use bytemuck::cast_slice_mut;
use rustfft::FftDirection;

use crate::element::Complex;
use crate::kernels::fft::by_line::Line;
use crate::kernels::fft::roots::root;
use crate::math::elementary::fma;
use crate::math::level::{Level, with_level};

/// Sums side by side: vectors are whole.
const LANES: usize = 8;

/// The terms that are added before they meet the sum, so that it has a quarter of the roundings.
const TERMS: usize = 4;

/// The plan of transforms of one length.
pub(super) struct Direct {
    len: usize,
    direction: FftDirection,
    /// The cosines of `j k` turns of `len`, by rows of one `j` from 1 to half of `len`, for each `k` from 0 to half of
    /// it; and the sines. There are zeros up to multiples of [`TERMS`] rows and [`LANES`] columns.
    cosines: Vec<[f64; LANES]>,
    sines: Vec<[f64; LANES]>,
}

impl Direct {
    /// The plan of a length of at least 3.
    pub(super) fn new(len: usize, direction: FftDirection) -> Direct {
        let (width, rows) = ((len / 2 + 1).div_ceil(LANES), (len / 2).next_multiple_of(TERMS));
        let table = |part: fn(Complex<f64>) -> f64| {
            let element = |j: usize, k: usize| if j.max(k) <= len / 2 { part(root(j * k, len)) } else { 0.0 };
            let vector = |i: usize| std::array::from_fn(|lane| element(i / width + 1, i % width * LANES + lane));
            (0..rows * width).map(vector).collect()
        };
        Direct { len, direction, cosines: table(|root| root.re), sines: table(|root| -root.im) }
    }

    /// The number of vectors of a row.
    fn width(&self) -> usize {
        (self.len / 2 + 1).div_ceil(LANES)
    }

    #[inline(always)]
    fn sums<L: Level>(&self, input: &[Complex<f64>], sums: [&mut [[f64; LANES]]; 4]) {
        let (len, width) = (self.len, self.width());
        let [even_re, even_im, odd_re, odd_im] = sums;
        even_re.fill([input[0].re; LANES]);
        even_im.fill([input[0].im; LANES]);
        odd_re.fill([0.0; LANES]);
        odd_im.fill([0.0; LANES]);
        for first in (1..=len / 2).step_by(TERMS) {
            // The middle number of an even length has no partner.
            let pair = |j: usize, sign: f64| match j {
                _ if j > len / 2 => Complex::new(0.0, 0.0),
                _ if 2 * j == len && sign < 0.0 => Complex::new(0.0, 0.0),
                _ if 2 * j == len => input[j],
                _ => input[j] + input[len - j] * sign,
            };
            let [sum, difference] = [1.0, -1.0].map(|sign| std::array::from_fn(|term| pair(first + term, sign)));
            let rows = (first - 1) * width..(first - 1 + TERMS) * width;
            add::<L>([even_re, even_im], &self.cosines[rows.clone()], sum);
            add::<L>([odd_re, odd_im], &self.sines[rows], difference);
        }
    }
}

/// Adds to each sum the products of its column and the factors, whose parts have a sum each.
#[inline(always)]
fn add<L: Level>([re, im]: [&mut [[f64; LANES]]; 2], rows: &[[f64; LANES]], factors: [Complex<f64>; TERMS]) {
    let width = re.len();
    let row = |term: usize| &rows[term * width..][..width];
    let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
    for (k, (re, im)) in re.iter_mut().zip(im).enumerate() {
        let terms = [&a[k], &b[k], &c[k], &d[k]];
        *re = plus::<L>(*re, terms, factors.map(|factor| factor.re));
        *im = plus::<L>(*im, terms, factors.map(|factor| factor.im));
    }
}

/// A vector, more by the sum of the products. Each loop is one instruction.
#[inline(always)]
fn plus<L: Level>(mut sum: [f64; LANES], terms: [&[f64; LANES]; TERMS], factors: [f64; TERMS]) -> [f64; LANES] {
    let mut part = [0.0; LANES];
    for lane in 0..LANES {
        part[lane] = terms[0][lane] * factors[0];
    }
    for term in 1..TERMS {
        for lane in 0..LANES {
            part[lane] = fma::<L, f64>(terms[term][lane], factors[term], part[lane]);
        }
    }
    for lane in 0..LANES {
        sum[lane] += part[lane];
    }
    sum
}

impl Line for Direct {
    fn len(&self) -> usize {
        self.len
    }

    fn direction(&self) -> FftDirection {
        self.direction
    }

    fn scratch_len(&self) -> usize {
        2 * LANES * self.width()
    }

    fn transform(&self, input: &[Complex<f64>], output: &mut [Complex<f64>], scratch: &mut [Complex<f64>]) {
        let (len, width) = (self.len, self.width());
        let input = &input[..len];
        let sums: &mut [f64] = &mut cast_slice_mut(scratch)[..4 * LANES * width];
        let (even, odd) = sums.as_chunks_mut::<LANES>().0.split_at_mut(2 * width);
        let ((even_re, even_im), (odd_re, odd_im)) = (even.split_at_mut(width), odd.split_at_mut(width));
        with_level!(L => L::enter(
            #[inline(always)]
            || self.sums::<L>(input, [&mut *even_re, &mut *even_im, &mut *odd_re, &mut *odd_im])
        ));
        let sign = if self.direction == FftDirection::Forward { 1.0 } else { -1.0 };
        let [even_re, even_im] = [&*even_re, even_im].map(<[[f64; LANES]]>::as_flattened);
        let [odd_re, odd_im] = [&*odd_re, odd_im].map(<[[f64; LANES]]>::as_flattened);
        output[0] = Complex::new(even_re[0], even_im[0]);
        for k in 1..=len / 2 {
            // -i times the sum of sines.
            let (re, im) = (sign * odd_im[k], -sign * odd_re[k]);
            output[k] = Complex::new(even_re[k] + re, even_im[k] + im);
            output[len - k] = Complex::new(even_re[k] - re, even_im[k] - im);
        }
    }
}
