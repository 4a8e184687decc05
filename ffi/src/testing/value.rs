//! Arrays that own their memory, of any dtype.

use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

use crate::DType;
use crate::element::Element;
use crate::host::{AlignedBytes, array_bytes};

/// An array with its dtype and shape, in the memory layout that XLA gives buffers: row-major, packed where the dtype
/// is, from a 64-byte boundary on.
///
/// Made by `From`: ndarray arrays of any rank, slices, vectors and Rust arrays (rank 1), and single elements (rank 0).
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    dtype: DType,
    dims: Vec<i64>,
    bytes: AlignedBytes,
}

impl Value {
    /// An array of `dtype` and shape `dims`, with every byte set to `fill`.
    ///
    /// # Panics
    /// If a dimension is negative, or the array exceeds the address space.
    pub fn filled(dtype: DType, dims: &[i64], fill: u8) -> Value {
        let len = array_bytes(dtype, dims).unwrap_or_else(|| panic!("there is no array of shape {dims:?}"));
        Value { dtype, dims: dims.to_vec(), bytes: AlignedBytes::filled(len, fill) }
    }

    /// An array of `dtype` and shape `dims` with the given bytes.
    ///
    /// # Panics
    /// As for [`filled`](Value::filled), and if the number of bytes is not that of the array.
    pub fn from_bytes(dtype: DType, dims: &[i64], bytes: &[u8]) -> Value {
        let mut value = Value::filled(dtype, dims, 0);
        assert_eq!(value.bytes.len(), bytes.len(), "bytes of an array of {dtype} and shape {dims:?}");
        value.bytes.copy_from_slice(bytes);
        value
    }

    /// A token: rank 0, no bytes.
    pub fn token() -> Value {
        Value::filled(DType::Token, &[], 0)
    }

    /// A result before a call: 0xA5 in every byte, so that unwritten elements show; `pred` has only 0 and 1.
    pub(super) fn unwritten(dtype: DType, dims: &[i64]) -> Value {
        Value::filled(dtype, dims, if dtype == DType::Pred { 0 } else { 0xA5 })
    }

    /// Whether it is an array of this dtype and shape.
    pub(super) fn is(&self, dtype: DType, dims: &[i64]) -> bool {
        self.dtype == dtype && self.dims == dims
    }

    fn encode<T: Element>(dims: Vec<i64>, values: impl ExactSizeIterator<Item = T>) -> Value {
        Value { dtype: T::DTYPE, dims, bytes: AlignedBytes::encode(values) }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape; empty for rank 0.
    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// The memory.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The elements as an ndarray array.
    ///
    /// # Panics
    /// If the dtype is not that of `T`, or a `bool` has another byte than 0 and 1.
    pub fn to_array<T: Element>(&self) -> ArrayD<T> {
        assert_eq!(self.dtype, T::DTYPE, "dtype of the array");
        if T::DTYPE == DType::Pred {
            assert!(self.bytes.iter().all(|&byte| byte <= 1), "a pred has a byte other than 0 and 1");
        }
        let shape: Vec<usize> =
            self.dims.iter().map(|&dim| usize::try_from(dim).expect("checked when the value was made")).collect();
        let count = shape.iter().product();
        // SAFETY: the memory is aligned to 64, holds `count` elements, and a `bool` was checked; every other element
        // type takes all bit patterns.
        let elements = (0..count).map(|index| unsafe { T::load(self.bytes.as_ptr(), index) }).collect();
        ArrayD::from_shape_vec(IxDyn(&shape), elements).expect("as many elements as the shape has")
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut std::ffi::c_void {
        self.bytes.as_mut_ptr().cast()
    }
}

/// A Rust length as a dimension; no array has more than `i64::MAX` elements.
fn dim(len: usize) -> i64 {
    i64::try_from(len).expect("a dimension fits i64")
}

impl<T: Element> From<T> for Value {
    fn from(value: T) -> Value {
        Value::encode(vec![], [value].into_iter())
    }
}

impl<T: Element> From<&[T]> for Value {
    fn from(values: &[T]) -> Value {
        Value::encode(vec![dim(values.len())], values.iter().copied())
    }
}

impl<T: Element, const N: usize> From<[T; N]> for Value {
    fn from(values: [T; N]) -> Value {
        values.as_slice().into()
    }
}

impl<T: Element, const N: usize> From<&[T; N]> for Value {
    fn from(values: &[T; N]) -> Value {
        values.as_slice().into()
    }
}

impl<T: Element> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Value {
        values.as_slice().into()
    }
}

impl<T: Element, S: Data<Elem = T>, D: Dimension> From<&ArrayBase<S, D>> for Value {
    fn from(array: &ArrayBase<S, D>) -> Value {
        Value::encode(array.shape().iter().map(|&len| dim(len)).collect(), array.iter().copied())
    }
}

impl<T: Element, S: Data<Elem = T>, D: Dimension> From<ArrayBase<S, D>> for Value {
    fn from(array: ArrayBase<S, D>) -> Value {
        (&array).into()
    }
}
