//! The code of a run.

use std::sync::Arc;

use oxcall_jit::Kernel;
use smallvec::SmallVec;

use super::chain::{Chain, Place};

/// The code of a run.
#[derive(Debug, Clone)]
pub(super) enum Run {
    /// Instructions that are interpreted, one block at a time.
    Chain(Chain),
    /// Machine code.
    Generated(Arc<Kernel>),
}

impl Run {
    /// The number of elements in a block.
    pub(super) fn block(&self) -> usize {
        match self {
            Run::Chain(chain) => chain.block(),
            Run::Generated(kernel) => kernel.block(),
        }
    }

    /// Computes `count` elements, which are whole blocks.
    ///
    /// # Safety
    /// Places that advance point to `count` elements, others to one block, all initialised; places that are stored to
    /// may be written. No other place overlaps these, unless it starts at the same address and advances alike.
    pub(super) unsafe fn run(&self, places: &[Place], count: usize) {
        match self {
            // SAFETY: as the caller promises.
            Run::Chain(chain) => unsafe { chain.run(places, count / chain.block()) },
            Run::Generated(kernel) => {
                let arrays: SmallVec<[*mut u8; 16]> = places.iter().map(|place| place.data).collect();
                // SAFETY: as the caller promises; slots have the widths of the elements that the code was made for,
                // and no slot that a run reads is one that it writes.
                unsafe { kernel.run(&arrays, count) };
            }
        }
    }
}
