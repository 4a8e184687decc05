//! An argument and a result in the same memory.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use ndarray::ArrayViewMut;

use super::{BufferRef, BufferSpec, Dyn, InOutParam, Mismatch, Ranked, RowsMut, param};
use crate::element::{Packed, Unpacked};
use crate::{DType, Element};

/// An argument that is updated in place: one operand and one result that share memory.
///
/// The Python callable declares the pair in `input_output_aliases`; XLA then donates the operand where it can, or
/// copies it first. A host that gives two separate buffers all the same (a call without the declaration) is served
/// as well: the operand is copied into the result before the handler runs.
///
/// ```
/// use oxcall::prelude::*;
///
/// #[custom_call]
/// fn add_assign(#[dims(..s)] mut y: InOut<f32>, #[dims(..s)] x: Array<f32>) {
///     for (y, x) in y.iter_mut().zip(x.iter()) {
///         *y += x;
///     }
/// }
/// # let out = oxcall::testing::call::<add_assign>().arg([1f32]).arg([2f32]).alias(0, 0).run().unwrap();
/// # assert_eq!(out.get::<f32>(0)[[0]], 3.0);
/// ```
pub struct InOut<'f, T: Element, D: Ranked = Dyn> {
    buffer: BufferRef<'f>,
    _type: PhantomData<(&'f mut [T], D)>,
}

describe_typed!(InOut);
writable!(InOut where T: Unpacked, "The elements, the last index fastest.");

impl<T: Packed, D: Ranked> InOut<'_, T, D> {
    /// The element at a flat index, the last index fastest; `None` past the end.
    pub fn get(&self, index: usize) -> Option<T> {
        // SAFETY: in range and initialised.
        (index < self.len()).then(|| unsafe { T::load(self.buffer.data(), index) })
    }
}

// SAFETY: dtype, rank, alignment and bool bytes are checked.
unsafe impl<'f, T: Element, D: Ranked> InOutParam<'f> for InOut<'f, T, D> {
    const SPEC: BufferSpec = BufferSpec::host::<T>(D::RANK);

    #[inline(always)]
    unsafe fn from_buffers(argument: BufferRef<'f>, result: BufferRef<'f>) -> Result<Self, Mismatch> {
        param::check::<T>(&argument, D::RANK)?;
        param::check::<T>(&result, D::RANK)?;
        // SAFETY: the caller guarantees that the argument is initialised.
        unsafe { param::check_values::<T>(&argument)? };
        if argument.dims() != result.dims() {
            return Err(Mismatch::ShapesDiffer);
        }
        if argument.data() != result.data() {
            // SAFETY: both have this many bytes, and as they are not the same, they have none in common.
            unsafe { std::ptr::copy_nonoverlapping(argument.data(), result.data(), result.size_in_bytes()) };
        }
        Ok(InOut { buffer: result, _type: PhantomData })
    }
}
