//! The roots of groups.

use oxcall::Error;
use oxcall_hlo::RootedGroups;

use super::ParticipantBuffers;

/// The choice of a group's root.
#[derive(Debug, Clone, Copy)]
pub(super) enum Roots {
    /// The first process.
    First,
    /// The process whose place is the value of the operand with this index; the operands before it have one each.
    Given(usize),
}

impl Roots {
    /// The roots of a collective, and the number of operands that it sends or reduces.
    pub(super) fn new(groups: &RootedGroups, operands: usize) -> (Roots, usize) {
        match groups.dynamic_root.then(|| operands.checked_sub(1)).flatten() {
            Some(rest) => (Roots::Given(rest), rest),
            None => (Roots::First, operands),
        }
    }

    /// The place in the group of the root for operand `index`.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the group has no such place, or its participants give different ones.
    pub(super) fn of(self, participants: &[ParticipantBuffers<'_>], index: usize) -> Result<usize, Error> {
        let Roots::Given(operand) = self else { return Ok(0) };
        let mut roots = participants.iter().map(|participant| participant.inputs.get::<i32>(operand)[index]);
        let root = roots.next().unwrap_or_default();
        if let Some(other) = roots.find(|other| *other != root) {
            let message =
                format!("the processes of a group give different roots for operand {index}: {root} and {other}");
            return Err(Error::invalid_argument(message));
        }
        let place = usize::try_from(root).ok().filter(|&place| place < participants.len());
        place.ok_or_else(|| {
            let size = participants.len();
            Error::invalid_argument(format!(
                "the root of operand {index} is {root}; it must be at least 0 and less than {size}, the size of the group"
            ))
        })
    }
}
