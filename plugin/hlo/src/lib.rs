//! StableHLO programs: one IR, readers, a verifier and a printer.
//!
//! A [`Module`] holds functions; a [`Func`] owns its values and one body [`Region`]; a region is a list of [`Op`]s in
//! SSA form, whose terminator is the region's list of results. Readers make modules out of MLIR bytecode (portable
//! artifacts, what JAX sends), of MLIR text, and of HLO protos (what torch_xla sends).
//!
//! Everything here is safe Rust that does no I/O. Input is untrusted: readers answer with an [`Error`] that names the
//! op and its source location.
#![forbid(unsafe_code)]

mod attribute;
mod builder;
mod bytecode;
mod error;
mod float;
mod futures;
mod hlo_proto;
mod ir;
mod literal;
mod location;
mod lower;
mod ops;
mod print;
pub mod sharding;
mod text;
mod types;
mod verify;

pub use attribute::Attribute;
pub use builder::FuncBuilder;
pub use bytecode::{STABLEHLO_VERSIONS, is_bytecode, knows_vhlo, read_bytecode};
pub use error::{Error, ErrorKind};
pub use futures::settle_futures;
pub use hlo_proto::{read_hlo_proto, read_hlo_proto_with_config, write_hlo_proto};
pub use ir::{ArgAttributes, Func, FuncId, Module, Op, Region, ValueId};
pub use literal::Literal;
pub use location::{Location, LocationId};
pub use ops::*;
pub use print::{print_module, print_module_with_locations};
pub use text::parse_text;
pub use types::{Dims, DynamicDims, ElementType, TensorType, Type};
pub use verify::{RegionType, Signature, infer_types, verify};
