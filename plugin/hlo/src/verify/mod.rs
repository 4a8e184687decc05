//! The verifier: whether a program keeps the rules of StableHLO, and what types its ops give.

pub(crate) mod collective;
pub(crate) mod contract;
pub(crate) mod control;
pub(crate) mod elementwise;
pub(crate) mod gather;
mod infer;
mod module;
pub(crate) mod numeric;
pub(crate) mod reduce;
pub(crate) mod shape;
mod sharding;
mod signature;
#[cfg(test)]
mod tests;
mod window;

pub use infer::infer_types;
pub use module::verify;
pub use signature::{RegionType, Signature};
