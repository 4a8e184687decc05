//! Compilation: from a verified module to a plan.
//!
//! 1. [`partition`]: the parts of arrays that each device holds, for programs of several partitions.
//! 2. [`passes`]: from the module to one simplified function. `evaluate` folds constants by running kernels.
//! 3. [`fusion`]: the choice of ops that one kernel computes together.
//! 4. [`lower`]: from ops and fusions to a [`graph`] of nodes over values.
//! 5. [`assign`]: buffer assignment, and the steps of the plan.
//! 6. [`loops`]: the loops among the steps as machine code, by what is known about their [`slots`].
//! 7. [`runs`]: successive small steps that threads share.
//!
//! `build` performs the stages from 3 on.

mod assign;
mod build;
#[allow(unsafe_code, reason = "runs kernels on buffers of its own")]
mod evaluate;
mod fusion;
mod graph;
mod loops;
mod lower;
pub(crate) mod partition;
pub(crate) mod passes;
mod runs;
mod slots;

use std::sync::Arc;

use oxcall::Error;
use oxcall_hlo::{CustomCall, Func, Literal, Module, OpKind, Region, TensorType};
use oxcall_kernels::memory;

use self::passes::{Interface, Observe};
use crate::collective::Clique;
use crate::custom_call;
use crate::observe::Dump;
use crate::plan::Plan;
use crate::runtime::Runtime;

/// Compiles a verified program that the participants of `clique` will run. Also returns its parameters and results as
/// the program declares them.
///
/// # Errors
/// UNIMPLEMENTED for ops that the engine does not support and NOT_FOUND for an unknown custom call, both with the op
/// and its location; the errors of a custom call's instantiate stage; RESOURCE_EXHAUSTED if there is no memory to
/// compile.
pub(crate) fn compile(
    module: Module,
    clique: Clique,
    runtime: &Runtime,
    dump: Option<&Dump>,
) -> Result<(Plan, Interface), Error> {
    memory::reserve()?;
    memory::room(bytes_to_compile(&module)).map_err(|error| error.context("compiling"))?;
    let mut dump = dump.map(|dump| dump.program(&module.name));
    let Runtime { pool, allocator, host, .. } = runtime;
    let evaluate = |func: &Func, operands: &[Literal]| evaluate::evaluate(pool, allocator, func, operands);
    let inline = |call: &CustomCall, row: &TensorType, shapes: custom_call::Shapes<'_>| {
        if runtime.inlines { custom_call::expression(host, call, row, shapes) } else { None }
    };
    let mut observe = dump.as_mut().map(|dump| |pass: &str, module: &Module| dump.module(pass, module));
    let observe = observe.as_mut().map(|observe| observe as &mut Observe<'_>);
    let (module, interface) = passes::run_with(module, clique.len() == 1, &evaluate, &inline, observe)?;
    let plan = build::build(module, runtime, vec![Arc::new(clique)])?;
    if let Some(dump) = &dump {
        dump.plan(&plan);
    }
    if let Some(map) = &runtime.perf_map {
        map.write(&plan);
    }
    Ok((plan, interface))
}

/// An upper bound of the memory that it takes to compile a program, in bytes.
pub(crate) fn bytes_to_compile(module: &Module) -> usize {
    /// The bytes for each op: passes hold it several times, and so do the graph and the plan. 200,000 small ops take a
    /// third of this each.
    const OP: usize = 3 << 10;
    /// The number of copies of constants: for passes, for the plan, and for a caller that asks for the compiled
    /// program.
    const COPIES: usize = 6;
    fn bytes(region: &Region) -> usize {
        let each = region.ops.iter().map(|op| {
            let constant = match &op.kind {
                OpKind::Constant(literal) => literal.data().len().saturating_mul(COPIES),
                _ => 0,
            };
            constant.saturating_add(OP).saturating_add(op.regions.iter().map(bytes).sum())
        });
        each.fold(0, usize::saturating_add)
    }
    module.funcs.iter().map(|func| bytes(&func.body)).fold(0, usize::saturating_add)
}
