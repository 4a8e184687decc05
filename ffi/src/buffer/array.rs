//! Typed argument buffers.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use ndarray::ArrayView;

use super::{ArgParam, BufferRef, BufferSpec, Dyn, Mismatch, Ranked, Rows, param};
use crate::element::{Packed, Unpacked};
use crate::{DType, Element};

/// An argument: a dense row-major array of `T`, read only.
///
/// For element types that take whole bytes it dereferences to `[T]`; packed types are read with
/// [`get`](Array::get) and [`iter`](Array::iter). The rank is dynamic unless given: `Array<f32, Rank<2>>`.
///
/// ```
/// use oxcall::prelude::*;
///
/// /// The sum of each column.
/// #[custom_call]
/// fn sum_columns(#[dims(n, m)] x: Array<f32, Rank<2>>, #[dims(m)] mut sums: Out<f32>) {
///     let [_n, _m] = x.shape();
///     sums.fill(0.0);
///     for row in x.rows() {
///         for (sum, x) in sums.iter_mut().zip(row) {
///             *sum += x;
///         }
///     }
/// }
/// # let x = oxcall::ndarray::array![[1f32, 2.0], [3.0, 4.0]];
/// # let out = oxcall::testing::call::<sum_columns>().arg(x).run().unwrap();
/// # assert_eq!(out.get::<f32>(0).as_slice().unwrap(), [4.0, 6.0]);
/// ```
pub struct Array<'f, T: Element, D: Ranked = Dyn> {
    buffer: BufferRef<'f>,
    _type: PhantomData<(&'f [T], D)>,
}

// SAFETY: an Array is a shared borrow of its elements.
unsafe impl<T: Element, D: Ranked> Send for Array<'_, T, D> {}
// SAFETY: as above.
unsafe impl<T: Element, D: Ranked> Sync for Array<'_, T, D> {}

impl<T: Element, D: Ranked> Clone for Array<'_, T, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, D: Ranked> Copy for Array<'_, T, D> {}

describe_typed!(Array);

impl<'f, T: Element, D: Ranked> Array<'f, T, D> {
    /// # Safety
    /// As for [`ArgParam::from_buffer`], with dtype, rank, alignment and bool bytes checked.
    #[inline(always)]
    pub(super) unsafe fn new(buffer: BufferRef<'f>) -> Self {
        Array { buffer, _type: PhantomData }
    }

    /// The bytes, as XLA stores them: packed types several elements to a byte.
    #[inline(always)]
    pub fn as_bytes(&self) -> &'f [u8] {
        if self.buffer.size_in_bytes() == 0 {
            return &[];
        }
        // SAFETY: initialised and shared during 'f.
        unsafe { std::slice::from_raw_parts(self.buffer.data(), self.buffer.size_in_bytes()) }
    }

    /// The address of the first element.
    pub fn as_ptr(&self) -> *const T {
        self.buffer.data().cast()
    }
}

impl<'f, T: Unpacked, D: Ranked> Array<'f, T, D> {
    /// The elements, the last index fastest.
    #[inline(always)]
    pub fn as_slice(&self) -> &'f [T] {
        if self.buffer.is_empty() {
            return &[];
        }
        // SAFETY: initialised, aligned and shared during 'f; the layout is that of [T] (`Unpacked`).
        unsafe { std::slice::from_raw_parts(self.buffer.data().cast(), self.buffer.len()) }
    }

    /// The rows: slices along the last axis.
    pub fn rows(&self) -> Rows<'f, T> {
        Rows::new(self.as_slice(), self.buffer.shape())
    }

    /// An ndarray view.
    pub fn view(&self) -> ArrayView<'f, T, D::Nd> {
        ArrayView::from_shape(D::nd(self.buffer.shape()), self.as_slice())
            .expect("a dense buffer holds as many elements as its shape says")
    }
}

impl<T: Unpacked, D: Ranked> Deref for Array<'_, T, D> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<'f, T: Packed, D: Ranked> Array<'f, T, D> {
    /// The element at a flat index, the last index fastest; `None` past the end.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Option<T> {
        // SAFETY: in range, initialised and shared.
        (index < self.len()).then(|| unsafe { T::load(self.buffer.data(), index) })
    }

    /// The elements, the last index fastest.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = T> + 'f {
        let buffer = self.buffer;
        // SAFETY: in range, initialised and shared during 'f.
        (0..buffer.len()).map(move |index| unsafe { T::load(buffer.data(), index) })
    }
}

// SAFETY: dtype, rank, alignment and bool bytes are checked.
unsafe impl<'f, T: Element, D: Ranked> ArgParam<'f> for Array<'f, T, D> {
    const SPEC: BufferSpec = BufferSpec::host::<T>(D::RANK);

    #[inline(always)]
    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
        param::check::<T>(&buffer, D::RANK)?;
        // SAFETY: the caller guarantees initialised memory.
        unsafe { param::check_values::<T>(&buffer)? };
        // SAFETY: as the caller guarantees, and checked.
        Ok(unsafe { Array::new(buffer) })
    }
}
