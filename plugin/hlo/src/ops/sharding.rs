//! Shardings of values, and computations per device.

use super::attributes::Attributes;
use super::source::Source;
use crate::sharding::{ManualComputation, TensorSharding};
use crate::{Attribute, Error, OpKind};

pub(super) fn constraint(op: &mut dyn Source) -> Result<OpKind, Error> {
    match op.attribute("sharding")? {
        Some(Attribute::Sharding(sharding)) => Ok(OpKind::ShardingConstraint(Box::new(sharding))),
        _ => Err(wrong("sharding", "a sharding")),
    }
}

pub(super) fn group(op: &mut dyn Source) -> Result<OpKind, Error> {
    match op.integer("group_id")? {
        Some(id) => Ok(OpKind::ShardingGroup { id }),
        None => Err(wrong("group_id", "a number")),
    }
}

pub(super) fn manual_computation(op: &mut dyn Source) -> Result<OpKind, Error> {
    let in_shardings = per_value(op, "in_shardings")?;
    let out_shardings = per_value(op, "out_shardings")?;
    let Some(Attribute::ManualAxes(manual_axes)) = op.attribute("manual_axes")? else {
        return Err(wrong("manual_axes", "names of axes"));
    };
    Ok(OpKind::ManualComputation(Box::new(ManualComputation { in_shardings, out_shardings, manual_axes })))
}

pub(super) fn write_manual_computation(out: &mut Attributes<'_>, manual: &ManualComputation) {
    out.attribute("in_shardings", Attribute::ShardingPerValue(manual.in_shardings.clone()));
    out.attribute("manual_axes", Attribute::ManualAxes(manual.manual_axes.clone()));
    out.attribute("out_shardings", Attribute::ShardingPerValue(manual.out_shardings.clone()));
}

fn per_value(op: &mut dyn Source, name: &'static str) -> Result<Vec<TensorSharding>, Error> {
    match op.attribute(name)? {
        Some(Attribute::ShardingPerValue(shardings)) => Ok(shardings),
        _ => Err(wrong(name, "a list of shardings, one for each value")),
    }
}

fn wrong(name: &str, what: &str) -> Error {
    Error::invalid(format!("the attribute `{name}` must be {what}"))
}
