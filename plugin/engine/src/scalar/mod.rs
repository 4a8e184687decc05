//! Register programs over single elements: rank-0 regions, and bodies of reductions, comparators, scatters and loops.
//!
//! `build` makes programs from regions, `program` runs them, `recognise` finds common bodies, `value` is a single
//! element.

mod build;
mod program;
mod recognise;
mod value;

pub use program::{Evaluator, Program};
pub use recognise::{Body, Order, recognise};
pub use value::Scalar;

use std::collections::HashSet;

use oxcall_hlo::{Func, Op, OpKind, Region, ValueId};

/// A loop, or another op with regions, as one program.
#[derive(Debug)]
pub struct Whole {
    /// Computes the op's results from `inputs`.
    pub program: Program,
    /// The op's operands, then the values from around it that its regions use; each once.
    pub inputs: Vec<ValueId>,
}

/// The program of a whole loop. `None` if `op` is no loop, carries or uses anything but scalars, or has other ops than
/// those of scalars in its regions.
pub fn while_loop(func: &Func, op: &Op) -> Option<Whole> {
    if op.kind == OpKind::While { whole(func, op) } else { None }
}

/// The program of an op with regions, such as a conditional. `None` if that is not of scalars alone.
pub fn whole(func: &Func, op: &Op) -> Option<Whole> {
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
    for value in op.regions.iter().flat_map(captures) {
        add(value, &mut inputs);
    }
    let program = Program::of_op(func, &inputs, op).ok()?;
    Some(Whole { program, inputs })
}

/// The values from around `region` that it uses, in the order of first use, perhaps more than once.
pub fn captures(region: &Region) -> Vec<ValueId> {
    fn walk(region: &Region, own: &mut HashSet<ValueId>, found: &mut Vec<ValueId>) {
        own.extend(&region.params);
        for op in &region.ops {
            found.extend(op.operands.iter().filter(|operand| !own.contains(operand)));
            for inner in &op.regions {
                walk(inner, own, found);
            }
            own.extend(&op.results);
        }
        found.extend(region.results.iter().filter(|result| !own.contains(result)));
    }
    let (mut own, mut found) = (HashSet::new(), Vec::new());
    walk(region, &mut own, &mut found);
    found
}

#[cfg(test)]
mod tests;
