//! Constants and element-wise ops.

use super::{Read, attributes::Reader};
use crate::{
    Attribute, BinaryOp, ComparisonDirection, ComparisonType, Error, Literal, OpKind, UnaryOp,
    text::{float, syntax::Value},
};

pub(super) const OPS: &[(&str, Read)] = &[
    ("stablehlo.constant", constant),
    ("chlo.constant_like", constant_like),
    ("stablehlo.compare", compare),
    ("stablehlo.select", |_| Ok(OpKind::Select)),
    ("stablehlo.clamp", |_| Ok(OpKind::Clamp)),
    ("stablehlo.convert", |_| Ok(OpKind::Convert)),
    ("stablehlo.bitcast_convert", |_| Ok(OpKind::BitcastConvert)),
    ("stablehlo.complex", |_| Ok(OpKind::Complex)),
    ("stablehlo.reduce_precision", reduce_precision),
    ("chlo.broadcast_add", broadcasting),
    ("chlo.broadcast_and", broadcasting),
    ("chlo.broadcast_atan2", broadcasting),
    ("chlo.broadcast_compare", |reader| same_shapes(reader).and_then(|()| compare(reader))),
    ("chlo.broadcast_complex", |reader| same_shapes(reader).map(|()| OpKind::Complex)),
    ("chlo.broadcast_divide", broadcasting),
    ("chlo.broadcast_maximum", broadcasting),
    ("chlo.broadcast_minimum", broadcasting),
    ("chlo.broadcast_multiply", broadcasting),
    ("chlo.broadcast_next_after", broadcasting),
    ("chlo.broadcast_or", broadcasting),
    ("chlo.broadcast_polygamma", broadcasting),
    ("chlo.broadcast_power", broadcasting),
    ("chlo.broadcast_remainder", broadcasting),
    ("chlo.broadcast_select", |reader| same_shapes(reader).map(|()| OpKind::Select)),
    ("chlo.broadcast_shift_left", broadcasting),
    ("chlo.broadcast_shift_right_arithmetic", broadcasting),
    ("chlo.broadcast_shift_right_logical", broadcasting),
    ("chlo.broadcast_subtract", broadcasting),
    ("chlo.broadcast_xor", broadcasting),
    ("chlo.broadcast_zeta", broadcasting),
];

pub(super) fn unary(reader: &mut Reader) -> Result<OpKind, Error> {
    reader.attribute("result_accuracy"); // how precise the result must be; all functions here are precise
    let op = UnaryOp::from_name(reader.name).ok_or_else(|| reader.error("not a function of one operand"))?;
    Ok(OpKind::Unary(op))
}

pub(super) fn binary(reader: &mut Reader) -> Result<OpKind, Error> {
    let op = BinaryOp::from_name(reader.name).ok_or_else(|| reader.error("not a function of two operands"))?;
    Ok(OpKind::Binary(op))
}

fn constant(reader: &mut Reader) -> Result<OpKind, Error> {
    let literal = reader.required("value", "a constant tensor: `dense<...> : tensor<...>`", |value| match value {
        Value::Attribute(Attribute::Dense(literal)) => Some(literal.clone()),
        _ => None,
    })?;
    let result = reader.result(0)?;
    if result != literal.ty() {
        return Err(reader.error(format!("a constant of type {} with a result of type {result}", literal.ty())));
    }
    Ok(OpKind::Constant(literal))
}

/// CHLO: a constant in the shape of the operand. The operand is dropped.
fn constant_like(reader: &mut Reader) -> Result<OpKind, Error> {
    let ty = reader.result(0)?.clone();
    let element = reader.required("value", "a number of the result's type", |value| match value {
        Value::Attribute(Attribute::Integer(value, element)) if *element == ty.element => {
            Some(value.to_le_bytes()[..element.byte_width()].to_vec())
        }
        Value::Attribute(Attribute::Bool(value)) if ty.element == crate::ElementType::Pred => {
            Some(vec![u8::from(*value)])
        }
        Value::Attribute(Attribute::Float(value, element)) if *element == ty.element => {
            Some(float::encode(*element, *value).to_le_bytes()[..element.byte_width()].to_vec())
        }
        _ => None,
    })?;
    reader.op.operands.clear();
    Ok(OpKind::Constant(Literal::splat(ty, element)))
}

fn compare(reader: &mut Reader) -> Result<OpKind, Error> {
    let direction = reader.enumeration("comparison_direction", ComparisonDirection::from_name)?;
    let order = reader.optional_enum("compare_type", ComparisonType::from_name)?;
    Ok(OpKind::Compare(direction, order.unwrap_or(ComparisonType::NoType)))
}

fn reduce_precision(reader: &mut Reader) -> Result<OpKind, Error> {
    let mut bits = |name| reader.dim(name).map(|bits| u32::try_from(bits).unwrap_or(u32::MAX));
    Ok(OpKind::ReducePrecision { exponent_bits: bits("exponent_bits")?, mantissa_bits: bits("mantissa_bits")? })
}

/// CHLO: a function that broadcasts its operands, of operands that need no broadcast.
fn broadcasting(reader: &mut Reader) -> Result<OpKind, Error> {
    same_shapes(reader)?;
    let stem = reader.name.trim_start_matches("chlo.broadcast_");
    let op = BinaryOp::ALL.iter().find(|op| op.name().split_once('.').is_some_and(|(_, name)| name == stem));
    op.map(|&op| OpKind::Binary(op)).ok_or_else(|| reader.error("not a function of two operands"))
}

/// An error unless all operands have the shape of the result.
fn same_shapes(reader: &mut Reader) -> Result<(), Error> {
    reader.attribute("broadcast_dimensions");
    let dims = &reader.result(0)?.dims;
    for index in 0..reader.op.operands.len() {
        let operand = reader.operand(index)?;
        if operand.dims != *dims {
            let message = format!("implicit broadcasts are not supported: operand {index} is {operand}");
            return Err(Error::unsupported(message));
        }
    }
    Ok(())
}
