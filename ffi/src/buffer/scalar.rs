//! Rank-0 buffers.

use std::marker::PhantomData;
use std::ops::Deref;

use super::{ArgParam, BufferRef, BufferSpec, Mismatch, RetParam, param};
use crate::Element;

/// An argument of rank 0: dereferences to its one value.
///
/// ```
/// use oxcall::prelude::*;
///
/// #[custom_call]
/// fn hypotenuse(a: Scalar<f64>, b: Scalar<f64>, mut c: ScalarOut<f64>) {
///     c.set(a.hypot(*b));
/// }
/// # let out = oxcall::testing::call::<hypotenuse>().arg(3.0).arg(4.0).run().unwrap();
/// # assert_eq!(out.get::<f64>(0)[[]], 5.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Scalar<'f, T: Element> {
    value: T,
    _frame: PhantomData<&'f T>,
}

impl<T: Element> Scalar<'_, T> {
    /// The value.
    #[inline(always)]
    pub fn get(&self) -> T {
        self.value
    }
}

impl<T: Element> Deref for Scalar<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.value
    }
}

// SAFETY: dtype, rank, alignment and bool bytes are checked; one element is read.
unsafe impl<'f, T: Element> ArgParam<'f> for Scalar<'f, T> {
    const SPEC: BufferSpec = BufferSpec::host::<T>(Some(0));

    #[inline(always)]
    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
        param::check::<T>(&buffer, Some(0))?;
        // SAFETY: the caller guarantees initialised memory.
        unsafe { param::check_values::<T>(&buffer)? };
        // SAFETY: rank 0 is one element, initialised as the caller guarantees.
        Ok(Scalar { value: unsafe { T::load(buffer.data(), 0) }, _frame: PhantomData })
    }
}

/// A result of rank 0.
#[derive(Debug)]
pub struct ScalarOut<'f, T: Element> {
    data: *mut u8,
    _type: PhantomData<&'f mut T>,
}

// SAFETY: an exclusive borrow of one element.
unsafe impl<T: Element> Send for ScalarOut<'_, T> {}
// SAFETY: a shared ScalarOut gives no access.
unsafe impl<T: Element> Sync for ScalarOut<'_, T> {}

impl<T: Element> ScalarOut<'_, T> {
    /// Writes the value.
    #[inline(always)]
    pub fn set(&mut self, value: T) {
        // SAFETY: one element, exclusive.
        unsafe { T::store(self.data, 0, value) }
    }
}

// SAFETY: dtype, rank and alignment are checked.
unsafe impl<'f, T: Element> RetParam<'f> for ScalarOut<'f, T> {
    const SPEC: BufferSpec = BufferSpec::host::<T>(Some(0));

    #[inline(always)]
    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
        param::check::<T>(&buffer, Some(0))?;
        Ok(ScalarOut { data: buffer.data(), _type: PhantomData })
    }
}
