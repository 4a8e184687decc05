//! Ops of CHLO that are read as others.

use super::constants::constant_of;
use super::source::Source;
use crate::{Attribute, BinaryOp, ComparisonType, ElementType, Error, Literal, OpKind};

/// A constant in the shape of the operand, which is dropped.
pub(super) fn constant_like(op: &mut dyn Source) -> Result<OpKind, Error> {
    let ty = op.result_type()?.clone();
    let bytes = |value: u64, element: ElementType| value.to_le_bytes()[..element.byte_width()].to_vec();
    let element = match op.attribute("value")? {
        Some(Attribute::Integer(value, element)) if element == ty.element => bytes(value as u64, element),
        Some(Attribute::Bool(value)) if ty.element == ElementType::Pred => vec![u8::from(value)],
        Some(Attribute::Float(value, element)) if element == ty.element => bytes(element.encode(value), element),
        _ => return Err(Error::invalid("the attribute `value` must be a number of the result's type")),
    };
    op.op().operands.clear();
    constant_of(&ty, Literal::splat(ty.clone(), element))
}

/// A function that broadcasts its operands, of operands that need no broadcast.
pub(super) fn broadcasting(op: &mut dyn Source) -> Result<OpKind, Error> {
    same_shapes(op)?;
    let stem = op.name().trim_start_matches("chlo.broadcast_");
    let function = BinaryOp::ALL.iter().find(|op| op.name().split_once('.').is_some_and(|(_, name)| name == stem));
    function.map(|&op| OpKind::Binary(op)).ok_or_else(|| Error::invalid("not a function of two operands"))
}

pub(super) fn broadcast_compare(op: &mut dyn Source) -> Result<OpKind, Error> {
    same_shapes(op)?;
    let direction = op.choice("comparison_direction")?;
    Ok(OpKind::Compare(direction, op.choice_or("compare_type", ComparisonType::NoType)?))
}

pub(super) fn broadcast_complex(op: &mut dyn Source) -> Result<OpKind, Error> {
    same_shapes(op)?;
    Ok(OpKind::Complex)
}

pub(super) fn broadcast_select(op: &mut dyn Source) -> Result<OpKind, Error> {
    same_shapes(op)?;
    Ok(OpKind::Select)
}

/// An error unless all operands have the shape of the result.
fn same_shapes(op: &mut dyn Source) -> Result<(), Error> {
    let dims = op.result_type()?.dims.clone();
    for index in 0..op.op().operands.len() {
        let operand = op.operand_type(index)?;
        if operand.dims != dims {
            let message = format!("implicit broadcasts are not supported, got {operand} as operand {index}");
            return Err(Error::unsupported(message));
        }
    }
    Ok(())
}
