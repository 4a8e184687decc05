//! Loads and stores of arrays.

use super::half::{NEAREST, OF_PACKED, TO_PACKED};
use super::tail::Access;
use super::{Emitter, LOAD, Registers, STORE, packed};
use crate::encode::{Code, Isa, Operand, code, wide};
use crate::ir::{Op, Store, Value, Width};
use crate::packed::Packing;

impl Emitter<'_> {
    pub(super) fn load(&mut self, array: u16, width: Width) -> Registers {
        let code = self.widening(width);
        let result = self.take_all();
        match self.access {
            Access::Whole => {}
            Access::Masked => {
                self.load_rest(array, width, result);
                return result;
            }
            Access::One => {
                self.load_one(array, width, result[0]);
                return result;
            }
        }
        for (vector, &register) in result[..self.vectors].iter().enumerate() {
            let from = self.element(array, width, vector);
            self.assembler.vector(code, register, 0, from, None);
        }
        result
    }

    /// Words at indices from an address: all lanes have one inside of the array, also those beyond the elements of a
    /// vector in part.
    pub(super) fn pick(&mut self, base: u8, index: Value) -> Registers {
        let indices = self.registers(index);
        let result = self.take_all();
        let mask = (self.isa == Isa::Avx2).then(|| self.take());
        for (&register, &index) in result.iter().zip(&indices).take(self.vectors) {
            self.assembler.pick_words(register, base, index, mask);
        }
        if let Some(mask) = mask {
            self.free |= 1 << mask;
            self.locked &= !(1 << mask);
        }
        result
    }

    pub(super) fn store(&mut self, store: &Store) {
        let &Store { array, width, value } = store;
        if let Op::Join(parts) = self.program.ops[value.index()] {
            return self.store_both(array, parts);
        }
        let registers = self.registers(value);
        let lanes = if width == Width::Pair { 2 * self.elements } else { self.elements };
        self.assembler.set_length(self.isa.length(lanes));
        match self.access {
            Access::Whole => {}
            Access::Masked => return self.store_rest(array, width, registers),
            Access::One => return self.store_one(array, width, registers[0]),
        }
        for (vector, &register) in registers[..self.vectors].iter().enumerate() {
            let to = self.element(array, width, vector);
            match (width, self.program.packing, self.isa) {
                (Width::Byte | Width::Half, None, Isa::Avx2) => self.pack(register, self.elements, width, to),
                (Width::Byte, Some(Packing::Halves), Isa::Avx2) => self.store_halves_as_bytes(register, to),
                _ => {
                    let (code, immediate) = self.narrowing(width);
                    self.assembler.vector(code, register, 0, to, immediate);
                }
            }
        }
    }

    /// The instruction that loads elements into lanes.
    pub(super) fn widening(&self, width: Width) -> Code {
        match self.program.packing {
            Some(packing) => packed::widening(packing, width, self.access == Access::Masked),
            None => widening(width),
        }
    }

    /// The instruction that stores elements of lanes, and its immediate byte. To narrow them, it is one of AVX-512.
    pub(super) fn narrowing(&self, width: Width) -> (Code, Option<u8>) {
        match self.program.packing {
            Some(packing) => (packed::narrowing(packing, width, self.access == Access::Masked), None),
            None => narrowing(width),
        }
    }

    /// Stores the low bits of four or eight words: AVX2 packs them in steps, which saturate.
    pub(super) fn pack(&mut self, register: u8, words: usize, width: Width, to: Operand) {
        const AND: Code = code(1, 1, 0xdb);
        const PACK_WORDS: Code = code(1, 2, 0x2b);
        const PACK_HALVES: Code = code(1, 1, 0x67);
        const STORE_HALF: Code = code(1, 1, 0xd6);
        const STORE_QUARTER: Code = code(1, 1, 0x7e);
        let packed = self.take();
        let own = Operand::Register(packed);
        let low = if width == Width::Byte { 0xff } else { 0xffff };
        self.assembler.vector(AND, packed, register, Operand::Constant(low), None);
        self.assembler.vector(PACK_WORDS, packed, packed, own, None);
        if words > 4 {
            self.join_quarters(packed);
        }
        if width == Width::Byte {
            self.assembler.short_vector(PACK_HALVES, packed, packed, own, None);
        }
        let store = match width.bytes() * words {
            4 => STORE_QUARTER,
            8 => STORE_HALF,
            _ => STORE,
        };
        self.assembler.short_vector(store, packed, 0, to, None);
        self.give(Some(packed));
    }

    /// Moves quarters 0 and 2 of a vector to its lower half: its halves are packed apart.
    pub(super) fn join_quarters(&mut self, register: u8) {
        const PERMUTE: Code = wide(1, 3, 0x00);
        self.assembler.long_vector(PERMUTE, register, Operand::Register(register), 0b1000);
    }
}

/// The instruction that loads elements into words.
pub(super) fn widening(width: Width) -> Code {
    match width {
        Width::Word => LOAD,
        Width::Pair | Width::Quad => wide(1, 1, 0x10),
        Width::Byte => code(1, 2, 0x31),
        Width::Half => code(1, 2, 0x33),
        Width::Float16 => OF_PACKED,
    }
}

/// The instruction that stores elements of words, of AVX-512 for the low bits, and its immediate byte.
pub(super) fn narrowing(width: Width) -> (Code, Option<u8>) {
    match width {
        Width::Word => (STORE, None),
        Width::Pair | Width::Quad => (wide(1, 1, 0x11), None),
        Width::Byte => (code(2, 2, 0x31), None),
        Width::Half => (code(2, 2, 0x33), None),
        Width::Float16 => (TO_PACKED, NEAREST),
    }
}
