//! Spans of steps.

use std::time::Instant;

use serde_json::json;

use super::Executable;
use crate::observe::{Span, shapes};
use crate::plan::{Args, Step};

/// The span of a running step; dropping it ends the span.
pub(super) struct Open<'s> {
    span: Option<Span>,
    spans: &'s mut Vec<Span>,
}

impl<'s> Open<'s> {
    /// Opens a span; jumps have none.
    pub(super) fn new(program: &Executable, step: &Step, spans: &'s mut Vec<Span>) -> Open<'s> {
        let plan = &program.plan;
        let span = match step {
            Step::Kernel { kernel, args, .. } => Some(span(program, kernel.name(), "kernel", *args)),
            Step::Call { site, args } => {
                Some(span(program, plan.calls[*site as usize].target().to_owned(), "custom_call", *args))
            }
            Step::Collective { site, args } => {
                Some(span(program, plan.collectives[*site as usize].name.clone(), "collective", *args))
            }
            Step::Manual { args, .. } => {
                Some(span(program, "manual computation".to_owned(), "manual_computation", *args))
            }
            Step::Stage { site, stage, args } => {
                let name = format!("{} of {}", stage.name(), plan.calls[*site as usize].target());
                Some(span(program, name, "custom_call", *args))
            }
            Step::Copy { to, .. } => {
                let args = json!({ "bytes": 2 * plan.allocations[*to as usize].1 });
                let now = Instant::now();
                Some(Span { name: "copy".to_owned(), category: "copy", start: now, end: now, args })
            }
            Step::Rotate(_) | Step::Jump(_) | Step::JumpUnless { .. } | Step::Branch { .. } => None,
        };
        Open { span, spans }
    }
}

/// The span of the wait for an incomplete step, until now.
pub(super) fn wait(program: &Executable, step: &Step, since: Instant) -> Option<Span> {
    let mut spans = Vec::new();
    drop(Open::new(program, step, &mut spans));
    let span = spans.pop()?;
    Some(Span { name: format!("wait for {}", span.name), start: since, ..span })
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(mut span) = self.span.take() {
            span.end = Instant::now();
            self.spans.push(span);
        }
    }
}

/// The span of a step with buffers, starting now.
fn span(program: &Executable, name: String, category: &'static str, args: Args) -> Span {
    let (plan, func) = (&program.plan, program.plan.module.main());
    let (inputs, outputs) = args.slots(&plan.slots);
    let values = &plan.values[args.first as usize..][..inputs.len() + outputs.len()];
    let (operands, results) = values.split_at(inputs.len());
    let args =
        json!({ "bytes": plan.bytes(args), "operands": shapes(func, operands), "results": shapes(func, results) });
    let now = Instant::now();
    Span { name, category, start: now, end: now, args }
}

/// The span of an execution, or of a part of it between pending custom calls.
pub(super) fn execution(program: &Executable, started: Instant) -> Span {
    let args = json!({ "flops": program.plan.cost.flops, "bytes": program.plan.cost.bytes });
    Span { name: program.plan.module.name.clone(), category: "execution", start: started, end: Instant::now(), args }
}
