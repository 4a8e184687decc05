//! Transforms of single lines as plans of rustfft's interface.

use rustfft::{Direction, Fft, FftDirection, Length};

use crate::element::Complex;

/// The transform of one line.
pub(super) trait Line: Send + Sync {
    fn len(&self) -> usize;
    fn direction(&self) -> FftDirection;
    /// The complex numbers of scratch that it takes.
    fn scratch_len(&self) -> usize;
    fn transform(&self, input: &[Complex<f64>], output: &mut [Complex<f64>], scratch: &mut [Complex<f64>]);

    /// The scratch of [`transform_in_place`](Line::transform_in_place).
    fn in_place_scratch_len(&self) -> usize {
        self.len() + self.scratch_len()
    }

    fn transform_in_place(&self, line: &mut [Complex<f64>], scratch: &mut [Complex<f64>]) {
        let (copy, scratch) = scratch.split_at_mut(self.len());
        copy.copy_from_slice(line);
        self.transform(copy, line, scratch);
    }
}

/// Transforms line by line.
pub(super) struct ByLine<T>(pub(super) T);

impl<T: Line> Length for ByLine<T> {
    fn len(&self) -> usize {
        self.0.len()
    }
}

impl<T: Line> Direction for ByLine<T> {
    fn fft_direction(&self) -> FftDirection {
        self.0.direction()
    }
}

impl<T: Line> Fft<f64> for ByLine<T> {
    fn process_with_scratch(&self, buffer: &mut [Complex<f64>], scratch: &mut [Complex<f64>]) {
        for line in buffer.chunks_exact_mut(self.0.len()) {
            self.0.transform_in_place(line, scratch);
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
        for (input, output) in input.chunks_exact(self.0.len()).zip(output.chunks_exact_mut(self.0.len())) {
            self.0.transform(input, output, scratch);
        }
    }

    fn get_inplace_scratch_len(&self) -> usize {
        self.0.in_place_scratch_len()
    }

    fn get_outofplace_scratch_len(&self) -> usize {
        self.0.scratch_len()
    }

    fn get_immutable_scratch_len(&self) -> usize {
        self.0.scratch_len()
    }
}
