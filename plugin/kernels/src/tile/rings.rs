//! Rings: short rows of an operand that repeat in all of the domain, such as a bias, or in a long part of it, such as a
//! mean of each image.

use oxcall_hlo::ElementType;
use smallvec::SmallVec;

use super::access::Access;
use super::memory::{Memory, Slot};
use crate::by_width;

/// The most elements in a ring.
pub(super) const LONGEST_RING: usize = 512;

/// The fewest elements for which a ring is filled anew.
const FEWEST_TURNED: usize = LONGEST_RING;

/// The operands of gathered elements, with the maps to these.
pub(super) type Parts = SmallVec<[(usize, Access); 1]>;

/// The number of runs of gathered elements.
pub(super) fn runs(parts: &Parts) -> usize {
    parts.iter().map(|(_, access)| access.runs()).sum()
}

/// Elements that repeat: a register has so many copies of them that rows of machine code are long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ring {
    /// The number of elements.
    pub(super) period: usize,
    /// The number of elements of all copies.
    pub(super) width: usize,
    /// The number of elements of the domain after which others repeat, if they do.
    pub(super) turn: Option<usize>,
}

/// The ring of gathered elements, if there is one.
pub(super) fn ring(parts: &[(usize, Access)]) -> Option<Ring> {
    let [(_, access)] = parts else { return None };
    let (period, span) = access.repeated(LONGEST_RING / 2)?;
    let turn = (access.count() > span).then_some(span);
    let is_long = turn.is_none_or(|span| span >= FEWEST_TURNED);
    is_long.then_some(Ring { period, width: LONGEST_RING / period * period, turn })
}

/// A register that is a ring.
#[derive(Debug, Clone)]
pub(super) struct Register {
    pub(super) slot: Slot,
    pub(super) element: ElementType,
    pub(super) ring: Ring,
    /// The operand, with the map to its elements.
    pub(super) array: Slot,
    pub(super) access: Access,
}

impl Register {
    /// The first element from `start` on for which others repeat.
    pub(super) fn next_turn(&self, start: usize) -> usize {
        self.ring.turn.map_or(usize::MAX, |span| (start / span + 1) * span)
    }

    /// The first element up to `start` from which on the same repeat.
    pub(super) fn start(&self, start: usize) -> usize {
        self.ring.turn.map_or(0, |span| start / span * span)
    }

    /// Fills the register with what repeats around element `start` of the domain.
    pub(super) fn fill(&self, memory: &mut Memory, start: usize) {
        let start = self.start(start);
        // Registers of a small domain are as long as that.
        memory.set_registers(self.ring.width.min(self.access.count()));
        memory.with_array(self.slot, self.array, |out, array| {
            by_width!(self.element, T => {
                let (out, array) = (bytemuck::cast_slice_mut::<u8, T>(out), bytemuck::cast_slice(array));
                let (first, rest) = out.split_at_mut(self.ring.period);
                self.access.load(array, start, first);
                rest.chunks_mut(first.len()).for_each(|out| out.copy_from_slice(&first[..out.len()]));
            });
        });
    }
}
