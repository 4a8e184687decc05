//! Transforms of `f64` of lengths with small prime factors, by Stockham's passes with exact roots.
//!
//! A pass transforms as many numbers as its radix, which are equally far apart, and turns the results. After it, what
//! belongs together is further apart by that factor, so that the last pass leaves the results in order. The parts of
//! complex numbers are in two arrays between passes, where vectors hold neighbours.

mod butterflies;
mod pass;
#[cfg(test)]
pub(super) mod tests;
mod vectors;

use std::iter::repeat_n;
use std::mem::swap;

use bytemuck::{cast_slice, cast_slice_mut};
use pulp::x86::V3;
use rustfft::FftDirection;

use self::pass::Pass;
use super::by_line::Line;
use crate::element::Complex;

/// Numbers between the arrays of the parts, which have the same place in the cache if their length is a power of two.
const GAP: usize = 16;

/// The shortest length: there are at least two passes.
const SHORTEST: usize = 17;

/// The plan of transforms of one length.
pub(super) struct Stockham {
    simd: V3,
    len: usize,
    direction: FftDirection,
    /// Two or more.
    passes: Vec<Pass>,
}

impl Stockham {
    /// Whether the processor has AVX2.
    pub(super) fn is_supported() -> bool {
        V3::try_new().is_some()
    }

    /// `None` if the processor lacks the vectors, if a prime factor of `len` is above 13, or if there would be one
    /// pass.
    pub(super) fn new(len: usize, direction: FftDirection) -> Option<Stockham> {
        if len < SHORTEST {
            return None;
        }
        let (simd, radices) = (V3::try_new()?, radices(len)?);
        let mut inner = 1;
        let passes = radices.into_iter().map(|radix| {
            let pass = Pass::new(radix, inner, len / (inner * radix));
            inner *= radix;
            pass
        });
        let passes = passes.collect();
        Some(Stockham { simd, len, direction, passes })
    }

    /// The transform of a line into `scratch`, up to the last pass.
    fn start(&self, input: &[Complex<f64>], scratch: &mut [Complex<f64>]) {
        let [mut from, mut to] = self.arrays(scratch);
        let inverse = self.direction == FftDirection::Inverse;
        let (first, rest) = (&self.passes[0], &self.passes[1..self.passes.len() - 1]);
        first.run_first(self.simd, cast_slice(input), &mut to, inverse);
        for pass in rest {
            swap(&mut from, &mut to);
            pass.run_inner(self.simd, [&*from[0], &*from[1]], &mut to);
        }
    }

    /// The last pass, from `scratch`.
    fn finish(&self, scratch: &mut [Complex<f64>], output: &mut [Complex<f64>]) {
        let inverse = self.direction == FftDirection::Inverse;
        let [even, odd] = self.arrays(scratch);
        let from = if self.passes.len().is_multiple_of(2) { odd } else { even };
        self.passes[self.passes.len() - 1].run_last(
            self.simd,
            from.map(|part| &*part),
            cast_slice_mut(output),
            inverse,
        );
    }

    /// Twice two arrays of parts.
    fn arrays<'a>(&self, scratch: &'a mut [Complex<f64>]) -> [[&'a mut [f64]; 2]; 2] {
        let (a, b) = cast_slice_mut(&mut scratch[..self.scratch_len()]).split_at_mut(self.scratch_len());
        [a, b].map(|half: &'a mut [f64]| {
            let (re, im) = half.split_at_mut(self.scratch_len() / 2);
            [&mut re[..self.len], &mut im[..self.len]]
        })
    }
}

/// The radices of the passes.
fn radices(len: usize) -> Option<Vec<usize>> {
    let twos = len.trailing_zeros() as usize;
    let mut rest = len >> twos;
    // Powers of two first, so that rows have whole vectors in the other passes; a single 2 does not do that.
    let mut out = if twos % 2 == 1 && twos > 1 { vec![8] } else { Vec::new() };
    out.extend(repeat_n(4, twos / 2 - out.len()));
    for radix in [13, 11, 9, 7, 5, 3] {
        while rest.is_multiple_of(radix) {
            out.push(radix);
            rest /= radix;
        }
    }
    out.extend((twos == 1).then_some(2));
    (rest == 1).then_some(out)
}

impl Line for Stockham {
    fn len(&self) -> usize {
        self.len
    }

    fn direction(&self) -> FftDirection {
        self.direction
    }

    fn scratch_len(&self) -> usize {
        2 * (self.len + GAP)
    }

    fn transform(&self, input: &[Complex<f64>], output: &mut [Complex<f64>], scratch: &mut [Complex<f64>]) {
        self.start(input, scratch);
        self.finish(scratch, output);
    }

    fn in_place_scratch_len(&self) -> usize {
        self.scratch_len()
    }

    fn transform_in_place(&self, line: &mut [Complex<f64>], scratch: &mut [Complex<f64>]) {
        self.start(line, scratch);
        self.finish(scratch, line);
    }
}
