//! Runs of small steps that threads share.

use std::ops::Range;

use oxcall_kernels::pool::Cost;

/// Successive steps that threads share.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) steps: Range<usize>,
    /// The steps of each piece of work, in order. No piece uses what another writes.
    pub(crate) pieces: Vec<Box<[u32]>>,
    pub(crate) cost: Cost,
}

/// The runs of a plan.
#[derive(Debug)]
pub(crate) struct Runs {
    /// The run that begins at each step.
    pub(crate) at: Vec<Option<u32>>,
    pub(crate) runs: Vec<Run>,
}

impl Runs {
    /// The run that begins at a step.
    #[inline]
    pub(crate) fn starting(&self, step: usize) -> Option<&Run> {
        self.at.get(step).copied().flatten().map(|index| &self.runs[index as usize])
    }
}
