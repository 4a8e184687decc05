//! Elements of 128 bits: each of their two parts, of 64 bits, is a value of its own.

use crate::ir::{Builder, Op, Program, Value};

/// A part of an element of 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// That at the lower address.
    First,
    /// The other.
    Second,
}

impl Part {
    pub(crate) const BOTH: [Part; 2] = [Part::First, Part::Second];

    pub(crate) fn other(self) -> Part {
        match self {
            Part::First => Part::Second,
            Part::Second => Part::First,
        }
    }

    /// The offset in an element, in bytes.
    pub(crate) fn offset(self) -> usize {
        match self {
            Part::First => 0,
            Part::Second => 8,
        }
    }
}

impl Program {
    /// Whether any array has elements of 128 bits.
    pub(crate) fn has_parts(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::LoadPart { .. } | Op::SplatPart { .. } | Op::Join(_)))
    }
}

impl Builder {
    /// Elements of 128 bits of two values of 64 bits: the part at the lower address, and the other.
    pub fn joined(&self, parts: [Value; 2]) -> Value {
        self.push(Op::Join(parts))
    }

    /// The parts of elements of 128 bits.
    ///
    /// # Panics
    /// If the elements have another width.
    pub fn parts(&self, value: Value) -> [Value; 2] {
        match self.op(value) {
            Op::Join(parts) => parts,
            op => panic!("{op:?} has no elements of 128 bits"),
        }
    }
}
