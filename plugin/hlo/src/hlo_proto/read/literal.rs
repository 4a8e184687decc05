//! `LiteralProto`.

use oxcall_element::hlo_proto::literal_field;
use oxcall_proto::Message;

use super::super::fields::{literal, shape as shape_fields};
use super::{required, shape};
use crate::{ElementType, Error, Literal, TensorType};

/// The constant that a literal says. Its elements come in the order of its layout.
pub(super) fn read(message: Message<'_>) -> Result<Literal, Error> {
    if !message.messages(literal::TUPLE)?.is_empty() {
        return Err(Error::unsupported("constants that are tuples are not supported"));
    }
    let shape = required(message, literal::SHAPE, "the shape of the literal")?;
    let ty = shape::tensor(shape)?;
    let field = literal_field(ty.element)
        .ok_or_else(|| Error::unsupported(format!("literals of type {ty} are not supported")))?;
    let bytes = elements(message, field, ty.element)?;
    if bytes.len() != ty.byte_size() {
        let count = bytes.len() / ty.element.byte_width();
        return Err(Error::invalid(format!("a literal of type {ty} cannot have {count} elements")));
    }
    // A single element is a splat too, as it is in other formats.
    if ty.count() == 1 {
        return Ok(Literal::normalised_splat(ty, &bytes));
    }
    // Most literals are row-major, and say so or nothing.
    let order = match shape.message(shape_fields::LAYOUT)? {
        Some(_) => shape::minor_to_major(shape, &ty)?,
        None => return Ok(Literal::normalised(ty, &bytes)),
    };
    let is_row_major = order.iter().rev().copied().eq(0..ty.rank());
    let bytes = if is_row_major { bytes } else { row_major(&ty, &order, &bytes) };
    Ok(Literal::normalised(ty, &bytes))
}

/// The elements as little-endian bytes.
fn elements(message: Message<'_>, field: u32, element: ElementType) -> Result<Vec<u8>, Error> {
    let width = element.byte_width();
    match element {
        ElementType::Pred | ElementType::S32 | ElementType::S64 | ElementType::U32 | ElementType::U64 => {
            let integers = message.ints(field)?;
            let mut bytes = Vec::with_capacity(integers.len() * width);
            integers.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()[..width]));
            Ok(bytes)
        }
        ElementType::F32 | ElementType::C64 => Ok(message.fixed(field, 4)?),
        ElementType::F64 | ElementType::C128 => Ok(message.fixed(field, 8)?),
        // All others are bytes as they lie in memory, of narrow ones one each.
        _ => Ok(message.bytes(field)?.to_vec()),
    }
}

/// The elements in row-major order, of those in the order of a layout.
fn row_major(ty: &TensorType, minor_to_major: &[usize], bytes: &[u8]) -> Vec<u8> {
    let width = ty.element.byte_width();
    let mut strides = vec![0; ty.rank()];
    let mut stride = width;
    for &dim in minor_to_major {
        strides[dim] = stride;
        stride *= ty.dims[dim];
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = vec![0; ty.rank()];
    let mut at = 0;
    while out.len() < bytes.len() {
        out.extend_from_slice(&bytes[at..][..width]);
        for dim in (0..ty.rank()).rev() {
            index[dim] += 1;
            at += strides[dim];
            if index[dim] < ty.dims[dim] {
                break;
            }
            at -= strides[dim] * ty.dims[dim];
            index[dim] = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use oxcall_proto::Writer;

    use super::*;

    /// A literal of 2 x 3 with this layout.
    fn matrix(layout: [i64; 2], count: usize) -> Result<Literal, Error> {
        let mut shape = Writer::default();
        shape.int(2, 4).ints(3, [2, 3]).nested(5, |inner| _ = inner.ints(1, layout));
        let mut message = Writer::default();
        message.message(1, &shape).ints(4, (0..count as i64).map(|value| value - 1));
        read(Message::new(&message.finish()))
    }

    #[test]
    fn elements_come_in_the_order_of_the_layout() {
        let integers = |literal: Literal| literal.integers().unwrap().collect::<Vec<_>>();
        assert_eq!(integers(matrix([1, 0], 6).unwrap()), [-1, 0, 1, 2, 3, 4]);
        assert_eq!(integers(matrix([0, 1], 6).unwrap()), [-1, 1, 3, 0, 2, 4]);
        assert!(matrix([1, 0], 5).unwrap_err().to_string().contains("cannot have 5 elements"));
        assert!(matrix([1, 1], 6).unwrap_err().to_string().contains("must be a permutation"));
    }

    #[test]
    fn narrow_elements_have_a_byte_each() {
        let mut message = Writer::default();
        message.nested(1, |shape| _ = shape.int(2, 21).ints(3, [3])).bytes(21, [0x01, 0x0e, 0x08]);
        let literal = read(Message::new(&message.finish())).unwrap();
        assert_eq!(literal.integers().unwrap().collect::<Vec<_>>(), [1, -2, -8]);
    }
}
