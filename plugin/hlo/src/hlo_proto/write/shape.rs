//! `ShapeProto` and `LiteralProto`.

use oxcall_element::hlo_proto::{literal_field, primitive_type};
use oxcall_proto::Writer as Message;

use super::super::fields::{layout as layout_fields, literal as literal_fields, shape as field};
use super::super::{TOKEN, TUPLE};
use crate::{ElementType, Literal, TensorType, Type};

fn tensor(ty: &TensorType) -> Option<Message> {
    let mut layout = Message::default();
    layout.ints(layout_fields::MINOR_TO_MAJOR, (0..ty.rank() as i64).rev());
    let mut shape = Message::default();
    shape.int(field::ELEMENT, primitive_type(ty.element)?.into()).sizes(field::DIMENSIONS, &ty.dims);
    shape.message(field::LAYOUT, &layout).ints(field::DYNAMIC, ty.dims.iter().map(|_| 0));
    Some(shape)
}

/// The shape of a value, in row-major layout; `None` if XLA has no such element type.
pub(super) fn shape(ty: &Type) -> Option<Message> {
    match ty {
        Type::Tensor(ty) => tensor(ty),
        Type::Token => {
            let mut shape = Message::default();
            shape.int(field::ELEMENT, TOKEN);
            Some(shape)
        }
        Type::Tuple(elements) | Type::Future(elements) => tuple(elements.iter()),
    }
}

/// The shape of a tuple.
pub(super) fn tuple<'t>(elements: impl IntoIterator<Item = &'t Type>) -> Option<Message> {
    let mut all = Message::default();
    all.int(field::ELEMENT, TUPLE);
    for element in elements {
        all.message(field::TUPLE, &shape(element)?);
    }
    Some(all)
}

/// Constants of more elements are shown without their values, as XLA's text shows them.
const MOST_ELEMENTS: usize = 16;

/// A constant of few elements of the usual types; `None` for others.
pub(crate) fn literal(literal: &Literal) -> Option<Message> {
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
    let field = literal_field(ty.element)?;
    let mut message = Message::default();
    message.message(literal_fields::SHAPE, &tensor(ty)?);
    match ty.element {
        ElementType::Pred => message.ints(field, integers(1, false)),
        ElementType::S32 => message.ints(field, integers(4, true)),
        ElementType::S64 => message.ints(field, integers(8, true)),
        ElementType::U32 => message.ints(field, integers(4, false)),
        ElementType::U64 => message.ints(field, integers(8, false)),
        // All others are as they lie in memory, the low byte first.
        _ => message.bytes(field, &bytes),
    };
    Some(message)
}
