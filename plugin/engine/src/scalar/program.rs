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

/// An instruction. Targets of jumps are indices of instructions.
#[derive(Debug, Clone)]
pub(super) enum Instruction {
    /// `out = function(args)`.
    Apply {
        /// The function.
        function: ScalarFn,
        /// Its operands; unused ones are any register.
        args: [Register; 3],
        /// Where the result goes.
        out: Register,
    },
    /// As `Apply`, of a function that has no call of its own.
    ApplyLoop {
        /// The function.
        function: Box<Function>,
        /// Its operands.
        args: [Register; 3],
        /// Where the result goes.
        out: Register,
    },
    /// `out = from`.
    Copy {
        /// The register read.
        from: Register,
        /// The register written.
        out: Register,
    },
    /// Goes on elsewhere.
    Jump(u32),
    /// Goes on elsewhere if the register is 0 or 1 as `on` says.
    JumpIf {
        /// The register with a boolean.
        predicate: Register,
        /// Which of its values jumps.
        on: bool,
        /// Where to.
        target: u32,
    },
    /// Goes on at the target of the number in the register, an `i32`; the last if there is none.
    JumpTable {
        /// The register.
        index: Register,
        /// One or more.
        targets: Box<[u32]>,
    },
}

impl Instruction {
    /// What a function is applied to, and where its result goes.
    pub(super) fn operands(&mut self) -> Option<(&mut [Register; 3], &mut Register)> {
        match self {
            Instruction::Apply { args, out, .. } | Instruction::ApplyLoop { args, out, .. } => Some((args, out)),
            _ => None,
        }
    }
}

/// A function of scalars: ops of rank 0, control flow included, as a flat list of instructions over registers.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) code: Vec<Instruction>,
    /// What registers hold at first: constants, and zeros.
    pub(super) registers: Vec<Scalar>,
    /// The register of each parameter, as elements are stored.
    pub(super) params: Vec<Register>,
    /// The register of each result, as elements are stored.
    pub(super) results: Vec<Register>,
}

impl Program {
    /// The program that computes `results` from `params` with `ops`, a region's or a part of one. Ops may use `params`
    /// and results of ops before them, nothing else.
    ///
    /// # Errors
    /// UNIMPLEMENTED if an op is not one of scalars. A tensor with one element counts as a scalar.
    pub(crate) fn new(func: &Func, params: &[ValueId], ops: &[Op], results: &[ValueId]) -> Result<Program, Error> {
        Builder::new(func).program(params, ops, results)
    }

    /// The program of one op, whose parameters are `params`: the values that the op and its regions use.
    ///
    /// # Errors
    /// As [`new`](Program::new).
    pub(crate) fn of_op(func: &Func, params: &[ValueId], op: &Op) -> Result<Program, Error> {
        Program::new(func, params, std::slice::from_ref(op), &op.results)
    }

    /// The number of instructions, a measure of cost (loops run theirs many times).
    pub(crate) fn len(&self) -> usize {
        self.code.len()
    }

    /// Registers to run the program with, any number of times.
    pub(crate) fn evaluator(&self) -> Evaluator<'_> {
        Evaluator { program: self, registers: self.registers.clone(), era: None }
    }
}

/// A program with registers of its own: calls allocate nothing.
#[derive(Debug, Clone)]
pub(crate) struct Evaluator<'a> {
    program: &'a Program,
    registers: Vec<Scalar>,
    era: Option<Era>,
}

impl Evaluator<'_> {
    /// Lets loops end when `era` is over; the results are meaningless then.
    #[must_use]
    pub(crate) fn until(self, era: Era) -> Self {
        Evaluator { era: Some(era), ..self }
    }

    /// Computes the results of `args`.
    ///
    /// # Panics
    /// If there are fewer of either than the program has.
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

    /// The one result of `args`.
    ///
    /// # Panics
    /// As [`call`](Evaluator::call).
    #[inline]
    pub(crate) fn call1(&mut self, args: &[Scalar]) -> Scalar {
        let mut result = [Scalar::default()];
        self.call(args, &mut result);
        result[0]
    }
}

/// Runs instructions until the end, or an iteration after `era`.
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
                    // The end of a loop's body jumps back.
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
