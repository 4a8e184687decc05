//! Elements that share lanes.

use super::{Emitter, LOAD, STORE};
use crate::encode::{Code, Operand, by_width, code};
use crate::ir::{Binary, Width};
use crate::packed::Packing;

impl Emitter<'_> {
    /// Stores a vector of halves as bytes: AVX2 packs them, and saturates.
    pub(super) fn store_halves_as_bytes(&mut self, register: u8, to: Operand) {
        const AND: Code = code(1, 1, 0xdb);
        const PACK: Code = code(1, 1, 0x67);
        let packed = self.take();
        let own = Operand::Register(packed);
        let low = Packing::Halves.repeated(Width::Byte.bits());
        self.assembler.vector(AND, packed, register, Operand::Constant(low), None);
        self.assembler.vector(PACK, packed, packed, own, None);
        self.join_quarters(packed);
        self.assembler.short_vector(STORE, packed, 0, to, None);
        self.give(Some(packed));
    }
}

/// The instruction that loads elements; if `is_part` is set, those that a mask register has.
pub(super) fn widening(packing: Packing, width: Width, is_part: bool) -> Code {
    match (packing.width() == width, is_part) {
        (true, false) => LOAD,
        (true, true) => by_width(width, code(3, 1, 0x6f), LOAD),
        (false, _) => code(1, 2, 0x30),
    }
}

/// The instruction that stores elements; if `is_part` is set, those that a mask register has. To narrow them, it is one
/// of AVX-512.
pub(super) fn narrowing(packing: Packing, width: Width, is_part: bool) -> Code {
    match (packing.width() == width, is_part) {
        (true, false) => STORE,
        (true, true) => by_width(width, code(3, 1, 0x7f), STORE),
        (false, _) => code(2, 2, 0x30),
    }
}

/// The instruction of an operation with two operands.
pub(super) fn binary(packing: Packing, op: Binary) -> Code {
    let [bytes, halves] = match op {
        Binary::AddBits => [code(1, 1, 0xfc), code(1, 1, 0xfd)],
        Binary::SubtractBits => [code(1, 1, 0xf8), code(1, 1, 0xf9)],
        Binary::MinSigned => [code(1, 2, 0x38), code(1, 1, 0xea)],
        Binary::MaxSigned => [code(1, 2, 0x3c), code(1, 1, 0xee)],
        Binary::MinUnsigned => [code(1, 1, 0xda), code(1, 2, 0x3a)],
        Binary::MaxUnsigned => [code(1, 1, 0xde), code(1, 2, 0x3e)],
        Binary::MultiplyBits if packing == Packing::Halves => return code(1, 1, 0xd5),
        _ => unreachable!("{op:?} of {packing:?} is not packed"),
    };
    match packing {
        Packing::Bytes => bytes,
        Packing::Halves => halves,
    }
}
