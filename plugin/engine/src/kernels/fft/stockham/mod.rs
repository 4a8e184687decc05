//! Transforms of `f64` of lengths with small prime factors, by Stockham's passes with exact roots.
//!
//! A pass transforms as many numbers as its radix, which are equally far apart, and turns the results. After it, what
//! belongs together is further apart by that factor, so that the last pass leaves the results in order. The parts of
//! complex numbers are in two arrays between passes, where vectors hold neighbours.

mod butterflies;
mod pass;
#[cfg(test)]
mod tests;
mod vectors;

use std::iter::repeat_n;
use std::mem::swap;

use bytemuck::{cast_slice, cast_slice_mut};
use pulp::x86::V3;
use rustfft::{Direction, Fft, FftDirection, Length};

use self::pass::Pass;
use crate::element::Complex;

/// Numbers between the arrays of the parts, which have the same place in the cache if their length is a power of two.
const GAP: usize = 16;

/// The shortest lengths for which the passes take at most about the time of rustfft: of powers of two, and of others.
const SHORTEST: [usize; 2] = [1024, 192];

/// The plan of transforms of one length.
pub(super) struct Stockham {
    simd: V3,
    len: usize,
    direction: FftDirection,
    /// Two or more.
    passes: Vec<Pass>,
}

impl Stockham {
    /// `None` if the processor lacks the vectors, if a prime factor of `len` is too large, or if `len` is so short that
    /// rustfft's transforms, which have the whole length in registers, are faster.
    pub(super) fn new(len: usize, direction: FftDirection) -> Option<Stockham> {
        if len < SHORTEST[usize::from(!len.is_power_of_two())] {
            return None;
        }
        Stockham::of_any(len, direction)
    }

    /// As `new`, for any length above 16.
    fn of_any(len: usize, direction: FftDirection) -> Option<Stockham> {
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

    fn scratch_len(&self) -> usize {
        2 * (self.len + GAP)
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

impl Length for Stockham {
    fn len(&self) -> usize {
        self.len
    }
}

impl Direction for Stockham {
    fn fft_direction(&self) -> FftDirection {
        self.direction
    }
}

impl Fft<f64> for Stockham {
    fn process_with_scratch(&self, buffer: &mut [Complex<f64>], scratch: &mut [Complex<f64>]) {
        for line in buffer.chunks_exact_mut(self.len) {
            self.start(line, scratch);
            self.finish(scratch, line);
        }
    }

    fn process_outofplace_with_scratch(
        &self,
        input: &mut [Complex<f64>],
        output: &mut [Complex<f64>],
        scratch: &mut [Complex<f64>],
    ) {
        self.process_immutable_with_scratch(input, output, scratch);
    }

    fn process_immutable_with_scratch(
        &self,
        input: &[Complex<f64>],
        output: &mut [Complex<f64>],
        scratch: &mut [Complex<f64>],
    ) {
        for (input, output) in input.chunks_exact(self.len).zip(output.chunks_exact_mut(self.len)) {
            self.start(input, scratch);
            self.finish(scratch, output);
        }
    }

    fn get_inplace_scratch_len(&self) -> usize {
        self.scratch_len()
    }

    fn get_outofplace_scratch_len(&self) -> usize {
        self.scratch_len()
    }

    fn get_immutable_scratch_len(&self) -> usize {
        self.scratch_len()
    }
}
