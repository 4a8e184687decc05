//! Register programs.

use oxcall::Error;
use oxcall_hlo::{Func, Op, ValueId};

use super::build::Builder;
use crate::element::Scalar;
use crate::interrupt::Era;
use crate::math::Function;
use crate::math::function::ScalarFn;

/// The index of a register.
pub(super) type Register = u32;

/// An instruction. Jump targets are indices of instructions.
#[derive(Debug, Clone)]
pub(super) enum Instruction {
    /// `out = function(args)`.
    Apply {
        /// The function.
        function: ScalarFn,
        /// Its operands; unused places hold any register.
        args: [Register; 3],
        /// The register of the result.
        out: Register,
    },
    /// Like `Apply`, for a function without a scalar form.
    ApplyLoop {
        /// The function.
        function: Box<Function>,
        /// Its operands.
        args: [Register; 3],
        /// The register of the result.
        out: Register,
    },
    /// `out = from`.
    Copy {
        /// The register read.
        from: Register,
        /// The register written.
        out: Register,
    },
    /// Continues at the target.
    Jump(u32),
    /// Continues at the target if the boolean in the register equals `on`.
    JumpIf {
        /// The register of the boolean.
        predicate: Register,
        /// The value for which it jumps.
        on: bool,
        /// The target.
        target: u32,
    },
    /// Continues at the target whose index, an `i32`, is in the register, or at the last one if there is none.
    JumpTable {
        /// The register of the index.
        index: Register,
        /// The targets, at least one.
        targets: Box<[u32]>,
    },
}

impl Instruction {
    /// The operands and the result of a function.
    pub(super) fn operands(&mut self) -> Option<(&mut [Register; 3], &mut Register)> {
        match self {
            Instruction::Apply { args, out, .. } | Instruction::ApplyLoop { args, out, .. } => Some((args, out)),
            _ => None,
        }
    }
}

/// A function of scalars: ops of rank 0, including control flow, as a flat list of instructions over registers.
#[derive(Debug)]
pub struct Program {
    pub(super) code: Vec<Instruction>,
    /// The initial values of registers: constants, and zeros.
    pub(super) registers: Vec<Scalar>,
    /// The registers of the parameters, in their stored form.
    pub(super) params: Vec<Register>,
    /// The registers of the results, in their stored form.
    pub(super) results: Vec<Register>,
}

impl Program {
    /// The program that computes `results` from `params` with `ops`, which are a region's or some of them. Ops may only
    /// use `params` and results of earlier ops.
    ///
    /// # Errors
    /// UNIMPLEMENTED if an op does not work on scalars. A tensor with one element counts as a scalar.
    pub fn new(func: &Func, params: &[ValueId], ops: &[Op], results: &[ValueId]) -> Result<Program, Error> {
        Builder::new(func).program(params, ops, results)
    }

    /// The program of one op. `params` are the values that the op and its regions use.
    ///
    /// # Errors
    /// Those of [`new`](Program::new).
    pub(crate) fn of_op(func: &Func, params: &[ValueId], op: &Op) -> Result<Program, Error> {
        Program::new(func, params, std::slice::from_ref(op), &op.results)
    }

    #[expect(clippy::len_without_is_empty, reason = "a program is never empty")]
    /// The number of instructions, a measure of the cost (loops run theirs many times).
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// The number of results.
    pub(crate) fn results(&self) -> usize {
        self.results.len()
    }

    /// An evaluator, with which the program can be run any number of times.
    pub fn evaluator(&self) -> Evaluator<'_> {
        Evaluator { program: self, registers: self.registers.clone(), era: None }
    }
}

/// A program with its own registers: calls do not allocate.
#[derive(Debug, Clone)]
pub struct Evaluator<'a> {
    program: &'a Program,
    registers: Vec<Scalar>,
    era: Option<Era>,
}

impl Evaluator<'_> {
    /// Makes loops end when `era` is over; the results are then meaningless.
    #[must_use]
    pub(crate) fn until(self, era: Era) -> Self {
        Evaluator { era: Some(era), ..self }
    }

    /// Computes the results for `args`.
    ///
    /// # Panics
    /// If there are fewer arguments or results than the program has.
    #[inline]
    pub(crate) fn call(&mut self, args: &[Scalar], results: &mut [Scalar]) {
        let Program { code, params, results: places, .. } = self.program;
        let registers = &mut self.registers[..];
        for (&register, &arg) in params.iter().zip(&args[..params.len()]) {
            registers[register as usize] = arg;
        }
        run(code, registers, self.era);
        for (&register, result) in places.iter().zip(&mut results[..places.len()]) {
            *result = registers[register as usize];
        }
    }

    /// The single result for `args`.
    ///
    /// # Panics
    /// Like `call`.
    #[inline]
    pub fn call1(&mut self, args: &[Scalar]) -> Scalar {
        let mut result = [Scalar::default()];
        self.call(args, &mut result);
        result[0]
    }
}

/// Runs instructions until the end, or until an iteration after the end of `era`.
fn run(code: &[Instruction], registers: &mut [Scalar], era: Option<Era>) {
    let mut next = 0;
    while let Some(instruction) = code.get(next) {
        next += 1;
        match instruction {
            Instruction::Apply { function, args: [a, b, c], out } => {
                let value = function(registers[*a as usize], registers[*b as usize], registers[*c as usize]);
                registers[*out as usize] = value;
            }
            Instruction::ApplyLoop { function, args, out } => {
                registers[*out as usize] = function.call(args.map(|arg| registers[arg as usize]));
            }
            Instruction::Copy { from, out } => registers[*out as usize] = registers[*from as usize],
            Instruction::Jump(target) => next = *target as usize,
            Instruction::JumpIf { predicate, on, target } => {
                if (registers[*predicate as usize].0 != 0) == *on {
                    // A jump back ends an iteration of a loop.
                    if (*target as usize) < next && era.is_some_and(Era::is_over) {
                        return;
                    }
                    next = *target as usize;
                }
            }
            Instruction::JumpTable { index, targets } => {
                let index = registers[*index as usize].get::<i32>();
                let index = usize::try_from(index).map_or(targets.len() - 1, |index| index.min(targets.len() - 1));
                next = targets[index] as usize;
            }
        }
    }
}
