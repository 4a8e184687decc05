//! Planning: from one function to its plan.

use std::sync::Arc;

use oxcall::Error;
use oxcall::descriptor::Stage;
use oxcall_hlo::Module;
use oxcall_kernels::memory::Buffer;

use super::assign::{Assignment, assign};
use super::graph::Graph;
use super::loops::{self, Steps};
use super::lower::{Lowered, lower, materialise};
use super::runs;
use crate::collective::Clique;
use crate::plan::{Args, CallSite, Parameter, Plan, Step};
use crate::runtime::Runtime;

/// The plan of the entry function of `module`, which is verified and has been through the passes, and which one of
/// `cliques` will run.
///
/// # Errors
/// UNIMPLEMENTED for programs that the engine does not support, RESOURCE_EXHAUSTED if there is no memory for constants,
/// and the errors of custom calls.
pub(crate) fn build(module: Module, runtime: &Runtime, cliques: Vec<Arc<Clique>>) -> Result<Plan, Error> {
    let parameters = Parameter::from_func(module.main());
    let Lowered { mut graph, calls, collectives, manuals } = lower(&module, runtime, &cliques, build)?;
    let Assignment { mut steps, slots, values, results, allocations, arena, own, written } =
        assign(&mut graph, &parameters);
    let Graph { constants, cost, .. } = graph;
    let constants: Vec<Buffer> =
        constants.iter().map(|literal| materialise(&runtime.allocator, literal)).collect::<Result<_, _>>()?;
    early_stages(&mut steps, &calls);
    let loops = runtime.isa.and_then(|isa| {
        let plan = Steps { steps: &steps, lists: &slots, allocations: &allocations };
        loops::compile(plan, |index| constants[index as usize].as_bytes(), isa, runtime.codegen())
    });
    let is_covered = |step: usize| loops.as_ref().is_some_and(|loops| loops.covers[step]);
    let plan = runs::Steps { steps: &steps, lists: &slots, allocations: &allocations };
    let runs = runs::find(plan, is_covered);
    let frame_of: Vec<u32> = calls.iter().map(CallSite::frame).collect();
    let mut frames = Vec::new();
    for (site, &frame) in frame_of.iter().enumerate() {
        if frame as usize == frames.len() {
            frames.push(site as u32);
        }
    }
    Ok(Plan {
        module,
        steps,
        slots,
        values,
        results,
        allocations,
        arena,
        own,
        parameters,
        written,
        constants,
        cliques,
        collectives,
        manuals,
        calls,
        frame_of,
        frames,
        cost,
        loops,
        runs,
    })
}

/// Puts the prepare and initialize stages of all custom calls before everything else.
fn early_stages(steps: &mut Vec<Step>, calls: &[CallSite]) {
    let mut args: Vec<(u32, Args)> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Call { site, args } => Some((*site, *args)),
            _ => None,
        })
        .collect();
    args.sort_by_key(|(site, _)| *site);
    let mut early = Vec::new();
    for stage in [Stage::Prepare, Stage::Initialize] {
        let staged = args.iter().filter(|(site, _)| calls[*site as usize].has_stage(stage));
        early.extend(staged.map(|&(site, args)| Step::Stage { site, stage, args }));
    }
    let shift = early.len() as u32;
    for step in steps.iter_mut() {
        match step {
            Step::Jump(target) | Step::JumpUnless { target, .. } => *target += shift,
            Step::Branch { targets, .. } => targets.iter_mut().for_each(|target| *target += shift),
            _ => {}
        }
    }
    steps.splice(0..0, early);
}
