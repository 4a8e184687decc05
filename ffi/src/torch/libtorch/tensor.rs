//! Owned handles of tensors.

use std::ffi::c_void;

use smallvec::SmallVec;

use super::device::Device;
use super::dtype;
use super::shim::{Shim, TensorHandle, check, requires_grad};
use crate::{DType, Error, Result};

/// An owned tensor, which is deleted on drop or handed over.
pub(crate) struct Tensor {
    shim: &'static Shim,
    handle: TensorHandle,
}

impl Drop for Tensor {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this value owns the handle, which is not used again.
        unsafe { (self.shim.delete_tensor)(self.handle) };
    }
}

impl Tensor {
    /// # Safety
    /// A handle of this torch that is the caller's to give; not null.
    #[inline]
    pub(crate) unsafe fn own(shim: &'static Shim, handle: TensorHandle) -> Tensor {
        Tensor { shim, handle }
    }

    /// Gives the handle away.
    #[inline]
    pub(crate) fn into_handle(self) -> TensorHandle {
        std::mem::ManuallyDrop::new(self).handle
    }

    /// An uninitialised tensor.
    #[inline]
    pub(crate) fn empty(
        shim: &'static Shim,
        sizes: &[i64],
        strides: &[i64],
        dtype: i32,
        device: Device,
    ) -> Result<Tensor> {
        let mut handle = std::ptr::null_mut();
        let rank = sizes.len() as i64;
        let (sizes, strides) = (sizes.as_ptr(), strides.as_ptr());
        // SAFETY: as many sizes and strides as the rank says; the handle is ours afterwards.
        let status =
            unsafe { (shim.empty_strided)(rank, sizes, strides, dtype, device.ty, device.index, &raw mut handle) };
        check(shim, status, "allocating a tensor")?;
        Ok(Tensor { shim, handle })
    }

    /// The number of dimensions and their sizes.
    #[inline]
    pub(crate) fn sizes(&self) -> Result<&[i64]> {
        let mut rank = 0;
        let mut sizes = std::ptr::null_mut();
        // SAFETY: a live tensor.
        let status =
            unsafe { (self.shim.dim)(self.handle, &raw mut rank) | (self.shim.sizes)(self.handle, &raw mut sizes) };
        check(self.shim, status, "reading a tensor's sizes")?;
        // SAFETY: borrowed from the tensor, which has `rank` of them.
        Ok(unsafe { list(sizes, rank) })
    }

    /// The strides, in elements; as many as there are sizes.
    #[inline]
    pub(crate) fn strides(&self, rank: usize) -> Result<&[i64]> {
        let mut strides = std::ptr::null_mut();
        // SAFETY: a live tensor.
        let status = unsafe { (self.shim.strides)(self.handle, &raw mut strides) };
        check(self.shim, status, "reading a tensor's strides")?;
        // SAFETY: borrowed from the tensor, which has `rank` of them.
        Ok(unsafe { list(strides, rank as i64) })
    }

    /// The code of the dtype.
    #[inline]
    pub(crate) fn dtype_code(&self) -> Result<i32> {
        let mut code = 0;
        // SAFETY: a live tensor.
        let status = unsafe { (self.shim.dtype)(self.handle, &raw mut code) };
        check(self.shim, status, "reading a tensor's dtype")?;
        Ok(code)
    }

    /// The dtype; an error for those that operations do not support.
    #[inline]
    pub(crate) fn dtype(&self) -> Result<DType> {
        let code = self.dtype_code()?;
        self.shim.dtypes.known(code).ok_or_else(|| dtype::unknown(code))
    }

    /// The address of the first element; null for a tensor without elements.
    #[inline]
    pub(crate) fn data(&self) -> Result<*mut c_void> {
        let mut data = std::ptr::null_mut();
        // SAFETY: a live tensor.
        let status = unsafe { (self.shim.data_ptr)(self.handle, &raw mut data) };
        check(self.shim, status, "reading a tensor's address")?;
        Ok(data)
    }

    /// The device.
    pub(crate) fn device(&self) -> Result<Device> {
        let (mut ty, mut index) = (0, 0);
        // SAFETY: a live tensor.
        let status = unsafe {
            (self.shim.device_type)(self.handle, &raw mut ty) | (self.shim.device_index)(self.handle, &raw mut index)
        };
        check(self.shim, status, "reading a tensor's device")?;
        Ok(Device { ty, index })
    }

    /// Refuses a tensor whose storage ends before it, as after `untyped_storage().resize_()`: torch does not check this
    /// itself.
    #[inline]
    pub(crate) fn check_storage(&self) -> Result<()> {
        let (mut offset, mut stored) = (0, 0);
        // SAFETY: a live tensor.
        let status = unsafe {
            (self.shim.storage_offset)(self.handle, &raw mut offset)
                | (self.shim.storage_size)(self.handle, &raw mut stored)
        };
        check(self.shim, status, "reading the size of a tensor's storage")?;
        let sizes = self.sizes()?;
        let strides = self.strides(sizes.len())?;
        let bytes = self.dtype()?.bits() as i64 / 8;
        if sizes.contains(&0) {
            return Ok(());
        }
        let last = sizes
            .iter()
            .zip(strides)
            .fold(offset, |last: i64, (size, stride)| last.saturating_add((size - 1).saturating_mul(*stride)));
        let end = last.saturating_add(1).saturating_mul(bytes);
        if end > stored {
            return Err(Error::invalid_argument(format!(
                "the tensor takes {end} bytes of its storage, which has been resized to {stored}; clone the tensor before \
                 its storage is resized"
            )));
        }
        Ok(())
    }

    /// Tells autograd that the elements have changed.
    ///
    /// # Safety
    /// Nothing on the way to torch catches panics: this may throw.
    pub(crate) unsafe fn bump_version(&self) {
        if let Some(bump) = self.shim.bump_version {
            // SAFETY: a live tensor.
            unsafe { bump(self.handle) };
        }
    }

    /// Whether autograd records operations on it; `false` where libtorch lacks the function that says so.
    pub(crate) fn requires_grad(&self) -> bool {
        // SAFETY: a live tensor.
        self.shim.requires_grad.is_some_and(|function| unsafe { requires_grad(function, self.handle) })
    }

    /// A row-major copy.
    pub(crate) fn contiguous_copy(&self) -> Result<Tensor> {
        self.copy_as(self.sizes()?, self.dtype_code()?)
    }

    /// A row-major copy of another shape, to which it is broadcast, and of another dtype.
    pub(crate) fn copy_as(&self, sizes: &[i64], dtype: i32) -> Result<Tensor> {
        let mut strides: SmallVec<[i64; 8]> = SmallVec::from_elem(0, sizes.len());
        contiguous_strides(sizes, &mut strides);
        let copy = Tensor::empty(self.shim, sizes, &strides, dtype, self.device()?)?;
        copy.copy_from(self)?;
        Ok(copy)
    }

    /// Copies the elements of a tensor, which is converted and broadcast, without a trace for autograd.
    pub(crate) fn copy_from(&self, source: &Tensor) -> Result<()> {
        // SAFETY: takes nothing.
        let tracked = unsafe { (self.shim.grad_mode)() };
        if tracked {
            // SAFETY: the flag of this thread.
            unsafe { (self.shim.set_grad_mode)(false) };
        }
        // SAFETY: two live tensors.
        let status = unsafe { (self.shim.copy)(self.handle, source.handle, 0) };
        let copied = check(self.shim, status, "copying a tensor");
        if tracked {
            // SAFETY: as above.
            unsafe { (self.shim.set_grad_mode)(true) };
        }
        copied
    }
}

/// # Safety
/// `data` points to `len` integers that live during `'a`, or `len` is 0.
unsafe fn list<'a>(data: *const i64, len: i64) -> &'a [i64] {
    if data.is_null() || len <= 0 {
        return &[];
    }
    // SAFETY: as the caller guarantees.
    unsafe { std::slice::from_raw_parts(data, len as usize) }
}

/// Strides of a row-major tensor, written to `strides`, which has one place for each size.
#[inline]
pub(crate) fn contiguous_strides(sizes: &[i64], strides: &mut [i64]) {
    let mut step = 1i64;
    for (size, stride) in sizes.iter().zip(strides).rev() {
        *stride = step;
        step = step.saturating_mul((*size).max(1));
    }
}

/// Whether elements lie in row-major order without gaps.
#[inline]
pub(crate) fn is_contiguous(sizes: &[i64], strides: &[i64]) -> bool {
    let mut step = 1i64;
    for (&size, &stride) in sizes.iter().zip(strides).rev() {
        if size != 1 {
            if stride != step {
                return sizes.contains(&0);
            }
            step = step.wrapping_mul(size);
        }
    }
    true
}
