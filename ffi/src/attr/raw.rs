//! The wire form of attributes, behind safe types.

use std::ffi::c_void;
use std::fmt;
use std::marker::PhantomData;

use xla_ffi_sys::xla_ffi as sys;

use super::{AttrError, AttrList, Dict};
use crate::element::Unpacked;
use crate::frame::cold;
use crate::{DType, Element};

/// One attribute as it is in the call frame: its kind and a pointer to its value.
#[derive(Clone, Copy)]
pub struct Attr<'f> {
    kind: sys::XLA_FFI_AttrType,
    value: *const c_void,
    _frame: PhantomData<&'f c_void>,
}

/// An attribute's value.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum AttrValue<'f> {
    /// A scalar.
    Scalar(AttrScalar<'f>),
    /// A one-dimensional array.
    Array(AttrArray<'f>),
    /// A string.
    String(&'f str),
    /// A dictionary.
    Dictionary(Dict<'f>),
}

/// A scalar attribute.
#[derive(Clone, Copy)]
pub struct AttrScalar<'f> {
    dtype: sys::XLA_FFI_DataType,
    value: *const u8,
    _frame: PhantomData<&'f u8>,
}

/// An array attribute.
#[derive(Clone, Copy)]
pub struct AttrArray<'f> {
    dtype: sys::XLA_FFI_DataType,
    len: usize,
    data: *const u8,
    _frame: PhantomData<&'f u8>,
}

impl<'f> Attr<'f> {
    /// # Safety
    /// `value` is null or points to a value of the ABI type that `kind` names, live and unchanged during `'f`.
    #[inline(always)]
    pub(crate) unsafe fn new(kind: sys::XLA_FFI_AttrType, value: *const c_void) -> Attr<'f> {
        Attr { kind, value, _frame: PhantomData }
    }

    /// The scalar, if this is one.
    #[inline(always)]
    pub fn scalar(&self) -> Option<AttrScalar<'f>> {
        if self.kind != sys::XLA_FFI_AttrType_SCALAR || self.value.is_null() {
            return None;
        }
        // SAFETY: a live XLA_FFI_Scalar, as `new` demands.
        let (dtype, value) = unsafe {
            let scalar = self.value.cast::<sys::XLA_FFI_Scalar>();
            ((*scalar).dtype, (*scalar).value)
        };
        (!value.is_null()).then_some(AttrScalar { dtype, value: value.cast(), _frame: PhantomData })
    }

    /// The array, if this is one.
    #[inline(always)]
    pub fn array(&self) -> Option<AttrArray<'f>> {
        if self.kind != sys::XLA_FFI_AttrType_ARRAY || self.value.is_null() {
            return None;
        }
        // SAFETY: a live XLA_FFI_Array, as `new` demands.
        let (dtype, len, data) = unsafe {
            let array = self.value.cast::<sys::XLA_FFI_Array>();
            ((*array).dtype, (*array).size, (*array).data)
        };
        let sane = len == 0 || (!data.is_null() && len <= isize::MAX as usize / 16);
        sane.then_some(AttrArray { dtype, len, data: data.cast(), _frame: PhantomData })
    }

    /// The bytes of the string, if this is one.
    #[inline(always)]
    pub fn bytes(&self) -> Option<&'f [u8]> {
        if self.kind != sys::XLA_FFI_AttrType_STRING || self.value.is_null() {
            return None;
        }
        // SAFETY: a live XLA_FFI_ByteSpan, as `new` demands.
        unsafe { span_bytes(*self.value.cast::<sys::XLA_FFI_ByteSpan>()) }
    }

    /// The bytes of the string, if this is one of 1 to 16 bytes.
    #[inline(always)]
    pub(crate) fn bytes_up_to_16(&self) -> Option<&'f [u8]> {
        if self.kind != sys::XLA_FFI_AttrType_STRING || self.value.is_null() {
            return None;
        }
        // SAFETY: a live XLA_FFI_ByteSpan, as `new` demands.
        let span = unsafe { *self.value.cast::<sys::XLA_FFI_ByteSpan>() };
        // One comparison for both ends.
        if span.len.wrapping_sub(1) >= 16 {
            return None;
        }
        if span.ptr.is_null() {
            // A branch of its own.
            cold();
            return None;
        }
        // SAFETY: non-null, and the host points to `len` bytes.
        Some(unsafe { std::slice::from_raw_parts(span.ptr.cast(), span.len) })
    }

    /// The dictionary, if this is one.
    pub fn dictionary(&self) -> Option<Dict<'f>> {
        if self.kind != sys::XLA_FFI_AttrType_DICTIONARY || self.value.is_null() {
            return None;
        }
        // SAFETY: a live XLA_FFI_Attrs, as `new` demands.
        unsafe { AttrList::read_sized(self.value.cast()) }.ok().map(Dict::new)
    }

    /// The value, whatever it is.
    ///
    /// # Errors
    /// If the host gave null pointers, an attribute kind that this version does not know, or a string that is not
    /// UTF-8.
    pub fn value(&self) -> Result<AttrValue<'f>, AttrError> {
        if let Some(scalar) = self.scalar() {
            return Ok(AttrValue::Scalar(scalar));
        }
        if let Some(array) = self.array() {
            return Ok(AttrValue::Array(array));
        }
        if let Some(dict) = self.dictionary() {
            return Ok(AttrValue::Dictionary(dict));
        }
        match self.bytes() {
            Some(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Ok(AttrValue::String(text)),
                Err(_) => Err(AttrError::message("a string that is not UTF-8")),
            },
            None => Err(AttrError::message(self.to_string())),
        }
    }
}

/// A description of the attribute for messages: its value if that is short.
impl fmt::Display for Attr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scalar) = self.scalar() {
            write!(f, "{scalar}")
        } else if let Some(array) = self.array() {
            write!(f, "{array}")
        } else if let Some(bytes) = self.bytes() {
            write!(f, "the string {:?}", String::from_utf8_lossy(bytes))
        } else if self.dictionary().is_some() {
            f.write_str("a dictionary")
        } else {
            write!(f, "an attribute of kind {} without a value", self.kind)
        }
    }
}

impl fmt::Debug for Attr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The bytes of a span; `None` if its pointer is null with a length above zero.
///
/// # Safety
/// The span's bytes are live and unchanged during `'f`.
#[inline(always)]
pub(crate) unsafe fn span_bytes<'f>(span: sys::XLA_FFI_ByteSpan) -> Option<&'f [u8]> {
    if span.len == 0 {
        return Some(&[]);
    }
    if span.ptr.is_null() || span.len > isize::MAX as usize {
        return None;
    }
    // SAFETY: non-null, and as the caller guarantees.
    Some(unsafe { std::slice::from_raw_parts(span.ptr.cast(), span.len) })
}

impl<'f> AttrScalar<'f> {
    /// The dtype's ABI code.
    #[inline(always)]
    pub(crate) fn dtype_code(&self) -> sys::XLA_FFI_DataType {
        self.dtype
    }

    /// The dtype, unless this version does not know it.
    pub fn dtype(&self) -> Option<DType> {
        DType::from_code(self.dtype)
    }

    /// The value, if it is exactly a `T`.
    #[inline(always)]
    pub fn exact<T: Unpacked>(&self) -> Option<T> {
        // SAFETY: the host points to a value of the dtype it names; reading unaligned asks nothing more.
        (self.dtype == T::DTYPE.code()).then(|| unsafe { read_valid(self.value) }).flatten()
    }
}

impl<'f> AttrArray<'f> {
    /// The dtype, unless this version does not know it.
    pub fn dtype(&self) -> Option<DType> {
        DType::from_code(self.dtype)
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The elements, if they are exactly `T`s, aligned, and, for bool, 0 or 1.
    #[inline(always)]
    pub fn exact<T: Unpacked>(&self) -> Option<&'f [T]> {
        // An empty array may have any dtype: the Python side cannot know.
        if self.len == 0 {
            return Some(&[]);
        }
        if self.dtype != T::DTYPE.code() || self.data.addr() & (T::ALIGN - 1) != 0 {
            return None;
        }
        if matches!(T::DTYPE, DType::Pred) {
            // SAFETY: the host points to `len` bytes.
            let bytes = unsafe { std::slice::from_raw_parts(self.data, self.len) };
            if bytes.iter().any(|byte| *byte > 1) {
                return None;
            }
        }
        // SAFETY: the host points to `len` elements of this dtype; aligned; bools are checked.
        Some(unsafe { std::slice::from_raw_parts(self.data.cast(), self.len) })
    }

    /// The element at an index as a scalar; `None` past the end or for dtypes without whole bytes.
    pub fn get(&self, index: usize) -> Option<AttrScalar<'f>> {
        let bits = DType::from_code(self.dtype)?.bits();
        if index >= self.len || bits < 8 {
            return None;
        }
        // SAFETY: in range.
        let value = unsafe { self.data.add(index * (bits / 8)) };
        Some(AttrScalar { dtype: self.dtype, value, _frame: PhantomData })
    }
}

/// Reads a value that may be unaligned; `None` for a bool that is neither 0 nor 1.
///
/// # Safety
/// `data` points to as many bytes as a `T` has; unless `T` is bool, they are a value of `T`.
#[inline(always)]
unsafe fn read_valid<T: Element>(data: *const u8) -> Option<T> {
    if matches!(T::DTYPE, DType::Pred) {
        // SAFETY: one byte.
        if unsafe { *data } > 1 {
            return None;
        }
    }
    // SAFETY: as the caller guarantees; checked for bool.
    Some(unsafe { data.cast::<T>().read_unaligned() })
}
