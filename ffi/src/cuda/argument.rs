//! Arguments of kernels, by the types of the parameters.

use std::ffi::c_void;

use crate::Element;
use crate::buffer::{DeviceArray, DeviceInOut, DeviceOut};
use crate::context::ScratchBuffer;

/// An argument of a launch: a number, or the address of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    value: u64,
    /// The buffer's size in bytes, if it is one.
    buffer: Option<usize>,
    /// Its name, where that is not the parameter's.
    name: Option<&'static str>,
}

impl Argument {
    /// A buffer's address, with its size in bytes.
    fn buffer(address: *const c_void, size: usize) -> Argument {
        Argument { value: address.addr() as u64, buffer: Some(size), name: None }
    }

    /// With a name for errors.
    pub(super) fn named(self, name: &'static str) -> Argument {
        Argument { name: Some(name), ..self }
    }

    pub(super) fn name(&self) -> Option<&'static str> {
        self.name
    }

    /// The address of a buffer that has bytes.
    pub(super) fn address(&self) -> Option<u64> {
        self.buffer.filter(|size| *size > 0).map(|_| self.value)
    }

    /// The address from which the driver reads as many bytes as the parameter has.
    pub(super) fn as_mut_ptr(&mut self) -> *mut c_void {
        (&raw mut self.value).cast()
    }
}

/// A value for a kernel's parameter of type `P`: pointers take buffers, numbers take themselves.
#[diagnostic::on_unimplemented(
    message = "a kernel's parameter of type `{P}` does not take `{Self}`",
    note = "`*const T` takes `&DeviceArray<T>`, `*mut T` takes `&mut DeviceOut<T>` and `&mut DeviceInOut<T>`, and a number takes a number of its own type"
)]
pub trait PassAs<P> {
    /// The argument.
    fn pass(self) -> Argument;
}

impl<T: Element> PassAs<*const T> for &DeviceArray<'_, T> {
    fn pass(self) -> Argument {
        Argument::buffer(self.as_ptr().cast(), self.size_in_bytes())
    }
}

/// An optional operand is null where it is absent.
impl<T: Element> PassAs<*const T> for Option<&DeviceArray<'_, T>> {
    fn pass(self) -> Argument {
        self.map_or_else(|| Argument::buffer(std::ptr::null(), 0), PassAs::pass)
    }
}

impl<T: Element> PassAs<*mut T> for &mut DeviceOut<'_, T> {
    fn pass(self) -> Argument {
        Argument::buffer(self.as_mut_ptr().cast(), self.size_in_bytes())
    }
}

impl<T: Element> PassAs<*mut T> for &mut DeviceInOut<'_, T> {
    fn pass(self) -> Argument {
        Argument::buffer(self.as_mut_ptr().cast(), self.size_in_bytes())
    }
}

impl<T> PassAs<*mut T> for &mut ScratchBuffer<'_> {
    fn pass(self) -> Argument {
        Argument::buffer(self.as_mut_ptr(), self.len())
    }
}

macro_rules! numbers {
    ($($ty:ty: $x:ident => $bits:expr;)*) => {$(
        impl PassAs<$ty> for $ty {
            fn pass(self) -> Argument {
                let $x = self;
                Argument { value: $bits, buffer: None, name: None }
            }
        }
    )*};
}
// Little-endian targets only: the driver reads the first bytes.
numbers! {
    bool: x => u64::from(x);
    i8: x => x as u64;
    i16: x => x as u64;
    i32: x => x as u64;
    i64: x => x as u64;
    u8: x => u64::from(x);
    u16: x => u64::from(x);
    u32: x => u64::from(x);
    u64: x => x;
    f32: x => u64::from(x.to_bits());
    f64: x => x.to_bits();
}
