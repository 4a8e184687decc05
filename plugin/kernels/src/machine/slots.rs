//! The facts about the slots of a plan that decide how machine code may access their memory.

/// An index into the table of an execution.
pub type Slot = u32;

/// A slot.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// The size of its buffer.
    pub bytes: usize,
    /// The bytes that may be written: beyond the buffer's own, those that belong to no other.
    pub room: usize,
    /// The pair of words that the whole buffer repeats, if it is a constant that does. A buffer of one word has the
    /// same twice.
    pub pair: Option<u64>,
}

/// The facts about all slots.
#[derive(Debug)]
pub struct Slots(Vec<Known>);

impl Slots {
    /// The slots of a plan, of which these are the facts.
    pub fn new(all: Vec<Known>) -> Slots {
        Slots(all)
    }

    /// The facts about a slot.
    #[inline]
    pub fn get(&self, slot: Slot) -> Known {
        self.0[slot as usize]
    }
}

/// The pair of words that `bytes` repeats.
pub fn repeated_pair(bytes: &[u8]) -> Option<u64> {
    let word = |at: usize| -> Option<u32> { Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)) };
    let first = word(0)?;
    let second = if bytes.len().is_multiple_of(8) { word(4)? } else { first };
    let pair = u64::from(second) << 32 | u64::from(first);
    let repeats = |chunk: &[u8]| *chunk == pair.to_le_bytes()[..chunk.len()];
    (bytes.len() <= 4096 && bytes.len().is_multiple_of(4) && bytes.chunks(8).all(repeats)).then_some(pair)
}
