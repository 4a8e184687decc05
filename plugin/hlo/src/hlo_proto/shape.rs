//! `ShapeProto` and `LiteralProto`.

use super::wire::Message;
use crate::{ElementType, Literal, TensorType, Type};

/// `PrimitiveType`; `None` for what XLA does not have.
fn primitive_type(element: ElementType) -> Option<i64> {
    Some(match element {
        ElementType::Pred => 1,
        ElementType::S8 => 2,
        ElementType::S16 => 3,
        ElementType::S32 => 4,
        ElementType::S64 => 5,
        ElementType::U8 => 6,
        ElementType::U16 => 7,
        ElementType::U32 => 8,
        ElementType::U64 => 9,
        ElementType::F16 => 10,
        ElementType::F32 => 11,
        ElementType::F64 => 12,
        ElementType::C64 => 15,
        ElementType::BF16 => 16,
        ElementType::C128 => 18,
        ElementType::F8E5M2 => 19,
        ElementType::F8E4M3FN => 20,
        ElementType::S4 => 21,
        ElementType::U4 => 22,
        ElementType::F8E4M3B11FNUZ => 23,
        ElementType::F8E5M2FNUZ => 24,
        ElementType::F8E4M3FNUZ => 25,
        ElementType::S2 => 26,
        ElementType::U2 => 27,
        ElementType::F8E4M3 => 28,
        ElementType::F8E3M4 => 29,
        ElementType::F4E2M1FN => 32,
        ElementType::F8E8M0FNU => 33,
        ElementType::F6E2M3FN | ElementType::F6E3M2FN => return None,
    })
}

const TUPLE: i64 = 13;
const TOKEN: i64 = 17;

fn tensor(ty: &TensorType) -> Option<Message> {
    let mut layout = Message::default();
    layout.ints(1, (0..ty.rank() as i64).rev());
    let mut shape = Message::default();
    shape.int(2, primitive_type(ty.element)?).sizes(3, &ty.dims).message(5, &layout);
    shape.ints(6, ty.dims.iter().map(|_| 0));
    Some(shape)
}

/// The shape of a value, in row-major layout; `None` if XLA has no such element type.
pub(super) fn shape(ty: &Type) -> Option<Message> {
    match ty {
        Type::Tensor(ty) => tensor(ty),
        Type::Token => {
            let mut shape = Message::default();
            shape.int(2, TOKEN);
            Some(shape)
        }
        Type::Tuple(elements) => tuple(elements.iter()),
    }
}

/// The shape of a tuple.
pub(super) fn tuple<'t>(elements: impl IntoIterator<Item = &'t Type>) -> Option<Message> {
    let mut all = Message::default();
    all.int(2, TUPLE);
    for element in elements {
        all.message(4, &shape(element)?);
    }
    Some(all)
}

/// Constants of more elements are shown without their values, as XLA's text shows them.
const MOST_ELEMENTS: usize = 16;

/// A constant of few elements of the usual types; `None` for others.
pub(super) fn literal(literal: &Literal) -> Option<Message> {
    let ty = literal.ty();
    if ty.count() > MOST_ELEMENTS {
        return None;
    }
    let bytes = literal.to_bytes();
    let integers = |width: usize, signed: bool| -> Vec<i64> {
        let extend = |chunk: &[u8]| {
            let fill = if signed && chunk[width - 1] & 0x80 != 0 { 0xff } else { 0 };
            let mut wide = [fill; 8];
            wide[..width].copy_from_slice(chunk);
            i64::from_le_bytes(wide)
        };
        bytes.chunks_exact(width).map(extend).collect()
    };
    let mut message = Message::default();
    message.message(1, &tensor(ty)?);
    match ty.element {
        ElementType::Pred => message.ints(2, integers(1, false)),
        ElementType::S32 => message.ints(4, integers(4, true)),
        ElementType::S64 => message.ints(5, integers(8, true)),
        ElementType::U32 => message.ints(6, integers(4, false)),
        ElementType::U64 => message.ints(7, integers(8, false)),
        // Floats are packed as they lie in memory, the low byte first.
        ElementType::U8 => message.bytes(3, &bytes),
        ElementType::F32 => message.bytes(8, &bytes),
        ElementType::F64 => message.bytes(9, &bytes),
        ElementType::F16 => message.bytes(11, &bytes),
        ElementType::C64 => message.bytes(12, &bytes),
        ElementType::BF16 => message.bytes(13, &bytes),
        ElementType::S8 => message.bytes(15, &bytes),
        _ => return None,
    };
    Some(message)
}
