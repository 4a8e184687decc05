//! Tensors as operands of a call frame.

use std::ffi::c_void;
use std::ptr;

use smallvec::SmallVec;
use xla_ffi_sys::xla_ffi as sys;

use super::plan::Plan;
use super::tensor::{Tensor, contiguous_strides, is_contiguous};
use crate::host::array_bytes;
use crate::{DType, Result};

/// A buffer's description of a tensor; `None` if it is not row-major.
#[inline]
pub(super) fn describe(tensor: &Tensor) -> Result<Option<sys::XLA_FFI_Buffer>> {
    let sizes = tensor.sizes()?;
    let strides = tensor.strides(sizes.len())?;
    if !is_contiguous(sizes, strides) {
        return Ok(None);
    }
    Ok(Some(buffer(tensor.dtype()?, tensor.data()?, sizes)))
}

/// A buffer's description.
#[inline]
pub(super) fn buffer(dtype: DType, data: *mut c_void, dims: &[i64]) -> sys::XLA_FFI_Buffer {
    sys::XLA_FFI_Buffer {
        struct_size: sys::XLA_FFI_Buffer_STRUCT_SIZE as usize,
        extension_start: ptr::null_mut(),
        dtype: dtype.code(),
        data,
        rank: dims.len() as i64,
        dims: dims.as_ptr().cast_mut(),
    }
}

/// The size of a described buffer.
pub(super) fn bytes(buffer: &sys::XLA_FFI_Buffer) -> usize {
    if buffer.rank == 0 {
        return DType::from_code(buffer.dtype).and_then(|dtype| dtype.size_in_bytes(1)).unwrap_or(0);
    }
    // SAFETY: made by `buffer` of a slice that lives as long as the tensor.
    let dims = unsafe { std::slice::from_raw_parts(buffer.dims, buffer.rank as usize) };
    DType::from_code(buffer.dtype).and_then(|dtype| array_bytes(dtype, dims)).unwrap_or(0)
}

/// A row-major copy of a tensor.
pub(super) fn copy(plan: &Plan, original: &Tensor) -> Result<Tensor> {
    let sizes = original.sizes()?;
    let mut strides: SmallVec<[i64; 8]> = SmallVec::from_elem(0, sizes.len());
    contiguous_strides(sizes, &mut strides);
    let copy = Tensor::empty(plan.shim, sizes, &strides, original.dtype_code()?, original.device()?)?;
    copy.copy_from(original)?;
    Ok(copy)
}

/// As many kinds of operands as asked for: all of them are buffers.
#[inline]
pub(super) fn types(count: usize, many: &mut Vec<u32>) -> *const u32 {
    const { assert!(sys::XLA_FFI_ArgType_BUFFER == sys::XLA_FFI_RetType_BUFFER) };
    static FEW: [u32; 32] = [sys::XLA_FFI_ArgType_BUFFER; 32];
    if count <= FEW.len() {
        return FEW.as_ptr();
    }
    many.resize(count, sys::XLA_FFI_ArgType_BUFFER);
    many.as_ptr()
}
