//! Regions: their blocks, and the operations that only blocks have.
//!
//! The code is a function `(table, fuel, start) -> number` in the System V calling convention, where `table` is a list
//! of pairs of address and size, `fuel` points to the number of jumps back that may still be taken, and `start` is the
//! address of a block. No value stays in a register from one block to the next; what stays where a block repeats is up
//! to [`carried`](super::carried).

use super::arrays::{narrowing, widening};
use super::carried::{Again, Carried, carried};
use super::tail::PART;
use super::{Emitter, Registers, code, wide};
use crate::encode::{Assembled, Assembler, Code, Isa, Length, Operand, general};
use crate::ir::{Program, Value, Width};
use crate::region::{Block, End, Place, Region, Target};
use crate::registers::{Lifetimes, MOST_VECTORS};

/// The code of a region, and the position of each block in it.
#[derive(Debug)]
pub(crate) struct EmittedRegion {
    pub(crate) code: Assembled,
    pub(crate) starts: Vec<usize>,
}

/// The table of slots, the fuel's address, the address of the first block; the fuel, which calls leave alone; and a
/// register for what an instruction needs.
pub(super) const TABLE: u8 = general::DI;
pub(super) const FUEL: u8 = general::SI;
const LEFT: u8 = general::BX;
const START: u8 = general::DX;
pub(super) const SCRATCH: u8 = general::AX;

/// The registers that hold addresses of slots.
pub(super) const ADDRESSES: [u8; 5] = [general::CX, general::DX, general::R8, general::R9, general::R10];

/// The register through which masks are set, since [`SCRATCH`] may be part of an address.
const MASK: u8 = general::R11;

/// The bit of the returned number that says that the fuel was used up; the others are then the next block.
pub(crate) const OUT_OF_FUEL: u32 = 1 << 31;

/// The bytes of stack that a region has, less than four pages. Calls find it aligned to 16 bytes.
const STACK: i32 = 4 * PAGE - 120;
const PAGE: i32 = 4096;

/// The place on the stack of the caller's [`LEFT`], of the vectors of calls, and of the registers that calls change;
/// values are below.
const CALLERS: i32 = STACK - 8;
pub(super) const VECTORS: i32 = CALLERS - 4 * 64;
pub(super) const SAVED: i32 = VECTORS - 16;

/// The slots whose addresses are in [`ADDRESSES`].
#[derive(Debug, Default)]
pub(super) struct Addresses {
    pub(super) slots: [Option<u16>; ADDRESSES.len()],
    /// The register that is taken next.
    next: usize,
}

/// The code of a region; `None` if a block needs too much of the stack.
pub(crate) fn emit_region(region: &Region, isa: Isa) -> Option<EmittedRegion> {
    let is_listed = region.blocks.iter().any(|block| block.program.sources.is_some());
    let mut assembler = Assembler::new(isa, is_listed);
    // No page of the stack is skipped: the system makes it longer page by page.
    (1..4).for_each(|page| assembler.touch(general::SP, -page * PAGE));
    assembler.add_general(general::SP, -STACK);
    assembler.store_general(LEFT, general::SP, CALLERS);
    assembler.load_general(LEFT, FUEL, 0);
    assembler.jump_to_register(START);
    // The code that exits jump to, with the number in a register.
    let leave = assembler.here();
    assembler.mark(|| "leave".to_owned());
    assembler.store_general(LEFT, FUEL, 0);
    assembler.load_general(LEFT, general::SP, CALLERS);
    assembler.add_general(general::SP, STACK);
    assembler.return_to_caller();
    let mut jumps = Jumps { starts: Vec::new(), places: Vec::new(), leave, isa };
    for (index, block) in region.blocks.iter().enumerate() {
        jumps.starts.push(assembler.here());
        let mut lifetimes = Lifetimes::new(&block.program);
        let carried = carried(block, index as u32, isa, &mut lifetimes);
        let mut emitter = Emitter::new(&block.program, &lifetimes, isa, 1);
        emitter.assembler = assembler;
        let again = emitter.block(&carried);
        if emitter.slot_count * emitter.slot_bytes() > SAVED as usize {
            return None;
        }
        assembler = emitter.assembler;
        jumps.end(&mut assembler, block, &again);
    }
    for &(place, block) in &jumps.places {
        assembler.set_jump(place, jumps.starts[block as usize]);
    }
    Some(EmittedRegion { code: assembler.finish(), starts: jumps.starts })
}

/// Jumps between blocks.
struct Jumps {
    starts: Vec<usize>,
    /// Jumps to blocks: the place of the distance, and the block.
    places: Vec<(usize, u32)>,
    leave: usize,
    isa: Isa,
}

impl Jumps {
    fn end(&mut self, assembler: &mut Assembler, block: &Block, again: &Again) {
        assembler.mark(|| "end of the block".to_owned());
        match &block.end {
            End::Jump(target) => self.jump(assembler, *target, again),
            End::Choose(_, [yes, no]) => {
                let other = assembler.jump_if_zero();
                self.jump(assembler, *yes, again);
                assembler.set_jump(other, assembler.here());
                self.jump(assembler, *no, again);
            }
            End::Table(_, targets) => {
                let (last, others) = targets.split_last().expect("a table has targets");
                for (index, target) in others.iter().enumerate() {
                    let other = assembler.jump_unless_equal(SCRATCH, index as i32);
                    self.jump(assembler, *target, again);
                    assembler.set_jump(other, assembler.here());
                }
                self.jump(assembler, *last, again);
            }
        }
    }

    fn jump(&mut self, assembler: &mut Assembler, target: Target, again: &Again) {
        match target {
            Target::Exit(number) => self.exit(assembler, number),
            Target::Block(block) if (block as usize) < self.starts.len() => {
                let is_same = block as usize == self.starts.len() - 1;
                if is_same {
                    again.hand_over(assembler, self.isa);
                }
                let place = assembler.count_down(LEFT);
                assembler.set_jump(place, if is_same { again.start } else { self.starts[block as usize] });
                // Without fuel, the caller goes on from there: it knows the block by its index.
                self.exit(assembler, OUT_OF_FUEL | block);
            }
            Target::Block(block) => {
                let place = assembler.jump();
                self.places.push((place, block));
            }
        }
    }

    fn exit(&self, assembler: &mut Assembler, number: u32) {
        assembler.set_general(SCRATCH, number);
        let place = assembler.jump();
        assembler.set_jump(place, self.leave);
    }
}

impl Emitter<'_> {
    /// The operations of a block, and what it does before it repeats.
    fn block(&mut self, carried: &[Carried]) -> Again {
        let registers = self.load_carried(carried);
        let start = self.assembler.here();
        let program: &Program = self.program;
        for (index, op) in program.ops.iter().enumerate() {
            self.position = index;
            let value = Value(index as u32);
            if !carried.iter().any(|each| each.first == value) {
                self.op(value, op);
            }
            self.release();
        }
        Again { start, moves: self.moves(carried, &registers) }
    }

    /// The register with the address of a slot.
    pub(super) fn address_of(&mut self, slot: u16) -> u8 {
        if let Some(index) = self.addresses.slots.iter().position(|&held| held == Some(slot)) {
            return ADDRESSES[index];
        }
        let index = self.addresses.next;
        self.addresses.next = (index + 1) % ADDRESSES.len();
        self.addresses.slots[index] = Some(slot);
        self.assembler.load_general(ADDRESSES[index], TABLE, 16 * i32::from(slot));
        ADDRESSES[index]
    }

    /// A place in memory, `index` bytes farther.
    fn place(&mut self, place: Place, index: Option<Value>) -> Operand {
        let index = index.map(|index| {
            let register = self.registers(index)[0];
            self.move_to_general(register);
            (SCRATCH, 0)
        });
        let base = self.address_of(place.slot);
        Operand::Memory { base, index, displacement: place.offset as i32 }
    }

    /// Moves the first lane of a register to [`SCRATCH`].
    fn move_to_general(&mut self, register: u8) {
        let length = self.assembler.set_length(Length::Xmm);
        self.assembler.vector(code(1, 1, 0x7e), register, 0, Operand::Register(SCRATCH), None);
        self.assembler.set_length(length);
    }

    pub(super) fn read(&mut self, place: Place, index: Option<Value>) -> Registers {
        const LOAD_TWO: Code = wide(2, 1, 0x7e);
        let from = self.place(place, index);
        let result = self.take_all();
        let register = result[0];
        match (place.lanes, place.width, self.isa) {
            (2, Width::Word, _) => self.short(LOAD_TWO, register, from, None),
            (1, width, _) => self.load_element(width, register, from, SCRATCH),
            (lanes, width, _) if !self.is_part(lanes, place.is_exact) => {
                self.assembler.vector(widening(width), register, 0, from, None);
            }
            (lanes, width, _) => {
                let mask = self.set_part(lanes);
                self.load_part(width, register, from, mask);
                self.give(mask);
            }
        }
        result
    }

    pub(super) fn write(&mut self, place: Place, value: Value, index: Option<Value>) {
        const STORE_TWO: Code = wide(1, 1, 0xd6);
        let register = self.registers(value)[0];
        let to = self.place(place, index);
        match (place.lanes, place.width, self.isa) {
            (2, Width::Word, _) => self.short(STORE_TWO, register, to, None),
            (1, width, _) => self.store_element(width, register, to),
            (lanes, width, isa) if !self.is_part(lanes, place.is_exact) => match (width, isa) {
                (Width::Word | Width::Pair, _) | (_, Isa::Avx512) => {
                    let (code, immediate) = narrowing(width);
                    self.assembler.vector(code, register, 0, to, immediate);
                }
                (_, Isa::Avx2) => {
                    let length = self.assembler.set_length(Length::Ymm);
                    self.pack(register, 8, width, to);
                    self.assembler.set_length(length);
                }
            },
            (lanes, width, _) => {
                let mask = self.set_part(lanes);
                self.store_part(width, register, to, mask);
                self.give(mask);
            }
        }
    }

    /// Whether an access has to leave out lanes of the vector.
    fn is_part(&self, lanes: u8, is_exact: bool) -> bool {
        is_exact && usize::from(lanes) < self.isa.length(usize::from(lanes)).lanes()
    }

    /// Sets the mask of partial vectors, which is a vector register with AVX2.
    fn set_part(&mut self, lanes: u8) -> Option<u8> {
        match self.isa {
            Isa::Avx512 => {
                self.assembler.set_general(MASK, (1 << lanes) - 1);
                self.assembler.mask_from_general(PART, MASK);
                None
            }
            Isa::Avx2 => {
                let mask = self.take();
                self.assembler.load_mask(mask, lanes);
                Some(mask)
            }
        }
    }

    /// Gives back a register that [`take`](Emitter::take) gave.
    pub(super) fn give(&mut self, register: Option<u8>) {
        if let Some(register) = register {
            self.free |= 1 << register;
            self.locked &= !(1 << register);
        }
    }

    /// An instruction of 128 bits.
    pub(super) fn short(&mut self, code: Code, register: u8, operand: Operand, immediate: Option<u8>) {
        let length = self.assembler.set_length(Length::Xmm);
        self.assembler.vector(code, register, 0, operand, immediate);
        self.assembler.set_length(length);
    }

    pub(super) fn broadcast(&mut self, a: Value) -> Registers {
        const BROADCAST: Code = code(1, 2, 0x18);
        let from = self.registers(a).map(Operand::Register);
        let result = self.result(&[a]);
        self.each(BROADCAST, result, [0; MOST_VECTORS], from, None);
        result
    }

    pub(super) fn extract(&mut self, a: Value, lane: u8) -> Registers {
        const SHUFFLE: Code = code(1, 1, 0x70);
        let from = self.registers(a)[0];
        let result = self.result(&[a]);
        self.short(SHUFFLE, result[0], Operand::Register(from), Some(lane * 0b0101_0101));
        result
    }

    pub(super) fn insert(&mut self, a: Value, b: Value, lane: u8) -> Registers {
        const INSERT: Code = code(1, 3, 0x21);
        let (into, other) = (self.registers(a)[0], self.registers(b)[0]);
        let result = self.result(&[a, b]);
        let length = self.assembler.set_length(Length::Xmm);
        self.assembler.vector(INSERT, result[0], into, Operand::Register(other), Some(lane << 4));
        self.assembler.set_length(length);
        result
    }

    /// Each slot of a list takes the address of the next.
    pub(super) fn rotate(&mut self, list: u32) {
        let slots = &self.program.rotations[list as usize];
        let entry = |slot: u16| 16 * i32::from(slot);
        let [held, moved] = [general::CX, SCRATCH];
        self.assembler.load_general(held, TABLE, entry(slots[0]));
        for pair in slots.windows(2) {
            self.assembler.load_general(moved, TABLE, entry(pair[1]));
            self.assembler.store_general(moved, TABLE, entry(pair[0]));
        }
        self.assembler.store_general(held, TABLE, entry(slots[slots.len() - 1]));
        self.addresses = Addresses::default();
    }

    /// An instruction of the longest vectors.
    pub(super) fn longest(&mut self, code: Code, register: u8, operand: Operand) {
        let length = self.assembler.set_length(self.isa.longest());
        self.assembler.vector(code, register, 0, operand, None);
        self.assembler.set_length(length);
    }

    /// Moves the first lane to [`SCRATCH`], and sets the zero flag if its low byte is 0.
    pub(super) fn decide(&mut self, a: Value) {
        let register = self.registers(a)[0];
        self.move_to_general(register);
        self.assembler.test_byte(SCRATCH);
    }
}
