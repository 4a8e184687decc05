//! Tensors as buffers of a call frame.

use std::ffi::c_void;
use std::ptr;

use xla_ffi_sys::xla_ffi as sys;

use crate::host::array_bytes;
use crate::torch::libtorch::tensor::{Tensor, is_contiguous};
use crate::{DType, Result};

/// The buffer description of a tensor; `None` if it is not row-major.
#[inline]
pub(crate) fn describe(tensor: &Tensor) -> Result<Option<sys::XLA_FFI_Buffer>> {
    let sizes = tensor.sizes()?;
    let strides = tensor.strides(sizes.len())?;
    if !is_contiguous(sizes, strides) {
        return Ok(None);
    }
    Ok(Some(buffer(tensor.dtype()?, tensor.data()?, sizes)))
}

/// A buffer description.
#[inline]
pub(crate) fn buffer(dtype: DType, data: *mut c_void, dims: &[i64]) -> sys::XLA_FFI_Buffer {
    sys::XLA_FFI_Buffer {
        struct_size: sys::XLA_FFI_Buffer_STRUCT_SIZE as usize,
        extension_start: ptr::null_mut(),
        dtype: dtype.code(),
        data,
        rank: dims.len() as i64,
        dims: dims.as_ptr().cast_mut(),
    }
}

/// The size of a described buffer, in bytes.
pub(crate) fn bytes(buffer: &sys::XLA_FFI_Buffer) -> usize {
    if buffer.rank == 0 {
        return DType::from_code(buffer.dtype).and_then(|dtype| dtype.size_in_bytes(1)).unwrap_or(0);
    }
    // SAFETY: made by `buffer` of a slice that lives as long as the tensor.
    let dims = unsafe { std::slice::from_raw_parts(buffer.dims, buffer.rank as usize) };
    DType::from_code(buffer.dtype).and_then(|dtype| array_bytes(dtype, dims)).unwrap_or(0)
}

/// The given number of operand kinds: all of them are buffers.
#[inline]
pub(crate) fn types(count: usize, many: &mut Vec<u32>) -> *const u32 {
    const { assert!(sys::XLA_FFI_ArgType_BUFFER == sys::XLA_FFI_RetType_BUFFER) };
    static FEW: [u32; 32] = [sys::XLA_FFI_ArgType_BUFFER; 32];
    if count <= FEW.len() {
        return FEW.as_ptr();
    }
    many.resize(count, sys::XLA_FFI_ArgType_BUFFER);
    many.as_ptr()
}
