//! Plans as text, for performance work.
//!
//! Kernels have their bytes, each operand read once and each result written once, and the operations that
//! [`flops`](crate::compile) counts.

use std::fmt;

use super::{Args, Plan, Slot, Step};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (allocation, bytes)) in self.allocations.iter().enumerate() {
            writeln!(f, "%{index}: {bytes} bytes, {allocation:?}")?;
        }
        for (index, step) in self.steps.iter().enumerate() {
            let mark = if self.loops.as_ref().is_some_and(|loops| loops.covers[index]) { "*" } else { "" };
            write!(f, "{index}{mark}: ")?;
            match step {
                Step::Kernel { kernel, args, flops } => {
                    self.call(f, &kernel.name(), *args)?;
                    write!(f, "; {} bytes, {flops:.0} flops", self.bytes(*args))?;
                }
                Step::Call { site, args } => self.call(f, self.calls[*site as usize].target(), *args)?,
                Step::Collective { site, args } => self.call(f, &self.collectives[*site as usize].name, *args)?,
                Step::Manual { args, .. } => self.call(f, "manual computation", *args)?,
                Step::Stage { site, stage, .. } => {
                    write!(f, "{} of {}", stage.name(), self.calls[*site as usize].target())?;
                }
                Step::Copy { from, to } => write!(f, "%{to} = copy(%{from})")?,
                Step::Rotate(slots) => write!(f, "rotate({})", List(slots))?,
                Step::Jump(target) => write!(f, "jump {target}")?,
                Step::JumpUnless { predicate, target } => write!(f, "jump {target} unless %{predicate}")?,
                Step::Branch { index, targets } => write!(f, "jump {targets:?}[%{index}]")?,
            }
            writeln!(f)?;
        }
        writeln!(f, "return {}", List(&self.results))?;
        for run in self.runs.iter().flat_map(|runs| &runs.runs) {
            writeln!(f, "{} to {}: {} pieces for threads", run.steps.start, run.steps.end - 1, run.pieces.len())?;
        }
        if let Some(loops) = &self.loops {
            writeln!(f, "*: {} bytes of machine code", loops.routine.bytes())?;
        }
        Ok(())
    }
}

impl Plan {
    fn call(&self, f: &mut fmt::Formatter<'_>, name: &str, args: Args) -> fmt::Result {
        let (inputs, outputs) = args.slots(&self.slots);
        write!(f, "{} = {name}({})", List(outputs), List(inputs))
    }
}

struct List<'a>(&'a [Slot]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, slot) in self.0.iter().enumerate() {
            write!(f, "{}%{slot}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
