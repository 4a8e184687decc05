//! Passes: from a verified module to one function that the engine can plan.
//!
//! [`run_with`] has the order, and the reason for each constraint. The output of each pass obeys the rules of
//! StableHLO: [`oxcall_hlo::verify`] checks it in debug builds and while programs are dumped.

mod captures;
mod columns;
mod composite;
mod cse;
mod dce;
mod decompose;
mod dynamic;
mod extremes;
pub(in crate::compile) mod flat;
mod fold;
mod hoist;
mod identity;
mod inline;
pub(crate) mod ir;
mod layouts;
mod negated;
mod partial;
mod permuted;
mod phases;
mod picks;
mod scan;
mod short;
mod simplify;
mod split;
mod stacked;
mod taps;
#[cfg(test)]
mod tests;
mod totals;
mod transposed;
mod trips;
mod tuples;
mod unroll;
mod unstack;

use oxcall::Error;
use oxcall_hlo::{Module, OpKind, settle_futures, verify};

pub(crate) use self::dce::remove_dead;
pub(crate) use self::decompose::Inline;
pub(crate) use self::fold::Evaluate;
pub(crate) use self::ir::is_elementwise;
use self::ir::{Rewrite, rewrite};
pub(crate) use self::layouts::Interface;
pub use self::layouts::IoSpec;

/// The largest number of rounds of simplification. Most programs take two or three.
const ROUNDS: usize = 8;

/// Runs all passes over a module, without constant folding.
#[cfg(test)]
pub(crate) fn run(module: Module) -> Result<Module, Error> {
    run_with(module, true, &|_, _| None, &|_, _, _| None, None).map(|(module, _)| module)
}

/// Replaces calls by the bodies of the called functions: the entry function of the result calls none.
///
/// # Errors
/// INVALID_ARGUMENT for recursion, RESOURCE_EXHAUSTED for programs that become too large.
pub(crate) fn inline_calls(module: &mut Module) -> Result<(), Error> {
    inline::inline(module)
}

/// Receives the module after each pass, with the name of the pass.
pub(crate) type Observe<'a> = dyn FnMut(&str, &Module) + 'a;

/// Runs all passes over a module that [`oxcall_hlo::verify`] accepts: for a single process with the number 0 if
/// `alone`, with constants folded by `evaluate`, and with custom calls replaced by what `inline` says that they
/// compute. The entry function of the result calls none. Also returns the parameters and results as the program
/// declares them; those of the module are in memory order.
///
/// # Errors
/// INVALID_ARGUMENT for recursion, RESOURCE_EXHAUSTED for programs that inlining makes too large, UNIMPLEMENTED for ops
/// that the engine does not support, with the op and its location.
pub(crate) fn run_with(
    mut module: Module,
    alone: bool,
    evaluate: &Evaluate<'_>,
    inline: &Inline<'_>,
    observe: Option<&mut Observe<'_>>,
) -> Result<(Module, Interface), Error> {
    let mut observer = Observer(observe);
    observer.after("read", &module)?;
    // Futures first: no other pass knows them.
    settle_futures(&mut module);
    // One function: the passes below look at ops and their regions, never through calls.
    inline::inline(&mut module)?;
    observer.after("inline", &module)?;
    // After inlining, which leaves tuples of calls; before `dynamic` and `layouts`, which know tensors only.
    tuples::flatten(&mut module);
    observer.after("tuples", &module)?;
    // Static shapes for all that follows. Sizes become parameters and results of their own, which get layouts.
    let dynamic = dynamic::resolve(&mut module)?;
    observer.after("dynamic", &module)?;
    let mut interface = layouts::apply(&mut module)?;
    dynamic.mark(&mut interface);
    observer.after("layouts", &module)?;
    // Before simplification: the expansions simplify further.
    decompose::decompose(&mut module, alone, inline)?;
    observer.after("decompose", &module)?;
    shrink(&mut module, evaluate, &mut observer)?;
    // The pass looks for updates, and expects ops without duplicates and dead uses.
    if partial::select_parts(&mut module)? {
        observer.after("partial", &module)?;
        shrink(&mut module, evaluate, &mut observer)?;
    }
    // Trip counts are constants by now; the iterations then simplify together.
    if unroll::unroll(&mut module)? {
        observer.after("unroll", &module)?;
        shrink(&mut module, evaluate, &mut observer)?;
    }
    // Before slices of what does not change leave loops.
    let changes = [
        unstack::carries,
        split::reductions,
        short::reductions,
        totals::short,
        extremes::short,
        permuted::reductions,
        phases::convolutions,
        taps::convolutions,
        picks::before_elementwise,
        flat::indices,
        negated::concatenations,
    ];
    if changes.into_iter().try_fold(false, |any, change| Ok::<_, Error>(any | change(&mut module)?))? {
        observer.after("short", &module)?;
        shrink(&mut module, evaluate, &mut observer)?;
    }
    // After unrolling: a short loop that is gone needs no hoisting.
    if hoist::hoist(&mut module)? {
        observer.after("hoist", &module)?;
        shrink(&mut module, evaluate, &mut observer)?;
    }
    // After weights have left loops, and with them what is computed of them alone.
    if stacked::products(&mut module)? {
        observer.after("stacked", &module)?;
        shrink(&mut module, evaluate, &mut observer)?;
    }
    // After constants have left loops. What is before an inner loop then leaves the outer one.
    if columns::products(&mut module)? {
        observer.after("columns", &module)?;
        hoist::hoist(&mut module)?;
        observer.after("hoist", &module)?;
        shrink(&mut module, evaluate, &mut observer)?;
    }
    // After transposes of what does not change have left loops. Those of an operand and then of the result.
    while transposed::products(&mut module)? {
        observer.after("transposed", &module)?;
        shrink(&mut module, evaluate, &mut observer)?;
    }
    // From here on, ops that barriers separated stay separate: nothing below merges or moves ops.
    remove_barriers(&mut module)?;
    observer.after("barriers", &module)?;
    // After the last pass that lets bodies use values from outside.
    captures::close_bodies(&mut module)?;
    observer.after("captures", &module)?;
    dce::remove_dead(&mut module);
    observer.after("dce", &module)?;
    Ok((module, interface))
}

/// The observer of the module after each pass.
struct Observer<'a, 'b>(Option<&'a mut Observe<'b>>);

impl Observer<'_, '_> {
    /// Passes the module to the observer, and verifies it in debug builds and whenever there is an observer.
    ///
    /// # Errors
    /// INTERNAL if the pass broke the program.
    fn after(&mut self, pass: &str, module: &Module) -> Result<(), Error> {
        if let Some(observe) = &mut self.0 {
            observe(pass, module);
        } else if !cfg!(debug_assertions) {
            return Ok(());
        }
        verify(module).map_err(|error| {
            Error::internal(format!("the pass `{pass}` produced an invalid program, a bug in the engine: {error}"))
        })
    }
}

/// Simplifies until nothing changes.
fn shrink(module: &mut Module, evaluate: &Evaluate<'_>, observer: &mut Observer<'_, '_>) -> Result<(), Error> {
    for _ in 0..ROUNDS {
        let simpler = simplify::simplify(module, evaluate)?;
        observer.after("simplify", module)?;
        // After `simplify`, which makes ops equal; before `dce`, which removes the replaced ops.
        let fewer = cse::share(module)?;
        observer.after("cse", module)?;
        let removed = dce::remove_dead(module);
        observer.after("dce", module)?;
        if !(removed | simpler | fewer) {
            break;
        }
    }
    Ok(())
}

fn remove_barriers(module: &mut Module) -> Result<(), Error> {
    rewrite(module, |_, op| {
        Ok(match op.kind {
            OpKind::OptimizationBarrier => Rewrite::With(op.operands.into()),
            _ => Rewrite::Keep(op),
        })
    })?;
    Ok(())
}
