//! Calls of functions in Rust.

use super::region::{ADDRESSES, Addresses, FUEL, SAVED, SCRATCH, TABLE, VECTORS};
use super::tail::PART;
use super::{Emitter, LOAD, Registers, STORE, code};
use crate::encode::{Code, Isa, Operand, general};
use crate::ir::Value;
use crate::region::Callee;

/// A vector of a call, on the stack.
fn vector(index: i32) -> Operand {
    Operand::Memory { base: general::SP, index: None, displacement: VECTORS + 64 * index }
}

impl Emitter<'_> {
    /// Calls a function of vectors, which are on the stack.
    pub(super) fn call(&mut self, callee: u32, args: [Value; 3]) -> Registers {
        for (index, arg) in args.into_iter().enumerate() {
            let register = self.registers(arg)[0];
            self.longest(STORE, register, vector(index as i32));
        }
        self.leave_registers();
        self.assembler.store_general(TABLE, general::SP, SAVED);
        self.assembler.store_general(FUEL, general::SP, SAVED + 8);
        self.assembler.address(general::SI, general::SP, VECTORS);
        let lanes = u32::from(self.program.lanes[self.position]);
        self.assembler.set_general(general::DX, lanes);
        self.call_function(self.program.callees[callee as usize]);
        let result = self.take_all();
        self.longest(LOAD, result[0], vector(3));
        result
    }

    /// Calls a function of the table of slots.
    pub(super) fn invoke(&mut self, callee: u32) {
        self.leave_registers();
        self.assembler.store_general(TABLE, general::SP, SAVED);
        self.assembler.store_general(FUEL, general::SP, SAVED + 8);
        self.assembler.copy_general(general::SI, TABLE);
        self.call_function(self.program.callees[callee as usize]);
    }

    fn call_function(&mut self, callee: Callee) {
        self.assembler.set_address(general::DI, callee.data);
        self.assembler.set_address(general::AX, callee.function);
        self.assembler.call_register(general::AX);
        self.assembler.load_general(TABLE, general::SP, SAVED);
        self.assembler.load_general(FUEL, general::SP, SAVED + 8);
        self.addresses = Addresses::default();
    }

    /// The third value; where a lane of the fourth, a mask, is set, the result of a function of the first two. Only
    /// then are registers moved to the stack and back.
    pub(super) fn guarded(&mut self, callee: u32, [a, b, value, is_hard]: [Value; 4]) -> Registers {
        let [a, b, mask] = [a, b, is_hard].map(|arg| self.registers(arg)[0]);
        let result = self.overwritten(value);
        let lanes = self.program.lanes[self.position];
        self.test_mask(mask, lanes);
        let easy = self.assembler.jump_if_zero();
        self.longest(STORE, a, vector(0));
        self.longest(STORE, b, vector(1));
        let held = self.save_registers();
        self.assembler.store_general(TABLE, general::SP, SAVED);
        self.assembler.store_general(FUEL, general::SP, SAVED + 8);
        self.assembler.address(general::SI, general::SP, VECTORS);
        self.assembler.set_general(general::DX, lanes.into());
        let addresses = std::mem::take(&mut self.addresses);
        self.call_function(self.program.callees[callee as usize]);
        for (slot, register) in addresses.slots.iter().zip(ADDRESSES) {
            if let Some(slot) = slot {
                self.assembler.load_general(register, TABLE, 16 * i32::from(*slot));
            }
        }
        self.addresses = addresses;
        for &(register, slot) in &held {
            let place = self.slot(slot, 0);
            self.longest(LOAD, register, place);
        }
        self.longest(LOAD, result[0], vector(3));
        self.free_slots.extend(held.into_iter().map(|(_, slot)| slot));
        self.assembler.set_jump(easy, self.assembler.here());
        result
    }

    /// Sets the zero flag unless one of the first lanes of a mask is set.
    fn test_mask(&mut self, mask: u8, lanes: u8) {
        const SIGNS: Code = code(0, 1, 0x50);
        const SIGNS_TO_MASK: Code = code(2, 2, 0x39);
        const FROM_MASK: Code = code(0, 1, 0x93);
        match self.isa {
            Isa::Avx2 => self.longest(SIGNS, SCRATCH, Operand::Register(mask)),
            Isa::Avx512 => {
                self.longest(SIGNS_TO_MASK, PART, Operand::Register(mask));
                self.assembler.general_vex(FROM_MASK, SCRATCH, 0, Operand::Register(PART));
            }
        }
        self.assembler.test_bits((1 << lanes) - 1);
    }

    /// Writes all values in registers to places on the stack that nothing else has: the registers and their places.
    fn save_registers(&mut self) -> Vec<(u8, usize)> {
        let registers: Vec<u8> = self.held.iter().flatten().map(|registers| registers[0]).collect();
        let mut held = Vec::with_capacity(registers.len());
        for register in registers {
            let slot = self.free_slots.pop().unwrap_or_else(|| {
                self.slot_count += 1;
                self.slot_count - 1
            });
            let place = self.slot(slot, 0);
            self.longest(STORE, register, place);
            held.push((register, slot));
        }
        held
    }

    /// Moves values that are needed later to the stack, and all others out of their registers: calls change all.
    fn leave_registers(&mut self) {
        self.locked = 0;
        for index in 0..self.held.len() {
            let value = Value(index as u32);
            if self.held[index].is_none() {
                continue;
            }
            if self.lifetimes.next_use(value, self.position).is_some() {
                self.save(value);
            }
            self.forget(value);
        }
    }
}
