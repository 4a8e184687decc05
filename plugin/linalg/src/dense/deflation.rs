//! The active part of a Hessenberg matrix in the QR algorithm, common to both Schur forms.
//!
//! Deflation is by the criterion of M. Ahues and F. Tisseur ("A new deflation criterion for the QR algorithm", LAPACK
//! Working Note 122, 1997).

use std::ops::Range;

use num_traits::{Float, Zero};

use crate::matrix::Matrix;
use crate::scalar::{Real, Scalar};

/// Sweeps for each eigenvalue before the algorithm gives up.
const SWEEPS: usize = 30;

/// After so many sweeps of one block an unusual shift is taken, which breaks cycles.
pub const EXCEPTIONAL: usize = 10;

/// Rows and columns `start..end`, beside which all is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The first row.
    pub start: usize,
    /// The row after the last.
    pub end: usize,
    /// The number of the sweep that the block is due for; `None` if it is small enough.
    pub sweep: Option<usize>,
}

/// The rows whose eigenvalues are still to be found, and the sweeps since the last was.
#[derive(Debug)]
pub struct Progress {
    rows: Range<usize>,
    end: usize,
    sweep: usize,
    most: usize,
}

impl Progress {
    /// At the beginning, with these rows and columns of a matrix.
    pub fn new(rows: Range<usize>) -> Progress {
        let most = SWEEPS * rows.len().max(10);
        Progress { end: rows.end, rows, sweep: 0, most }
    }

    /// The last block that is not done, and that has at most `small` rows if it needs no sweep; `None` at the end. The
    /// element beside it is set to zero.
    ///
    /// # Errors
    /// If the eigenvalues before this place (from 1) do not converge.
    pub fn next<T: Scalar>(&mut self, h: &mut Matrix<'_, T>, small: usize) -> Result<Option<Block>, usize> {
        let (first, end) = (self.rows.start, self.end);
        if end <= first {
            return Ok(None);
        }
        let start = (first + 1..end).rev().find(|&k| self.is_negligible(h, k)).unwrap_or(first);
        if start > first {
            h[(start, start - 1)] = T::zero();
        }
        if start + small >= end {
            (self.end, self.sweep) = (start, 0);
            return Ok(Some(Block { start, end, sweep: None }));
        }
        self.sweep += 1;
        if self.sweep > self.most {
            return Err(end);
        }
        Ok(Some(Block { start, end, sweep: Some(self.sweep) }))
    }

    /// Whether the element left of diagonal element `k` can be set to zero.
    fn is_negligible<T: Scalar>(&self, h: &Matrix<'_, T>, k: usize) -> bool {
        let (epsilon, tiny) = (<T::Part as Float>::epsilon(), <T::Part as Float>::min_positive_value());
        let least = tiny / epsilon * T::Part::of(self.rows.len() as f64);
        let below = h[(k, k - 1)].abs1();
        if below <= least {
            return true;
        }
        let (upper, lower) = (h[(k - 1, k - 1)], h[(k, k)]);
        let mut around = upper.abs1() + lower.abs1();
        if around.is_zero() {
            if k >= self.rows.start + 2 {
                around += h[(k - 1, k - 2)].abs1();
            }
            if k + 1 < self.rows.end {
                around += h[(k + 1, k)].abs1();
            }
        }
        if below > epsilon * around {
            return false;
        }
        let above = h[(k - 1, k)].abs1();
        let (larger, smaller) = (Float::max(below, above), Float::min(below, above));
        let difference = (upper - lower).abs1();
        let (most, less) = (Float::max(lower.abs1(), difference), Float::min(lower.abs1(), difference));
        let scale = most + larger;
        smaller * (larger / scale) <= Float::max(least, epsilon * (less * (most / scale)))
    }
}
