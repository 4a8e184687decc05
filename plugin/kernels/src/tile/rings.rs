//! Rings: short rows of an operand that repeat in all of the domain, such as a bias.

use smallvec::SmallVec;

use super::access::Access;

/// The most elements in a ring.
pub(super) const LONGEST_RING: usize = 512;

/// The operands of gathered elements, with the maps to these.
pub(super) type Parts = SmallVec<[(usize, Access); 1]>;

/// The number of runs of gathered elements.
pub(super) fn runs(parts: &Parts) -> usize {
    parts.iter().map(|(_, access)| access.runs()).sum()
}

/// Elements that repeat: a register has so many copies of them that rows of machine code are long.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ring {
    /// The first element in the operand.
    pub(super) first: usize,
    /// The number of elements.
    pub(super) period: usize,
    /// The number of elements of all copies.
    pub(super) width: usize,
}

/// The ring of gathered elements, if there is one.
pub(super) fn ring(parts: &[(usize, Access)]) -> Option<Ring> {
    let [(_, access)] = parts else { return None };
    let (first, period) = access.period().filter(|(_, period)| *period <= LONGEST_RING / 2)?;
    Some(Ring { first, period, width: LONGEST_RING / period * period })
}
