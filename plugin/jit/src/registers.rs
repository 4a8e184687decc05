//! The registers of a program's values: lifetimes, and the number of vectors that one turn of the loop takes.

use crate::encode::Isa;
use crate::ir::{Op, Program, Value};

/// The most vectors of each value in one turn.
pub(crate) const MOST_VECTORS: usize = 4;

/// The uses of each value.
#[derive(Debug)]
pub(crate) struct Lifetimes {
    /// The operations that read each value, ascending.
    uses: Vec<Vec<usize>>,
}

impl Lifetimes {
    pub(crate) fn new(program: &Program) -> Lifetimes {
        let mut uses = vec![Vec::new(); program.ops.len()];
        for (index, op) in program.ops.iter().enumerate() {
            for arg in op.args() {
                let uses: &mut Vec<usize> = &mut uses[arg.index()];
                if uses.last() != Some(&index) {
                    uses.push(index);
                }
            }
        }
        Lifetimes { uses }
    }

    /// Keeps a value to the end of the program.
    pub(crate) fn hold(&mut self, value: Value) {
        let end = self.uses.len();
        let uses = &mut self.uses[value.index()];
        if uses.last() != Some(&end) {
            uses.push(end);
        }
    }

    /// The first operation after `position` that reads the value.
    pub(crate) fn next_use(&self, value: Value, position: usize) -> Option<usize> {
        let uses = &self.uses[value.index()];
        uses.get(uses.partition_point(|&each| each <= position)).copied()
    }

    /// The number of operations that read the value.
    pub(crate) fn count(&self, value: Value) -> usize {
        self.uses[value.index()].len()
    }

    /// The largest number of values that are needed at the same time, without those that are the same in every turn.
    /// Those in `early` are there from the start.
    pub(crate) fn pressure(&self, program: &Program, early: &[Value]) -> usize {
        let mut ends = vec![0; program.ops.len() + 1];
        let (mut live, mut most) = (early.len(), early.len());
        for (index, op) in program.ops.iter().enumerate() {
            live -= ends[index];
            if is_invariant(op) {
                continue;
            }
            if !early.contains(&Value(index as u32)) {
                live += 1;
            }
            most = most.max(live);
            match self.uses[index].last() {
                // Free once the last user has its result, or has stored it by registers of its own.
                Some(&last) => ends[last + usize::from(matches!(program.ops.get(last), Some(Op::Join(_))))] += 1,
                None => live -= 1,
            }
        }
        most
    }

    /// The numbers of vectors of each value that one turn may take, best first. Several hide the latency of operations.
    ///
    /// With AVX2 that is as many as every operation has registers for: values that move to the stack cost less than
    /// waiting for a chain of operations, beyond which such processors do not look far. With AVX-512 all values fit the
    /// registers.
    pub(crate) fn vectors(&self, program: &Program, isa: Isa) -> impl Iterator<Item = usize> + use<> {
        let (needed, registers) = match isa {
            Isa::Avx2 => (program.ops.iter().map(|op| op.args().len() + 1).max().unwrap_or(1), isa.registers().into()),
            Isa::Avx512 => (self.pressure(program, &[]), available_to(program, isa)),
        };
        [MOST_VECTORS, 2, 1].into_iter().filter(move |vectors| *vectors == 1 || vectors * needed <= registers)
    }

    /// The number of registers that are left for constants.
    pub(crate) fn spare(&self, program: &Program, isa: Isa, vectors: usize) -> usize {
        available_to(program, isa).saturating_sub(vectors * self.pressure(program, &[]))
    }
}

/// The number of registers, without some for the parts of narrow stores, and constants that have to be in registers.
pub(crate) fn available(isa: Isa) -> usize {
    usize::from(isa.registers()) - 2
}

/// The registers that are kept for the places of parts, the last ones: with AVX-512, if arrays have elements of two.
pub(crate) const PLACES: usize = 4;

/// The number of registers for a program.
fn available_to(program: &Program, isa: Isa) -> usize {
    let has_places = isa == Isa::Avx512 && program.has_parts();
    available(isa) - if has_places { PLACES } else { 0 }
}

/// Whether a value is the same in every turn of the loop.
pub(crate) fn is_invariant(op: &Op) -> bool {
    matches!(op, Op::Constant(_) | Op::Pair(_) | Op::Splat { .. } | Op::SplatPart { .. })
}
