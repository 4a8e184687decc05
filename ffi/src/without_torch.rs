//! Torch in a library that was built without the feature `torch`: no operation is an operator, and reports say why.

use serde_json::{Value, json};

use crate::descriptor::Handler;

/// The operator of an operation: there is none.
#[derive(Debug)]
pub enum TorchOp {}

const REASON: &str = "the library was built without the feature `torch` of the crate `oxcall`; build it with \
                      `oxcall = { version = \"...\", features = [\"torch\"] }` in its Cargo.toml";

/// # Errors
/// Always.
pub(crate) fn register() -> Result<usize, &'static str> {
    Err(REASON)
}

/// The report on a library without operators.
pub(crate) fn report() -> Value {
    json!({ "torch": null, "reason": REASON, "library": null, "ops": [] })
}

/// The Python program that completes operators: there are none.
pub(crate) fn program() -> String {
    String::new()
}

/// The mistake in a stated schema: the option `schema` is refused.
pub(crate) fn wrong_schema(_: &'static Handler) -> Option<String> {
    None
}
