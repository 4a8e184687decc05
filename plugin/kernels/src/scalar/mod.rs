//! Register programs over single elements: rank-0 regions, and bodies of reductions, comparators, scatters and loops.
//!
//! `build` makes programs from regions, `program` runs them, `idioms` recognises common bodies, and `scalar_loop` runs
//! loops and branches as kernels.

mod build;
mod idioms;
mod program;
mod scalar_loop;

pub use idioms::{Body, Order, idiom};
pub use program::{Evaluator, Program};
pub use scalar_loop::ScalarLoop;

use std::collections::HashSet;

use oxcall_hlo::{Func, Op, Region, ValueId};

/// A loop, or another op with regions, as a single program.
#[derive(Debug)]
pub(crate) struct Whole {
    /// Computes the op's results from `inputs`.
    pub program: Program,
    /// The op's operands, then the outside values that its regions use; each once.
    pub inputs: Vec<ValueId>,
}

/// The program of an op with regions, such as a conditional; `None` if it has values other than scalars.
pub(crate) fn whole(func: &Func, op: &Op) -> Option<Whole> {
    let mut inputs = Vec::new();
    let mut known = HashSet::new();
    let mut add = |value: ValueId, inputs: &mut Vec<ValueId>| {
        if known.insert(value) {
            inputs.push(value);
        }
    };
    for &operand in &op.operands {
        add(operand, &mut inputs);
    }
    for value in Region::free_values(&op.regions) {
        add(value, &mut inputs);
    }
    let program = Program::of_op(func, &inputs, op).ok()?;
    Some(Whole { program, inputs })
}

#[cfg(test)]
mod tests;
