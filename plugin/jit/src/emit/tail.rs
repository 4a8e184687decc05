//! Vectors of which only the first lanes are elements: the last ones of a function that takes any number of elements,
//! and short ones in regions.

use super::half::{NEAREST, OF_PACKED, TO_PACKED};
use super::{ADDRESS, END, Emitter, INDEX, Registers, code, wide};
use crate::encode::{Code, Isa, Length, Operand};
use crate::ir::{Store, Width};

/// The mask register of partial vectors, with AVX-512.
pub(super) const PART: u8 = 5;

/// The mask register of the parts of elements of 128 bits, with AVX-512.
pub(super) const PARTS: u8 = 7;

/// The vector registers of the masks of words and of pairs, with AVX2.
const MASK: u8 = 15;
pub(super) const PAIR_MASK: u8 = 14;

pub(super) const LOAD_ONE_PAIR: Code = wide(3, 1, 0x10);
pub(super) const STORE_ONE_PAIR: Code = wide(3, 1, 0x11);

/// The way in which arrays are accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// By whole vectors.
    Whole,
    /// By one vector in part: a mask selects the elements.
    Masked,
    /// Element by element, each in the first lane of a vector.
    One,
}

impl Emitter<'_> {
    /// Computes the row's elements from the index on one vector at a time.
    pub(super) fn tail(&mut self, stores: &[Vec<Store>], spare: usize) {
        self.load_end();
        let done = self.assembler.jump_unless_below(INDEX, END);
        if self.isa == Isa::Avx512
            || self.program.widths().all(|width| matches!(width, Width::Word | Width::Pair | Width::Quad))
        {
            self.masked_tail(stores, spare);
        } else {
            self.tail_of_elements(stores, spare);
        }
        self.assembler.set_jump(done, self.assembler.here());
    }

    /// The same by masks, if there are some elements.
    fn masked_tail(&mut self, stores: &[Vec<Store>], mut spare: usize) {
        if self.isa == Isa::Avx2 {
            let masks: &[u8] = if self.has_pairs() { &[MASK, PAIR_MASK] } else { &[MASK] };
            masks.iter().for_each(|mask| self.free &= !(1 << mask));
            spare = spare.saturating_sub(masks.len());
        }
        self.pin(spare);
        let start = self.assembler.here();
        self.set_rest();
        self.access = Access::Masked;
        self.turn(stores);
        self.assembler.add_general(INDEX, self.elements as i32);
        self.assembler.jump_if_below(INDEX, END, start);
    }

    /// The same for narrow elements with AVX2, which cannot mask them: whole vectors, then single elements.
    fn tail_of_elements(&mut self, stores: &[Vec<Store>], spare: usize) {
        self.pin(spare);
        let start = self.assembler.here();
        self.assembler.address(ADDRESS, INDEX, self.elements as i32);
        let rest = self.assembler.jump_unless_at_most(ADDRESS, END);
        self.turn(stores);
        self.assembler.add_general(INDEX, self.elements as i32);
        let again = self.assembler.jump();
        self.assembler.set_jump(again, start);
        self.assembler.set_jump(rest, self.assembler.here());
        self.access = Access::One;
        let done = self.assembler.jump_unless_below(INDEX, END);
        let start = self.assembler.here();
        self.turn(stores);
        self.assembler.add_general(INDEX, 1);
        self.assembler.jump_if_below(INDEX, END, start);
        self.assembler.set_jump(done, self.assembler.here());
    }

    /// Loads one element of an array, with zeros above it.
    pub(super) fn load_one(&mut self, array: u16, width: Width, register: u8) {
        let from = self.element(array, width, 0);
        self.load_element(width, register, from, ADDRESS);
    }

    /// Loads one element, with zeros above it. A narrow one goes through a general register.
    pub(super) fn load_element(&mut self, width: Width, register: u8, from: Operand, scratch: u8) {
        const LOAD_WORD: Code = code(2, 1, 0x10);
        const MOVE: Code = code(1, 1, 0x6e);
        match width {
            Width::Word => self.short(LOAD_WORD, register, from, None),
            Width::Pair | Width::Quad => self.short(LOAD_ONE_PAIR, register, from, None),
            Width::Byte | Width::Half | Width::Float16 => {
                self.assembler.load_narrow(scratch, from, width.bytes());
                self.short(MOVE, register, Operand::Register(scratch), None);
            }
        }
        if width == Width::Float16 {
            self.short(OF_PACKED, register, Operand::Register(register), None);
        }
    }

    /// Stores one element of an array.
    pub(super) fn store_one(&mut self, array: u16, width: Width, register: u8) {
        let to = self.element(array, width, 0);
        self.store_element(width, register, to);
    }

    /// Stores one element.
    pub(super) fn store_element(&mut self, width: Width, register: u8, to: Operand) {
        const STORE_WORD: Code = code(2, 1, 0x11);
        const EXTRACT_BYTE: Code = code(1, 3, 0x14);
        const EXTRACT_HALF: Code = code(1, 3, 0x15);
        match width {
            Width::Word => self.short(STORE_WORD, register, to, None),
            Width::Pair | Width::Quad => self.short(STORE_ONE_PAIR, register, to, None),
            Width::Byte => self.short(EXTRACT_BYTE, register, to, Some(0)),
            Width::Half => self.short(EXTRACT_HALF, register, to, Some(0)),
            Width::Float16 => {
                let half = self.take();
                self.short(TO_PACKED, register, Operand::Register(half), NEAREST);
                self.short(EXTRACT_HALF, half, to, Some(0));
                self.give(Some(half));
            }
        }
    }

    /// Whether the program has elements of 64 bits.
    fn has_pairs(&self) -> bool {
        self.elements < self.isa.lanes()
    }

    /// Sets the masks to the elements before the end.
    fn set_rest(&mut self) {
        const CLEAR_FROM: Code = wide(0, 2, 0xf5);
        const MOVE: Code = code(1, 1, 0x6e);
        const REPEAT: Code = code(1, 2, 0x58);
        const GREATER: Code = code(1, 1, 0x66);
        const SIGN_EXTEND: Code = code(1, 2, 0x25);
        self.assembler.difference(ADDRESS, END, INDEX);
        match self.isa {
            Isa::Avx512 => {
                if self.program.has_parts() {
                    let twice = Operand::Memory { base: ADDRESS, index: Some((ADDRESS, 0)), displacement: 0 };
                    self.assembler.address_of(ADDRESS, twice);
                    self.assembler.general_vex(CLEAR_FROM, ADDRESS, ADDRESS, Operand::Constant(u32::MAX));
                    self.assembler.mask_from_general(PARTS, ADDRESS);
                    self.assembler.difference(ADDRESS, END, INDEX);
                }
                self.assembler.general_vex(CLEAR_FROM, ADDRESS, ADDRESS, Operand::Constant(u32::MAX));
                self.assembler.mask_from_general(PART, ADDRESS);
            }
            Isa::Avx2 => {
                self.assembler.set_length(Length::Xmm);
                self.assembler.vector(MOVE, MASK, 0, Operand::Register(ADDRESS), None);
                self.assembler.set_length(Length::Ymm);
                self.assembler.vector(REPEAT, MASK, 0, Operand::Register(MASK), None);
                self.assembler.vector(GREATER, MASK, MASK, Operand::Lanes, None);
                if self.has_pairs() {
                    self.assembler.vector(SIGN_EXTEND, PAIR_MASK, 0, Operand::Register(MASK), None);
                }
            }
        }
    }

    /// The vector register of the mask that [`set_rest`](Emitter::set_rest) sets for elements, if it is one.
    fn rest(&self, width: Width) -> Option<u8> {
        let mask = if width == Width::Pair { PAIR_MASK } else { MASK };
        (self.isa == Isa::Avx2).then_some(mask)
    }

    /// Loads the vector of an array in part.
    pub(super) fn load_rest(&mut self, array: u16, width: Width, registers: Registers) {
        let from = self.element(array, width, 0);
        self.load_part(width, registers[0], from, self.rest(width));
    }

    /// Stores the vector of an array in part.
    pub(super) fn store_rest(&mut self, array: u16, width: Width, registers: Registers) {
        let to = self.element(array, width, 0);
        self.store_part(width, registers[0], to, self.rest(width));
    }

    /// Loads the lanes that a mask has, a vector register or [`PART`]; the others are zeros.
    pub(super) fn load_part(&mut self, width: Width, register: u8, from: Operand, mask: Option<u8>) {
        const LOAD_MASKED: Code = code(1, 2, 0x2c);
        match mask {
            None => self.assembler.masked_load(self.widening(width), register, from, PART),
            Some(mask) => self.assembler.vector(LOAD_MASKED, register, mask, from, None),
        }
    }

    /// Stores the lanes that [`load_part`](Emitter::load_part) loads.
    pub(super) fn store_part(&mut self, width: Width, register: u8, to: Operand, mask: Option<u8>) {
        const STORE_MASKED: Code = code(1, 2, 0x2e);
        match mask {
            None => {
                let (code, immediate) = self.narrowing(width);
                self.assembler.masked_store(code, register, to, PART, immediate);
            }
            Some(mask) => self.assembler.vector(STORE_MASKED, register, mask, to, None),
        }
    }
}
