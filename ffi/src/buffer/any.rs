//! Buffers of any dtype and rank.

use std::marker::PhantomData;

use super::{ArgParam, Array, BufferRef, BufferSpec, Dyn, Mismatch, Out, RetParam};
use crate::{DType, Element, Error, Result};

/// An argument of any dtype and rank.
///
/// ```
/// use oxcall::prelude::*;
///
/// /// The number of NaNs for `f32`, of bytes that are not zero for other dtypes.
/// #[custom_call]
/// fn census(x: AnyArray, mut y: ScalarOut<u32>) -> Result<()> {
///     let count = match x.dtype() {
///         DType::F32 => x.cast::<f32>()?.iter().filter(|x| x.is_nan()).count(),
///         _ => x.as_bytes().iter().filter(|byte| **byte != 0).count(),
///     };
///     y.set(count as u32);
///     Ok(())
/// }
/// # let out = oxcall::testing::call::<census>().arg([f32::NAN, 1.0]).run().unwrap();
/// # assert_eq!(out.get::<u32>(0)[[]], 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AnyArray<'f> {
    buffer: BufferRef<'f>,
    dtype: DType,
}

// SAFETY: a shared borrow of bytes.
unsafe impl Send for AnyArray<'_> {}
// SAFETY: as above.
unsafe impl Sync for AnyArray<'_> {}

/// A result of any dtype and rank.
#[derive(Debug)]
pub struct AnyOut<'f> {
    buffer: BufferRef<'f>,
    dtype: DType,
    _memory: PhantomData<&'f mut [u8]>,
}

// SAFETY: an exclusive borrow of bytes.
unsafe impl Send for AnyOut<'_> {}
// SAFETY: a shared AnyOut gives no access to the bytes.
unsafe impl Sync for AnyOut<'_> {}

macro_rules! describe_any {
    ($ty:ident) => {
        describe!(['f] $ty<'f>);

        impl<'f> $ty<'f> {
            /// The dtype.
            pub fn dtype(&self) -> DType {
                self.dtype
            }

            /// The sizes, major to minor.
            pub fn shape(&self) -> &'f [usize] {
                self.buffer.shape()
            }
        }
    };
}
describe_any!(AnyArray);
describe_any!(AnyOut);

impl<'f> AnyArray<'f> {
    /// The bytes, as XLA stores them: packed types several elements to a byte.
    pub fn as_bytes(&self) -> &'f [u8] {
        if self.buffer.size_in_bytes() == 0 {
            return &[];
        }
        // SAFETY: initialised and shared during 'f.
        unsafe { std::slice::from_raw_parts(self.buffer.data(), self.buffer.size_in_bytes()) }
    }

    /// This buffer as an array of `T`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the dtype is another, or the bytes are not values of `T`.
    pub fn cast<T: Element>(&self) -> Result<Array<'f, T, Dyn>> {
        // SAFETY: the memory is as it was when this was decoded.
        unsafe { Array::from_buffer(self.buffer) }.map_err(|mismatch| cast_error(T::DTYPE, self.dtype, mismatch))
    }
}

impl<'f> AnyOut<'f> {
    /// The bytes, as XLA stores them; their values are unspecified until written. For `pred`, write 0 or 1.
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        if self.buffer.size_in_bytes() == 0 {
            return &mut [];
        }
        // SAFETY: exclusive, as many bytes, and each has some value (`RetParam::from_buffer`).
        unsafe { std::slice::from_raw_parts_mut(self.buffer.data(), self.buffer.size_in_bytes()) }
    }

    /// Copies bytes in, as XLA stores them; for `pred` they must be 0 or 1.
    ///
    /// # Panics
    /// If `bytes` is not as long as the buffer.
    #[track_caller]
    pub fn copy_from_bytes(&mut self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.size_in_bytes(), "as many bytes as the result has");
        if !bytes.is_empty() {
            // SAFETY: as long, and exclusive, so they do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.buffer.data(), bytes.len()) }
        }
    }

    /// This buffer as a result of `T`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the dtype is another.
    pub fn cast_mut<T: Element>(&mut self) -> Result<Out<'_, T, Dyn>> {
        // SAFETY: the memory is as it was when this was decoded, and borrowed from `self`.
        unsafe { Out::from_buffer(self.buffer) }.map_err(|mismatch| cast_error(T::DTYPE, self.dtype, mismatch))
    }
}

#[cold]
fn cast_error(wanted: DType, dtype: DType, mismatch: Mismatch) -> Error {
    match mismatch {
        Mismatch::BoolByte(index, byte) => {
            Error::invalid_argument(format!("element {index} of a pred buffer is the byte {byte}, not 0 or 1"))
        }
        _ => Error::invalid_argument(format!("expected dtype {wanted}, got {dtype}")),
    }
}

const SPEC: BufferSpec = BufferSpec { dtype: None, rank: None, align: 1, host_memory: true };

// SAFETY: elements are only reached after another check.
unsafe impl<'f> ArgParam<'f> for AnyArray<'f> {
    const SPEC: BufferSpec = SPEC;

    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
        let dtype = DType::from_code(buffer.dtype_code()).ok_or(Mismatch::UnknownDType)?;
        Ok(AnyArray { buffer, dtype })
    }
}

// SAFETY: elements are only reached after another check.
unsafe impl<'f> RetParam<'f> for AnyOut<'f> {
    const SPEC: BufferSpec = SPEC;

    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
        let dtype = DType::from_code(buffer.dtype_code()).ok_or(Mismatch::UnknownDType)?;
        Ok(AnyOut { buffer, dtype, _memory: PhantomData })
    }
}
