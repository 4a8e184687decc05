//! Transforms of two factors, by Cooley and Tukey's algorithm: by definition along one, by another plan along the
//! other.

use std::sync::Arc;

use rustfft::{Fft, FftDirection};

use super::direct::Direct;
use crate::element::Complex;
use crate::kernels::fft::Real;
use crate::kernels::fft::by_line::Line;
use crate::kernels::fft::roots::root;

/// The plan of transforms of one length.
pub(super) struct Mixed {
    outer: Direct,
    inner: Arc<dyn Fft<f64>>,
    /// By which the results along the outer factor are multiplied: `outer` for each of `inner`.
    twiddles: Vec<Complex<f64>>,
}

impl Mixed {
    /// The plan of length `outer` times `inner`.
    pub(super) fn new(outer: usize, inner: usize, direction: FftDirection) -> Mixed {
        let is_forward = direction == FftDirection::Forward;
        let twiddle = |i: usize| {
            let root = root(i / outer * (i % outer), outer * inner);
            if is_forward { root } else { root.conj() }
        };
        Mixed {
            outer: Direct::new(outer, direction),
            inner: f64::plan(inner, direction),
            twiddles: (0..outer * inner).map(twiddle).collect(),
        }
    }
}

impl Line for Mixed {
    fn len(&self) -> usize {
        self.twiddles.len()
    }

    fn direction(&self) -> FftDirection {
        self.outer.direction()
    }

    fn scratch_len(&self) -> usize {
        let inside = self.outer.scratch_len().max(self.inner.get_inplace_scratch_len());
        self.len() + 2 * self.outer.len() + inside
    }

    fn transform(&self, input: &[Complex<f64>], output: &mut [Complex<f64>], scratch: &mut [Complex<f64>]) {
        let (outer, inner) = (self.outer.len(), self.inner.len());
        let (rows, scratch) = scratch.split_at_mut(self.len());
        let (column, scratch) = scratch.split_at_mut(outer);
        let (result, scratch) = scratch.split_at_mut(outer);
        for (j, twiddles) in self.twiddles.chunks_exact(outer).enumerate() {
            column.iter_mut().zip(input[j..].iter().step_by(inner)).for_each(|(to, from)| *to = *from);
            self.outer.transform(column, result, scratch);
            for ((row, z), w) in rows.chunks_exact_mut(inner).zip(&*result).zip(twiddles) {
                row[j] = z * w;
            }
        }
        self.inner.process_with_scratch(rows, scratch);
        for (k, row) in rows.chunks_exact(inner).enumerate() {
            output[k..].iter_mut().step_by(outer).zip(row).for_each(|(to, from)| *to = *from);
        }
    }
}
