//! Ops: what they do ([`OpKind`]), and one table of what all formats have of them.
//!
//! * `table`: an entry for each op: fields, names of attributes, versions in bytecode, pretty form, instruction of HLO,
//!   rule; `define` is its macro, and `def` its columns.
//! * `functions`: the same for element-wise functions, `legacy` for ops that are read as others.
//! * `source` and `attributes`: attributes that are read, from any format, and written.
//! * `call`, `chlo`, `collective`, `constants`, `contraction`, `dynamic`, `indexing`, `shape`, `sharding`, `started`,
//!   `window`: the ops, by family, whose fields and attributes are not one to one.
//! * `form` and `value`: pretty forms, and values of attributes in them.
//! * `parameters`: types of fields.

mod attributes;
mod call;
mod chlo;
mod collective;
mod constants;
mod contraction;
mod def;
mod define;
mod dynamic;
mod form;
mod functions;
mod indexing;
mod legacy;
mod parameters;
mod shape;
mod sharding;
mod source;
mod started;
mod table;
#[cfg(test)]
mod tests;
mod value;
mod window;

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use self::attributes::Attributes;
pub(crate) use self::constants::{Constants, constant_of};
pub(crate) use self::def::{OpDef, Read, Regions, Version};
pub(crate) use self::form::{Form, Piece, Signature};
pub use self::functions::{BinaryOp, UnaryOp};
pub use self::parameters::*;
pub(crate) use self::source::{Source, rows, sizes};
pub use self::table::OpKind;
pub(crate) use self::value::{Field, Fields, Value};

/// All entries.
fn all() -> impl Iterator<Item = &'static OpDef> {
    UnaryOp::TABLE.iter().chain(BinaryOp::TABLE).chain(table::TABLE).chain(legacy::TABLE)
}

/// The op of this name, as `stablehlo.add`.
pub(crate) fn find(name: &str) -> Option<&'static OpDef> {
    static NAMES: LazyLock<HashMap<&str, &OpDef>> = LazyLock::new(|| {
        let mut names: HashMap<&str, &OpDef> = all().map(|def| (def.name, def)).collect();
        for (synonym, name) in legacy::SYNONYMS {
            names.insert(synonym, names[name]);
        }
        names
    });
    NAMES.get(name).copied()
}

/// The op of this opcode of HLO.
pub(crate) fn find_opcode(opcode: &str) -> Option<&'static OpDef> {
    static OPCODES: LazyLock<HashMap<String, &OpDef>> =
        LazyLock::new(|| all().filter_map(|def| Some((def.opcode()?, def))).collect());
    OPCODES.get(opcode).copied()
}

/// Why the op of this name (without its dialect) is not supported, if it is known.
pub(crate) fn why_unsupported(name: &str) -> Option<&'static str> {
    Some(match name {
        "cross-replica-sum" => "sums over replicas are written with all_reduce",
        // Of HLO protos.
        "async_done" | "async_start" | "async_update" => "asynchronous ops of HLO are not supported",
        "infeed" | "outfeed" => "infeed and outfeed are not supported",
        "recv" | "send" => "sending to and receiving from the host or other devices is not supported",
        "uniform_dequantize" | "uniform_quantize" => "quantised types are not supported",
        "compute_reshape_shape" | "cstr_reshapable" => "dynamic shapes are not supported",
        "trace" => "tracing ops are not supported",
        _ => return None,
    })
}
