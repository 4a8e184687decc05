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
    /// The word that the whole buffer repeats, if it is a constant that does.
    pub(crate) word: Option<u32>,
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
                word: match allocation {
                    Allocation::Constant(index) => repeated_word(constant(index)),
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

/// The word that `bytes` repeats.
fn repeated_word(bytes: &[u8]) -> Option<u32> {
    let word: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    (bytes.len() <= 4096 && bytes.chunks(4).all(|each| each == word)).then(|| u32::from_le_bytes(word))
}
