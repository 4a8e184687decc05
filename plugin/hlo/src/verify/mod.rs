//! The verifier: whether a program keeps the rules of StableHLO, and what types its ops give.

mod collective;
mod contract;
mod control;
mod elementwise;
mod gather;
mod infer;
mod module;
mod numeric;
mod reduce;
mod shape;
mod sharding;
mod signature;
#[cfg(test)]
mod tests;
mod window;

pub use infer::infer_types;
pub use module::verify;
pub use signature::{RegionType, Signature};
