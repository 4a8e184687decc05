//! Programs as XLA's protocol buffers.
//!
//! * `read`: an `HloModuleProto`, which torch_xla and other clients of XLA's builders send.
//! * `write`: an `HloModuleProtoWithConfig`, the form in which XLA's tools take optimised programs
//!   (`compiled.as_text()`).
//! * `fields`: the numbers of fields, for both.
//!
//! The table of ops (`crate::ops`) has the opcodes, and names the functions here that read and write instructions.

pub(crate) mod fields;
pub(crate) mod read;
pub(crate) mod write;

pub(crate) use read::Reader;
pub(crate) use read::computation::FuncReader;
pub(crate) use read::instruction::Instruction;
pub use read::{read_hlo_proto, read_hlo_proto_with_config};
pub use write::write_hlo_proto;

use oxcall_element::DType;

/// `PrimitiveType` of tokens.
const TOKEN: i64 = DType::Token.code() as i64;

/// `PrimitiveType` of tuples.
const TUPLE: i64 = 13;
