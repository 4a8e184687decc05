//! Values that a block which jumps to itself hands to its next turn in registers.
//!
//! The block has two starts: the one that others jump to loads what the block reads first, and its own jump goes behind
//! these loads. Every turn still writes its values to memory, where other blocks and the caller find them.

use std::collections::HashSet;
use std::ops::Range;

use super::region::Addresses;
use super::{Emitter, LOAD};
use crate::encode::{Assembler, Isa, Operand};
use crate::ir::{Op, Program, Value, Width};
use crate::region::{Block, Place, Target};
use crate::registers::{Lifetimes, available};

/// A value that a block reads before it writes another one to the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Carried {
    /// The read.
    pub(super) first: Value,
    /// The value that the block writes last, which the next turn reads.
    next: Value,
}

/// The values that block `index` hands to itself in registers: as many as there are registers for. Keeps the next ones
/// alive to the end of the block.
pub(super) fn carried(block: &Block, index: u32, isa: Isa, lifetimes: &mut Lifetimes) -> Vec<Carried> {
    if !block.end.targets().contains(&Target::Block(index)) {
        return Vec::new();
    }
    let mut all = written_and_read(&block.program, isa);
    // While all move at the end of a turn, there is a register that none of them uses.
    all.truncate(available(isa) / 2);
    loop {
        let mut held = Lifetimes::new(&block.program);
        all.iter().for_each(|each| held.hold(each.next));
        let firsts: Vec<Value> = all.iter().map(|each| each.first).collect();
        if all.is_empty() || held.pressure(&block.program, &firsts) <= available(isa) {
            *lifetimes = held;
            return all;
        }
        all.pop();
    }
}

/// The elements that a program reads before it writes the same ones, where nothing else may change them. Whoever makes
/// the program sees to it that no other slot has the memory of a slot whose elements are still to be read.
fn written_and_read(program: &Program, isa: Isa) -> Vec<Carried> {
    let mut reads: Vec<(Place, Value)> = Vec::new();
    let mut writes: Vec<(Place, Value)> = Vec::new();
    let mut changed: HashSet<u16> = HashSet::new();
    for (index, op) in program.ops.iter().enumerate() {
        match *op {
            Op::Read(place, _) => {
                let is_new = |(each, _): &(Place, Value)| !overlaps(*each, place, isa);
                if reads.iter().all(is_new) && writes.iter().all(is_new) {
                    reads.push((place, Value(index as u32)));
                }
            }
            Op::Write(place, [value]) => {
                writes.retain(|(each, _)| !is_same(*each, place));
                writes.push((place, value));
            }
            Op::WriteAt(place, _) => {
                changed.insert(place.slot);
            }
            Op::Rotate(list) => changed.extend(&program.rotations[list as usize]),
            // A function in Rust writes to any slot.
            Op::Invoke(_) => return Vec::new(),
            _ => {}
        }
    }
    let next = |&(place, first): &(Place, Value)| {
        let mut over = writes.iter().filter(|(each, _)| overlaps(*each, place, isa));
        let &(written, next) = over.next()?;
        let is_only = over.next().is_none() && is_same(written, place) && !changed.contains(&place.slot);
        // A narrow element is read with zeros above.
        (is_only && program.fits(next, place.width)).then_some(Carried { first, next })
    };
    reads.iter().filter_map(next).collect()
}

/// Whether two places have the same elements.
fn is_same(a: Place, b: Place) -> bool {
    (a.slot, a.offset, a.lanes, a.width) == (b.slot, b.offset, b.lanes, b.width)
}

/// Whether accesses to two places may touch the same byte.
fn overlaps(a: Place, b: Place, isa: Isa) -> bool {
    let [a_bytes, b_bytes] = [a, b].map(|place| touched(place, isa));
    a.slot == b.slot && a_bytes.start < b_bytes.end && b_bytes.start < a_bytes.end
}

/// The bytes that an access to a place may touch.
fn touched(place: Place, isa: Isa) -> Range<usize> {
    let lanes = usize::from(place.lanes);
    let is_own = place.is_exact || lanes == 1 || lanes == 2 && place.width == Width::Word;
    // AVX2 narrows eight lanes at once.
    let least = if matches!(place.width, Width::Byte | Width::Half) { 8 } else { 0 };
    let lanes = if is_own { lanes } else { isa.length(lanes).lanes().max(least) };
    let start = place.offset as usize;
    start..start + lanes * place.width.bytes()
}

/// What a block's jump to itself does before, and the position behind the loads to which it jumps.
#[derive(Debug)]
pub(super) struct Again {
    pub(super) start: usize,
    pub(super) moves: Vec<(u8, Operand)>,
}

impl Again {
    /// Moves the values of the next turn to the registers where it finds them. Flags stay as they are.
    pub(super) fn hand_over(&self, assembler: &mut Assembler, isa: Isa) {
        let length = assembler.set_length(isa.longest());
        for &(to, from) in &self.moves {
            match from {
                Operand::Constant(bits) => assembler.load_constant(to, bits),
                Operand::Pair(bits) => assembler.load_pair(to, bits),
                _ => assembler.vector(LOAD, to, 0, from, None),
            }
        }
        assembler.set_length(length);
    }
}

impl Emitter<'_> {
    /// Loads the values of the first turn, and returns their registers.
    pub(super) fn load_carried(&mut self, carried: &[Carried]) -> Vec<u8> {
        let program: &Program = self.program;
        let mut registers = Vec::with_capacity(carried.len());
        for &Carried { first, .. } in carried {
            self.position = first.index();
            self.op(first, &program.ops[first.index()]);
            registers.push(self.held[first.index()].expect("it was loaded")[0]);
        }
        self.locked = 0;
        // No address is in a register when the block jumps behind these loads.
        self.addresses = Addresses::default();
        registers
    }

    /// The moves at the end of a turn to `registers`, in an order in which none overwrites what a later one reads.
    pub(super) fn moves(&self, carried: &[Carried], registers: &[u8]) -> Vec<(u8, Operand)> {
        let source = |value: Value| match (self.held[value.index()], self.program.ops[value.index()]) {
            (Some([register, ..]), _) => Operand::Register(register),
            (None, Op::Constant(bits)) => Operand::Constant(bits),
            (None, Op::Pair(bits)) => Operand::Pair(bits),
            _ => self.slot(self.slots[value.index()].expect("a value is in registers or on the stack"), 0),
        };
        let moves = registers.iter().zip(carried).map(|(&to, each)| (to, source(each.next))).collect();
        in_order(moves, self.isa.registers())
    }
}

/// The same moves as if all happened at once, one after another.
fn in_order(mut moves: Vec<(u8, Operand)>, registers: u8) -> Vec<(u8, Operand)> {
    let is_used = |register: u8| moves.iter().any(|&(to, from)| to == register || from == Operand::Register(register));
    let free = (0..registers).find(|&register| !is_used(register));
    // What stays is used as well.
    moves.retain(|&(to, from)| from != Operand::Register(to));
    let mut ordered = Vec::with_capacity(moves.len());
    while !moves.is_empty() {
        let is_read = |register: u8| moves.iter().any(|&(_, from)| from == Operand::Register(register));
        match moves.iter().position(|&(to, _)| !is_read(to)) {
            Some(index) => ordered.push(moves.swap_remove(index)),
            None => {
                // What is left are cycles: one of them is opened.
                let free = free.expect("some registers hold nothing that moves");
                let (_, from) = &mut moves[0];
                ordered.push((free, std::mem::replace(from, Operand::Register(free))));
            }
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Binary, Builder, End, Unary};

    /// Registers after moves, from those that hold their numbers.
    fn after(moves: &[(u8, Operand)]) -> [u32; 16] {
        let mut registers: [u32; 16] = std::array::from_fn(|register| register as u32);
        for &(to, from) in moves {
            registers[usize::from(to)] = match from {
                Operand::Register(from) => registers[usize::from(from)],
                Operand::Constant(bits) => bits,
                _ => unreachable!("tests have no other operands"),
            };
        }
        registers
    }

    #[test]
    fn moves_in_order_give_what_they_give_at_once() {
        let cycles = [(0, 1), (1, 2), (2, 0), (4, 5), (5, 4), (6, 6), (7, 0), (8, 7)];
        let mut moves: Vec<(u8, Operand)> = cycles.map(|(to, from)| (to, Operand::Register(from))).to_vec();
        moves.push((3, Operand::Constant(99)));
        for _ in 0..moves.len() {
            moves.rotate_left(1);
            let registers = after(&in_order(moves.clone(), 16));
            assert_eq!(registers[..9], [1, 2, 0, 99, 5, 4, 6, 0, 7]);
            assert_eq!(registers[10..], [10, 11, 12, 13, 14, 15]);
        }
    }

    fn word(slot: u16) -> Place {
        Place { slot, offset: 0, lanes: 4, width: Width::Word, is_exact: true }
    }

    /// The slots whose values stay in registers when a block jumps to itself.
    fn slots_of(build: impl Fn(&Builder)) -> Vec<u16> {
        let builder = Builder::new();
        builder.set_lanes(4);
        build(&builder);
        let block = Block::new(builder, End::Jump(Target::Block(3)));
        let mut lifetimes = Lifetimes::new(&block.program);
        assert_eq!(carried(&block, 2, Isa::Avx2, &mut lifetimes), [], "it jumps to another block");
        let slot = |each: Carried| match block.program.ops[each.first.index()] {
            Op::Read(place, _) => place.slot,
            _ => unreachable!("a value is read first"),
        };
        carried(&block, 3, Isa::Avx2, &mut lifetimes).into_iter().map(slot).collect()
    }

    #[test]
    fn only_values_that_the_block_alone_changes_stay_in_registers() {
        let swap = |builder: &Builder| {
            let [a, b] = [0, 1].map(|slot| builder.read(word(slot), None, 0));
            builder.write(word(0), None, b);
            builder.write(word(1), None, builder.binary(Binary::AddBits, a, builder.read(word(2), None, 0)));
        };
        assert_eq!(slots_of(swap), [0, 1]);
        let rotating = |builder: &Builder| {
            swap(builder);
            builder.rotate(vec![1, 5]);
        };
        assert_eq!(slots_of(rotating), [0]);
        let indexed = |builder: &Builder| {
            swap(builder);
            builder.write(word(0), Some(builder.read(word(3), None, 0)), builder.constant(1));
        };
        assert_eq!(slots_of(indexed), [1]);
        let overlapping = |builder: &Builder| {
            swap(builder);
            builder.write(Place { offset: 8, lanes: 1, ..word(1) }, None, builder.constant(1));
        };
        assert_eq!(slots_of(overlapping), [0]);
        let written_first = |builder: &Builder| {
            builder.write(word(0), None, builder.constant(1));
            builder.write(word(0), None, builder.read(word(0), None, 1));
        };
        assert_eq!(slots_of(written_first), []);
    }

    #[test]
    fn narrow_values_stay_in_registers_if_nothing_is_above_them() {
        let half = Place { width: Width::Half, ..word(0) };
        let kept = |builder: &Builder| {
            let x = builder.unary(Unary::OfHalf, builder.read(half, None, 0));
            builder.write(half, None, builder.unary(Unary::ToHalf, builder.binary(Binary::Add, x, x)));
        };
        assert_eq!(slots_of(kept), [0]);
        let wrapped = |builder: &Builder| {
            let x = builder.read(half, None, 0);
            builder.write(half, None, builder.binary(Binary::AddBits, x, x));
        };
        assert_eq!(slots_of(wrapped), []);
    }

    #[test]
    fn values_stay_in_registers_only_while_there_are_enough() {
        let many = |count: u16| {
            move |builder: &Builder| {
                let values: Vec<Value> = (0..count).map(|slot| builder.read(word(slot), None, 0)).collect();
                let last = values.iter().fold(values[0], |sum, &value| builder.binary(Binary::Xor, sum, value));
                values.iter().enumerate().for_each(|(slot, &value)| {
                    builder.write(word(slot as u16), None, builder.binary(Binary::AddBits, value, last));
                });
            }
        };
        assert_eq!(slots_of(many(5)).len(), 5);
        assert_eq!(slots_of(many(12)).len(), available(Isa::Avx2) / 2);
        assert!(slots_of(many(40)).is_empty());
    }
}
