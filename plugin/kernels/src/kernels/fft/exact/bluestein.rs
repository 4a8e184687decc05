//! Transforms as convolutions, by Bluestein's algorithm: `2 j k = j^2 + k^2 - (k - j)^2`.

use std::iter::repeat_n;

use rustfft::FftDirection;

use crate::element::Complex;
use crate::kernels::fft::by_line::Line;
use crate::kernels::fft::roots::root;
use crate::kernels::fft::stockham::Stockham;

/// The plan of transforms of one length.
pub(super) struct Bluestein {
    direction: FftDirection,
    /// e^(-i pi k^2 / n).
    chirp: Vec<Complex<f64>>,
    /// The transform of the conjugates of the chirp on both sides of 0, divided by its length.
    kernel: Vec<Complex<f64>>,
    /// The forward transform of a length of at least twice as many numbers less one.
    passes: Stockham,
}

impl Bluestein {
    /// `None` if the processor lacks the vectors of the passes.
    pub(super) fn new(len: usize, direction: FftDirection) -> Option<Bluestein> {
        let passes = Stockham::new(smooth(2 * len - 1), FftDirection::Forward)?;
        // k^2 in turns of 2 n, whose root is half of that of n.
        let chirp: Vec<_> =
            (0..len).map(|k| root((k as u128 * k as u128 % (2 * len) as u128) as usize, 2 * len)).collect();
        let size = passes.len();
        let mut kernel = vec![Complex::new(0.0, 0.0); size]; // Bounded: `make` asks for room.
        for (k, z) in chirp.iter().enumerate() {
            kernel[k] = z.conj() / size as f64;
            kernel[(size - k) % size] = kernel[k];
        }
        let mut scratch = vec![Complex::new(0.0, 0.0); passes.in_place_scratch_len()]; // Bounded: as above.
        passes.transform_in_place(&mut kernel, &mut scratch);
        Some(Bluestein { direction, chirp, kernel, passes })
    }

    /// With real and imaginary parts exchanged for an inverse transform.
    fn exchanged(&self, z: Complex<f64>) -> Complex<f64> {
        if self.direction == FftDirection::Inverse { Complex::new(z.im, z.re) } else { z }
    }
}

/// The least length of at least `len` that is a power of two, or 3, 5, 9 or 15 times one.
fn smooth(len: usize) -> usize {
    [1, 3, 5, 9, 15].into_iter().map(|odd| odd * len.div_ceil(odd).next_power_of_two()).min().unwrap_or(len)
}

impl Line for Bluestein {
    fn len(&self) -> usize {
        self.chirp.len()
    }

    fn direction(&self) -> FftDirection {
        self.direction
    }

    fn scratch_len(&self) -> usize {
        self.kernel.len() + self.passes.in_place_scratch_len()
    }

    fn transform(&self, input: &[Complex<f64>], output: &mut [Complex<f64>], scratch: &mut [Complex<f64>]) {
        let (line, scratch) = scratch.split_at_mut(self.kernel.len());
        let turned = input.iter().zip(&self.chirp).map(|(&z, w)| self.exchanged(z) * w);
        line.iter_mut()
            .zip(turned.chain(repeat_n(Complex::new(0.0, 0.0), self.kernel.len())))
            .for_each(|(to, z)| *to = z);
        self.passes.transform_in_place(line, scratch);
        // The inverse transform is the conjugate of the transform of conjugates.
        line.iter_mut().zip(&self.kernel).for_each(|(z, w)| *z = (*z * w).conj());
        self.passes.transform_in_place(line, scratch);
        for ((to, z), w) in output.iter_mut().zip(&*line).zip(&self.chirp) {
            *to = self.exchanged(z.conj() * w);
        }
    }
}
