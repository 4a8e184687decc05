//! StableHLO programs: one IR, readers, a verifier and a printer.
//!
//! A [`Module`] holds functions; a [`Func`] owns its values and one body [`Region`]; a region is a list of [`Op`]s in
//! SSA form, whose terminator is the region's list of results. Readers make modules out of MLIR bytecode (portable
//! artifacts, what JAX sends), of MLIR text, and of HLO protos (what torch_xla sends).
//!
//! Everything here is safe Rust that does no I/O. Input is untrusted: readers answer with an [`Error`] that names the
//! op and its source location.
//!
//! # Modules
//!
//! * `ir`, `types`, `attribute`, `literal`, `location`: the IR: modules, functions, regions, and ops in SSA form.
//! * `ops`: the table of ops: their fields, names, attributes and pretty forms, and their meaning in each format.
//! * `builder`: functions built op by op.
//! * `bytecode`: the reader of portable artifacts.
//! * `text`: the parser of MLIR text.
//! * `hlo_proto`: HLO protos, read and written.
//! * `futures`: asynchronous ops as synchronous ones.
//! * [`sharding`]: meshes, shardings and their rules, in Shardy's terms.
//! * `verify`: the rules of StableHLO and the types of results, by family of ops.
//! * `print`: modules as text.
//! * `error`: invalid, unsupported or too large, with op and location.
//!
//! # Facts about programs
//!
//! * JAX sends a program in the older of its own version of StableHLO and the plugin's `stablehlo_current_version`,
//!   which is the end of `STABLEHLO_VERSIONS`: the newest of the supported jaxlibs.
//! * VHLO gives an op a new name when its attributes change. `ops` knows every name since 0.9.0.
//! * JAX writes a typed FFI call as API version 1 with `mhlo.backend_config` (`CustomCall::typed_attributes`).
//! * JAX starts collectives by custom calls from 0.11.1 on (`ops::started`).
//! * Literals of HLO protos have their elements in the order of their layout; the layouts of other arrays do not matter
//!   (`hlo_proto::read`).
//! * HLO protos have one state of random numbers that all programs share: each use gets fresh random words
//!   (`hlo_proto::read`).
#![forbid(unsafe_code)]

mod attribute;
mod builder;
mod bytecode;
mod error;
mod futures;
mod hlo_proto;
mod ir;
mod literal;
mod location;
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
#[doc(inline)]
pub use oxcall_element::ElementType;
pub use print::{print_module, print_module_with_locations};
pub use text::parse_text;
pub use types::{Dims, DynamicDims, TensorType, Type};
pub use verify::{RegionType, Signature, infer_types, verify};
