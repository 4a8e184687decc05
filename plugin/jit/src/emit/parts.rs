//! Elements of 128 bits in arrays: their parts are side by side there, and in vectors of their own here.

use super::tail::{Access, LOAD_ONE_PAIR, PAIR_MASK, PARTS, STORE_ONE_PAIR};
use super::{ADDRESS, Emitter, INDEX, LOAD, MOVE, Registers, STORE, code, wide};
use crate::encode::{Code, Isa, Length, Operand};
use crate::ir::{Op, Value};
use crate::parts::Part;
use crate::registers::PLACES;

/// The mask register of the second half of a vector's elements, with AVX-512.
const SECOND_HALF: u8 = 6;

const LOAD_PAIRS: Code = wide(1, 1, 0x10);
const STORE_PAIRS: Code = wide(1, 1, 0x11);
/// AVX-512: pairs of two vectors, by their places in the register of the result.
const CHOOSE: Code = wide(1, 2, 0x77);
/// The pairs of a vector by an immediate byte, two bits for each.
const PERMUTE: Code = wide(1, 3, 0x01);
/// The lower or the upper pair of each quarter of a vector, of two vectors in turn.
const UNPACK_LOW: Code = wide(1, 1, 0x14);
const UNPACK_HIGH: Code = wide(1, 1, 0x15);
/// AVX2: halves of two vectors by an immediate byte.
const HALVES: Code = code(1, 3, 0x06);
const LOAD_MASKED: Code = code(1, 2, 0x2c);
const STORE_MASKED: Code = code(1, 2, 0x2e);

/// Restores the order of four pairs: unpacking two vectors gives the first and the third one first.
const EACH_SECOND: u8 = 0b11_01_10_00;
/// Each of two elements twice: the first ones of four, and the last.
const TWICE: [u8; 2] = [0b01_01_00_00, 0b11_11_10_10];

/// The first of the registers with the places of pairs, with AVX-512: of both parts in the two halves of a vector's
/// elements, and of these halves in both parts.
const FIRST_PLACES: u8 = 32 - PLACES as u8;
const PLACES_OF_HALVES: [u8; 2] = [FIRST_PLACES + 2, FIRST_PLACES + 3];

/// The registers of what is in memory, of one vector.
const HALVES_LOADED: usize = 2;

impl Part {
    /// The register with the places of this part.
    fn places(self) -> u8 {
        match self {
            Part::First => FIRST_PLACES,
            Part::Second => FIRST_PLACES + 1,
        }
    }
}

impl Emitter<'_> {
    /// Keeps registers for the places of parts, if the program needs them.
    pub(super) fn reserve_places(&mut self) {
        if self.isa == Isa::Avx512 && self.program.has_parts() {
            self.free &= !(u32::MAX << FIRST_PLACES);
        }
    }

    /// Sets these registers.
    pub(super) fn load_places(&mut self) {
        const ALL: [[u8; 8]; PLACES] = [
            [0, 2, 4, 6, 8, 10, 12, 14],
            [1, 3, 5, 7, 9, 11, 13, 15],
            [0, 8, 1, 9, 2, 10, 3, 11],
            [4, 12, 5, 13, 6, 14, 7, 15],
        ];
        if self.isa == Isa::Avx512 && self.program.has_parts() {
            for (register, places) in (FIRST_PLACES..).zip(ALL) {
                self.assembler.vector(LOAD, register, 0, Operand::Places(places), None);
            }
        }
    }

    /// Loads one part of successive elements, and at once the other one if a later operation does.
    pub(super) fn load_part_of(&mut self, array: u16, part: Part) -> Option<Registers> {
        if self.is_there(Value(self.position as u32)) {
            return None;
        }
        let result = self.take_all();
        self.start_quads(array);
        if self.access == Access::One {
            self.short(LOAD_ONE_PAIR, result[0], quad(part.offset()), None);
            return Some(result);
        }
        let twin = Op::LoadPart { array, part: part.other() };
        let later = self.program.ops[self.position..].iter().position(|op| *op == twin);
        // Without moving another value to the stack.
        let later = later.filter(|_| self.free.count_ones() as usize >= self.vectors + HALVES_LOADED);
        let twin = later.map(|later| (Value((self.position + later) as u32), self.take_all()));
        let halves = [(); HALVES_LOADED].map(|()| self.take());
        for (vector, &register) in result[..self.vectors].iter().enumerate() {
            for (half, &to) in halves.iter().enumerate() {
                let from = self.half(vector, half);
                self.load_half(to, from, half);
            }
            self.choose_part(part, register, halves);
            if let Some((_, twin)) = twin {
                self.choose_part(part.other(), twin[vector], halves);
            }
        }
        halves.into_iter().for_each(|half| self.give(Some(half)));
        if let Some((value, registers)) = twin {
            self.held[value.index()] = Some(registers);
        }
        Some(result)
    }

    /// Whether a value was loaded ahead of its own operation, together with the other part.
    fn is_there(&self, value: Value) -> bool {
        self.held[value.index()].is_some() || self.slots[value.index()].is_some()
    }

    /// A vector of one part of the elements in two registers.
    fn choose_part(&mut self, part: Part, register: u8, [low, high]: [u8; 2]) {
        let high = Operand::Register(high);
        match self.isa {
            Isa::Avx512 => {
                self.assembler.vector(MOVE, register, 0, Operand::Register(part.places()), None);
                self.assembler.vector(CHOOSE, register, low, high, None);
            }
            Isa::Avx2 => {
                let unpack = if part == Part::First { UNPACK_LOW } else { UNPACK_HIGH };
                self.assembler.vector(unpack, register, low, high, None);
                self.assembler.vector(PERMUTE, register, 0, Operand::Register(register), Some(EACH_SECOND));
            }
        }
    }

    /// Stores both parts of successive elements.
    pub(super) fn store_both(&mut self, array: u16, parts: [Value; 2]) {
        let [first, second] = parts.map(|part| self.registers(part));
        self.assembler.set_length(self.isa.longest());
        self.start_quads(array);
        if self.access == Access::One {
            for (part, registers) in Part::BOTH.into_iter().zip([first, second]) {
                self.short(STORE_ONE_PAIR, registers[0], quad(part.offset()), None);
            }
            return;
        }
        let temporary = [(); 3].map(|()| self.take());
        for (vector, (&first, &second)) in first.iter().zip(&second).enumerate().take(self.vectors) {
            let [low, high, half] = temporary;
            let second = Operand::Register(second);
            match self.isa {
                Isa::Avx512 => {
                    for (index, (register, places)) in [low, high].into_iter().zip(PLACES_OF_HALVES).enumerate() {
                        self.assembler.vector(MOVE, register, 0, Operand::Register(places), None);
                        self.assembler.vector(CHOOSE, register, first, second, None);
                        self.store_half(register, self.half(vector, index), index, half);
                    }
                }
                Isa::Avx2 => {
                    self.assembler.vector(UNPACK_LOW, low, first, second, None);
                    self.assembler.vector(UNPACK_HIGH, high, first, second, None);
                    self.assembler.vector(HALVES, half, low, Operand::Register(high), Some(0x20));
                    self.assembler.vector(HALVES, high, low, Operand::Register(high), Some(0x31));
                    self.store_half(half, self.half(vector, 0), 0, low);
                    self.store_half(high, self.half(vector, 1), 1, low);
                }
            }
        }
        temporary.into_iter().for_each(|register| self.give(Some(register)));
    }

    /// Sets the register of an address to that from which an array's elements begin at twice the index, in pairs.
    fn start_quads(&mut self, array: u16) {
        let base = self.address(array);
        let index = Some((INDEX, 3));
        self.assembler.address_of(ADDRESS, Operand::Memory { base, index, displacement: 0 });
    }

    /// Half of a vector's elements.
    fn half(&self, vector: usize, half: usize) -> Operand {
        quad((2 * vector + half) * self.isa.bytes())
    }

    /// Loads one half of a vector's elements, or those that the mask selects.
    fn load_half(&mut self, register: u8, from: Operand, half: usize) {
        match (self.access, self.isa) {
            (Access::Masked, Isa::Avx512) => {
                let mask = self.mask_of_half(half);
                self.assembler.masked_load(LOAD_PAIRS, register, from, mask);
            }
            (Access::Masked, Isa::Avx2) => {
                self.assembler.vector(PERMUTE, register, 0, Operand::Register(PAIR_MASK), Some(TWICE[half]));
                self.assembler.vector(LOAD_MASKED, register, register, from, None);
            }
            _ => self.assembler.vector(LOAD, register, 0, from, None),
        }
    }

    /// Stores one half of a vector's elements, or those that the mask selects; `spare` is a register for a mask.
    fn store_half(&mut self, register: u8, to: Operand, half: usize, spare: u8) {
        match (self.access, self.isa) {
            (Access::Masked, Isa::Avx512) => {
                let mask = self.mask_of_half(half);
                self.assembler.masked_store(STORE_PAIRS, register, to, mask, None);
            }
            (Access::Masked, Isa::Avx2) => {
                self.assembler.vector(PERMUTE, spare, 0, Operand::Register(PAIR_MASK), Some(TWICE[half]));
                self.assembler.vector(STORE_MASKED, register, spare, to, None);
            }
            _ => self.assembler.vector(STORE, register, 0, to, None),
        }
    }

    /// The mask register of one half of a vector's elements: AVX-512 only.
    fn mask_of_half(&mut self, half: usize) -> u8 {
        if half == 0 {
            return PARTS;
        }
        self.assembler.shift_mask(SECOND_HALF, PARTS, Length::Zmm.lanes() as u8 / 2);
        SECOND_HALF
    }
}

/// The operand so many bytes beyond the element at the index.
fn quad(bytes: usize) -> Operand {
    Operand::Memory { base: ADDRESS, index: Some((INDEX, 3)), displacement: bytes as i32 }
}
