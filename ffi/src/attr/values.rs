//! Attributes that are not scalars: strings, arrays, anything.

use std::fmt;

use super::convert::Convert;
use super::{Attr, AttrArray, AttrError, AttrValue, FromAttr};
use crate::Element;
use crate::descriptor::AttrType;
use crate::element::Unpacked;
use crate::frame::cold;

impl<'f> FromAttr<'f> for &'f str {
    const TYPE: AttrType = AttrType::String;

    #[inline(always)]
    fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError> {
        match attr.bytes_up_to_16() {
            // Most strings are short names: looking at their words is quicker than calling the general check.
            Some(bytes) if is_ascii(bytes) => {
                // SAFETY: ASCII is UTF-8.
                Ok(unsafe { std::str::from_utf8_unchecked(bytes) })
            }
            _ => text(attr),
        }
    }
}

/// Whether up to 16 bytes are all ASCII. Two words, which may overlap, cover them.
#[inline(always)]
fn is_ascii(bytes: &[u8]) -> bool {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        (u64::from_ne_bytes(*first) | u64::from_ne_bytes(*last)) & 0x8080_8080_8080_8080 == 0
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        (u32::from_ne_bytes(*first) | u32::from_ne_bytes(*last)) & 0x8080_8080 == 0
    } else {
        bytes.iter().fold(0, |all, byte| all | byte) < 0x80
    }
}

/// A string of any length and in any language.
#[inline(never)]
fn text(attr: Attr<'_>) -> Result<&str, AttrError> {
    match attr.bytes() {
        Some(bytes) => std::str::from_utf8(bytes).map_err(|error| not_utf8(attr, error)),
        None => Err(AttrError::expected("a string", attr)),
    }
}

#[cold]
fn not_utf8(attr: Attr<'_>, error: std::str::Utf8Error) -> AttrError {
    AttrError::expected("a string in UTF-8", format_args!("{attr} ({error})"))
}

impl<'f> FromAttr<'f> for String {
    const TYPE: AttrType = AttrType::String;

    fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError> {
        <&str>::from_attr(attr).map(str::to_owned)
    }
}

/// A description of an array for messages.
impl fmt::Display for AttrArray<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype() {
            Some(dtype) => write!(f, "an array of {} {dtype}", self.len()),
            None => write!(f, "an array of an unknown dtype"),
        }
    }
}

impl fmt::Debug for AttrArray<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<'f, T: Unpacked> FromAttr<'f> for &'f [T] {
    const TYPE: AttrType = AttrType::Array(T::DTYPE);

    #[inline(always)]
    fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError> {
        match attr.array().and_then(|array| array.exact()) {
            Some(slice) => Ok(slice),
            None => {
                cold();
                Err(not_borrowed::<T>(attr))
            }
        }
    }
}

#[cold]
fn not_borrowed<T: Element>(attr: Attr<'_>) -> AttrError {
    AttrError::expected(format_args!("an array of exactly {} (a borrowed slice is not converted)", T::DTYPE), attr)
}

impl<'f, T: Unpacked + Convert> FromAttr<'f> for Vec<T> {
    const TYPE: AttrType = AttrType::Array(T::DTYPE);

    fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError> {
        let array = attr.array().ok_or_else(|| expected_array::<T>(attr))?;
        if let Some(slice) = array.exact::<T>() {
            return Ok(slice.to_vec());
        }
        (0..array.len())
            .map(|index| {
                let scalar = array.get(index).ok_or_else(|| expected_array::<T>(attr))?;
                match scalar.exact::<T>() {
                    Some(value) => Ok(value),
                    None => super::convert::convert_scalar(scalar).map_err(|error| error.at_index(index)),
                }
            })
            .collect()
    }
}

impl<'f, T: Unpacked + Convert, const N: usize> FromAttr<'f> for [T; N] {
    const TYPE: AttrType = AttrType::Array(T::DTYPE);

    fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError> {
        if let Some(slice) = attr.array().and_then(|array| array.exact::<T>())
            && let Ok(array) = slice.try_into()
        {
            return Ok(array);
        }
        Vec::<T>::from_attr(attr)?
            .try_into()
            .map_err(|_| AttrError::expected(format_args!("an array of {N} {}", T::DTYPE), attr))
    }
}

#[cold]
fn expected_array<T: Element>(attr: Attr<'_>) -> AttrError {
    AttrError::expected(format_args!("an array of {}", T::DTYPE), attr)
}

impl<'f> FromAttr<'f> for AttrValue<'f> {
    const TYPE: AttrType = AttrType::Any;

    fn from_attr(attr: Attr<'f>) -> Result<Self, AttrError> {
        attr.value()
    }
}

#[cfg(test)]
mod tests {
    use super::is_ascii;

    #[test]
    fn ascii_is_found_at_each_length() {
        for len in 0..=16 {
            let mut bytes = vec![b'~'; len];
            assert!(is_ascii(&bytes), "{len}");
            for at in 0..len {
                bytes[at] = 0x80;
                assert!(!is_ascii(&bytes), "{at} of {len}");
                bytes[at] = 0x7f;
            }
        }
    }
}
