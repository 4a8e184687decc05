//! IEEE halves, each of which has a lane of 32 bits: instructions convert halves that are packed.

use super::arrays::{narrowing, widening};
use super::{Emitter, Registers};
use crate::encode::{Code, Isa, Operand, code};
use crate::ir::{Value, Width};
use crate::registers::MOST_VECTORS;

/// From floats to packed halves: the result is in the field where others have their operand.
pub(super) const TO_PACKED: Code = code(1, 3, 0x1d);
/// From packed halves to floats.
pub(super) const OF_PACKED: Code = code(1, 2, 0x13);
/// The immediate byte of the former: to the nearest, ties to even.
pub(super) const NEAREST: Option<u8> = Some(0);

const UNUSED: Registers = [0; MOST_VECTORS];

impl Emitter<'_> {
    pub(super) fn half_of(&mut self, a: Value) -> Registers {
        let result = self.packed_halves(a);
        self.each(widening(Width::Half), result, UNUSED, result.map(Operand::Register), None);
        result
    }

    pub(super) fn rounded_to_half(&mut self, a: Value) -> Registers {
        let result = self.packed_halves(a);
        self.each(OF_PACKED, result, UNUSED, result.map(Operand::Register), None);
        result
    }

    pub(super) fn float_of_half(&mut self, a: Value) -> Registers {
        const PACK: Code = code(1, 2, 0x2b);
        let from = self.registers(a);
        let result = self.result(&[a]);
        let own = result.map(Operand::Register);
        match self.isa {
            Isa::Avx512 => self.each(narrowing(Width::Half).0, from, UNUSED, own, None),
            Isa::Avx2 => {
                self.each(PACK, result, from, from.map(Operand::Register), None);
                if self.lanes(self.position) > 4 {
                    result[..self.vectors].iter().for_each(|&register| self.join_quarters(register));
                }
            }
        }
        self.each(OF_PACKED, result, UNUSED, own, None);
        result
    }

    /// The halves nearest to floats, next to each other.
    fn packed_halves(&mut self, a: Value) -> Registers {
        let from = self.registers(a);
        let result = self.result(&[a]);
        self.each(TO_PACKED, from, UNUSED, result.map(Operand::Register), NEAREST);
        result
    }
}
