//! Shifts and rotations by constants.

use super::{Emitter, Registers};
use crate::encode::{Code, Isa, Operand, code, wide};
use crate::ir::{Shift, Value, Width};
use crate::registers::MOST_VECTORS;

impl Emitter<'_> {
    /// Shifts elements of a width of at least 16 bits.
    pub(super) fn shift(&mut self, kind: Shift, a: Value, amount: u8, width: Width) -> Registers {
        let from = self.registers(a);
        let result = self.result(&[a]);
        if kind == Shift::Rotate {
            self.rotated(from, result, amount, width);
        } else {
            let (code, field) = shifting(kind, width);
            self.each(code, field, result, from.map(Operand::Register), Some(amount));
        }
        result
    }

    /// Rotates elements, into registers that may be the same.
    fn rotated(&mut self, from: Registers, result: Registers, amount: u8, width: Width) {
        const BYTES: Code = code(1, 2, 0x00);
        const OR: Code = code(1, 1, 0xeb);
        let operand = from.map(Operand::Register);
        match self.isa {
            Isa::Avx512 => {
                let rotate = Code { is_wide: width == Width::Pair, ..code(1, 1, 0x72) };
                self.each(rotate, [1; MOST_VECTORS], result, operand, Some(amount));
            }
            Isa::Avx2 if amount.is_multiple_of(8) && width == Width::Word => {
                self.each(BYTES, result, from, [Operand::Rotated(amount / 8); MOST_VECTORS], None);
            }
            Isa::Avx2 => {
                let (left, [up, ..]) = shifting(Shift::Left, width);
                let (right, [down, ..]) = shifting(Shift::Right, width);
                let entered = self.take();
                for (result, operand) in result.into_iter().zip(operand).take(self.vectors) {
                    let rest = 8 * width.bytes() as u8 - amount;
                    self.assembler.vector(right, down, entered, operand, Some(rest));
                    self.assembler.vector(left, up, result, operand, Some(amount));
                    self.assembler.vector(OR, result, result, Operand::Register(entered), None);
                }
                self.give(Some(entered));
            }
        }
    }
}

/// The instruction that shifts elements of a width, and what it has in the field of the first register.
fn shifting(kind: Shift, width: Width) -> (Code, Registers) {
    let code = match width {
        Width::Byte | Width::Half | Width::Float16 => code(1, 1, 0x71),
        Width::Word => code(1, 1, 0x72),
        Width::Pair | Width::Quad => wide(1, 1, 0x73),
    };
    let field = match kind {
        Shift::Left => 6,
        Shift::Right => 2,
        Shift::RightArithmetic => 4,
        Shift::Rotate => unreachable!("rotations have instructions of their own"),
    };
    (code, [field; MOST_VECTORS])
}
