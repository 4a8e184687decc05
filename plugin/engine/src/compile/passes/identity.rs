//! Identity elements of regions that combine elements.

use oxcall_hlo::{BinaryOp, ElementType, Literal, Op, OpKind, Region, TensorType};

/// The identity of the region of a reduction of one array; `None` if it is not known to have one.
pub(super) fn of_region(region: &Region, element: ElementType) -> Option<Literal> {
    let [Op { kind: OpKind::Binary(op), operands, results, .. }] = &region.ops[..] else { return None };
    let takes_both = match region.params[..] {
        [left, right] => operands[..] == [left, right] || operands[..] == [right, left],
        _ => false,
    };
    let bytes = bytes(*op, element)?;
    (takes_both && *results == region.results).then(|| Literal::splat(TensorType::scalar(element), bytes))
}

/// The identity of a function of two elements.
pub(super) fn bytes(op: BinaryOp, element: ElementType) -> Option<Vec<u8>> {
    use ElementType::{BF16, F16, F32, F64, Pred};
    let width = element.byte_width();
    let is_whole = element.is_integer() && element.bits() == 8 * width;
    // The bytes of an integer whose highest byte differs from the others.
    let high = |high: u8, low: u8| {
        let mut bytes = vec![low; width];
        bytes[width - 1] = high;
        bytes
    };
    let floats = |f16: u16, bf16: u16, f32: f32, f64: f64| match element {
        F16 => Some(f16.to_le_bytes().to_vec()),
        BF16 => Some(bf16.to_le_bytes().to_vec()),
        F32 => Some(f32.to_le_bytes().to_vec()),
        F64 => Some(f64.to_le_bytes().to_vec()),
        _ => None,
    };
    let negative_infinity = || floats(0xfc00, 0xff80, f32::NEG_INFINITY, f64::NEG_INFINITY);
    match op {
        // Negative zero, since 0 + -0 is 0.
        BinaryOp::Add if element.is_float() => floats(0x8000, 0x8000, -0.0, -0.0),
        BinaryOp::Add if is_whole || element == Pred => Some(vec![0; width]),
        BinaryOp::Or | BinaryOp::Xor if is_whole || element == Pred => Some(vec![0; width]),
        BinaryOp::And if is_whole => Some(vec![0xff; width]),
        BinaryOp::And | BinaryOp::Multiply | BinaryOp::Minimum if element == Pred => Some(vec![1]),
        BinaryOp::Maximum if element == Pred => Some(vec![0]),
        BinaryOp::Multiply if element.is_float() => floats(0x3c00, 0x3f80, 1.0, 1.0),
        BinaryOp::Multiply if is_whole => {
            let mut one = vec![0; width];
            one[0] = 1;
            Some(one)
        }
        BinaryOp::Maximum if element.is_float() => negative_infinity(),
        BinaryOp::Minimum if element.is_float() => floats(0x7c00, 0x7f80, f32::INFINITY, f64::INFINITY),
        BinaryOp::Maximum if is_whole => Some(if element.is_signed() { high(0x80, 0) } else { vec![0; width] }),
        BinaryOp::Minimum if is_whole => Some(if element.is_signed() { high(0x7f, 0xff) } else { vec![0xff; width] }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities() {
        let f32 = |op| bytes(op, ElementType::F32).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
        assert_eq!(f32(BinaryOp::Add).map(f32::to_bits), Some((-0.0f32).to_bits()));
        assert_eq!(f32(BinaryOp::Maximum), Some(f32::NEG_INFINITY));
        assert_eq!(f32(BinaryOp::Subtract), None);
        let s32 = |op| bytes(op, ElementType::S32).map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap()));
        assert_eq!(s32(BinaryOp::Multiply), Some(1));
        assert_eq!(s32(BinaryOp::Maximum), Some(i32::MIN));
        assert_eq!(s32(BinaryOp::Minimum), Some(i32::MAX));
        assert_eq!(s32(BinaryOp::And), Some(-1));
        assert_eq!(bytes(BinaryOp::Minimum, ElementType::U16), Some(vec![0xff, 0xff]));
        assert_eq!(bytes(BinaryOp::Maximum, ElementType::S4), None);
    }
}
