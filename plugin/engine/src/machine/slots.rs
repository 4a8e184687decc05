//! The facts about the slots of a plan that decide how machine code may access their memory.

use crate::memory::BUFFER_ALIGN;
use crate::plan::{Allocation, Slot, Step};

/// A slot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// The size of its buffer.
    pub(crate) bytes: usize,
    /// The bytes that may be written: beyond the buffer's own, those that belong to no other.
    pub(crate) room: usize,
    /// The pair of words that the whole buffer repeats, if it is a constant that does. A buffer of one word has the
    /// same twice.
    pub(crate) pair: Option<u64>,
}

/// The facts about all slots.
#[derive(Debug)]
pub(crate) struct Slots(Vec<Known>);

impl Slots {
    /// The slots of a plan with these steps; `constant` gives the bytes of a constant.
    pub(crate) fn new<'a>(
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
        Slots(all)
    }

    pub(crate) fn get(&self, slot: Slot) -> Known {
        self.0[slot as usize]
    }
}

/// The pair of words that `bytes` repeats.
fn repeated_pair(bytes: &[u8]) -> Option<u64> {
    let word = |at: usize| -> Option<u32> { Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)) };
    let first = word(0)?;
    let second = if bytes.len().is_multiple_of(8) { word(4)? } else { first };
    let pair = u64::from(second) << 32 | u64::from(first);
    let repeats = |chunk: &[u8]| *chunk == pair.to_le_bytes()[..chunk.len()];
    (bytes.len() <= 4096 && bytes.len().is_multiple_of(4) && bytes.chunks(8).all(repeats)).then_some(pair)
}
