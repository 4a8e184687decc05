//! Buffers in device memory: addresses and shapes, no access from the CPU.

use std::fmt;
use std::marker::PhantomData;

use super::{ArgParam, BufferRef, BufferSpec, InOutParam, Mismatch, RetParam};
use crate::{DType, Element};

macro_rules! device {
    ($(#[$doc:meta])* $ty:ident) => {
        $(#[$doc])*
        pub struct $ty<'f, T: Element> {
            buffer: BufferRef<'f>,
            _type: PhantomData<fn() -> T>,
        }

        // SAFETY: an address, which only unsafe code can use.
        unsafe impl<T: Element> Send for $ty<'_, T> {}
        // SAFETY: as above.
        unsafe impl<T: Element> Sync for $ty<'_, T> {}

        impl<'f, T: Element> $ty<'f, T> {
            /// The dtype.
            pub fn dtype(&self) -> DType {
                T::DTYPE
            }

            /// The sizes, major to minor.
            pub fn shape(&self) -> &'f [usize] {
                self.buffer.shape()
            }
        }

        describe!(['f, T: Element] $ty<'f, T>);

        impl<T: Element> fmt::Debug for $ty<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{:?}", T::DTYPE, self.buffer.shape())
            }
        }
    };
}

device! {
    /// An argument in device memory.
    DeviceArray
}
device! {
    /// A result in device memory.
    DeviceOut
}
device! {
    /// An argument and a result in the same device memory; a call whose two buffers differ is an error, since only
    /// the platform can copy.
    DeviceInOut
}

impl<T: Element> DeviceArray<'_, T> {
    /// The device address of the first element.
    pub fn as_ptr(&self) -> *const T {
        self.buffer.data().cast()
    }
}

impl<T: Element> DeviceOut<'_, T> {
    /// The device address of the first element.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.buffer.data().cast()
    }
}

impl<T: Element> DeviceInOut<'_, T> {
    /// The device address of the first element.
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.buffer.data().cast()
    }
}

const fn spec<T: Element>() -> BufferSpec {
    BufferSpec { dtype: Some(T::DTYPE), rank: None, align: 1, host_memory: false }
}

fn check<T: Element>(buffer: &BufferRef<'_>) -> Result<(), Mismatch> {
    if buffer.dtype_code() == T::DTYPE.code() { Ok(()) } else { Err(Mismatch::DType(T::DTYPE)) }
}

// SAFETY: memory is never read.
unsafe impl<'f, T: Element> ArgParam<'f> for DeviceArray<'f, T> {
    const SPEC: BufferSpec = spec::<T>();

    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
        check::<T>(&buffer).map(|()| DeviceArray { buffer, _type: PhantomData })
    }
}

// SAFETY: memory is never written.
unsafe impl<'f, T: Element> RetParam<'f> for DeviceOut<'f, T> {
    const SPEC: BufferSpec = spec::<T>();

    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
        check::<T>(&buffer).map(|()| DeviceOut { buffer, _type: PhantomData })
    }
}

// SAFETY: memory is never touched.
unsafe impl<'f, T: Element> InOutParam<'f> for DeviceInOut<'f, T> {
    const SPEC: BufferSpec = spec::<T>();

    unsafe fn from_buffers(argument: BufferRef<'f>, result: BufferRef<'f>) -> Result<Self, Mismatch> {
        check::<T>(&argument)?;
        check::<T>(&result)?;
        if argument.dims() != result.dims() {
            return Err(Mismatch::ShapesDiffer);
        }
        if argument.data() != result.data() {
            return Err(Mismatch::NotAliased);
        }
        Ok(DeviceInOut { buffer: result, _type: PhantomData })
    }
}
