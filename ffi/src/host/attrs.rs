//! Attribute values, and their layout in a call frame.

use std::ptr;

use xla_ffi_sys::xla_ffi as sys;

use super::AlignedBytes;
use super::arena::Arena;
use crate::DType;
use crate::element::Element;

/// The alignment of scalars and arrays in attributes, in bytes, as XLA has it.
const ATTR_ALIGN: usize = 16;

/// The value of an attribute, or of a custom option.
///
/// Made by `From`: element types (`bool`, `i8` .. `u64`, `f32`, `f64`, `f16`, `bf16`, `Complex`, ...) become scalars;
/// slices, arrays and vectors of them one-dimensional arrays; strings strings; and a
/// `Vec<(String, AttrValue)>` a dictionary.
///
/// ```
/// use oxcall::{DType, host::AttrValue};
/// assert!(matches!(AttrValue::from(1.5f32), AttrValue::Scalar(DType::F32, _)));
/// assert!(matches!(AttrValue::from([1i64, 2]), AttrValue::Array(DType::S64, 2, _)));
/// assert!(matches!(AttrValue::from("fast"), AttrValue::String(_)));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AttrValue {
    /// One value: its dtype and bytes.
    Scalar(DType, AlignedBytes),
    /// A one-dimensional array: its dtype, number of elements, and bytes.
    Array(DType, usize, AlignedBytes),
    /// A UTF-8 string.
    String(String),
    /// Named values.
    Dict(Vec<(String, AttrValue)>),
}

impl<T: Element> From<T> for AttrValue {
    fn from(value: T) -> AttrValue {
        AttrValue::Scalar(T::DTYPE, AlignedBytes::encode([value].into_iter()))
    }
}

impl<T: Element> From<&[T]> for AttrValue {
    fn from(values: &[T]) -> AttrValue {
        AttrValue::Array(T::DTYPE, values.len(), AlignedBytes::encode(values.iter().copied()))
    }
}

impl<T: Element, const N: usize> From<&[T; N]> for AttrValue {
    fn from(values: &[T; N]) -> AttrValue {
        values.as_slice().into()
    }
}

impl<T: Element, const N: usize> From<[T; N]> for AttrValue {
    fn from(values: [T; N]) -> AttrValue {
        values.as_slice().into()
    }
}

impl<T: Element> From<Vec<T>> for AttrValue {
    fn from(values: Vec<T>) -> AttrValue {
        values.as_slice().into()
    }
}

impl From<&str> for AttrValue {
    fn from(value: &str) -> AttrValue {
        AttrValue::String(value.to_owned())
    }
}

impl From<String> for AttrValue {
    fn from(value: String) -> AttrValue {
        AttrValue::String(value)
    }
}

impl From<Vec<(String, AttrValue)>> for AttrValue {
    fn from(entries: Vec<(String, AttrValue)>) -> AttrValue {
        AttrValue::Dict(entries)
    }
}

impl<const N: usize> From<[(&str, AttrValue); N]> for AttrValue {
    fn from(entries: [(&str, AttrValue); N]) -> AttrValue {
        AttrValue::Dict(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

impl AttrValue {
    /// The value in the C layout: its type, and the struct that the type asks for.
    pub(crate) fn write(&self, arena: &mut Arena, sorted: bool) -> (sys::XLA_FFI_AttrType, *mut std::ffi::c_void) {
        match self {
            AttrValue::Scalar(dtype, bytes) => {
                let value = arena.slice_aligned(bytes, ATTR_ALIGN).cast();
                let scalar = sys::XLA_FFI_Scalar { dtype: dtype.code(), value };
                (sys::XLA_FFI_AttrType_SCALAR, arena.value(scalar).cast())
            }
            AttrValue::Array(dtype, size, bytes) => {
                let data = arena.slice_aligned(bytes, ATTR_ALIGN).cast();
                let array = sys::XLA_FFI_Array { dtype: dtype.code(), size: *size, data };
                (sys::XLA_FFI_AttrType_ARRAY, arena.value(array).cast())
            }
            AttrValue::String(text) => {
                let span = write_span(arena, text);
                (sys::XLA_FFI_AttrType_STRING, arena.value(span).cast())
            }
            AttrValue::Dict(entries) => {
                let attrs = write_attrs(arena, entries, sorted);
                (sys::XLA_FFI_AttrType_DICTIONARY, arena.value(attrs).cast())
            }
        }
    }
}

fn write_span(arena: &mut Arena, text: &str) -> sys::XLA_FFI_ByteSpan {
    sys::XLA_FFI_ByteSpan { ptr: arena.slice(text.as_bytes()).cast(), len: text.len() }
}

/// Attributes in the C layout, sorted by the bytes of their names as XLA does unless `sorted` is off.
pub(super) fn write_attrs(arena: &mut Arena, entries: &[(String, AttrValue)], sorted: bool) -> sys::XLA_FFI_Attrs {
    let mut order: Vec<&(String, AttrValue)> = entries.iter().collect();
    if sorted {
        order.sort_by(|a, b| a.0.cmp(&b.0));
    }
    let mut types = Vec::with_capacity(order.len());
    let mut names = Vec::with_capacity(order.len());
    let mut values = Vec::with_capacity(order.len());
    for (name, value) in order {
        let (ty, value) = value.write(arena, sorted);
        let name = write_span(arena, name);
        types.push(ty);
        names.push(arena.value(name));
        values.push(value);
    }
    sys::XLA_FFI_Attrs {
        struct_size: sys::XLA_FFI_Attrs_STRUCT_SIZE as usize,
        extension_start: ptr::null_mut(),
        size: c_len(types.len()),
        types: arena.slice(&types),
        names: arena.slice(&names),
        attrs: arena.slice(&values),
    }
}

/// A length in the C type; a `Vec` never has more than `i64::MAX` entries.
pub(super) fn c_len(len: usize) -> i64 {
    i64::try_from(len).expect("a Vec has at most i64::MAX entries")
}
