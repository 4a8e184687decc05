//! Constants, counting, comparison, rounding and mapping.

use super::Source;
use crate::{ComparisonDirection, ComparisonType, Error, OpKind};

pub(super) fn constant(op: &mut dyn Source) -> Result<OpKind, Error> {
    let literal = op.required_literal("value")?;
    let result = op.result_type()?;
    if result != literal.ty() {
        let message = format!("a constant of type {} with a result of type {result}", literal.ty());
        return Err(Error::invalid(message));
    }
    Ok(OpKind::Constant(literal))
}

pub(super) fn iota(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::Iota { dim: op.size("iota_dimension")? })
}

pub(super) fn compare(op: &mut dyn Source) -> Result<OpKind, Error> {
    let direction = op.choice("comparison_direction", ComparisonDirection::from_name)?;
    let order = op.choice_or("compare_type", ComparisonType::from_name, ComparisonType::NoType)?;
    Ok(OpKind::Compare(direction, order))
}

pub(super) fn reduce_precision(op: &mut dyn Source) -> Result<OpKind, Error> {
    let mut bits = |name| {
        let bits = op.size(name)?;
        u32::try_from(bits).map_err(|_| Error::invalid(format!("the attribute `{name}` is too large: {bits}")))
    };
    Ok(OpKind::ReducePrecision { exponent_bits: bits("exponent_bits")?, mantissa_bits: bits("mantissa_bits")? })
}

pub(super) fn map(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::Map { dims: op.sizes("dimensions")? })
}
