//! Functions of single elements, which are programs without reductions: the rest of the support code of `#[pointwise]`.
//!
//! * [`Plan`]: such a program as operations on blocks of elements; `run`: the loop over arrays, on threads.
//! * [`Operand`]: an array, broadcast to the shape of the results.
//! * `numbers`: functions of numbers of all kinds.

pub mod numbers;
mod operand;
mod run;

use std::array::from_fn;

pub use operand::Operand;
pub(super) use run::all;
pub use run::run;

use super::ops::{OPERANDS, Op};
use super::plan::Target;
use super::program::{Id, Kind, Make, Program};
use super::value::{Operand as _, Row, record, result};
use crate::pointwise::{Active, Map};

/// A block of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Of an operand.
    Operand(usize),
    /// Full of a constant.
    Constant(usize),
    /// What an operation has computed.
    Register(usize),
}

/// An operation on blocks.
#[derive(Debug, Clone, Copy)]
struct Step {
    op: Op,
    /// Those beyond the arity are the first.
    operands: [Source; OPERANDS],
    target: Target<usize>,
}

/// A function of single elements, ready to be computed.
#[derive(Debug)]
pub struct Plan {
    /// What it computes.
    program: Program,
    constants: Vec<f64>,
    steps: Vec<Step>,
    /// The results that no step writes, and the number of all.
    copies: Vec<(usize, Source)>,
    results: usize,
    registers: usize,
}

impl Plan {
    /// Records a function.
    ///
    /// # Panics
    /// With the panic of the function.
    pub fn new<M: Map<I, O>, const I: usize, const O: usize>(map: M) -> Plan {
        Plan::of(recorded(map))
    }

    /// Records a vector-Jacobian product of a function, of the active results: as it is, by duals along
    /// the direction of each operand, or as the transpose of the Jacobian-vector product, whichever takes fewer
    /// operations.
    ///
    /// # Panics
    /// With the panic of the function.
    pub fn of_gradient<G, J, const N: usize, const I: usize, const D: usize, const O: usize>(
        vjp: G,
        jvp: J,
        active: Active,
    ) -> Plan
    where
        G: Map<N, I>,
        J: Map<D, O>,
    {
        let duals = recorded(vjp);
        let transpose = recorded(jvp).transposed(active).filter(|program| program.cost() < duals.cost());
        Plan::of(transpose.unwrap_or(duals))
    }

    fn of(recorded: Program) -> Plan {
        let computed = recorded.computed();
        Plan::computing(recorded, &computed)
    }

    /// The plan of a program that has the same results as what was recorded.
    fn computing(recorded: Program, program: &Program) -> Plan {
        let last_uses = last_uses(program);
        let only_results = program.only_results(|id| last_uses[id].is_some());
        let mut sources: Vec<Option<Source>> = vec![None; program.nodes.len()];
        // The values that are the same for all elements.
        let mut numbers = vec![0.0; program.nodes.len()];
        let (mut constants, mut steps) = (Vec::new(), Vec::new());
        let (mut registers, mut free) = (0, Vec::new());
        let mut source = |id: Id, sources: &mut [Option<Source>], numbers: &[f64]| {
            *sources[id].get_or_insert_with(|| {
                constants.push(numbers[id]);
                Source::Constant(constants.len() - 1)
            })
        };
        for (id, node) in program.nodes.iter().enumerate() {
            let (op, ids) = match node.make {
                Make::Input(index) => {
                    sources[id] = Some(Source::Operand(index));
                    continue;
                }
                Make::Const(bits) => {
                    numbers[id] = f64::from_bits(bits);
                    continue;
                }
                Make::Op(op, ids) if node.kind == Kind::PerRow => {
                    numbers[id] = op.number(ids.map(|of| numbers[of]));
                    continue;
                }
                Make::Op(op, ids) => (op, ids),
                Make::Count | Make::Fixed(_) | Make::Sum(_) | Make::Max(_) => unreachable!("of rows"),
            };
            let Some(last_use) = last_uses[id] else { continue };
            debug_assert!(last_use > id);
            let operands = ids.map(|of| source(of, &mut sources, &numbers));
            let read = &ids[..op.arity()];
            for (position, &of) in read.iter().enumerate() {
                // Once, although an operation may read a value twice.
                let is_free = last_uses[of] == Some(id) && !read[..position].contains(&of);
                if let (true, Some(Source::Register(register))) = (is_free, sources[of]) {
                    free.push(register);
                }
            }
            let target = match only_results[id] {
                Some(result) => Target::Result(result),
                None => {
                    let register = free.pop().unwrap_or_else(|| {
                        registers += 1;
                        registers - 1
                    });
                    sources[id] = Some(Source::Register(register));
                    Target::Register(register)
                }
            };
            steps.push(Step { op, operands, target });
        }
        let results = program.results.len();
        let ids = program.results.iter().map(|(id, _)| *id).enumerate();
        let copied = ids.filter(|(_, id)| only_results[*id].is_none());
        let copies = copied.map(|(index, id)| (index, source(id, &mut sources, &numbers))).collect();
        Plan { program: recorded, constants, steps, copies, results, registers }
    }
}

/// The program of a function.
fn recorded<M: Map<I, O>, const I: usize, const O: usize>(map: M) -> Program {
    record(&[Kind::Row; I], |operands| map.call(from_fn(|index| Row::of(operands[index]))).map(result).into())
}

/// The last operation that reads each value, or `usize::MAX` for a result; `None` for what no result depends on.
fn last_uses(program: &Program) -> Vec<Option<Id>> {
    let mut last = vec![None; program.nodes.len()];
    program.results.iter().for_each(|(id, _)| last[*id] = Some(usize::MAX));
    for (id, node) in program.nodes.iter().enumerate().rev() {
        if last[id].is_some() {
            node.operands().for_each(|of| last[of] = last[of].or(Some(id)));
        }
    }
    last
}

#[cfg(test)]
mod tests;
