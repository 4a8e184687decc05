//! Registration of a library's operations, when it is loaded or on request.

use super::glue;
use super::libtorch::shim::{Absent, Shim};
use super::registration::outcome;
use crate::descriptor::Handler;
use crate::registry::registry;

/// Registers all operations that are linked in with the process's torch, if there is one; operations that are already
/// registered stay. Returns the number of operations that are now operators.
///
/// # Errors
/// The reason why there is no torch to register with.
pub fn register() -> Result<usize, &'static str> {
    let shim = Shim::get().map_err(Absent::message)?;
    let outcomes = registry().handlers().iter().map(|handler| outcome(shim, handler));
    Ok(outcomes.filter(|outcome| outcome.as_ref().is_some_and(Result::is_ok)).count())
}

/// Registers one operation if the process has torch. Its constructor calls this when the library is loaded.
pub fn register_op(handler: &'static Handler) {
    if let Ok(shim) = Shim::get()
        && outcome(shim, handler).is_some()
    {
        glue::schedule();
    }
}
