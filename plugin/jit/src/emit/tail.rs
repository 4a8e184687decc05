//! Vectors of which only the first lanes are elements: the last ones of a function that takes any number of elements,
//! and short ones in regions.

use super::arrays::{narrowing, widening};
use super::{ADDRESS, END, Emitter, INDEX, Registers, code};
use crate::encode::{Code, Isa, Length, Operand};
use crate::ir::{Program, Store, Width};

/// The mask register of partial vectors, with AVX-512.
pub(super) const PART: u8 = 5;

/// The vector registers of the masks of words and of pairs, with AVX2.
const MASK: u8 = 15;
const PAIR_MASK: u8 = 14;

/// Whether a program's arrays can be accessed in part.
pub(super) fn takes_any_count(program: &Program, isa: Isa) -> bool {
    isa.masks_narrow_elements() || program.widths().all(|width| matches!(width, Width::Word | Width::Pair))
}

impl Emitter<'_> {
    /// Computes the row's elements from the index on one vector at a time.
    pub(super) fn tail(&mut self, stores: &[Vec<Store>], mut spare: usize) {
        self.load_end();
        let done = self.assembler.jump_unless_below(INDEX, END);
        if self.isa == Isa::Avx2 {
            let masks: &[u8] = if self.has_pairs() { &[MASK, PAIR_MASK] } else { &[MASK] };
            masks.iter().for_each(|mask| self.free &= !(1 << mask));
            spare = spare.saturating_sub(masks.len());
        }
        self.pin(spare);
        let start = self.assembler.here();
        self.set_rest();
        self.is_part = true;
        self.turn(stores);
        self.assembler.add_general(INDEX, self.elements as i32);
        self.assembler.jump_if_below(INDEX, END, start);
        self.assembler.set_jump(done, self.assembler.here());
    }

    /// Whether the program has elements of 64 bits.
    fn has_pairs(&self) -> bool {
        self.elements < self.isa.lanes()
    }

    /// Sets the masks to the elements before the end.
    fn set_rest(&mut self) {
        const CLEAR_FROM: Code = code(0, 2, 0xf5);
        const MOVE: Code = code(1, 1, 0x6e);
        const REPEAT: Code = code(1, 2, 0x58);
        const GREATER: Code = code(1, 1, 0x66);
        const SIGN_EXTEND: Code = code(1, 2, 0x25);
        self.assembler.difference(ADDRESS, END, INDEX);
        match self.isa {
            Isa::Avx512 => {
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
            None => self.assembler.masked_load(widening(width), register, from, PART),
            Some(mask) => self.assembler.vector(LOAD_MASKED, register, mask, from, None),
        }
    }

    /// Stores the lanes that [`load_part`](Emitter::load_part) loads.
    pub(super) fn store_part(&mut self, width: Width, register: u8, to: Operand, mask: Option<u8>) {
        const STORE_MASKED: Code = code(1, 2, 0x2e);
        match mask {
            None => {
                let (code, immediate) = narrowing(width);
                self.assembler.masked_store(code, register, to, PART, immediate);
            }
            Some(mask) => self.assembler.vector(STORE_MASKED, register, mask, to, None),
        }
    }
}
