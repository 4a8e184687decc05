//! Comparisons and selections.

use super::{Emitter, Registers};
use crate::encode::{Code, Isa, Operand, by_width, code, wide};
use crate::ir::{Compare, Op, Value, Width};
use crate::registers::MOST_VECTORS;
use crate::wide::Wide;

/// The mask registers of the vectors of a comparison.
const MASKS: [u8; MOST_VECTORS] = [1, 2, 3, 4];

impl Emitter<'_> {
    /// Compares elements of a width into masks.
    pub(super) fn compare(&mut self, kind: Compare, args: [Value; 2], width: Width) -> Registers {
        let [a, b] = args;
        let a = self.registers(a);
        let b = self.operands_of(b, width);
        let result = self.result(&args);
        match (self.isa, predicate(kind)) {
            (Isa::Avx512, _) => {
                self.compare_to_masks(kind, a, b, width);
                for (vector, mask) in MASKS.into_iter().enumerate().take(self.vectors) {
                    self.assembler.mask_to_vector(result[vector], mask, width);
                }
            }
            (Isa::Avx2, (predicate, true)) => self.each(compare_floats(width), result, a, b, Some(predicate)),
            (Isa::Avx2, _) => {
                let is_equal = kind == Compare::EqualBits;
                let code = match width {
                    Width::Byte => code(1, 1, if is_equal { 0x74 } else { 0x64 }),
                    Width::Half | Width::Float16 => code(1, 1, if is_equal { 0x75 } else { 0x65 }),
                    Width::Word => code(1, 1, if is_equal { 0x76 } else { 0x66 }),
                    Width::Pair | Width::Quad => code(1, 2, if is_equal { 0x29 } else { 0x37 }),
                };
                self.each(code, result, a, b, None);
            }
        }
        result
    }

    /// Compares into mask registers: AVX-512 only.
    fn compare_to_masks(&mut self, kind: Compare, a: Registers, b: [Operand; MOST_VECTORS], width: Width) {
        let (predicate, is_float) = predicate(kind);
        let integers = by_width(width, code(1, 3, 0x3f), code(1, 3, 0x1f));
        let code = if is_float { compare_floats(width) } else { integers };
        for (vector, mask) in MASKS.into_iter().enumerate().take(self.vectors) {
            self.assembler.compare_to_mask(code, mask, a[vector], b[vector], predicate);
        }
    }

    /// Whether only the selection right after it reads the comparison at `position`, so that the mask can stay in a
    /// mask register.
    pub(super) fn is_joined(&self, position: usize) -> bool {
        let mask = Value(position as u32);
        let ops = &self.program.ops;
        let ((Op::Compare(..) | Op::PackedCompare(..), Some(&Op::Select([choice, a, b])))
        | (Op::Wide(Wide::Compare(_), _), Some(&Op::Wide(Wide::Select, [choice, a, b])))) =
            (ops[position], ops.get(position + 1))
        else {
            return false;
        };
        self.isa == Isa::Avx512 && self.lifetimes.count(mask) == 1 && choice == mask && a != mask && b != mask
    }

    /// A selection by the comparison before it: AVX-512 only.
    pub(super) fn choose(&mut self, a: Value, b: Value) -> Registers {
        let (kind, x, y, width) = match self.program.ops[self.position - 1] {
            Op::Compare(kind, [x, y]) => (kind, x, y, Width::Word),
            Op::PackedCompare(packing, kind, [x, y]) => (kind, x, y, packing.width()),
            Op::Wide(Wide::Compare(kind), [x, y, _]) => (kind, x, y, Width::Pair),
            _ => unreachable!("the operation before is a comparison"),
        };
        let first = self.registers(x);
        let second = self.operands_of(y, width);
        let (yes, no) = (self.operands_of(a, width), self.registers(b));
        self.compare_to_masks(kind, first, second, width);
        let result = self.result(&[a, b, x, y]);
        for (vector, mask) in MASKS.into_iter().enumerate().take(self.vectors) {
            self.assembler.blend_by_mask(result[vector], mask, no[vector], yes[vector], width);
        }
        result
    }

    pub(super) fn select(&mut self, args: [Value; 3]) -> Registers {
        let [mask, a, b] = args;
        let choice = self.registers(mask);
        match self.isa {
            Isa::Avx2 => {
                // By the sign of each word, or of each byte.
                let blend = code(1, 3, if self.program.packing.is_none() { 0x4a } else { 0x4c });
                let no = self.registers(b);
                let yes = self.operands(a);
                let result = self.result(&args);
                for vector in 0..self.vectors {
                    let immediate = Some(choice[vector] << 4);
                    self.assembler.vector(blend, result[vector], no[vector], yes[vector], immediate);
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
fn compare_floats(width: Width) -> Code {
    if width == Width::Pair { wide(1, 1, 0xc2) } else { code(0, 1, 0xc2) }
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
