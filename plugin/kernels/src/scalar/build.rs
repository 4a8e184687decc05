//! Construction of register programs from ops.

use std::collections::HashMap;

use oxcall::Error;
use oxcall_hlo::{Func, Literal, Op, OpKind, Region, TensorType, ValueId};
use smallvec::SmallVec;

use super::program::{Instruction, Program, Register};
use crate::element::Scalar;
use crate::math::{self, Function, Source};

/// A program under construction.
///
/// Registers hold elements as they are computed; parameters are converted on entry, and results at the end.
pub(super) struct Builder<'a> {
    func: &'a Func,
    code: Vec<Instruction>,
    registers: Vec<Scalar>,
    values: HashMap<ValueId, Register>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(func: &'a Func) -> Builder<'a> {
        Builder { func, code: Vec::new(), registers: Vec::new(), values: HashMap::new() }
    }

    pub(super) fn program(mut self, params: &[ValueId], ops: &[Op], results: &[ValueId]) -> Result<Program, Error> {
        let mut param_registers = Vec::with_capacity(params.len());
        for &param in params {
            let stored = self.register(Scalar::default());
            param_registers.push(stored);
            let register = match math::packed(self.scalar(param)?.element) {
                Some(packed) => self.apply(&packed.load, &[stored]),
                None => stored,
            };
            self.values.insert(param, register);
        }
        self.ops(ops)?;
        let mut result_registers = Vec::with_capacity(results.len());
        for &result in results {
            let register = self.value(result)?;
            result_registers.push(match math::packed(self.scalar(result)?.element) {
                Some(packed) => self.apply(&packed.store, &[register]),
                None => register,
            });
        }
        let Builder { code, registers, .. } = self;
        Ok(Program { code, registers, params: param_registers, results: result_registers })
    }

    /// The type of a value with one element.
    fn scalar(&self, value: ValueId) -> Result<&'a TensorType, Error> {
        let ty = self.func.ty(value);
        ty.tensor()
            .filter(|tensor| tensor.checked_count() == Some(1))
            .ok_or_else(|| Error::unimplemented(format!("{ty} is not supported in a body of scalars")))
    }

    fn register(&mut self, value: Scalar) -> Register {
        self.registers.push(value);
        self.registers.len() as Register - 1
    }

    fn value(&self, value: ValueId) -> Result<Register, Error> {
        let missing = || Error::internal(format!("value {} is not defined in this region", value.0));
        self.values.get(&value).copied().ok_or_else(missing)
    }

    fn apply(&mut self, function: &Function, args: &[Register]) -> Register {
        let out = self.register(Scalar::default());
        let mut operands = [args.first().copied().unwrap_or(out); 3];
        operands[..args.len()].copy_from_slice(args);
        self.code.push(match function.scalar {
            Some(function) => Instruction::Apply { function, args: operands, out },
            None => Instruction::ApplyLoop { function: Box::new(*function), args: operands, out },
        });
        out
    }

    fn ops(&mut self, ops: &[Op]) -> Result<(), Error> {
        ops.iter().try_for_each(|op| self.op(op))
    }

    fn op(&mut self, op: &Op) -> Result<(), Error> {
        match &op.kind {
            OpKind::Constant(literal) => {
                self.scalar(op.results[0])?;
                let register = self.constant(literal);
                self.values.insert(op.results[0], register);
            }
            OpKind::Iota { .. } => {
                self.scalar(op.results[0])?;
                let register = self.register(Scalar::default());
                self.values.insert(op.results[0], register);
            }
            kind if moves_one_element(kind) => {
                for (&operand, &result) in op.operands.iter().zip(&op.results) {
                    self.scalar(operand)?;
                    self.scalar(result)?;
                    let register = self.value(operand)?;
                    self.values.insert(result, register);
                }
            }
            OpKind::While => self.while_loop(op)?,
            OpKind::If | OpKind::Case => self.branches(op)?,
            kind if math::is_element_wise(kind) => self.element_wise(op)?,
            kind => return Err(Error::unimplemented(format!("{} is not supported in a body of scalars", kind.name()))),
        }
        Ok(())
    }

    /// The register of a constant, in its computed form.
    fn constant(&mut self, literal: &Literal) -> Register {
        let stored = Scalar::from_bytes(literal.element(0));
        let value = math::packed(literal.ty().element).map_or(stored, |packed| packed.load.call([stored; 3]));
        self.register(value)
    }

    fn element_wise(&mut self, op: &Op) -> Result<(), Error> {
        let element = |value: &ValueId| self.scalar(*value).map(|ty| ty.element);
        let operands = op.operands.iter().map(element).collect::<Result<SmallVec<[_; 4]>, _>>()?;
        let steps = math::lower(&op.kind, &operands, element(&op.results[0])?)?;
        let inputs = op.operands.iter().map(|&operand| self.value(operand)).collect::<Result<SmallVec<[_; 4]>, _>>()?;
        let mut outputs = SmallVec::<[Register; 4]>::new();
        for step in &steps {
            let mut args = SmallVec::<[Register; 3]>::new();
            for source in &step.sources {
                args.push(match *source {
                    Source::Operand(index) => inputs[index],
                    Source::Step(index) => outputs[index],
                    Source::Constant(value) => self.register(value),
                });
            }
            outputs.push(self.apply(&step.function, &args));
        }
        self.values.insert(op.results[0], outputs.last().copied().unwrap_or(inputs[0]));
        Ok(())
    }

    /// The index of the next instruction.
    fn here(&self) -> u32 {
        self.code.len() as u32
    }

    /// Adds a jump; [`land`](Builder::land) sets its target later.
    fn jump(&mut self, instruction: Instruction) -> usize {
        self.code.push(instruction);
        self.code.len() - 1
    }

    /// Sets the target of a jump to the next instruction.
    fn land(&mut self, jump: usize) {
        let here = self.here();
        match &mut self.code[jump] {
            Instruction::Jump(target) | Instruction::JumpIf { target, .. } => *target = here,
            _ => {}
        }
    }

    /// Emits the condition once before the loop and once at the end of its body, which saves a jump.
    fn while_loop(&mut self, op: &Op) -> Result<(), Error> {
        let [condition, body] = &op.regions[..] else {
            let message = format!("expected 2 regions, a condition and a body; got {}", op.regions.len());
            return Err(Error::internal(message));
        };
        let mut carried = SmallVec::<[Register; 8]>::new();
        for &operand in &op.operands {
            self.scalar(operand)?;
            let (from, out) = (self.value(operand)?, self.register(Scalar::default()));
            self.code.push(Instruction::Copy { from, out });
            carried.push(out);
        }
        let predicate = self.region(condition, &carried)?[0];
        let exit = self.jump(Instruction::JumpIf { predicate, on: false, target: 0 });
        let start = self.here();
        let next = self.region(body, &carried)?;
        self.assign(&next, &carried, start as usize);
        let predicate = self.region(condition, &carried)?[0];
        self.code.push(Instruction::JumpIf { predicate, on: true, target: start });
        self.land(exit);
        self.values.extend(op.results.iter().copied().zip(carried));
        Ok(())
    }

    /// Emits the instructions of a region whose parameters are in `params`, and returns the registers of its results.
    fn region(&mut self, region: &Region, params: &[Register]) -> Result<SmallVec<[Register; 8]>, Error> {
        self.values.extend(region.params.iter().copied().zip(params.iter().copied()));
        self.ops(&region.ops)?;
        region.results.iter().map(|&result| self.value(result)).collect()
    }

    /// Copies `from` to `to` as if simultaneously. An instruction after `start` that computes a value writes directly
    /// to its target, if nothing reads the old value after that.
    fn assign(&mut self, from: &[Register], to: &[Register], start: usize) {
        let mut copies: SmallVec<[(Register, Register); 8]> =
            from.iter().copied().zip(to.iter().copied()).filter(|(from, to)| from != to).collect();
        copies.retain(|&mut (from_register, to_register)| {
            let reads = |from: Register| from == to_register;
            let is_read_by_copy = from.iter().any(|&each| reads(each));
            let uses = from.iter().filter(|&&each| each == from_register).count();
            !(uses == 1 && !is_read_by_copy && self.redirect(from_register, to_register, start))
        });
        // A register that is overwritten before it is read is copied through another one.
        for index in 0..copies.len() {
            let (from, _) = copies[index];
            if copies[..index].iter().any(|&(_, to)| to == from) {
                let saved = self.register(Scalar::default());
                self.code.push(Instruction::Copy { from, out: saved });
                copies[index].0 = saved;
            }
        }
        self.code.extend(copies.into_iter().map(|(from, out)| Instruction::Copy { from, out }));
    }

    /// Makes the only instruction that writes `from` write `to`, if no later instruction reads `to` and all of them are
    /// straight-line code.
    fn redirect(&mut self, from: Register, to: Register, start: usize) -> bool {
        let code = &mut self.code[start..];
        let mut writers = 0;
        for instruction in code.iter() {
            match instruction {
                Instruction::Apply { out, .. } | Instruction::ApplyLoop { out, .. } => {
                    writers += usize::from(*out == from);
                }
                _ => return false,
            }
        }
        let Some(writer) = code.iter_mut().position(|each| each.operands().is_some_and(|(_, out)| *out == from)) else {
            return false;
        };
        let is_read =
            code[writer + 1..].iter_mut().any(|each| each.operands().is_some_and(|(args, _)| args.contains(&to)));
        if writers != 1 || is_read {
            return false;
        }
        for (args, out) in code[writer..].iter_mut().filter_map(Instruction::operands) {
            for register in args.iter_mut().chain([out]) {
                if *register == from {
                    *register = to;
                }
            }
        }
        true
    }

    fn branches(&mut self, op: &Op) -> Result<(), Error> {
        let selector = self.value(op.operands[0])?;
        self.scalar(op.operands[0])?;
        let mut results = SmallVec::<[Register; 8]>::new();
        for &result in &op.results {
            self.scalar(result)?;
            results.push(self.register(Scalar::default()));
        }
        let is_if = op.kind == OpKind::If;
        let table = if is_if {
            Instruction::JumpIf { predicate: selector, on: false, target: 0 }
        } else {
            Instruction::JumpTable { index: selector, targets: Box::new([]) }
        };
        let table = self.jump(table);
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for region in &op.regions {
            starts.push(self.here());
            let values = self.region(region, &[])?;
            let copies = values.iter().zip(&results).map(|(&from, &out)| Instruction::Copy { from, out });
            self.code.extend(copies);
            ends.push(self.jump(Instruction::Jump(0)));
        }
        for end in ends {
            self.land(end);
        }
        match &mut self.code[table] {
            Instruction::JumpIf { target, .. } => *target = starts[1],
            Instruction::JumpTable { targets, .. } => *targets = starts.into(),
            _ => {}
        }
        self.values.extend(op.results.iter().copied().zip(results));
        Ok(())
    }
}

/// Whether the op, on tensors with one element, returns the elements of its operands.
fn moves_one_element(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Reshape
            | OpKind::BroadcastInDim { .. }
            | OpKind::Transpose { .. }
            | OpKind::Reverse { .. }
            | OpKind::OptimizationBarrier
    )
}
