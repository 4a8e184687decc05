//! Constants, counting, comparison, rounding and mapping.

use super::super::op::OpReader;
use crate::{ComparisonDirection, ComparisonType, Error, OpKind};

pub(super) fn constant(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    Ok(OpKind::Constant(op.attribute("value")?.literal()?.clone()))
}

pub(super) fn iota(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    Ok(OpKind::Iota { dim: op.size("iota_dimension")? })
}

pub(super) fn compare(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let direction = op.choice("comparison_direction", ComparisonDirection::from_name)?;
    Ok(OpKind::Compare(direction, op.choice("compare_type", ComparisonType::from_name)?))
}

pub(super) fn reduce_precision(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let bits = |name| {
        let bits = op.size(name)?;
        u32::try_from(bits).map_err(|_| Error::invalid(format!("attribute `{name}`: {bits} is too large")))
    };
    Ok(OpKind::ReducePrecision { exponent_bits: bits("exponent_bits")?, mantissa_bits: bits("mantissa_bits")? })
}

pub(super) fn map(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    Ok(OpKind::Map { dims: op.sizes("dimensions")? })
}
