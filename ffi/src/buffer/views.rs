//! Slices and ndarray views as parameters.

use ndarray::{ArrayView, ArrayViewMut, Dim, IxDyn};

use super::{ArgParam, Array, BufferRef, BufferSpec, Dyn, Mismatch, Out, Rank, RetParam};
use crate::element::{Plain, Unpacked};

// SAFETY: checked by Array.
unsafe impl<'f, T: Unpacked> ArgParam<'f> for &'f [T] {
    const SPEC: BufferSpec = <Array<'f, T, Dyn> as ArgParam<'f>>::SPEC;

    #[inline(always)]
    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
        // SAFETY: the caller's promise is passed on.
        unsafe { Array::<T, Dyn>::from_buffer(buffer) }.map(|array| array.as_slice())
    }
}

// SAFETY: checked by Out.
unsafe impl<'f, T: Plain> RetParam<'f> for &'f mut [T] {
    const SPEC: BufferSpec = <Out<'f, T, Dyn> as RetParam<'f>>::SPEC;

    #[inline(always)]
    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
        // SAFETY: the caller's promise is passed on.
        unsafe { Out::<T, Dyn>::from_buffer(buffer) }.map(Out::into_slice)
    }
}

macro_rules! views {
    ($($rank:ty => $dim:ty;)*) => {$(
        // SAFETY: checked by Array.
        unsafe impl<'f, T: Unpacked> ArgParam<'f> for ArrayView<'f, T, $dim> {
            const SPEC: BufferSpec = <Array<'f, T, $rank> as ArgParam<'f>>::SPEC;

            unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
                // SAFETY: the caller's promise is passed on.
                unsafe { Array::<T, $rank>::from_buffer(buffer) }.map(|array| array.view())
            }
        }

        // SAFETY: checked by Out.
        unsafe impl<'f, T: Plain> RetParam<'f> for ArrayViewMut<'f, T, $dim> {
            const SPEC: BufferSpec = <Out<'f, T, $rank> as RetParam<'f>>::SPEC;

            unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
                // SAFETY: the caller's promise is passed on.
                let out = unsafe { Out::<T, $rank>::from_buffer(buffer) }?;
                Ok(ArrayViewMut::from_shape(<$rank as super::Ranked>::nd(buffer.shape()), out.into_slice())
                    .expect("a dense buffer holds as many elements as its shape says"))
            }
        }
    )*};
}

views! {
    Dyn => IxDyn;
    Rank<0> => Dim<[usize; 0]>;
    Rank<1> => Dim<[usize; 1]>;
    Rank<2> => Dim<[usize; 2]>;
    Rank<3> => Dim<[usize; 3]>;
    Rank<4> => Dim<[usize; 4]>;
    Rank<5> => Dim<[usize; 5]>;
    Rank<6> => Dim<[usize; 6]>;
}
