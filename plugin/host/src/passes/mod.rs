//! Passes over programs: from a verified module to one function that the engine plans.
//!
//! In order: [`inline`] leaves one function; [`tuples`] leaves tensors and tokens; [`decompose`] leaves ops that
//! kernels exist for; [`branches`] takes branches that are known; [`dce`] leaves what is used; [`captures`] leaves bodies
//! that use nothing from outside. What comes out keeps the rules of StableHLO, as [`oxcall_hlo::verify`] checks in the tests.

mod branches;
mod captures;
mod composite;
mod dce;
mod decompose;
mod inline;
mod ir;
#[cfg(test)]
mod tests;
mod tuples;

use oxcall::Error;
use oxcall_hlo::Module;

/// Runs all passes over a module that [`oxcall_hlo::verify`] accepts. The entry function of the result calls none.
///
/// # Errors
/// INVALID_ARGUMENT for recursion, RESOURCE_EXHAUSTED for programs that inlining makes too large, UNIMPLEMENTED for
/// what the engine cannot do, with the op and its location.
pub fn run(mut module: Module) -> Result<Module, Error> {
    inline::inline(&mut module)?;
    tuples::flatten(&mut module);
    decompose::decompose(&mut module)?;
    branches::take_known(&mut module)?;
    dce::remove_dead(&mut module);
    captures::close_bodies(&mut module)?;
    Ok(module)
}
