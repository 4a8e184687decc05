//! Comparisons and selections.

use super::{Emitter, Registers};
use crate::encode::{Code, Isa, Operand, code, wide};
use crate::ir::{Compare, Op, Value};
use crate::registers::MOST_VECTORS;
use crate::wide::Wide;

/// The mask registers of the vectors of a comparison.
const MASKS: [u8; MOST_VECTORS] = [1, 2, 3, 4];

impl Emitter<'_> {
    /// Compares words, or pairs of lanes if `is_wide` is set, into masks.
    pub(super) fn compare(
        &mut self,
        kind: Compare,
        result: Registers,
        a: Registers,
        b: [Operand; MOST_VECTORS],
        is_wide: bool,
    ) {
        match (self.isa, predicate(kind)) {
            (Isa::Avx512, _) => {
                self.compare_to_masks(kind, a, b, is_wide);
                for (vector, mask) in MASKS.into_iter().enumerate().take(self.vectors) {
                    self.assembler.mask_to_vector(result[vector], mask, is_wide);
                }
            }
            (Isa::Avx2, (predicate, true)) => self.each(compare_floats(is_wide), result, a, b, Some(predicate)),
            (Isa::Avx2, _) => {
                let code = match (kind == Compare::EqualBits, is_wide) {
                    (true, false) => code(1, 1, 0x76),
                    (true, true) => code(1, 2, 0x29),
                    (false, false) => code(1, 1, 0x66),
                    (false, true) => code(1, 2, 0x37),
                };
                self.each(code, result, a, b, None);
            }
        }
    }

    /// Compares into mask registers: AVX-512 only.
    fn compare_to_masks(&mut self, kind: Compare, a: Registers, b: [Operand; MOST_VECTORS], is_wide: bool) {
        let (predicate, is_float) = predicate(kind);
        let integers = Code { is_wide, ..code(1, 3, 0x1f) };
        let code = if is_float { compare_floats(is_wide) } else { integers };
        for (vector, mask) in MASKS.into_iter().enumerate().take(self.vectors) {
            self.assembler.compare_to_mask(code, mask, a[vector], b[vector], predicate);
        }
    }

    /// Whether only the selection right after it reads the comparison at `position`, so that the mask can stay in a
    /// mask register.
    pub(super) fn is_joined(&self, position: usize) -> bool {
        let mask = Value(position as u32);
        let ops = &self.program.ops;
        let ((Op::Compare(..), Some(&Op::Select([choice, a, b])))
        | (Op::Wide(Wide::Compare(_), _), Some(&Op::Wide(Wide::Select, [choice, a, b])))) =
            (ops[position], ops.get(position + 1))
        else {
            return false;
        };
        self.isa == Isa::Avx512 && self.lifetimes.count(mask) == 1 && choice == mask && a != mask && b != mask
    }

    /// A selection by the comparison before it: AVX-512 only.
    pub(super) fn choose(&mut self, a: Value, b: Value) -> Registers {
        let (kind, x, y, is_wide) = match self.program.ops[self.position - 1] {
            Op::Compare(kind, [x, y]) => (kind, x, y, false),
            Op::Wide(Wide::Compare(kind), [x, y, _]) => (kind, x, y, true),
            _ => unreachable!("the operation before is a comparison"),
        };
        let first = self.registers(x);
        let second = self.operands_of(y, is_wide);
        let (yes, no) = (self.operands_of(a, is_wide), self.registers(b));
        self.compare_to_masks(kind, first, second, is_wide);
        let result = self.result(&[a, b, x, y]);
        for (vector, mask) in MASKS.into_iter().enumerate().take(self.vectors) {
            self.assembler.blend_by_mask(result[vector], mask, no[vector], yes[vector], is_wide);
        }
        result
    }

    pub(super) fn select(&mut self, args: [Value; 3]) -> Registers {
        let [mask, a, b] = args;
        let choice = self.registers(mask);
        match self.isa {
            Isa::Avx2 => {
                const BLEND: Code = code(1, 3, 0x4a);
                let no = self.registers(b);
                let yes = self.operands(a);
                let result = self.result(&args);
                for vector in 0..self.vectors {
                    let immediate = Some(choice[vector] << 4);
                    self.assembler.vector(BLEND, result[vector], no[vector], yes[vector], immediate);
                }
                result
            }
            Isa::Avx512 => {
                // A function of three bits, by its truth table. The first operand is overwritten.
                const TERNARY: Code = code(1, 3, 0x25);
                if self.is_last_use(b) {
                    let yes = self.operands(a);
                    let result = self.result(&[b]);
                    self.each(TERNARY, result, choice, yes, Some(0xb8));
                    return result;
                }
                if self.is_last_use(a) {
                    let no = self.operands(b);
                    let result = self.result(&[a]);
                    self.each(TERNARY, result, choice, no, Some(0xe2));
                    return result;
                }
                let (yes, no) = (self.registers(a), self.operands(b));
                let result = self.overwritten(mask);
                self.each(TERNARY, result, yes, no, Some(0xca));
                result
            }
        }
    }
}

/// The instruction that compares floats, or doubles.
fn compare_floats(is_wide: bool) -> Code {
    if is_wide { wide(1, 1, 0xc2) } else { code(0, 1, 0xc2) }
}

/// The predicate of the instructions that have one, and whether they compare floats.
fn predicate(kind: Compare) -> (u8, bool) {
    match kind {
        Compare::Equal => (0, true),
        Compare::NotEqual => (4, true),
        Compare::Less => (0x11, true),
        Compare::LessOrEqual => (0x12, true),
        Compare::EqualBits => (0, false),
        Compare::Greater => (6, false),
    }
}
