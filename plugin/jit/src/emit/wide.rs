//! Operations on elements of 64 bits.

use super::{Emitter, Registers, binary as word_binary, code, rounding, wide};
use crate::encode::{Code, Isa, Length, Operand};
use crate::ir::{Value, Width};
use crate::registers::MOST_VECTORS;
use crate::wide::{Conversion, Shuffle, Wide, WideBinary};

impl Emitter<'_> {
    pub(super) fn wide(&mut self, op: Wide, args: [Value; 3]) -> Registers {
        let [a, b, c] = args;
        match op {
            Wide::Sqrt => self.one(wide(1, 1, 0x51), a, None),
            Wide::Round(round) => self.one(wide(1, 3, 0x09), a, Some(rounding(round))),
            Wide::Shift(kind, amount) => self.shift(kind, a, amount, Width::Pair),
            Wide::Binary(binary) => self.two(wide_binary(binary), [a, b], Width::Pair),
            Wide::Fused => self.fused([a, b, c], Width::Pair),
            Wide::Compare(kind) => self.compare(kind, [a, b], Width::Pair),
            // Masks have all bits of both lanes, or none.
            Wide::Select => self.select([a, b, c]),
            Wide::Broadcast => {
                // VEX knows it without W.
                let code = if self.isa == Isa::Avx512 { wide(1, 2, 0x59) } else { code(1, 2, 0x59) };
                self.one(code, a, None)
            }
            Wide::Convert(conversion) => self.convert(conversion, a),
            Wide::Words(binary) => self.two(word_binary(binary), [a, b], Width::Word),
            Wide::FusedWords => self.fused([a, b, c], Width::Word),
            Wide::Shuffle(shuffle) => {
                let places = match shuffle {
                    Shuffle::Low => 0b10_10_00_00,
                    Shuffle::High => 0b11_11_01_01,
                    Shuffle::Swap => 0b10_11_00_01,
                };
                self.one(code(1, 1, 0x70), a, Some(places))
            }
        }
    }

    /// An instruction with one operand.
    fn one(&mut self, code: Code, a: Value, immediate: Option<u8>) -> Registers {
        let operand = self.registers(a).map(Operand::Register);
        let result = self.result(&[a]);
        self.each(code, result, [0; MOST_VECTORS], operand, immediate);
        result
    }

    fn convert(&mut self, conversion: Conversion, a: Value) -> Registers {
        // The length of an instruction is that of the elements of 64 bits.
        let elements = self.lanes(self.position) / if conversion.widens() { 2 } else { 1 };
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
        let from = self.registers(a);
        let result = self.result(&[a]);
        match self.isa {
            // Its result is in the field where others have their operand.
            Isa::Avx512 => self.each(NARROW, from, [0; MOST_VECTORS], result.map(Operand::Register), None),
            Isa::Avx2 if elements <= 2 => {
                self.each(SHUFFLE, result, [0; MOST_VECTORS], from.map(Operand::Register), Some(EVEN));
            }
            Isa::Avx2 => {
                const UPPER: Code = code(1, 3, 0x39);
                let upper = self.take();
                let length = self.assembler.set_length(Length::Xmm);
                for (from, result) in from.into_iter().zip(result).take(self.vectors) {
                    // This one, too, has its result in the field of the operand.
                    self.assembler.long_vector(UPPER, from, Operand::Register(upper), 1);
                    self.assembler.vector(SHUFFLE_TWO, result, from, Operand::Register(upper), Some(EVEN));
                }
                self.assembler.set_length(length);
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
        WideBinary::Smaller => wide(1, 1, 0x5d),
        WideBinary::Larger => wide(1, 1, 0x5f),
        WideBinary::AddBits => wide(1, 1, 0xd4),
        WideBinary::SubtractBits => wide(1, 1, 0xfb),
        WideBinary::MultiplyLow => wide(1, 1, 0xf4),
        WideBinary::And => wide(1, 1, 0xdb),
        WideBinary::Or => wide(1, 1, 0xeb),
        WideBinary::Xor => wide(1, 1, 0xef),
        WideBinary::ShiftLeft => wide(1, 2, 0x47),
        WideBinary::ShiftRight => wide(1, 2, 0x45),
    }
}
