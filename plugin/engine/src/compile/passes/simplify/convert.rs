//! Conversions of elements.

use oxcall_hlo::{ElementType, OpKind, TensorType, ValueId};

use super::super::ir::Rewriter;
use super::Simpler;

/// Exponent and explicit mantissa bits of IEEE-like types.
fn float_format(element: ElementType) -> Option<(u32, u32)> {
    match element {
        ElementType::F16 => Some((5, 10)),
        ElementType::BF16 => Some((8, 7)),
        ElementType::F32 => Some((8, 23)),
        ElementType::F64 => Some((11, 52)),
        _ => None,
    }
}

/// Whether `to` can represent every value of `from`.
fn lossless(from: ElementType, to: ElementType) -> bool {
    if let (Some(from), Some(to)) = (float_format(from), float_format(to)) {
        return from.0 <= to.0 && from.1 <= to.1;
    }
    let digits = |element: ElementType| element.bits() - usize::from(element.is_signed());
    if from == ElementType::Pred {
        return to.is_integer() || float_format(to).is_some();
    }
    if !from.is_integer() {
        return false;
    }
    match float_format(to) {
        Some((_, mantissa)) => digits(from) <= mantissa as usize + 1,
        None => to.is_integer() && (to.is_signed() || from.is_unsigned()) && digits(from) <= digits(to),
    }
}

pub(super) fn convert(rewriter: &Rewriter<'_>, operand: ValueId, ty: &TensorType) -> Option<Simpler> {
    if rewriter.tensor(operand).element == ty.element {
        return Some(Simpler::Value(operand));
    }
    let inner = rewriter.def(operand).filter(|def| def.kind == OpKind::Convert)?;
    let source = inner.operands[0];
    let (from, through) = (rewriter.tensor(source).element, rewriter.tensor(operand).element);
    if !lossless(from, through) {
        return None;
    }
    // A float that does not fit an integer becomes the nearest number that does; an integer wraps.
    let clamps = float_format(through).is_some() && from.is_integer() && ty.element.is_integer();
    if clamps && !lossless(from, ty.element) {
        return None;
    }
    if from == ty.element { Some(Simpler::Value(source)) } else { Simpler::unary(OpKind::Convert, source) }
}

pub(super) fn bitcast(rewriter: &Rewriter<'_>, operand: ValueId, ty: &TensorType) -> Option<Simpler> {
    if rewriter.tensor(operand) == ty {
        return Some(Simpler::Value(operand));
    }
    let inner = rewriter.def(operand).filter(|def| def.kind == OpKind::BitcastConvert)?;
    let source = rewriter.tensor(inner.operands[0]);
    if source == ty {
        return Some(Simpler::Value(inner.operands[0]));
    }
    (source.element.bits() == ty.element.bits()).then(|| Simpler::Op(OpKind::BitcastConvert, vec![inner.operands[0]]))
}

/// Rounding to a format that has every value of the type does nothing.
pub(super) fn reduce_precision(
    exponent_bits: u32,
    mantissa_bits: u32,
    operand: ValueId,
    ty: &TensorType,
) -> Option<Simpler> {
    let (exponent, mantissa) = match ty.element {
        // Formats round subnormal numbers to zero, so 8-bit floats need a format in which theirs are normal, or that of
        // the half, as which they are rounded. The least of `F8E5M2FNUZ` is below the half's last place but two.
        ElementType::F8E5M2 => (5, 2),
        ElementType::F8E4M3
        | ElementType::F8E4M3FN
        | ElementType::F8E4M3FNUZ
        | ElementType::F8E4M3B11FNUZ
        | ElementType::F8E5M2FNUZ => (5, 3),
        ElementType::F8E3M4 => (5, 4),
        element => float_format(element)?,
    };
    (exponent_bits >= exponent && mantissa_bits >= mantissa).then_some(Simpler::Value(operand))
}
