//! The ops of VHLO, by name and version, and what each becomes.
//!
//! An op of the table that ends in `_v2` differs from `_v1` in its attributes only; what was added has a neutral value
//! in older programs.

mod table;

use std::ops::RangeInclusive;

use super::container::OpName;
use super::{attribute, types};
use crate::Error;
use crate::lower::{self, Lower};

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
        || lower::why_unsupported(stem(name)).is_some()
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

/// How many regions an op has.
#[derive(Clone, Copy)]
enum Regions {
    Exactly(usize),
    AtLeastOne,
    Any,
}

/// What an op becomes.
#[derive(Clone, Copy)]
pub(super) enum Becomes {
    /// An op, and the name that people know it by.
    Op(&'static str, Lower),
    /// The results of the region it ends.
    Return,
    /// Nothing: its results are its operands.
    Forward,
}

impl OpSpec {
    /// Checks the number of regions.
    pub(super) fn check_regions(&self, count: usize) -> Result<(), Error> {
        let expected = match self.regions {
            Regions::Any => return Ok(()),
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
        if let Some(spec) = beside_vhlo(op) {
            return Ok(spec);
        }
        let message = match op.dialect {
            "stablehlo" | "chlo" | "mhlo" | "func" => {
                "this bytecode is no portable artifact: serialize it with stablehlo.serialize_portable_artifact"
            }
            "sdy" => "this op of Shardy is not supported",
            _ => "this dialect is not supported",
        };
        return Err(Error::unsupported(message));
    }
    if op.name == "return_v1" {
        return Ok(OpSpec { attributes: &[], regions: Regions::Exactly(0), becomes: Becomes::Return });
    }
    if let Some((name, lower)) = lower::find(&public_name(op))
        && let Some((attributes, regions)) = table::find(op.name).or_else(|| element_wise(lower, op.name))
    {
        return Ok(OpSpec { attributes, regions, becomes: Becomes::Op(name, lower) });
    }
    Err(Error::unsupported(match lower::why_unsupported(stem(op.name)) {
        Some(reason) => reason.to_owned(),
        None => format!("no release of StableHLO that is known has an op `{}`", op.name),
    }))
}

/// Ops that stand beside those of VHLO: how values are split over devices, and the seams between the dialects.
fn beside_vhlo(op: &OpName<'_>) -> Option<OpSpec> {
    let none = Regions::Exactly(0);
    let (attributes, regions, becomes): (&[&str], _, _) = match (op.dialect, op.name) {
        ("builtin", "unrealized_conversion_cast") => (&[], none, Becomes::Forward),
        ("sdy", "return") => (&[], none, Becomes::Return),
        // Where propagation ends, which says nothing of results.
        ("sdy", "propagation_barrier") => (&["allowed_direction"], none, Becomes::Forward),
        ("sdy", "sharding_group") => {
            let (name, lower) = lower::find("sdy.sharding_group")?;
            (&["group_id"], none, Becomes::Op(name, lower))
        }
        ("sdy", "sharding_constraint" | "reshard") => {
            let (name, lower) = lower::find("sdy.sharding_constraint")?;
            (&["sharding"], none, Becomes::Op(name, lower))
        }
        ("sdy", "manual_computation") => {
            let (name, lower) = lower::find("sdy.manual_computation")?;
            (&["in_shardings", "manual_axes", "out_shardings"], Regions::Exactly(1), Becomes::Op(name, lower))
        }
        _ => return None,
    };
    Some(OpSpec { attributes, regions, becomes })
}

/// The attributes and regions of the element-wise op of this name. The second version of some unary ones adds an
/// accuracy.
fn element_wise(lower: Lower, name: &str) -> Option<(&'static [&'static str], Regions)> {
    let (_, version) = name.rsplit_once("_v")?;
    match (lower, version) {
        (Lower::Unary(_) | Lower::Binary(_), "1") => Some((&[], Regions::Exactly(0))),
        (Lower::Unary(op), "2") if table::WITH_ACCURACY.contains(&op) => {
            Some((&["result_accuracy"], Regions::Exactly(0)))
        }
        _ => None,
    }
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
