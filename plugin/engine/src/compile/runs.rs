//! Runs of small steps that threads share, step by step.
//!
//! No kernel on a small array is worth splitting, but many in a row are worth sharing, as those of an optimizer are,
//! which updates the arrays of a model one by one. Steps that use each other's memory stay together, in order.

use std::ops::Range;

use oxcall_kernels::pool::{Cost, Pool};

use crate::plan::{Allocation, Run, Runs, Slot, Step};

/// The most steps of a run, each of which is compared with all others.
const MOST_STEPS: usize = 64;

/// The steps of a plan, with what belongs to them.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a> {
    pub(super) steps: &'a [Step],
    /// The lists of slots to which steps refer.
    pub(super) lists: &'a [Slot],
    pub(super) allocations: &'a [(Allocation, usize)],
}

/// Finds the runs among the steps that have no other machine code; `None` if there are none.
pub(super) fn find(plan: Steps<'_>, is_covered: impl Fn(usize) -> bool) -> Option<Runs> {
    let mut is_target = vec![false; plan.steps.len() + 1];
    let mut moves = vec![false; plan.allocations.len()];
    for step in plan.steps {
        match step {
            Step::Jump(target) | Step::JumpUnless { target, .. } => is_target[*target as usize] = true,
            Step::Branch { targets, .. } => targets.iter().for_each(|&target| is_target[target as usize] = true),
            Step::Rotate(slots) => slots.iter().for_each(|&slot| moves[slot as usize] = true),
            _ => {}
        }
    }
    // A slot whose place changes may be that of any other such slot.
    let fits = |at: usize| {
        let Step::Kernel { kernel, args, .. } = &plan.steps[at] else { return false };
        let (inputs, outputs) = args.slots(plan.lists);
        let is_still = inputs.iter().chain(outputs).all(|&slot| !moves[slot as usize]);
        is_still && !Pool::is_worth_splitting(kernel.cost()) && !is_covered(at)
    };
    let mut runs: Vec<Run> = Vec::new();
    let mut at = 0;
    while at < plan.steps.len() {
        let end = (at..plan.steps.len()).take_while(|&next| fits(next) && (next == at || !is_target[next])).last();
        let end = end.map_or(at + 1, |last| last + 1);
        let cost = |steps: Range<usize>| steps.fold(Cost::default(), |cost, step| cost + cost_of(&plan.steps[step]));
        if end - at > 1 && Pool::is_worth_sharing(cost(at..end)) {
            while at < end {
                let (run, next) = run(plan, at..end);
                runs.extend(run);
                at = next;
            }
        }
        at = end;
    }
    (!runs.is_empty()).then(|| {
        let mut places = vec![None; plan.steps.len()];
        runs.iter().enumerate().for_each(|(index, run)| places[run.steps.start] = Some(index as u32));
        Runs { at: places, runs }
    })
}

fn cost_of(step: &Step) -> Cost {
    match step {
        Step::Kernel { kernel, .. } => kernel.cost(),
        _ => Cost::default(),
    }
}

/// The memory that a step uses.
struct Use {
    allocation: Allocation,
    bytes: usize,
    is_written: bool,
}

impl Use {
    /// Whether one of two steps with these uses has to wait for the other.
    fn conflicts(&self, other: &Use) -> bool {
        let is_shared = match (self.allocation, other.allocation) {
            (Allocation::Empty, _) | (_, Allocation::Empty) => false,
            (Allocation::Arena(a), Allocation::Arena(b)) => a < b + other.bytes && b < a + self.bytes,
            (a, b) => a == b,
        };
        is_shared && (self.is_written || other.is_written)
    }
}

/// The run that begins with the first of these steps, if it is worth it, and the step from which to look for others.
fn run(plan: Steps<'_>, steps: Range<usize>) -> (Option<Run>, usize) {
    // The part that each use, and each step, belongs to.
    let mut uses: Vec<(Use, usize)> = Vec::new();
    let mut parts: Vec<(Vec<u32>, Cost)> = Vec::new();
    let mut end = steps.start;
    for at in steps.clone().take(MOST_STEPS) {
        let Step::Kernel { kernel, args, .. } = &plan.steps[at] else { break };
        let (inputs, outputs) = args.slots(plan.lists);
        let use_of = |&slot: &Slot, is_written: bool| {
            let (allocation, bytes) = plan.allocations[slot as usize];
            Use { allocation, bytes, is_written }
        };
        // Operands in place are results too.
        let own: Vec<Use> = (inputs.iter().map(|slot| use_of(slot, false)))
            .chain(outputs.iter().map(|slot| use_of(slot, true)))
            .collect();
        let mut of = uses.iter().filter(|(each, _)| own.iter().any(|own| own.conflicts(each))).map(|&(_, part)| part);
        let part = of.next();
        if of.any(|other| Some(other) != part) {
            // It waits for several parts, so the run ends before it.
            break;
        }
        let part = part.unwrap_or_else(|| {
            parts.push((Vec::new(), Cost::default()));
            parts.len() - 1
        });
        let (list, cost) = &mut parts[part];
        list.push(at as u32);
        *cost = *cost + kernel.cost();
        uses.extend(own.into_iter().map(|own| (own, part)));
        end = at + 1;
    }
    let total = parts.iter().fold(Cost::default(), |total, &(_, cost)| total + cost);
    let largest = parts.iter().map(|&(_, cost)| cost.nanos()).fold(0.0, f64::max);
    let is_worth_it = Pool::is_worth_sharing(total) && largest <= 0.75 * total.nanos();
    let run = is_worth_it.then(|| Run { steps: steps.start..end, pieces: pieces(parts), cost: total });
    // A run that does not pay may become one without its first step, but not a longer one.
    (run, end.max(steps.start + 1))
}

/// Joins parts until each takes as long as a piece of work should.
fn pieces(parts: Vec<(Vec<u32>, Cost)>) -> Vec<Box<[u32]>> {
    let mut pieces: Vec<Box<[u32]>> = Vec::new();
    let (mut piece, mut cost) = (Vec::new(), Cost::default());
    for (steps, each) in parts {
        piece.extend(steps);
        cost = cost + each;
        if Pool::is_piece(cost) {
            pieces.push(std::mem::take(&mut piece).into());
            cost = Cost::default();
        }
    }
    if !piece.is_empty() {
        pieces.push(piece.into());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Args;
    use oxcall_kernels::kernel::{Context, Inputs, Kernel, Outputs};

    struct Work(f64);

    impl Kernel for Work {
        fn name(&self) -> String {
            "work".to_owned()
        }

        fn cost(&self) -> Cost {
            Cost { flops: 8.0 * self.0, bytes: 0.0 }
        }

        fn run(&self, _: Context<'_>, _: Inputs<'_>, _: Outputs<'_>) -> Result<(), oxcall::Error> {
            Ok(())
        }
    }

    /// The pieces of runs of steps that take so many nanoseconds, each with slots that it reads, and one that it
    /// writes.
    fn runs_of(
        steps: &[(f64, &[Slot], Slot)],
        allocations: &[(Allocation, usize)],
        others: &[Step],
    ) -> Vec<Vec<Vec<u32>>> {
        let mut lists = Vec::new();
        let kernel = |&(nanos, inputs, output): &(f64, &[Slot], Slot)| {
            let args = Args { first: lists.len() as u32, inputs: inputs.len() as u32, outputs: 1, in_place: 0 };
            lists.extend(inputs.iter().chain([&output]));
            Step::Kernel { kernel: Box::new(Work(nanos)), args, flops: 0.0 }
        };
        let mut all: Vec<Step> = steps.iter().map(kernel).collect();
        all.extend(others.iter().map(|step| match step {
            Step::Jump(target) => Step::Jump(*target),
            Step::Rotate(slots) => Step::Rotate(slots.clone()),
            _ => unreachable!("tests have no others"),
        }));
        let found = find(Steps { steps: &all, lists: &lists, allocations }, |_| false);
        let runs = found.map_or(Vec::new(), |runs| runs.runs);
        runs.iter().map(|run| run.pieces.iter().map(|piece| piece.to_vec()).collect()).collect()
    }

    /// Slot 0 is a parameter, and the others are results.
    fn separate(count: u32) -> Vec<(Allocation, usize)> {
        std::iter::once((Allocation::Parameter(0), 64))
            .chain((0..count).map(|own| (Allocation::Own(own), 64)))
            .collect()
    }

    #[test]
    fn independent_steps_are_shared() {
        let steps: Vec<(f64, &[Slot], Slot)> = (1..9).map(|slot| (15_000.0, &[0][..], slot)).collect();
        let pieces: Vec<Vec<u32>> = (0..8).map(|step| vec![step]).collect();
        assert_eq!(runs_of(&steps, &separate(8), &[]), [pieces]);
    }

    #[test]
    fn steps_that_wait_for_each_other_are_in_one_piece() {
        let steps: [(f64, &[Slot], Slot); 6] = [
            (15_000.0, &[0], 1),
            (15_000.0, &[1], 2),
            (15_000.0, &[0], 3),
            (15_000.0, &[0, 3], 4),
            (15_000.0, &[0], 5),
            // This one waits for two.
            (15_000.0, &[2, 4], 6),
        ];
        assert_eq!(runs_of(&steps, &separate(6), &[]), [[vec![0, 1], vec![2, 3], vec![4]]]);
    }

    #[test]
    fn chains_and_small_or_large_steps_are_not_shared() {
        let chain: Vec<(f64, &[Slot], Slot)> =
            [(&[0][..], 1), (&[1], 2), (&[2], 3), (&[3], 4), (&[4], 5)].map(|(from, to)| (15_000.0, from, to)).to_vec();
        assert!(runs_of(&chain, &separate(5), &[]).is_empty());
        for nanos in [5_000.0, 25_000.0] {
            let steps: Vec<(f64, &[Slot], Slot)> = (1..9).map(|slot| (nanos, &[0][..], slot)).collect();
            assert!(runs_of(&steps, &separate(8), &[]).is_empty());
        }
    }

    #[test]
    fn memory_that_is_used_again_keeps_steps_in_order() {
        let overlapping = [(Allocation::Parameter(0), 64), (Allocation::Arena(0), 100), (Allocation::Arena(64), 64)];
        let steps: Vec<(f64, &[Slot], Slot)> = (0..8).map(|step| (15_000.0, &[0][..], 1 + step % 2)).collect();
        assert!(runs_of(&steps, &overlapping, &[]).is_empty());
        let apart = [(Allocation::Parameter(0), 64), (Allocation::Arena(0), 64), (Allocation::Arena(64), 64)];
        assert_eq!(runs_of(&steps, &apart, &[]), [[vec![0, 2, 4, 6], vec![1, 3, 5, 7]]]);
    }

    #[test]
    fn jumps_and_slots_that_rotate_are_in_no_run() {
        let steps: Vec<(f64, &[Slot], Slot)> = (1..9).map(|slot| (15_000.0, &[0][..], slot)).collect();
        let into = runs_of(&steps, &separate(8), &[Step::Jump(3)]);
        assert_eq!(into, [(3..8).map(|step| vec![step]).collect::<Vec<_>>()]);
        assert!(runs_of(&steps[..6], &separate(8), &[Step::Rotate([1, 4].into())]).is_empty());
    }

    #[test]
    fn small_parts_are_joined() {
        let steps: Vec<(f64, &[Slot], Slot)> = (1..41).map(|slot| (2_000.0, &[0][..], slot)).collect();
        let runs = runs_of(&steps, &separate(40), &[]);
        assert_eq!(runs.len(), 1);
        assert!(runs[0].iter().all(|piece| piece.len() == 4), "{runs:?}");
    }
}
