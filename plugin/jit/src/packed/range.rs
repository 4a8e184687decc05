//! Ranges of integers.

use crate::ir::{Binary, Shift};

/// The least and the greatest number that a lane of 32 bits may have, as signed integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    low: i64,
    high: i64,
}

impl Range {
    /// All numbers.
    pub(super) const ALL: Range = Range { low: i32::MIN as i64, high: i32::MAX as i64 };

    /// No bits or all bits.
    pub(super) const MASK: Range = Range { low: -1, high: 0 };

    /// That of one number.
    pub(super) fn of(bits: u32) -> Range {
        let number = i64::from(bits.cast_signed());
        Range { low: number, high: number }
    }

    /// Unsigned integers of so many bits, fewer than 32.
    pub(super) fn unsigned(bits: u32) -> Range {
        Range { low: 0, high: (1 << bits) - 1 }
    }

    /// Signed integers of so many bits, at least 1.
    pub(super) fn signed(bits: u32) -> Range {
        let half = 1 << (bits - 1);
        Range { low: -half, high: half - 1 }
    }

    /// Whether it has all numbers of another.
    pub(super) fn contains(self, other: Range) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// Whether no number is above one of another.
    pub(super) fn is_below(self, other: Range) -> bool {
        self.high <= other.low
    }

    /// The numbers of both.
    pub(super) fn or(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// This range, or all numbers if it has some that wrap around.
    fn wrapped(self) -> Range {
        if Range::ALL.contains(self) { self } else { Range::ALL }
    }

    fn is_unsigned(self) -> bool {
        self.low >= 0
    }

    /// That of a number shifted by less than 32.
    pub(super) fn shifted(self, kind: Shift, amount: u8) -> Range {
        match kind {
            Shift::Left => Range { low: self.low << amount, high: self.high << amount }.wrapped(),
            Shift::Right if !self.is_unsigned() && amount == 0 => self,
            Shift::Right if !self.is_unsigned() => Range::unsigned(32 - u32::from(amount)),
            Shift::Right | Shift::RightArithmetic => Range { low: self.low >> amount, high: self.high >> amount },
            Shift::Rotate => Range::ALL,
        }
    }

    /// That of the result of an operation on integers.
    pub(super) fn binary(kind: Binary, [a, b]: [Range; 2]) -> Range {
        match kind {
            Binary::AddBits => Range { low: a.low + b.low, high: a.high + b.high }.wrapped(),
            Binary::SubtractBits => Range { low: a.low - b.high, high: a.high - b.low }.wrapped(),
            Binary::MultiplyBits => {
                let corners = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
                let [low, high] = [corners.iter().min(), corners.iter().max()].map(Option::<&i64>::copied);
                low.zip(high).map_or(Range::ALL, |(low, high)| Range { low, high }.wrapped())
            }
            Binary::MinSigned => Range { low: a.low.min(b.low), high: a.high.min(b.high) },
            Binary::MaxSigned => Range { low: a.low.max(b.low), high: a.high.max(b.high) },
            Binary::And => match (a.is_unsigned(), b.is_unsigned()) {
                (true, true) => Range { low: 0, high: a.high.min(b.high) },
                (true, false) => Range { low: 0, high: a.high },
                (false, true) => Range { low: 0, high: b.high },
                (false, false) => a.of_bits(b),
            },
            Binary::AndNot if b.is_unsigned() => Range { low: 0, high: b.high },
            Binary::AndNot | Binary::Or | Binary::Xor => a.of_bits(b),
            _ => Range::ALL,
        }
    }

    /// That of logic on the bits of two numbers: those of the longer one.
    fn of_bits(self, other: Range) -> Range {
        let bits = |number: i64| i64::BITS - (if number < 0 { !number } else { number }).leading_zeros();
        let most = [self.low, self.high, other.low, other.high].map(bits).into_iter().max().unwrap_or(31);
        if self.is_unsigned() && other.is_unsigned() { Range::unsigned(most) } else { Range::signed(most + 1) }
    }
}
