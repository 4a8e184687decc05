//! Passes over programs: from a verified module to one function that the engine plans.
//!
//! In order: `settle_futures` leaves no asynchronous op; `inline` leaves one function; `tuples` leaves tensors and
//! tokens; `dynamic` leaves static shapes, with sizes beside them; `layouts` leaves row-major parameters and results;
//! `decompose` (with `composite` and `scan`) leaves ops that kernels exist for; `simplify` (with `fold`), `cse`,
//! `hoist` and `dce` leave less of them; `partial` leaves updates that can work in place; `unroll` leaves no short
//! loops over large arrays; `captures` leaves bodies that use nothing from outside. `ir` is shared by all. The result
//! keeps the rules of StableHLO, as [`oxcall_hlo::verify`] checks in the tests.
//!
//! Outside of this order, `peel` finds programs that each device runs by itself.
//!
//! JAX's functions of CHLO arrive as composites with a decomposition: `composite` takes a kernel by name, or else the
//! decomposition.

mod captures;
mod composite;
mod cse;
mod dce;
mod decompose;
mod dynamic;
mod fold;
mod hoist;
mod inline;
pub(crate) mod ir;
mod layouts;
mod partial;
mod peel;
mod scan;
mod simplify;
#[cfg(test)]
mod tests;
mod tuples;
mod unroll;

use oxcall::Error;
use oxcall_hlo::{Module, OpKind, settle_futures};

pub(crate) use self::dce::remove_dead;
pub use self::fold::Evaluate;
pub(crate) use self::ir::is_elementwise;
use self::ir::{Rewrite, rewrite};
pub use self::layouts::{Edge, Interface};
pub use self::peel::peel;

/// Simplification ends after so many rounds, whether more could be done or not. Most programs take two or three.
const ROUNDS: usize = 8;

/// Runs all passes over a module that [`oxcall_hlo::verify`] accepts. The entry function of the result calls none.
///
/// # Errors
/// INVALID_ARGUMENT for recursion, RESOURCE_EXHAUSTED for programs that inlining makes too large, UNIMPLEMENTED for
/// what the engine cannot do, with the op and its location.
pub fn run(module: Module) -> Result<Module, Error> {
    run_with(module, true, &|_, _| None, &mut |_, _| {}).map(|(module, _)| module)
}

/// Puts the bodies of functions in the place of their calls: the entry function of the result calls none.
///
/// # Errors
/// INVALID_ARGUMENT for recursion, RESOURCE_EXHAUSTED for programs that become too large.
pub(crate) fn inline_calls(module: &mut Module) -> Result<(), Error> {
    inline::inline(module)
}

/// Is told of the module after each pass, by the name of the pass.
pub type Observe<'a> = dyn FnMut(&str, &Module) + 'a;

/// As [`run`], for one process if `alone`, which has the number 0, and with constants folded by `evaluate`. Also gives
/// the parameters and results as the program declares them: those of the module are as they lie in memory.
///
/// # Errors
/// Those of [`run`].
pub fn run_with(
    mut module: Module,
    alone: bool,
    evaluate: &Evaluate<'_>,
    observe: &mut Observe<'_>,
) -> Result<(Module, Interface), Error> {
    observe("read", &module);
    settle_futures(&mut module);
    inline::inline(&mut module)?;
    observe("inline", &module);
    tuples::flatten(&mut module);
    observe("tuples", &module);
    let dynamic = dynamic::resolve(&mut module)?;
    observe("dynamic", &module);
    let mut interface = layouts::apply(&mut module)?;
    dynamic.mark(&mut interface);
    observe("layouts", &module);
    decompose::decompose(&mut module, alone)?;
    observe("decompose", &module);
    shrink(&mut module, evaluate, observe)?;
    if partial::select_parts(&mut module)? {
        observe("partial", &module);
        shrink(&mut module, evaluate, observe)?;
    }
    if unroll::unroll(&mut module)? {
        observe("unroll", &module);
        shrink(&mut module, evaluate, observe)?;
    }
    if hoist::hoist(&mut module)? {
        observe("hoist", &module);
        shrink(&mut module, evaluate, observe)?;
    }
    // Whatever they kept apart stays apart from here on.
    remove_barriers(&mut module)?;
    observe("barriers", &module);
    captures::close_bodies(&mut module)?;
    observe("captures", &module);
    dce::remove_dead(&mut module);
    observe("dce", &module);
    Ok((module, interface))
}

/// Simplifies until nothing changes.
fn shrink(module: &mut Module, evaluate: &Evaluate<'_>, observe: &mut Observe<'_>) -> Result<(), Error> {
    for _ in 0..ROUNDS {
        let simpler = simplify::simplify(module, evaluate)?;
        observe("simplify", module);
        let fewer = cse::share(module)?;
        observe("cse", module);
        let removed = dce::remove_dead(module);
        observe("dce", module);
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
