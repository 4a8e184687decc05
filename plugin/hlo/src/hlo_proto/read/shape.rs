//! `ShapeProto`.

use oxcall_element::hlo_proto::element_type;
use oxcall_proto::Message;

use super::super::fields::{layout, shape};
use super::super::{TOKEN, TUPLE};
use super::sizes;
use crate::{Error, TensorType, Type};

/// Tuples may be nested so deep.
const MAX_DEPTH: usize = 8;

/// The type that a shape says.
pub(super) fn read(message: Message<'_>) -> Result<Type, Error> {
    nested(message, 0)
}

fn nested(message: Message<'_>, depth: usize) -> Result<Type, Error> {
    if depth > MAX_DEPTH {
        return Err(Error::invalid(format!("tuples are nested more than {MAX_DEPTH} deep")));
    }
    match message.int(shape::ELEMENT)? {
        TOKEN => Ok(Type::Token),
        TUPLE => {
            let elements = message.messages(shape::TUPLE)?;
            Ok(Type::Tuple(elements.into_iter().map(|each| nested(each, depth + 1)).collect::<Result<_, _>>()?))
        }
        _ => Ok(Type::Tensor(tensor(message)?)),
    }
}

/// The type of an array.
pub(super) fn tensor(message: Message<'_>) -> Result<TensorType, Error> {
    let primitive = message.int(shape::ELEMENT)?;
    let element = u32::try_from(primitive)
        .ok()
        .and_then(element_type)
        .ok_or_else(|| Error::unsupported(format!("the element type number {primitive} is not supported")))?;
    let mut ty = TensorType::new(element, sizes(message, shape::DIMENSIONS, "the dimensions of a shape")?);
    for (dim, _) in message.ints(shape::DYNAMIC)?.iter().enumerate().filter(|(_, dynamic)| **dynamic != 0) {
        if dim >= ty.rank() || !ty.dynamic.insert(dim) {
            return Err(Error::invalid(format!("dimension {dim} of {ty} cannot be dynamic")));
        }
    }
    let bytes = ty.checked_count().and_then(|count| count.checked_mul(element.byte_width()));
    bytes.map(|_| ty).ok_or_else(|| Error::invalid("a shape does not fit in memory"))
}

/// The layout of an array, minor to major; row-major if nothing is said.
pub(super) fn minor_to_major(message: Message<'_>, ty: &TensorType) -> Result<Vec<usize>, Error> {
    let row_major = || (0..ty.rank()).rev().collect();
    let Some(layout) = message.message(shape::LAYOUT)? else { return Ok(row_major()) };
    if !layout.messages(layout::TILES)?.is_empty() {
        return Err(Error::unsupported("tiled layouts are not supported"));
    }
    let order = sizes(layout, layout::MINOR_TO_MAJOR, "a layout")?;
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..ty.rank()) {
        return Err(Error::invalid(format!("a layout must be a permutation of the dimensions of {ty}, got {order:?}")));
    }
    Ok(order)
}
