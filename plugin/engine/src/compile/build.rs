//! The whole way from a program to its plan.

use std::sync::Arc;

use oxcall::Error;
use oxcall::descriptor::Stage;
use oxcall_hlo::Module;

use super::arena::{self, Request};
use super::constants::materialise;
use super::graph::Graph;
use super::liveness::last_uses;
use super::lower::{Lowered, lower};
use super::place::{Placed, place};
use super::storage::{Kind, StorageId, Storages};
use super::{Args, CallSite, Home, Parameter, Plan, Step};
use crate::collective::Members;
use crate::runtime::Runtime;

/// The plan of the entry function of `module`, which is verified and has been through the passes, and will be run by
/// one of `gangs`.
///
/// # Errors
/// UNIMPLEMENTED for what the engine cannot do; what custom calls report; RESOURCE_EXHAUSTED for its constants.
pub(crate) fn build(module: Module, runtime: &Runtime, gangs: Vec<Arc<Members>>) -> Result<Plan, Error> {
    let parameters = Parameter::of(module.main());
    let Lowered { mut graph, calls, meetings, manuals } = lower(&module, runtime, &gangs)?;
    let last = last_uses(&graph);
    let Placed { steps, slots, values, storages, results } = place(&mut graph, &last, &parameters);
    let table = Table::new(&storages);
    let constants =
        graph.constants.iter().map(|literal| materialise(&runtime.allocator, literal)).collect::<Result<_, _>>()?;
    let written = table.written(&storages, parameters.len());
    let mut steps: Vec<Step> = steps.into_iter().map(|step| table.resolve(&storages, step)).collect();
    let slots: Vec<u32> = slots.into_iter().map(|slot| table.slot(&storages, slot)).collect();
    early_stages(&mut steps, &calls);
    let frame_of: Vec<u32> = calls.iter().map(CallSite::frame).collect();
    let mut frames = Vec::new();
    for (site, &frame) in frame_of.iter().enumerate() {
        if frame as usize == frames.len() {
            frames.push(site as u32);
        }
    }
    let Graph { cost, .. } = graph;
    Ok(Plan {
        module,
        steps,
        slots,
        values,
        results: results.into_iter().map(|id| table.slot(&storages, id.0)).collect(),
        homes: table.homes,
        arena: table.arena,
        own: table.own,
        parameters,
        written,
        constants,
        gangs,
        meetings,
        manuals,
        calls,
        frame_of,
        frames,
        cost,
    })
}

/// The storages that are left as slots of a table.
struct Table {
    /// The slot of each storage that is a root.
    slots: Vec<u32>,
    homes: Vec<(Home, usize)>,
    arena: usize,
    own: Vec<usize>,
}

impl Table {
    fn new(storages: &Storages) -> Table {
        let roots: Vec<StorageId> = storages.roots().collect();
        let count = storages.next().0 as usize;
        // Storages that exchange their places live as long as all of them together; if the caller gets one of them, or
        // gave one, each is an allocation of its own.
        let mut live = vec![(u32::MAX, 0); count];
        let mut is_own = vec![false; count];
        for &id in &roots {
            let class = storages.class(id).0 as usize;
            let (first, last) = storages.live(id);
            live[class] = (first.min(live[class].0), last.max(live[class].1));
            is_own[class] |= storages.is_result(id) || matches!(storages.kind(id), Kind::Parameter(_));
        }
        let mut table = Table { slots: vec![0; count], homes: Vec::new(), arena: 0, own: Vec::new() };
        let mut requests = Vec::new();
        let mut in_arena = Vec::new();
        for &id in &roots {
            let class = storages.class(id).0 as usize;
            let bytes = storages.bytes(id);
            let slot = table.homes.len();
            table.slots[id.0 as usize] = slot as u32;
            let home = match storages.kind(id) {
                Kind::Empty => Home::Empty,
                Kind::Parameter(index) => Home::Parameter(index),
                Kind::Constant(index) => Home::Constant(index),
                Kind::Id(id) => Home::Id(id),
                Kind::New if is_own[class] => {
                    table.own.push(bytes);
                    Home::Own(table.own.len() as u32 - 1)
                }
                Kind::New => {
                    requests.push(Request { bytes, live: live[class] });
                    in_arena.push(slot);
                    Home::Arena(0)
                }
            };
            table.homes.push((home, bytes));
        }
        let (offsets, arena) = arena::assign(&requests);
        for (slot, offset) in in_arena.into_iter().zip(offsets) {
            table.homes[slot].0 = Home::Arena(offset);
        }
        table.arena = arena;
        table
    }

    fn slot(&self, storages: &Storages, id: u32) -> u32 {
        self.slots[storages.root(StorageId(id)).0 as usize]
    }

    /// Which parameters' memory is written or given to the caller.
    fn written(&self, storages: &Storages, parameters: usize) -> Vec<bool> {
        let mut written = vec![false; parameters];
        for id in storages.roots() {
            if let Kind::Parameter(index) = storages.kind(id) {
                written[index as usize] = storages.is_written(id) || storages.is_result(id);
            }
        }
        written
    }

    fn resolve(&self, storages: &Storages, step: Step) -> Step {
        let slot = |id| self.slot(storages, id);
        match step {
            Step::Copy { from, to } => Step::Copy { from: slot(from), to: slot(to) },
            Step::Rotate(slots) => Step::Rotate(slots.iter().map(|&id| slot(id)).collect()),
            Step::JumpUnless { predicate, target } => Step::JumpUnless { predicate: slot(predicate), target },
            Step::Branch { index, targets } => Step::Branch { index: slot(index), targets },
            other => other,
        }
    }
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
