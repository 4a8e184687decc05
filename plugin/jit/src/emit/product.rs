//! The high halves of products of integers.

use super::{Emitter, Registers};
use crate::encode::{Code, Isa, Operand, code, wide};
use crate::ir::Value;

impl Emitter<'_> {
    /// The high 32 bits of products. Instructions multiply the even lanes, into pairs of lanes; the odd ones are moved
    /// there first, and their products are blended in.
    pub(super) fn high_product(&mut self, args: [Value; 2], is_signed: bool) -> Registers {
        /// A shift to the right of pairs of lanes.
        const SHIFT: Code = wide(1, 1, 0x73);
        const EXTENSION: u8 = 2;
        const BLEND: Code = code(1, 3, 0x02);
        const ODD_LANES: u8 = 0b1010_1010;
        /// A function of three bits, by its truth table: `a | b & c`.
        const TERNARY: Code = wide(1, 3, 0x25);
        const OR_AND: u8 = 0xf8;
        let multiply = if is_signed { wide(1, 2, 0x28) } else { wide(1, 1, 0xf4) };
        let [a, b] = args;
        let is_alike = self.is_invariant(b);
        let first = self.registers(a);
        let second = if is_alike { self.operands(b) } else { self.registers(b).map(Operand::Register) };
        let result = self.result(&args);
        let odd = self.take();
        let other = (!is_alike && a != b).then(|| self.take());
        for vector in 0..self.vectors {
            let (first, second, result) = (first[vector], second[vector], result[vector]);
            self.assembler.vector(SHIFT, EXTENSION, odd, Operand::Register(first), Some(32));
            let factor = match other {
                Some(other) => {
                    self.assembler.vector(SHIFT, EXTENSION, other, second, Some(32));
                    Operand::Register(other)
                }
                None if is_alike => second,
                None => Operand::Register(odd),
            };
            self.assembler.vector(multiply, odd, odd, factor, None);
            self.assembler.vector(multiply, result, first, second, None);
            self.assembler.vector(SHIFT, EXTENSION, result, Operand::Register(result), Some(32));
            match self.isa {
                Isa::Avx2 => self.assembler.vector(BLEND, result, result, Operand::Register(odd), Some(ODD_LANES)),
                Isa::Avx512 => {
                    let odd_lanes = Operand::Pair(0xffff_ffff << 32);
                    self.assembler.vector(TERNARY, result, odd, odd_lanes, Some(OR_AND));
                }
            }
        }
        self.give(Some(odd));
        self.give(other);
        result
    }
}
