//! The loop over rows of a function that takes a table of them.

use super::{ADDRESS, END, Emitter, LIST, STACK};
use crate::encode::general;

/// The place on the stack of the end of the table.
const TABLE_END: i32 = STACK - 8;

/// The bytes of stack that are left for values.
pub(super) const VALUES: usize = TABLE_END as usize;

impl Emitter<'_> {
    /// Keeps the end of the table, begins the loop, and sets the end to that of the row's whole blocks.
    pub(super) fn start_rows(&mut self) -> usize {
        self.assembler.store_general(END, general::SP, TABLE_END);
        let start = self.assembler.here();
        self.assembler.load_general(END, LIST, self.counts());
        start
    }

    /// Sets the end to that of the row's elements.
    pub(super) fn load_end(&mut self) {
        self.assembler.load_general(END, LIST, self.counts() + 8);
    }

    /// Goes on with the next row, if there is one.
    pub(super) fn next_row(&mut self, start: usize) {
        self.assembler.add_general(LIST, self.counts() + 16);
        self.assembler.load_general(ADDRESS, general::SP, TABLE_END);
        self.assembler.jump_if_below(LIST, ADDRESS, start);
    }

    /// The place in a row of its numbers of elements.
    fn counts(&self) -> i32 {
        8 * self.program.arrays() as i32
    }
}
