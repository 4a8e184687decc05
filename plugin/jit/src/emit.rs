//! Emission: the instructions of each operation, in registers that are chosen on the way, and the loop around them.
//!
//! Each turn of the loop computes one to four vectors of every value, one operation after another. A value that finds
//! no register goes to the stack: the one whose next use is farthest away.

mod arrays;
mod calls;
mod carried;
mod half;
mod packed;
mod parts;
mod product;
mod region;
mod rows;
mod select;
mod shift;
mod tail;
mod wide;

pub(crate) use region::{EmittedRegion, OUT_OF_FUEL, emit_region};

use crate::encode::{Assembled, Assembler, Code, Isa, Operand, code, general, wide};
use crate::ir::{Binary, Counts, Op, Program, Round, Store, Unary, Value, Width};
use crate::listing::{label, label_of_store};
use crate::registers::{Lifetimes, MOST_VECTORS, is_invariant};
use crate::wide::Wide;

/// The code of a function in the System V calling convention: `(arrays: *const *mut u8, elements: usize)` for whole
/// blocks, or `(rows: *const Row, end: *const Row)` for rows of any number of elements, where a `Row` is the addresses
/// of the arrays, the number of elements in whole blocks, and that of all.
#[derive(Debug)]
pub(crate) struct Emitted {
    pub(crate) code: Assembled,
    /// The number of elements in one turn of the loop.
    pub(crate) block: usize,
    /// Whether the function takes rows of any number of elements. Otherwise there is at least one block.
    pub(crate) takes_any_count: bool,
}

/// The registers that hold the addresses of the first arrays; others are loaded when they are used.
const ADDRESSES: [u8; 5] = [general::AX, general::CX, general::DX, general::R8, general::R9];
/// The list of addresses, the number of elements, the index of the turn's first element, and an address.
const LIST: u8 = general::DI;
const END: u8 = general::SI;
const INDEX: u8 = general::R11;
const ADDRESS: u8 = general::R10;

/// The bytes of stack that a function has, less than a page: no page of the stack is skipped.
const STACK: i32 = 3968;

const LOAD: Code = code(0, 1, 0x10);
const STORE: Code = code(0, 1, 0x11);
const MOVE: Code = code(0, 1, 0x28);
const BROADCAST: Code = code(1, 2, 0x18);

/// The most elements of a block, for code that takes blocks alone.
pub const LONGEST_BLOCK: usize = 128;

/// The code of a program; `None` if it needs too much of the stack.
pub(crate) fn emit(program: &Program, isa: Isa, counts: Counts) -> Option<Emitted> {
    let packed = program.packed();
    let program = &packed.as_ref().unwrap_or(program).scheduled();
    let takes_any_count = counts == Counts::Any;
    let lifetimes = Lifetimes::new(program);
    // As many vectors as the stack has room for, and callers for a block.
    let fits = |vectors: &usize| takes_any_count || *vectors == 1 || vectors * program.elements(isa) <= LONGEST_BLOCK;
    let mut numbers = lifetimes.vectors(program, isa).filter(fits);
    numbers.find_map(|vectors| emit_vectors(program, &lifetimes, isa, vectors, takes_any_count))
}

/// The code that computes so many vectors in a turn.
fn emit_vectors(
    program: &Program,
    lifetimes: &Lifetimes,
    isa: Isa,
    vectors: usize,
    takes_any_count: bool,
) -> Option<Emitted> {
    let stores = program.stores.iter().fold(vec![Vec::new(); program.ops.len()], |mut stores, store| {
        stores[store.value.index()].push(*store);
        stores
    });
    let mut emitter = Emitter::new(program, lifetimes, isa, vectors);
    emitter.assembler.add_general(general::SP, -STACK);
    emitter.load_places();
    let row = takes_any_count.then(|| emitter.start_rows());
    emitter.load_addresses();
    emitter.pin(lifetimes.spare(program, isa, vectors));
    emitter.main_loop(&stores, takes_any_count);
    let mut stack = emitter.slot_count * emitter.slot_bytes();
    if let Some(row) = row {
        let (assembler, spare) = (emitter.assembler, lifetimes.spare(program, isa, 1));
        emitter = Emitter { assembler, ..Emitter::new(program, lifetimes, isa, 1) };
        emitter.assembler.mark(|| "tail".to_owned());
        emitter.tail(&stores, spare);
        emitter.assembler.mark(|| "next row".to_owned());
        emitter.next_row(row);
        stack = stack.max(emitter.slot_count * emitter.slot_bytes());
    }
    emitter.assembler.mark(|| "leave".to_owned());
    emitter.assembler.add_general(general::SP, STACK);
    emitter.assembler.return_to_caller();
    let block = vectors * emitter.elements;
    (stack <= rows::VALUES).then(|| Emitted { code: emitter.assembler.finish(), block, takes_any_count })
}

/// The vectors of one value: their registers.
type Registers = [u8; MOST_VECTORS];

struct Emitter<'a> {
    assembler: Assembler,
    isa: Isa,
    program: &'a Program,
    lifetimes: &'a Lifetimes,
    /// The number of vectors of each value.
    vectors: usize,
    /// The number of elements in a vector of arrays.
    elements: usize,
    /// The current operation.
    position: usize,
    /// Registers that hold nothing, as bits.
    free: u32,
    /// Registers that the current operation uses, as bits.
    locked: u32,
    /// The registers of each value; of invariant values, the first is that of all vectors.
    held: Vec<Option<Registers>>,
    /// Invariant values that keep their registers.
    pinned: Vec<bool>,
    /// The place of each value on the stack.
    slots: Vec<Option<usize>>,
    free_slots: Vec<usize>,
    slot_count: usize,
    /// In a region, the addresses that registers hold.
    addresses: region::Addresses,
    access: tail::Access,
}

impl<'a> Emitter<'a> {
    fn new(program: &'a Program, lifetimes: &'a Lifetimes, isa: Isa, vectors: usize) -> Emitter<'a> {
        let count = program.ops.len();
        let mut emitter = Emitter {
            assembler: Assembler::new(isa, program.sources.is_some()),
            isa,
            program,
            lifetimes,
            vectors,
            elements: program.elements(isa),
            position: 0,
            free: ((1_u64 << isa.registers()) - 1) as u32,
            locked: 0,
            held: vec![None; count],
            pinned: vec![false; count],
            slots: vec![None; count],
            free_slots: Vec::new(),
            slot_count: 0,
            addresses: region::Addresses::default(),
            access: tail::Access::Whole,
        };
        emitter.reserve_places();
        emitter
    }

    /// Loads the addresses of the first arrays.
    fn load_addresses(&mut self) {
        for (array, register) in ADDRESSES.into_iter().enumerate().take(self.program.arrays()) {
            self.assembler.load_general(register, LIST, 8 * array as i32);
        }
    }

    /// Loads the `count` invariant values that are used most.
    fn pin(&mut self, count: usize) {
        let all = (0..self.program.ops.len()).map(|index| Value(index as u32));
        let mut values: Vec<Value> = all.filter(|&value| self.is_invariant(value)).collect();
        values.sort_by_key(|&value| std::cmp::Reverse(self.lifetimes.count(value)));
        for value in values.into_iter().take(count) {
            self.pinned[value.index()] = true;
            self.invariant(value);
        }
        self.locked = 0;
    }

    /// The loop over blocks. It may have no turn if `is_checked` is set.
    fn main_loop(&mut self, stores: &[Vec<Store>], is_checked: bool) {
        self.assembler.mark(|| "loop".to_owned());
        self.assembler.zero_general(INDEX);
        let skipped = is_checked.then(|| self.assembler.jump_unless_below(INDEX, END));
        let start = self.assembler.here();
        self.turn(stores);
        self.assembler.add_general(INDEX, (self.vectors * self.elements) as i32);
        self.assembler.jump_if_below(INDEX, END, start);
        if let Some(skipped) = skipped {
            self.assembler.set_jump(skipped, self.assembler.here());
        }
    }

    /// A turn of the loop.
    fn turn(&mut self, stores: &[Vec<Store>]) {
        for (index, op) in self.program.ops.iter().enumerate() {
            self.position = index;
            self.op(Value(index as u32), op);
            // A store needs registers of its own, but none of the operands.
            self.locked = 0;
            for store in &stores[index] {
                self.assembler.mark(|| label_of_store(store));
                self.store(store);
            }
            self.release();
        }
    }

    /// Whether a value is the same in every turn of the loop.
    fn is_invariant(&self, value: Value) -> bool {
        is_invariant(&self.program.ops[value.index()])
    }

    fn slot_bytes(&self) -> usize {
        self.vectors * self.isa.bytes()
    }

    /// Gives back the registers and places of values that no later operation reads, and of invariant ones that are not
    /// pinned once they are read for the last time.
    fn release(&mut self) {
        self.locked = 0;
        if self.is_joined(self.position) {
            return;
        }
        for value in self.args().chain([Value(self.position as u32)]) {
            if self.lifetimes.next_use(value, self.position).is_none() && !self.pinned[value.index()] {
                self.forget(value);
                self.free_slots.extend(self.slots[value.index()].take());
            }
        }
    }

    /// Frees the registers of a value.
    fn forget(&mut self, value: Value) {
        if let Some(registers) = self.held[value.index()].take() {
            self.free |= self.bits(value, registers);
        }
    }

    /// The registers of a value as bits.
    fn bits(&self, value: Value, registers: Registers) -> u32 {
        let count = if self.is_invariant(value) { 1 } else { self.vectors };
        registers[..count].iter().fold(0, |bits, register| bits | 1 << register)
    }

    /// A free register, which is locked; makes one free if there is none.
    fn take(&mut self) -> u8 {
        if self.free == 0 {
            self.evict();
        }
        let register = self.free.trailing_zeros() as u8;
        self.free &= !(1 << register);
        self.locked |= 1 << register;
        register
    }

    /// Free registers for the vectors of a value.
    fn take_all(&mut self) -> Registers {
        let mut registers = [0; MOST_VECTORS];
        (0..self.vectors).for_each(|vector| registers[vector] = self.take());
        registers
    }

    /// Moves the value whose next use is farthest away out of its registers. Invariant ones can be loaded again.
    fn evict(&mut self) {
        let candidates = (0..self.held.len()).map(|index| Value(index as u32)).filter(|&value| {
            let registers = self.held[value.index()];
            registers.is_some_and(|registers| self.bits(value, registers) & self.locked == 0)
                && !self.pinned[value.index()]
        });
        let distance = |value: &Value| {
            let is_cheap = self.is_invariant(*value);
            (is_cheap, self.lifetimes.next_use(*value, self.position).unwrap_or(usize::MAX))
        };
        let value = candidates.max_by_key(distance).expect("an operation uses fewer registers than there are");
        self.save(value);
        self.forget(value);
    }

    /// Writes a value to its place on the stack, unless it is there or can be loaded again.
    fn save(&mut self, value: Value) {
        if !self.is_invariant(value) && self.slots[value.index()].is_none() {
            let slot = self.free_slots.pop().unwrap_or_else(|| {
                self.slot_count += 1;
                self.slot_count - 1
            });
            self.slots[value.index()] = Some(slot);
            let registers = self.held[value.index()].expect("only values in registers are saved");
            self.whole(STORE, slot, registers);
        }
    }

    /// The place of a vector on the stack.
    fn slot(&self, slot: usize, vector: usize) -> Operand {
        let displacement = slot * self.slot_bytes() + vector * self.isa.bytes();
        Operand::Memory { base: general::SP, index: None, displacement: displacement as i32 }
    }

    /// The address of a vector's elements in an array.
    fn element(&mut self, array: u16, width: Width, vector: usize) -> Operand {
        let displacement = vector * self.elements * width.bytes();
        let base = self.address(array);
        Operand::Memory { base, index: Some((INDEX, width.log2())), displacement: displacement as i32 }
    }

    /// The register with the address of an array.
    fn address(&mut self, array: u16) -> u8 {
        ADDRESSES.get(usize::from(array)).copied().unwrap_or_else(|| {
            self.assembler.load_general(ADDRESS, LIST, 8 * i32::from(array));
            ADDRESS
        })
    }

    /// The register of an invariant value, which is locked.
    fn invariant(&mut self, value: Value) -> u8 {
        if let Some([register, ..]) = self.held[value.index()] {
            self.locked |= 1 << register;
            return register;
        }
        let register = self.take();
        let length = self.assembler.set_length(self.isa.longest());
        match self.program.ops[value.index()] {
            Op::Splat { array, width } => {
                let base = self.address(array);
                let from = Operand::Memory { base, index: None, displacement: 0 };
                self.assembler.vector(self.broadcast_of(width), register, 0, from, None);
            }
            Op::SplatPart { array, part } => {
                let base = self.address(array);
                let from = Operand::Memory { base, index: None, displacement: part.offset() as i32 };
                self.assembler.vector(self.broadcast_of(Width::Pair), register, 0, from, None);
            }
            Op::Constant(bits) => self.assembler.load_constant(register, bits),
            Op::Pair(bits) => self.assembler.load_pair(register, bits),
            _ => unreachable!("other values depend on the turn"),
        }
        self.assembler.set_length(length);
        self.held[value.index()] = Some([register; MOST_VECTORS]);
        register
    }

    /// The instruction that repeats an element in memory.
    fn broadcast_of(&self, width: Width) -> Code {
        const BROADCAST_PAIR: Code = wide(1, 2, 0x19);
        match (width, self.isa) {
            // VEX knows it without W.
            (Width::Pair, Isa::Avx2) => Code { is_wide: false, ..BROADCAST_PAIR },
            (Width::Pair, Isa::Avx512) => BROADCAST_PAIR,
            (Width::Byte, _) => code(1, 2, 0x78),
            (Width::Half, _) => code(1, 2, 0x79),
            _ => BROADCAST,
        }
    }

    /// The registers of a value, which are locked.
    fn registers(&mut self, value: Value) -> Registers {
        if self.is_invariant(value) {
            return [self.invariant(value); MOST_VECTORS];
        }
        if let Some(registers) = self.held[value.index()] {
            self.locked |= self.bits(value, registers);
            return registers;
        }
        let slot = self.slots[value.index()].expect("a value is in registers or on the stack");
        let registers = self.take_all();
        self.whole(LOAD, slot, registers);
        self.held[value.index()] = Some(registers);
        registers
    }

    /// Loads or stores all lanes of a value's vectors, whatever number the operation has.
    fn whole(&mut self, code: Code, slot: usize, registers: Registers) {
        let length = self.assembler.set_length(self.isa.longest());
        for (vector, &register) in registers[..self.vectors].iter().enumerate() {
            let place = self.slot(slot, vector);
            self.assembler.vector(code, register, 0, place, None);
        }
        self.assembler.set_length(length);
    }

    /// The vectors of a value as operands that may be in memory, of an instruction on words. Those on pairs read the
    /// same constants, since both words are equal.
    fn operands(&mut self, value: Value) -> [Operand; MOST_VECTORS] {
        let is_held = self.held[value.index()].is_some();
        match (self.program.ops[value.index()], self.slots[value.index()]) {
            (Op::Constant(bits), _) if !is_held && bits != 0 => [Operand::Constant(bits); MOST_VECTORS],
            (_, Some(slot)) if !is_held => [0, 1, 2, 3].map(|vector| self.slot(slot, vector)),
            _ => self.registers(value).map(Operand::Register),
        }
    }

    /// As [`operands`](Emitter::operands), of an instruction on elements of a width.
    fn operands_of(&mut self, value: Value, width: Width) -> [Operand; MOST_VECTORS] {
        match (self.program.ops[value.index()], width, self.isa) {
            (Op::Pair(bits), Width::Pair, _) if self.held[value.index()].is_none() => {
                [Operand::Pair(bits); MOST_VECTORS]
            }
            // EVEX repeats no constants that are narrower than a lane.
            (Op::Constant(_), Width::Byte | Width::Half, Isa::Avx512) => self.registers(value).map(Operand::Register),
            _ => self.operands(value),
        }
    }

    /// Whether the operation is the last to read `value`, whose registers it may overwrite.
    fn is_last_use(&self, value: Value) -> bool {
        self.held[value.index()].is_some()
            && !self.is_invariant(value)
            && self.lifetimes.next_use(value, self.position).is_none()
    }

    /// The registers of an operation's result: those of an operand that nothing else needs, or free ones.
    fn result(&mut self, args: &[Value]) -> Registers {
        match args.iter().find(|&&arg| self.is_last_use(arg)) {
            Some(arg) => self.held[arg.index()].take().expect("it is in registers"),
            None => self.take_all(),
        }
    }

    /// The registers of a result that starts as a value: its own if nothing else needs them, or those of a copy.
    fn overwritten(&mut self, value: Value) -> Registers {
        let own = self.registers(value).map(Operand::Register);
        if self.is_last_use(value) {
            return self.result(&[value]);
        }
        let copy = self.take_all();
        self.each(MOVE, copy, [0; MOST_VECTORS], own, None);
        copy
    }

    /// Emits an instruction for each vector: result, second register, operand.
    fn each(
        &mut self,
        code: Code,
        result: Registers,
        other: Registers,
        operand: [Operand; MOST_VECTORS],
        immediate: Option<u8>,
    ) {
        for vector in 0..self.vectors {
            self.assembler.vector(code, result[vector], other[vector], operand[vector], immediate);
        }
    }

    /// The operands of the current operation, and of a comparison that belongs to it.
    fn args(&self) -> impl Iterator<Item = Value> + use<'a> {
        let ops: &'a [Op] = &self.program.ops;
        let start =
            if self.position > 0 && self.is_joined(self.position - 1) { self.position - 1 } else { self.position };
        ops[start..=self.position].iter().flat_map(Op::args).copied()
    }

    /// The number of lanes of an operation.
    fn lanes(&self, position: usize) -> usize {
        match self.program.lanes[position] {
            0 => self.program.ops[position].lanes(self.elements),
            lanes => lanes.into(),
        }
    }

    fn op(&mut self, value: Value, op: &Op) {
        let program = self.program;
        self.assembler.mark(|| label(program, value));
        self.assembler.set_length(self.isa.length(self.lanes(value.index())));
        // Operands in registers stay there until the operation has read them.
        for arg in self.args() {
            if let Some(registers) = self.held[arg.index()] {
                self.locked |= self.bits(arg, registers);
            }
        }
        let result = match op {
            Op::Constant(_) | Op::Pair(_) | Op::Splat { .. } | Op::SplatPart { .. } => return,
            // Its store takes both parts.
            Op::Join(_) => return,
            Op::Load { array, width } => self.load(*array, *width),
            Op::LoadPart { array, part } => match self.load_part_of(*array, *part) {
                Some(registers) => registers,
                None => return,
            },
            Op::Pick(array, [index]) => {
                let base = self.address(*array);
                self.pick(base, *index)
            }
            Op::Unary(Unary::ToHalf, [a]) => self.half_of(*a),
            Op::Unary(Unary::OfHalf, [a]) => self.float_of_half(*a),
            Op::Unary(Unary::RoundToHalf, [a]) => self.rounded_to_half(*a),
            Op::Unary(kind, [a]) => {
                let operand = self.operands(*a);
                let result = self.result(&[*a]);
                let (code, immediate) = unary(*kind);
                self.each(code, result, [0; MOST_VECTORS], operand, immediate);
                result
            }
            Op::Shift(kind, [a], amount) => self.shift(*kind, *a, *amount, Width::Word),
            Op::Binary(Binary::MultiplyHighSigned, args) => self.high_product(*args, true),
            Op::Binary(Binary::MultiplyHighUnsigned, args) => self.high_product(*args, false),
            Op::Binary(kind, args) => self.two(binary(*kind), *args, Width::Word),
            // The next operation compares and selects.
            Op::Compare(..) | Op::PackedCompare(..) | Op::Wide(Wide::Compare(_), _)
                if self.is_joined(self.position) =>
            {
                return;
            }
            Op::Compare(kind, args) => self.compare(*kind, *args, Width::Word),
            Op::PackedCompare(packing, kind, args) => self.compare(*kind, *args, packing.width()),
            Op::PackedShift(kind, [a], amount) => self.shift(*kind, *a, *amount, Width::Half),
            Op::PackedBinary(packing, kind, args) => self.two(packed::binary(*packing, *kind), *args, packing.width()),
            Op::Select([_, a, b]) | Op::Wide(Wide::Select, [_, a, b])
                if self.position > 0 && self.is_joined(self.position - 1) =>
            {
                self.choose(*a, *b)
            }
            Op::Fused(args) => self.fused(*args, Width::Word),
            Op::Select(args) => self.select(*args),
            Op::Wide(wide, args) => self.wide(*wide, *args),
            Op::Broadcast([a]) => self.broadcast(*a),
            Op::Extract([a], lane) => self.extract(*a, *lane),
            Op::Insert([a, b], lane) => self.insert(*a, *b, *lane),
            Op::Read(place, _) => self.read(*place, None),
            Op::ReadAt(place, [index], _) => self.read(*place, Some(*index)),
            Op::PickAt(slot, [index], _) => {
                let base = self.address_of(*slot);
                self.pick(base, *index)
            }
            Op::Write(place, [a]) => return self.write(*place, *a, None),
            Op::WriteAt(place, [a, index]) => return self.write(*place, *a, Some(*index)),
            Op::Rotate(slots) => return self.rotate(*slots),
            Op::Call(callee, args) => self.call(*callee, *args),
            Op::Guarded(callee, args) => self.guarded(*callee, *args),
            Op::Invoke(callee) => return self.invoke(*callee),
            Op::Decide([a]) => return self.decide(*a),
        };
        self.held[value.index()] = Some(result);
    }

    /// An instruction with two operands, on elements of a width.
    fn two(&mut self, code: Code, args: [Value; 2], width: Width) -> Registers {
        let [a, b] = args;
        let first = self.registers(a);
        let second = self.operands_of(b, width);
        let result = self.result(&args);
        self.each(code, result, first, second, None);
        result
    }

    /// `a * b + c`: the instruction overwrites one of its operands.
    fn fused(&mut self, args: [Value; 3], width: Width) -> Registers {
        let is_wide = width == Width::Pair;
        let [by_132, by_213, by_231] = [0x98, 0xa8, 0xb8].map(|opcode| Code { is_wide, ..code(1, 2, opcode) });
        let [a, b, c] = args;
        let [a, b] = if self.is_last_use(b) && !self.is_last_use(a) { [b, a] } else { [a, b] };
        // `a` is in registers whatever comes; it may be the same value as `b` or `c`.
        let first = self.registers(a);
        if self.is_last_use(a) && a != c {
            // a = b * a + c
            if a != b && !self.is_in_memory(b) {
                let (second, third) = (self.registers(b), self.operands_of(c, width));
                let result = self.result(&[a]);
                self.each(by_213, result, second, third, None);
                return result;
            }
            // a = a * b + c
            let third = self.registers(c);
            let second = if a == b { first.map(Operand::Register) } else { self.operands_of(b, width) };
            let result = self.result(&[a]);
            self.each(by_132, result, third, second, None);
            return result;
        }
        // c = a * b + c
        let second = self.operands_of(b, width);
        let result = self.overwritten(c);
        self.each(by_231, result, first, second, None);
        result
    }

    /// Whether an operand is not in registers now.
    fn is_in_memory(&self, value: Value) -> bool {
        self.held[value.index()].is_none()
    }
}

/// The instruction of an operation with one operand, and its immediate byte.
fn unary(op: Unary) -> (Code, Option<u8>) {
    match op {
        Unary::Sqrt => (code(0, 1, 0x51), None),
        Unary::ToFloat => (code(0, 1, 0x5b), None),
        Unary::ToInteger => (code(2, 1, 0x5b), None),
        Unary::Round(round) => (code(1, 3, 0x08), Some(rounding(round))),
        Unary::ToHalf | Unary::OfHalf | Unary::RoundToHalf => unreachable!("these are several instructions"),
    }
}

/// The immediate byte of instructions that round to integers.
fn rounding(round: Round) -> u8 {
    const WITHOUT_EXCEPTIONS: u8 = 8;
    WITHOUT_EXCEPTIONS
        | match round {
            Round::Even => 0,
            Round::Floor => 1,
            Round::Ceil => 2,
            Round::Truncate => 3,
        }
}

/// The instruction of an operation with two operands.
fn binary(op: Binary) -> Code {
    match op {
        Binary::Add => code(0, 1, 0x58),
        Binary::Subtract => code(0, 1, 0x5c),
        Binary::Multiply => code(0, 1, 0x59),
        Binary::Divide => code(0, 1, 0x5e),
        Binary::Smaller => code(0, 1, 0x5d),
        Binary::Larger => code(0, 1, 0x5f),
        Binary::AddBits => code(1, 1, 0xfe),
        Binary::SubtractBits => code(1, 1, 0xfa),
        Binary::MultiplyBits => code(1, 2, 0x40),
        Binary::MultiplyHighSigned | Binary::MultiplyHighUnsigned => unreachable!("these are several instructions"),
        Binary::And => code(1, 1, 0xdb),
        Binary::AndNot => code(1, 1, 0xdf),
        Binary::Or => code(1, 1, 0xeb),
        Binary::Xor => code(1, 1, 0xef),
        Binary::ShiftLeft => code(1, 2, 0x47),
        Binary::ShiftRight => code(1, 2, 0x45),
        Binary::ShiftRightArithmetic => code(1, 2, 0x46),
        Binary::MinSigned => code(1, 2, 0x39),
        Binary::MaxSigned => code(1, 2, 0x3d),
        Binary::MinUnsigned => code(1, 2, 0x3b),
        Binary::MaxUnsigned => code(1, 2, 0x3f),
    }
}
