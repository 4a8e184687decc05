//! Emission: the instructions of each operation, in registers that are chosen on the way, and the loop around them.
//!
//! Each turn of the loop computes one to four vectors of every value, one operation after another. A value that finds
//! no register goes to the stack: the one whose next use is farthest away.

mod region;
mod rows;
mod tail;
mod wide;

pub(crate) use region::{EmittedRegion, OUT_OF_FUEL, emit_region};

use crate::encode::{Assembler, Code, Isa, Operand, code, general, wide};
use crate::ir::{Binary, Compare, Counts, Op, Program, Round, Shift, Store, Unary, Value, Width};
use crate::registers::{Lifetimes, MOST_VECTORS, is_invariant};

/// The code of a function in the System V calling convention: `(arrays: *const *mut u8, elements: usize)` for whole
/// blocks, or `(rows: *const Row, end: *const Row)` for rows of any number of elements, where a `Row` is the addresses
/// of the arrays, the number of elements in whole blocks, and that of all.
#[derive(Debug)]
pub(crate) struct Emitted {
    pub(crate) bytes: Vec<u8>,
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
const COMPARE_FLOATS: Code = code(0, 1, 0xc2);

/// The mask registers of the vectors of a comparison.
const MASKS: [u8; MOST_VECTORS] = [1, 2, 3, 4];

/// The code of a program; `None` if it needs too much of the stack. It takes any number of elements if that is asked
/// for and possible.
pub(crate) fn emit(program: &Program, isa: Isa, counts: Counts) -> Option<Emitted> {
    let takes_any_count = counts == Counts::Any && tail::takes_any_count(program, isa);
    let lifetimes = Lifetimes::new(program);
    let (vectors, spare) = lifetimes.vectors(program, isa);
    let stores = program.stores.iter().fold(vec![Vec::new(); program.ops.len()], |mut stores, store| {
        stores[store.value.index()].push(*store);
        stores
    });
    let mut emitter = Emitter::new(program, &lifetimes, isa, vectors);
    emitter.assembler.add_general(general::SP, -STACK);
    let row = takes_any_count.then(|| emitter.start_rows());
    emitter.load_addresses();
    emitter.pin(spare);
    emitter.main_loop(&stores, takes_any_count);
    let mut stack = emitter.slot_count * emitter.slot_bytes();
    if let Some(row) = row {
        let (assembler, spare) = (emitter.assembler, lifetimes.spare(program, isa, 1));
        emitter = Emitter { assembler, ..Emitter::new(program, &lifetimes, isa, 1) };
        emitter.tail(&stores, spare);
        emitter.next_row(row);
        stack = stack.max(emitter.slot_count * emitter.slot_bytes());
    }
    emitter.assembler.add_general(general::SP, STACK);
    emitter.assembler.return_to_caller();
    let block = vectors * isa.lanes();
    (stack <= rows::VALUES).then(|| Emitted { bytes: emitter.assembler.finish(), block, takes_any_count })
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
    /// Whether arrays are accessed in part.
    is_part: bool,
}

impl<'a> Emitter<'a> {
    fn new(program: &'a Program, lifetimes: &'a Lifetimes, isa: Isa, vectors: usize) -> Emitter<'a> {
        let count = program.ops.len();
        Emitter {
            assembler: Assembler::new(isa),
            isa,
            program,
            lifetimes,
            vectors,
            position: 0,
            free: ((1_u64 << isa.registers()) - 1) as u32,
            locked: 0,
            held: vec![None; count],
            pinned: vec![false; count],
            slots: vec![None; count],
            free_slots: Vec::new(),
            slot_count: 0,
            addresses: region::Addresses::default(),
            is_part: false,
        }
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
        self.assembler.zero_general(INDEX);
        let skipped = is_checked.then(|| self.assembler.jump_unless_below(INDEX, END));
        let start = self.assembler.here();
        self.turn(stores);
        self.assembler.add_general(INDEX, (self.vectors * self.isa.lanes()) as i32);
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
            for store in &stores[index] {
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
        let displacement = vector * self.isa.lanes() * width.bytes();
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
            Op::Splat { array } => {
                let base = self.address(array);
                let from = Operand::Memory { base, index: None, displacement: 0 };
                self.assembler.vector(BROADCAST, register, 0, from, None);
            }
            Op::Constant(bits) => self.assembler.load_constant(register, bits),
            Op::Pair(bits) => self.assembler.load_pair(register, bits),
            _ => unreachable!("other values depend on the turn"),
        }
        self.assembler.set_length(length);
        self.held[value.index()] = Some([register; MOST_VECTORS]);
        register
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

    /// The vectors of a value as operands that may be in memory.
    fn operands(&mut self, value: Value) -> [Operand; MOST_VECTORS] {
        let is_held = self.held[value.index()].is_some();
        match (self.program.ops[value.index()], self.slots[value.index()]) {
            (Op::Constant(bits), _) if !is_held && bits != 0 => [Operand::Constant(bits); MOST_VECTORS],
            (_, Some(slot)) if !is_held => [0, 1, 2, 3].map(|vector| self.slot(slot, vector)),
            _ => self.registers(value).map(Operand::Register),
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

    fn op(&mut self, value: Value, op: &Op) {
        self.assembler.set_length(match self.program.lanes[value.index()] {
            0 => self.isa.longest(),
            lanes => self.isa.length(usize::from(lanes)),
        });
        // Operands in registers stay there until the operation has read them.
        for arg in self.args() {
            if let Some(registers) = self.held[arg.index()] {
                self.locked |= self.bits(arg, registers);
            }
        }
        let result = match op {
            Op::Constant(_) | Op::Pair(_) | Op::Splat { .. } => return,
            Op::Load { array, width } => self.load(*array, *width),
            Op::Unary(kind, [a]) => {
                let operand = self.operands(*a);
                let result = self.result(&[*a]);
                let (code, immediate) = unary(*kind);
                self.each(code, result, [0; MOST_VECTORS], operand, immediate);
                result
            }
            Op::Shift(kind, [a], amount) => {
                let operand = self.registers(*a).map(Operand::Register);
                let result = self.result(&[*a]);
                let extension = match kind {
                    Shift::Left => 6,
                    Shift::Right => 2,
                    Shift::RightArithmetic => 4,
                };
                self.each(code(1, 1, 0x72), [extension; MOST_VECTORS], result, operand, Some(*amount));
                result
            }
            Op::Binary(kind, args @ [a, b]) => {
                let a = self.registers(*a);
                let b = self.operands(*b);
                let result = self.result(args);
                self.each(binary(*kind), result, a, b, None);
                result
            }
            // The next operation compares and selects.
            Op::Compare(..) if self.is_joined(self.position) => return,
            Op::Compare(kind, args @ [a, b]) => {
                let a = self.registers(*a);
                let b = self.operands(*b);
                let result = self.result(args);
                self.compare(*kind, result, a, b);
                result
            }
            Op::Select([_, a, b]) if self.position > 0 && self.is_joined(self.position - 1) => self.choose(*a, *b),
            Op::Fused(args) => self.fused(*args),
            Op::Select(args) => self.select(*args),
            Op::Wide(wide, args) => self.wide(*wide, *args),
            Op::Broadcast([a]) => self.broadcast(*a),
            Op::Extract([a], lane) => self.extract(*a, *lane),
            Op::Insert([a, b], lane) => self.insert(*a, *b, *lane),
            Op::Read(place, _) => self.read(*place, None),
            Op::ReadAt(place, [index], _) => self.read(*place, Some(*index)),
            Op::Write(place, [a]) => return self.write(*place, *a, None),
            Op::WriteAt(place, [a, index]) => return self.write(*place, *a, Some(*index)),
            Op::Rotate(slots) => return self.rotate(*slots),
            Op::Call(callee, args) => self.call(*callee, *args),
            Op::Invoke(callee) => return self.invoke(*callee),
            Op::Decide([a]) => return self.decide(*a),
        };
        self.held[value.index()] = Some(result);
    }

    fn load(&mut self, array: u16, width: Width) -> Registers {
        let code = widening(width);
        let result = self.take_all();
        if self.is_part {
            self.load_rest(array, width, result);
            return result;
        }
        for (vector, &register) in result[..self.vectors].iter().enumerate() {
            let from = self.element(array, width, vector);
            self.assembler.vector(code, register, 0, from, None);
        }
        result
    }

    fn compare(&mut self, kind: Compare, result: Registers, a: Registers, b: [Operand; MOST_VECTORS]) {
        let (predicate, is_float) = predicate(kind);
        match self.isa {
            Isa::Avx512 => {
                self.compare_to_masks(kind, a, b);
                for (vector, mask) in MASKS.into_iter().enumerate().take(self.vectors) {
                    self.assembler.mask_to_vector(result[vector], mask, false);
                }
            }
            Isa::Avx2 if is_float => self.each(COMPARE_FLOATS, result, a, b, Some(predicate)),
            Isa::Avx2 => {
                let opcode = if kind == Compare::EqualBits { 0x76 } else { 0x66 };
                self.each(code(1, 1, opcode), result, a, b, None);
            }
        }
    }

    /// Compares into mask registers: AVX-512 only.
    fn compare_to_masks(&mut self, kind: Compare, a: Registers, b: [Operand; MOST_VECTORS]) {
        let (predicate, is_float) = predicate(kind);
        let code = if is_float { COMPARE_FLOATS } else { code(1, 3, 0x1f) };
        for (vector, mask) in MASKS.into_iter().enumerate().take(self.vectors) {
            self.assembler.compare_to_mask(code, mask, a[vector], b[vector], predicate);
        }
    }

    /// Whether the operation at `position` is a comparison for the selection that follows it and nothing else, so that
    /// its mask can stay in a mask register.
    fn is_joined(&self, position: usize) -> bool {
        let mask = Value(position as u32);
        let selects = || match self.program.ops.get(position + 1) {
            Some(&Op::Select([choice, a, b])) => choice == mask && a != mask && b != mask,
            _ => false,
        };
        self.isa == Isa::Avx512
            && matches!(self.program.ops[position], Op::Compare(..))
            && self.lifetimes.count(mask) == 1
            && selects()
    }

    /// A selection by the comparison before it: AVX-512 only.
    fn choose(&mut self, a: Value, b: Value) -> Registers {
        let Op::Compare(kind, [x, y]) = self.program.ops[self.position - 1] else {
            unreachable!("the operation before is a comparison");
        };
        let first = self.registers(x);
        let second = self.operands(y);
        let (yes, no) = (self.operands(a), self.registers(b));
        self.compare_to_masks(kind, first, second);
        let result = self.result(&[a, b, x, y]);
        for (vector, mask) in MASKS.into_iter().enumerate().take(self.vectors) {
            self.assembler.blend_by_mask(result[vector], mask, no[vector], yes[vector]);
        }
        result
    }

    /// `a * b + c`: the instruction overwrites one of its operands.
    fn fused(&mut self, args: [Value; 3]) -> Registers {
        const BY_132: Code = code(1, 2, 0x98);
        const BY_213: Code = code(1, 2, 0xa8);
        const BY_231: Code = code(1, 2, 0xb8);
        let [a, b, c] = args;
        let [a, b] = if self.is_last_use(b) && !self.is_last_use(a) { [b, a] } else { [a, b] };
        // `a` is in registers whatever comes; it may be the same value as `b` or `c`.
        let first = self.registers(a);
        if self.is_last_use(a) && a != c {
            // a = b * a + c
            if a != b && !self.is_in_memory(b) {
                let (second, third) = (self.registers(b), self.operands(c));
                let result = self.result(&[a]);
                self.each(BY_213, result, second, third, None);
                return result;
            }
            // a = a * b + c
            let third = self.registers(c);
            let second = if a == b { first.map(Operand::Register) } else { self.operands(b) };
            let result = self.result(&[a]);
            self.each(BY_132, result, third, second, None);
            return result;
        }
        // c = a * b + c
        let second = self.operands(b);
        let third = self.registers(c);
        let result = if self.is_last_use(c) {
            self.result(&[c])
        } else {
            let result = self.take_all();
            self.each(MOVE, result, [0; MOST_VECTORS], third.map(Operand::Register), None);
            result
        };
        self.each(BY_231, result, first, second, None);
        result
    }

    /// Whether an operand is not in registers now.
    fn is_in_memory(&self, value: Value) -> bool {
        self.held[value.index()].is_none()
    }

    fn select(&mut self, args: [Value; 3]) -> Registers {
        let [mask, a, b] = args;
        let choice = self.registers(mask);
        match self.isa {
            Isa::Avx2 => {
                const BLEND: Code = code(1, 3, 0x4a);
                let no = self.registers(b);
                let yes = self.operands(a);
                let result = self.result(&args);
                for vector in 0..self.vectors {
                    let immediate = Some(choice[vector] << 4);
                    self.assembler.vector(BLEND, result[vector], no[vector], yes[vector], immediate);
                }
                result
            }
            Isa::Avx512 => {
                // A function of three bits, by its truth table. The first operand is overwritten.
                const TERNARY: Code = code(1, 3, 0x25);
                if self.is_last_use(b) {
                    let yes = self.operands(a);
                    let result = self.result(&[b]);
                    self.each(TERNARY, result, choice, yes, Some(0xb8));
                    return result;
                }
                if self.is_last_use(a) {
                    let no = self.operands(b);
                    let result = self.result(&[a]);
                    self.each(TERNARY, result, choice, no, Some(0xe2));
                    return result;
                }
                let (yes, no) = (self.registers(a), self.operands(b));
                let result = if self.is_last_use(mask) {
                    self.result(&[mask])
                } else {
                    let result = self.take_all();
                    self.each(MOVE, result, [0; MOST_VECTORS], choice.map(Operand::Register), None);
                    result
                };
                self.each(TERNARY, result, yes, no, Some(0xca));
                result
            }
        }
    }

    fn store(&mut self, store: &Store) {
        let &Store { array, width, value } = store;
        let registers = self.registers(value);
        if self.is_part {
            return self.store_rest(array, width, registers);
        }
        for (vector, &register) in registers[..self.vectors].iter().enumerate() {
            match (width, self.isa) {
                (Width::Word, _) | (_, Isa::Avx512) => {
                    let to = self.element(array, width, vector);
                    self.assembler.vector(narrowing(width), register, 0, to, None);
                }
                (Width::Byte | Width::Half, Isa::Avx2) => self.store_packed(array, width, vector, register),
            }
        }
    }

    /// Stores the low bits of a vector's words: AVX2 packs them in steps, which saturate.
    fn store_packed(&mut self, array: u16, width: Width, vector: usize, register: u8) {
        let to = self.element(array, width, vector);
        self.pack(register, width, to);
    }

    /// Stores the low bits of eight words.
    fn pack(&mut self, register: u8, width: Width, to: Operand) {
        const AND: Code = code(1, 1, 0xdb);
        const PACK_WORDS: Code = code(1, 2, 0x2b);
        const PACK_HALVES: Code = code(1, 1, 0x67);
        const PERMUTE: Code = wide(1, 3, 0x00);
        const STORE_HALF: Code = code(1, 1, 0xd6);
        let packed = self.take();
        let own = Operand::Register(packed);
        let low = if width == Width::Byte { 0xff } else { 0xffff };
        self.assembler.vector(AND, packed, register, Operand::Constant(low), None);
        self.assembler.vector(PACK_WORDS, packed, packed, own, None);
        // Quarters 0 and 2: the halves of the vector are packed apart.
        self.assembler.long_vector(PERMUTE, packed, own, 0b1000);
        if width == Width::Byte {
            self.assembler.short_vector(PACK_HALVES, packed, packed, own, None);
            self.assembler.short_vector(STORE_HALF, packed, 0, to, None);
        } else {
            self.assembler.short_vector(STORE, packed, 0, to, None);
        }
        self.free |= 1 << packed;
        self.locked &= !(1 << packed);
    }
}

/// The instruction that loads elements into words.
fn widening(width: Width) -> Code {
    match width {
        Width::Word => LOAD,
        Width::Byte => code(1, 2, 0x31),
        Width::Half => code(1, 2, 0x33),
    }
}

/// The instruction of AVX-512 that stores the low bits of words.
fn narrowing(width: Width) -> Code {
    match width {
        Width::Word => STORE,
        Width::Byte => code(2, 2, 0x31),
        Width::Half => code(2, 2, 0x33),
    }
}

/// The predicate of the instructions that have one, and whether they compare floats.
fn predicate(kind: Compare) -> (u8, bool) {
    match kind {
        Compare::Equal => (0, true),
        Compare::NotEqual => (4, true),
        Compare::Less => (0x11, true),
        Compare::LessOrEqual => (0x12, true),
        Compare::EqualBits => (0, false),
        Compare::Greater => (6, false),
    }
}

/// The instruction of an operation with one operand, and its immediate byte.
fn unary(op: Unary) -> (Code, Option<u8>) {
    match op {
        Unary::Sqrt => (code(0, 1, 0x51), None),
        Unary::ToFloat => (code(0, 1, 0x5b), None),
        Unary::ToInteger => (code(2, 1, 0x5b), None),
        Unary::Round(round) => {
            let mode = match round {
                Round::Even => 0,
                Round::Floor => 1,
                Round::Ceil => 2,
                Round::Truncate => 3,
            };
            (code(1, 3, 0x08), Some(8 | mode))
        }
    }
}

/// The instruction of an operation with two operands.
fn binary(op: Binary) -> Code {
    match op {
        Binary::Add => code(0, 1, 0x58),
        Binary::Subtract => code(0, 1, 0x5c),
        Binary::Multiply => code(0, 1, 0x59),
        Binary::Divide => code(0, 1, 0x5e),
        Binary::AddBits => code(1, 1, 0xfe),
        Binary::SubtractBits => code(1, 1, 0xfa),
        Binary::MultiplyBits => code(1, 2, 0x40),
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
