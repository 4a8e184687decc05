//! The ops of bytecode, by name and version, and what each becomes.

use std::ops::RangeInclusive;

use super::container::OpName;
use super::{attribute, types};
use crate::Error;
use crate::ops::{self, OpDef, Regions, Version};

/// The oldest and the newest release of StableHLO whose portable artifacts are read: the newest is the one that added
/// what [`knows_vhlo`] learned last. Programs may be sent in any release between them.
pub const STABLEHLO_VERSIONS: RangeInclusive<[i64; 3]> = [0, 9, 0]..=[1, 22, 0];

/// Whether `name` is that of an op, attribute or type of VHLO that is read, or refused for a reason: `add_v1`.
pub fn knows_vhlo(name: &str) -> bool {
    let op = OpName { dialect: "vhlo", name, registered: true };
    attribute::NAMES.contains(&name)
        || types::NAMES.contains(&name)
        || name == "func_v1"
        || find(&op).is_ok()
        || ops::why_unsupported(stem(name)).is_some()
}

/// The name without its version.
fn stem(name: &str) -> &str {
    name.rsplit_once("_v").map_or(name, |(stem, _)| stem)
}

/// What is known of an op.
#[derive(Clone, Copy)]
pub(super) struct OpSpec {
    /// The names of its attributes, sorted: properties are written in this order.
    pub(super) attributes: &'static [&'static str],
    /// How many regions it has.
    regions: Regions,
    /// What it becomes.
    pub(super) becomes: Becomes,
}

/// What an op becomes.
#[derive(Clone, Copy)]
pub(super) enum Becomes {
    /// An op of the table.
    Op(&'static OpDef),
    /// The results of the region it ends.
    Return,
    /// Nothing: its results are its operands.
    Forward,
}

impl OpSpec {
    fn new(def: &'static OpDef, version: &Version) -> OpSpec {
        OpSpec { attributes: version.attributes, regions: version.regions, becomes: Becomes::Op(def) }
    }

    /// An op without regions that is none of the table's.
    fn beside(attributes: &'static [&'static str], becomes: Becomes) -> OpSpec {
        OpSpec { attributes, regions: Regions::Exactly(0), becomes }
    }

    /// Checks the number of regions.
    pub(super) fn check_regions(&self, count: usize) -> Result<(), Error> {
        let expected = match self.regions {
            Regions::Exactly(expected) if expected != count => expected.to_string(),
            Regions::AtLeastOne if count == 0 => "at least one".to_owned(),
            _ => return Ok(()),
        };
        Err(Error::invalid(format!("expected {expected} regions, got {count}")))
    }
}

/// The op of this name.
pub(super) fn find(op: &OpName<'_>) -> Result<OpSpec, Error> {
    match (op.dialect, op.name) {
        ("vhlo", "return_v1") | ("sdy", "return") => return Ok(OpSpec::beside(&[], Becomes::Return)),
        // The seams between the dialects.
        ("builtin", "unrealized_conversion_cast") => return Ok(OpSpec::beside(&[], Becomes::Forward)),
        // Where propagation ends, which says nothing of results.
        ("sdy", "propagation_barrier") => return Ok(OpSpec::beside(&["allowed_direction"], Becomes::Forward)),
        ("vhlo" | "sdy", _) => {}
        ("stablehlo" | "chlo" | "mhlo" | "func", _) => {
            let message = "this bytecode is not a portable artifact: serialize it with \
                           stablehlo.serialize_portable_artifact";
            return Err(Error::unsupported(message));
        }
        _ => return Err(Error::unsupported("this dialect is not supported")),
    }
    let number = if op.dialect == "vhlo" { op.name.rsplit_once("_v").map(|(_, number)| number) } else { Some("") };
    if let Some(def) = ops::find(&public_name(op))
        && let Some(version) = def.bytecode.iter().find(|version| Some(version.number) == number)
    {
        return Ok(OpSpec::new(def, version));
    }
    Err(Error::unsupported(match ops::why_unsupported(stem(op.name)) {
        _ if op.dialect == "sdy" => "this op of Shardy is not supported".to_owned(),
        Some(reason) => reason.to_owned(),
        None => format!("no supported release of StableHLO has an op `{}`", op.name),
    }))
}

/// The name that people know the op by: `stablehlo.add` for `vhlo.add_v1`.
pub(super) fn public_name(op: &OpName<'_>) -> String {
    let OpName { dialect, name, .. } = *op;
    if dialect != "vhlo" {
        return format!("{dialect}.{name}");
    }
    match stem(name) {
        name @ ("func" | "call" | "return") => format!("func.{name}"),
        name => format!("stablehlo.{name}"),
    }
}
