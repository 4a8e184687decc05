//! The ops of VHLO, by name and version, and what each becomes.
//!
//! An op of the table that ends in `_v2` differs from `_v1` in its attributes only; what was added has a neutral value
//! in older programs.

mod call;
mod contraction;
mod dynamic;
mod elementwise;
mod indexing;
mod math;
mod shape;
mod table;
mod window;

use super::{container::OpName, op::OpReader};
use crate::{BinaryOp, Error, OpKind, UnaryOp};

/// What is known of an op.
#[derive(Clone, Copy)]
pub(super) struct OpSpec {
    /// The names of its attributes, sorted: properties are written in this order.
    pub(super) attributes: &'static [&'static str],
    /// How many regions it has.
    regions: Regions,
    /// What it becomes.
    pub(super) lower: Lower,
}

/// How many regions an op has.
#[derive(Clone, Copy)]
enum Regions {
    Exactly(usize),
    AtLeastOne,
}

/// What an op becomes.
#[derive(Clone, Copy)]
pub(super) enum Lower {
    /// An op.
    Kind(Make),
    /// The results of the region it ends.
    Return,
    /// Nothing: its results are its operands.
    Forward,
}

/// How an op of the IR is made.
#[derive(Clone, Copy)]
pub(super) enum Make {
    /// An element-wise function of one operand.
    Unary(UnaryOp),
    /// An element-wise function of two operands.
    Binary(BinaryOp),
    /// What the function says.
    Read(fn(&mut OpReader<'_, '_, '_>) -> Result<OpKind, Error>),
}

impl Make {
    /// The kind of the op.
    pub(super) fn kind(self, op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
        match self {
            Make::Unary(unary) => Ok(OpKind::Unary(unary)),
            Make::Binary(binary) => Ok(OpKind::Binary(binary)),
            Make::Read(read) => read(op),
        }
    }
}

impl OpSpec {
    /// Checks the number of regions.
    pub(super) fn check_regions(&self, count: usize) -> Result<(), Error> {
        let expected = match self.regions {
            Regions::Exactly(expected) if expected != count => expected.to_string(),
            Regions::AtLeastOne if count == 0 => "at least one".to_owned(),
            _ => return Ok(()),
        };
        Err(Error::invalid(format!("{expected} regions are expected, not {count}")))
    }
}

/// The op of this name.
pub(super) fn find(op: &OpName<'_>) -> Result<OpSpec, Error> {
    if op.dialect != "vhlo" {
        // How values are placed on devices, and the seams between VHLO and the dialect that says so.
        if let ("builtin", "unrealized_conversion_cast") | ("sdy", "sharding_constraint") = (op.dialect, op.name) {
            return Ok(OpSpec { attributes: &[], regions: Regions::Exactly(0), lower: Lower::Forward });
        }
        let message = match op.dialect {
            "stablehlo" | "chlo" | "mhlo" | "func" => {
                "this bytecode is no portable artifact: serialize it with stablehlo.serialize_portable_artifact"
            }
            "sdy" => "sharded programs are not supported",
            _ => "this dialect is not supported",
        };
        return Err(Error::unsupported(message));
    }
    if let Some(spec) = table::find(op.name).or_else(|| find_elementwise(op.name)) {
        return Ok(spec);
    }
    Err(match table::why_unsupported(op.name) {
        Some(reason) => Error::unsupported(reason),
        None => Error::unsupported(format!("no release of StableHLO that is known has an op `{}`", op.name)),
    })
}

/// The element-wise op of this name. The second version of some unary ones adds an accuracy.
fn find_elementwise(name: &str) -> Option<OpSpec> {
    let (name, version) = name.rsplit_once("_v")?;
    let name = format!("stablehlo.{name}");
    let spec = |attributes, make| Some(OpSpec { attributes, regions: Regions::Exactly(0), lower: Lower::Kind(make) });
    match (UnaryOp::from_name(&name), BinaryOp::from_name(&name), version) {
        (Some(op), _, "1") => spec(&[], Make::Unary(op)),
        (Some(op), _, "2") if table::WITH_ACCURACY.contains(&op) => spec(&["result_accuracy"], Make::Unary(op)),
        (_, Some(op), "1") => spec(&[], Make::Binary(op)),
        _ => None,
    }
}

/// The name that people know the op by: `stablehlo.add` for `vhlo.add_v1`.
pub(super) fn public_name(op: &OpName<'_>) -> String {
    let OpName { dialect, name, .. } = *op;
    if dialect != "vhlo" {
        return format!("{dialect}.{name}");
    }
    match name.rsplit_once("_v").map_or(name, |(name, _)| name) {
        name @ ("func" | "call" | "return") => format!("func.{name}"),
        name => format!("stablehlo.{name}"),
    }
}
