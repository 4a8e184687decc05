//! Typed result buffers.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use ndarray::ArrayViewMut;

use super::{BufferRef, BufferSpec, Dyn, Mismatch, Ranked, RetParam, RowsMut, param};
use crate::element::Plain;
use crate::{DType, Element};

/// A result: a dense row-major array of `T`, to write.
///
/// The host gives memory with unknown content. For element types whose every bit pattern is a value (all but
/// `bool` and the packed ones) it dereferences to `[T]`, whose elements are unspecified until written; the others are
/// written with [`fill`](Out::fill), [`set`](Out::set) and [`as_bytes_mut`](Out::as_bytes_mut). What a handler
/// does not write stays unspecified.
///
/// ```
/// use oxcall::prelude::*;
///
/// #[custom_call]
/// fn reverse(#[dims(n)] x: &[f32], #[dims(n)] mut y: Out<f32>, #[dims(n)] mut negative: Out<bool>) {
///     for (i, x) in x.iter().rev().enumerate() {
///         y[i] = *x; // a slice
///         negative.set(i, *x < 0.0); // `bool` has none
///     }
/// }
/// # let out = oxcall::testing::call::<reverse>().arg([1f32, -2.0]).run().unwrap();
/// # assert_eq!(out.get::<f32>(0).as_slice().unwrap(), [-2.0, 1.0]);
/// # assert_eq!(out.get::<bool>(1).as_slice().unwrap(), [true, false]);
/// ```
pub struct Out<'f, T: Element, D: Ranked = Dyn> {
    buffer: BufferRef<'f>,
    _type: PhantomData<(&'f mut [T], D)>,
}

describe_typed!(Out);
writable!(Out where T: Plain, "The elements, the last index fastest; unspecified until written.");

impl<'f, T: Element, D: Ranked> Out<'f, T, D> {
    /// # Safety
    /// As for [`RetParam::from_buffer`], with dtype, rank and alignment checked.
    #[inline(always)]
    pub(super) unsafe fn new(buffer: BufferRef<'f>) -> Self {
        Out { buffer, _type: PhantomData }
    }

    /// Writes every element.
    pub fn fill(&mut self, value: T) {
        for index in 0..self.len() {
            // SAFETY: in range, and exclusive.
            unsafe { T::store(self.buffer.data(), index, value) }
        }
    }

    /// The bytes, as XLA stores them: packed types several elements to a byte. Their values are unspecified until
    /// written; for `bool`, write 0 or 1.
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        if self.buffer.size_in_bytes() == 0 {
            return &mut [];
        }
        // SAFETY: exclusive, as many bytes, and each has some value (`RetParam::from_buffer`).
        unsafe { std::slice::from_raw_parts_mut(self.buffer.data(), self.buffer.size_in_bytes()) }
    }

    /// The address of the first element.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.buffer.data().cast()
    }
}

impl<'f, T: Plain, D: Ranked> Out<'f, T, D> {
    /// The elements for as long as the call lasts.
    #[inline(always)]
    pub fn into_slice(self) -> &'f mut [T] {
        if self.buffer.is_empty() {
            return &mut [];
        }
        // SAFETY: as in `as_slice`; `self`, the only other way to the memory, is consumed.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.data().cast(), self.buffer.len()) }
    }
}

// SAFETY: dtype, rank and alignment are checked.
unsafe impl<'f, T: Element, D: Ranked> RetParam<'f> for Out<'f, T, D> {
    const SPEC: BufferSpec = BufferSpec::host::<T>(D::RANK);

    #[inline(always)]
    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
        param::check::<T>(&buffer, D::RANK)?;
        // SAFETY: as the caller guarantees, and checked.
        Ok(unsafe { Out::new(buffer) })
    }
}
