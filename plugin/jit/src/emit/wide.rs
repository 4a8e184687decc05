//! Operations on elements of 64 bits.

use super::{Emitter, MASKS, MOVE, Registers, code, predicate, wide};
use crate::encode::{Code, Isa, Length, Operand};
use crate::ir::{Compare, Round, Shift, Value};
use crate::registers::MOST_VECTORS;
use crate::wide::{Conversion, Wide, WideBinary};

impl Emitter<'_> {
    pub(super) fn wide(&mut self, op: Wide, args: [Value; 3]) -> Registers {
        let [a, b, c] = args;
        let args = &args[..op.arity()];
        let first = self.registers(a);
        match op {
            Wide::Sqrt => self.one(wide(1, 1, 0x51), a, None),
            Wide::Round(round) => {
                let mode = match round {
                    Round::Even => 0,
                    Round::Floor => 1,
                    Round::Ceil => 2,
                    Round::Truncate => 3,
                };
                self.one(wide(1, 3, 0x09), a, Some(8 | mode))
            }
            Wide::Shift(shift, amount) => {
                let extension = if shift == Shift::Left { 6 } else { 2 };
                let result = self.result(args);
                let operand = first.map(Operand::Register);
                self.each(wide(1, 1, 0x73), [extension; MOST_VECTORS], result, operand, Some(amount));
                result
            }
            Wide::Binary(binary) => {
                let second = self.registers(b).map(Operand::Register);
                let result = self.result(args);
                self.each(wide_binary(binary), result, first, second, None);
                result
            }
            Wide::Fused => {
                const BY_231: Code = wide(1, 2, 0xb8);
                let (second, third) = (self.registers(b), self.registers(c));
                let result = if self.is_last_use(c) && c != a && c != b {
                    self.result(&[c])
                } else {
                    let result = self.take_all();
                    self.each(MOVE, result, [0; MOST_VECTORS], third.map(Operand::Register), None);
                    result
                };
                self.each(BY_231, result, first, second.map(Operand::Register), None);
                result
            }
            Wide::Compare(kind) => {
                let second = self.registers(b);
                let result = self.result(args);
                self.compare_pairs(kind, result, first, second);
                result
            }
            // Masks have all bits of both lanes, or none.
            Wide::Select => self.select([a, b, c]),
            Wide::Broadcast => {
                // VEX knows it without W.
                let code = if self.isa == Isa::Avx512 { wide(1, 2, 0x59) } else { code(1, 2, 0x59) };
                self.one(code, a, None)
            }
            Wide::Convert(conversion) => self.convert(conversion, a),
        }
    }

    /// An instruction with one operand.
    fn one(&mut self, code: Code, a: Value, immediate: Option<u8>) -> Registers {
        let operand = self.registers(a).map(Operand::Register);
        let result = self.result(&[a]);
        self.each(code, result, [0; MOST_VECTORS], operand, immediate);
        result
    }

    fn compare_pairs(&mut self, kind: Compare, result: Registers, a: Registers, b: Registers) {
        const COMPARE_DOUBLES: Code = wide(1, 1, 0xc2);
        const COMPARE_INTEGERS: Code = wide(1, 3, 0x1f);
        let (predicate, is_float) = predicate(kind);
        let b = b.map(Operand::Register);
        match self.isa {
            Isa::Avx512 => {
                let code = if is_float { COMPARE_DOUBLES } else { COMPARE_INTEGERS };
                for (vector, mask) in MASKS.into_iter().enumerate().take(self.vectors) {
                    self.assembler.compare_to_mask(code, mask, a[vector], b[vector], predicate);
                    self.assembler.mask_to_vector(result[vector], mask, true);
                }
            }
            Isa::Avx2 if is_float => self.each(COMPARE_DOUBLES, result, a, b, Some(predicate)),
            Isa::Avx2 => {
                let opcode = if kind == Compare::EqualBits { 0x29 } else { 0x37 };
                self.each(code(1, 2, opcode), result, a, b, None);
            }
        }
    }

    fn convert(&mut self, conversion: Conversion, a: Value) -> Registers {
        // The length of an instruction is that of the elements of 64 bits.
        let elements = usize::from(self.program.lanes[self.position]) / if conversion.widens() { 2 } else { 1 };
        self.assembler.set_length(self.isa.length(2 * elements));
        match conversion {
            Conversion::Low => self.low(a, elements),
            Conversion::SignExtend => self.one(code(1, 2, 0x25), a, None),
            Conversion::ZeroExtend => self.one(code(1, 2, 0x35), a, None),
            Conversion::ToDouble => self.one(code(0, 1, 0x5a), a, None),
            Conversion::ToFloat => self.one(wide(1, 1, 0x5a), a, None),
            Conversion::IntegerToDouble => self.one(code(2, 1, 0xe6), a, None),
        }
    }

    /// The low half of each pair.
    fn low(&mut self, a: Value, elements: usize) -> Registers {
        const NARROW: Code = code(2, 2, 0x35);
        const SHUFFLE: Code = code(1, 1, 0x70);
        const SHUFFLE_TWO: Code = code(0, 1, 0xc6);
        const EVEN: u8 = 0b10_00_10_00;
        let from = self.registers(a)[0];
        let result = self.result(&[a]);
        match self.isa {
            // It names its result where others have their operand.
            Isa::Avx512 => self.assembler.vector(NARROW, from, 0, Operand::Register(result[0]), None),
            Isa::Avx2 if elements <= 2 => {
                self.assembler.vector(SHUFFLE, result[0], 0, Operand::Register(from), Some(EVEN));
            }
            Isa::Avx2 => {
                const UPPER: Code = code(1, 3, 0x39);
                let upper = self.take();
                // The result is its operand here, too.
                self.assembler.long_vector(UPPER, from, Operand::Register(upper), 1);
                self.assembler.set_length(Length::Xmm);
                self.assembler.vector(SHUFFLE_TWO, result[0], from, Operand::Register(upper), Some(EVEN));
                self.give(Some(upper));
            }
        }
        result
    }
}

/// The instruction of an operation with two operands.
fn wide_binary(op: WideBinary) -> Code {
    match op {
        WideBinary::Add => wide(1, 1, 0x58),
        WideBinary::Subtract => wide(1, 1, 0x5c),
        WideBinary::Multiply => wide(1, 1, 0x59),
        WideBinary::Divide => wide(1, 1, 0x5e),
        WideBinary::AddBits => wide(1, 1, 0xd4),
        WideBinary::SubtractBits => wide(1, 1, 0xfb),
        WideBinary::MultiplyLow => wide(1, 1, 0xf4),
        WideBinary::And => code(1, 1, 0xdb),
        WideBinary::Or => code(1, 1, 0xeb),
        WideBinary::Xor => code(1, 1, 0xef),
        WideBinary::ShiftLeft => wide(1, 2, 0x47),
        WideBinary::ShiftRight => wide(1, 2, 0x45),
    }
}
