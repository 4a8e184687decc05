//! Conversions of the values of attributes.

use crate::ops::{self, Value};
use crate::{Attribute, Literal};

/// A splat of integers or booleans is not expanded to more elements than this: they are about dimensions.
const MAX_SPLAT: usize = 256;

/// The elements of a constant of integers or booleans.
fn literal_integers(literal: &Literal) -> Option<Vec<i64>> {
    if literal.splat_element().is_some() && literal.ty().count() > MAX_SPLAT {
        return None;
    }
    Some(literal.integers()?.collect())
}

/// The integers of an attribute: `array<i64: ...>`, `dense<...>` or a list.
pub(super) fn attribute_integers(attribute: &Attribute) -> Option<Vec<i64>> {
    match attribute {
        Attribute::DenseArray(literal) | Attribute::Dense(literal) => literal_integers(literal),
        Attribute::Array(items) => items.iter().map(Attribute::as_integer).collect(),
        _ => None,
    }
}

/// The integers of a value, row by row.
pub(super) fn integers(value: &Value) -> Option<Vec<i64>> {
    match value {
        Value::Ints(values) => Some(values.clone()),
        Value::Pairs(pairs) => Some(pairs.concat()),
        Value::Bools(values) => Some(values.iter().map(|&value| value.into()).collect()),
        Value::Attribute(attribute) => attribute_integers(attribute),
        _ => None,
    }
}

/// The rows of a constant matrix of integers.
pub(super) fn rows(value: &Value) -> Option<Vec<Vec<i64>>> {
    match value {
        Value::Attribute(Attribute::Dense(literal)) => ops::rows(literal, literal_integers(literal)?),
        _ => None,
    }
}

/// The name in `#stablehlo<precision HIGH>`, or in a string.
pub(super) fn attribute_word(attribute: &Attribute) -> Option<&str> {
    match attribute {
        Attribute::Other(text) => {
            let inner = text.strip_suffix('>')?.trim_end();
            inner.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next()
        }
        attribute => attribute.as_str(),
    }
}

/// The name of a value of an enum, or of a type.
pub(super) fn word<'v>(value: &'v Value) -> Option<&'v str> {
    match value {
        Value::Enum(_, word) => Some(word),
        Value::Attribute(attribute) => attribute_word(attribute),
        _ => None,
    }
}
