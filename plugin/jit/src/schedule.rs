//! The order of operations: one in which few values are needed at once.

use std::cmp::Reverse;

use crate::ir::{Op, Program, Store, Value};
use crate::registers::is_invariant;
use crate::wide::Wide;

/// The most operations that are ordered anew: each choice looks at all that are ready.
const MOST: usize = 2048;

impl Program {
    /// The same operations, each as late as its users allow, and from the last one to the first always one that lets
    /// fewest values live on. Loads stay before the stores that they come before.
    pub(crate) fn scheduled(&self) -> Program {
        if self.ops.len() > MOST {
            return self.clone();
        }
        let mut schedule = Schedule::new(self);
        let mut order = Vec::with_capacity(self.ops.len());
        while let Some(op) = schedule.next() {
            order.push(op);
            if let Some(mask) = schedule.joined[op] {
                schedule.place(mask);
                order.push(mask);
            }
        }
        order.reverse();
        self.in_order(&order)
    }

    /// The program with its operations in another order.
    fn in_order(&self, order: &[usize]) -> Program {
        let mut places = vec![Value(0); order.len()];
        order.iter().enumerate().for_each(|(place, &op)| places[op] = Value(place as u32));
        let at = |value: Value| places[value.index()];
        Program {
            ops: order.iter().map(|&op| self.ops[op].map(at)).collect(),
            lanes: order.iter().map(|&op| self.lanes[op]).collect(),
            stores: self.stores.iter().map(|store| Store { value: at(store.value), ..*store }).collect(),
            has_wide_arrays: self.has_wide_arrays,
            packing: self.packing,
            sources: self.sources.as_ref().map(|sources| sources.in_order(order)),
            rotations: self.rotations.clone(),
            callees: self.callees.clone(),
        }
    }
}

/// Operations that are placed one after another, the last one of the program first.
struct Schedule<'a> {
    program: &'a Program,
    /// For each operation the number of those that have to be placed before it is.
    waits: Vec<usize>,
    /// The operations that wait for none.
    ready: Vec<usize>,
    /// Whether a placed operation reads a value that is not placed itself.
    is_live: Vec<bool>,
    is_stored: Vec<bool>,
    /// For each selection the comparison that only it reads, which stays just before it: they may be one instruction.
    joined: Vec<Option<usize>>,
}

impl<'a> Schedule<'a> {
    fn new(program: &'a Program) -> Schedule<'a> {
        let count = program.ops.len();
        let mut is_stored = vec![false; count];
        program.stores.iter().for_each(|store| is_stored[store.value.index()] = true);
        let mut waits = vec![0; count];
        program.ops.iter().flat_map(distinct).for_each(|arg| waits[arg.index()] += 1);
        let joined = program.ops.iter().map(|op| {
            let mask = compared(program, op)?;
            (waits[mask] == 1 && !is_stored[mask]).then_some(mask)
        });
        let joined = joined.collect();
        let mut stores = 0;
        for (index, op) in program.ops.iter().enumerate().rev() {
            if op.is_load() {
                waits[index] += stores;
            }
            stores += usize::from(is_stored[index]);
        }
        let ready = (0..count).filter(|&index| waits[index] == 0).collect();
        Schedule { program, waits, ready, is_live: vec![false; count], is_stored, joined }
    }

    /// Places the operation that lets fewest values live on, and of several the last one.
    fn next(&mut self) -> Option<usize> {
        let best = self.ready.iter().copied().min_by_key(|&op| (self.growth(op), Reverse(op)))?;
        self.place(best);
        Some(best)
    }

    /// The number of values that live before an operation, without those that live after it.
    fn growth(&self, op: usize) -> isize {
        let ops = &self.program.ops;
        let starts = |value: &Value| !self.is_live[value.index()] && !is_invariant(&ops[value.index()]);
        let of = |op: usize| distinct(&ops[op]).filter(starts).count() as isize;
        let grown = match self.joined[op] {
            // The mask lives for no longer than the comparison takes.
            Some(mask) => of(op) + of(mask) - 1,
            None => of(op),
        };
        grown - isize::from(self.is_live[op])
    }

    fn place(&mut self, op: usize) {
        self.ready.retain(|&other| other != op);
        self.is_live[op] = false;
        for arg in distinct(&self.program.ops[op]) {
            self.is_live[arg.index()] = true;
            self.placed_user(arg.index());
        }
        if self.is_stored[op] {
            for load in (0..op).filter(|&load| self.program.ops[load].is_load()) {
                self.placed_user(load);
            }
        }
    }

    fn placed_user(&mut self, op: usize) {
        self.waits[op] -= 1;
        if self.waits[op] == 0 {
            self.ready.push(op);
        }
    }
}

/// The comparison whose mask, and no other operand, a selection reads as its mask.
fn compared(program: &Program, select: &Op) -> Option<usize> {
    let (mask, is_wide) = match *select {
        Op::Select([mask, a, b]) if mask != a && mask != b => (mask, false),
        Op::Wide(Wide::Select, [mask, a, b]) if mask != a && mask != b => (mask, true),
        _ => return None,
    };
    let is_comparison = match program.ops[mask.index()] {
        Op::Compare(..) | Op::PackedCompare(..) => !is_wide,
        Op::Wide(Wide::Compare(_), _) => is_wide,
        _ => false,
    };
    is_comparison.then(|| mask.index())
}

/// The arguments of an operation, each once.
fn distinct(op: &Op) -> impl Iterator<Item = Value> {
    let args = op.args();
    args.iter().enumerate().filter(|(index, arg)| !args[..*index].contains(arg)).map(|(_, arg)| *arg)
}
