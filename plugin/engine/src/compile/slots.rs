//! The facts about the slots of a plan that decide how machine code may access their memory.

use oxcall_kernels::machine::{Known, Slots, repeated_pair};
use oxcall_kernels::memory::BUFFER_ALIGN;

use crate::plan::{Allocation, Step};

/// The slots of a plan with these steps; `constant` gives the bytes of a constant.
pub(super) fn slots<'a>(
    steps: &[Step],
    allocations: &[(Allocation, usize)],
    constant: impl Fn(u32) -> &'a [u8],
) -> Slots {
    let mut all: Vec<Known> = allocations
        .iter()
        .map(|&(allocation, bytes)| Known {
            bytes,
            room: match allocation {
                Allocation::Arena(_) => bytes.next_multiple_of(BUFFER_ALIGN),
                // The allocator's sizes are multiples of 16 bytes.
                Allocation::Own(_) => bytes.next_multiple_of(16),
                _ => bytes,
            },
            pair: match allocation {
                Allocation::Constant(index) => repeated_pair(constant(index)),
                _ => None,
            },
        })
        .collect();
    // Slots that rotate may point to each other's memory.
    for step in steps {
        if let Step::Rotate(slots) = step {
            let room = slots.iter().map(|&slot| all[slot as usize].room).min().unwrap_or(0);
            slots.iter().for_each(|&slot| all[slot as usize].room = room);
        }
    }
    Slots::new(all)
}
