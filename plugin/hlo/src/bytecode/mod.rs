//! Reads MLIR bytecode that holds a StableHLO portable artifact: a module of VHLO, the versioned copy of StableHLO
//! that every release can read, as JAX sends it. All releases of [`STABLEHLO_VERSIONS`], in bytecode versions 0 to 6.
//!
//! Layers, from the bytes up: [`cursor`] (integers and lists), [`container`] (sections, strings, names), [`tables`]
//! (attributes and types, each decoded when first asked for, by [`attribute`] and [`types`]), [`module`], [`header`]
//! and [`body`] (functions, op headers and regions), and [`ops`], which finds ops in the table by their versioned
//! names. Ops and attributes of Shardy ([`sharding`]) may stand beside them.
//!
//! The input is untrusted. Every count is checked against the bytes that are left, nesting is limited, and whatever
//! the format shares but the IR copies is charged to a budget: reading takes at most
//! 512 bytes of memory for each byte of the input, and 20 MiB for any.

mod attribute;
mod body;
mod container;
mod convert;
mod cursor;
mod header;
mod literal;
mod location;
mod mesh_axes;
mod module;
mod op;
mod ops;
mod sharding;
mod symbols;
mod tables;
mod types;
mod value;

pub use ops::{STABLEHLO_VERSIONS, knows_vhlo};

use container::Container;
use tables::Tables;

use crate::{Error, Module};

/// The bytes that copies of attributes and types, or of locations, may take for each byte of the input, and for any.
const COPIES_PER_BYTE: usize = 64;
const COPIES: usize = 8 << 20;

/// Whether `bytes` start like MLIR bytecode.
pub fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(container::MAGIC)
}

/// Reads a program in MLIR bytecode, which has to be a StableHLO portable artifact.
///
/// The module is well-formed: indices are in range, values are defined before they are used, and attributes have
/// their types. Whether ops obey their constraints is for the verifier to say.
///
/// # Errors
/// If the bytes are malformed, or use what is not supported: dynamic shapes, quantised types, infeed. The error
/// names the op and its source location where there is one.
pub fn read_bytecode(bytes: &[u8]) -> Result<Module, Error> {
    let container = Container::read(bytes)?;
    let copies = bytes.len().saturating_mul(COPIES_PER_BYTE).saturating_add(COPIES);
    let (tables, ir) = Tables::new(container, copies)?;
    module::read(&tables, ir)
}
