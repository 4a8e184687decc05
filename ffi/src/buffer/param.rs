//! The traits by which a parameter's type decodes itself from a buffer.

use std::ops::{Deref, DerefMut};

use super::BufferRef;
use crate::{DType, Element};

/// The demands of a parameter's type on a buffer; constant, so that the manifest can show them.
#[derive(Clone, Copy, Debug)]
pub struct BufferSpec {
    /// The dtype, unless any is taken.
    pub dtype: Option<DType>,
    /// The rank, unless any is taken.
    pub rank: Option<usize>,
    /// The alignment of the memory in bytes, a power of two.
    pub align: usize,
    /// Whether the type reads or writes the memory from the CPU, which only host platforms allow.
    pub host_memory: bool,
}

impl BufferSpec {
    /// The demands of a type that sees memory as `T`s, as [`check`] makes them.
    pub(crate) const fn host<T: Element>(rank: Option<usize>) -> BufferSpec {
        BufferSpec { dtype: Some(T::DTYPE), rank, align: T::ALIGN, host_memory: true }
    }
}

/// Why a buffer does not fit a parameter's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Another dtype than the one named here.
    DType(DType),
    /// A dtype code that this version does not know.
    UnknownDType,
    /// Another rank than the one named here.
    Rank(usize),
    /// The memory is not aligned to this many bytes.
    Alignment(usize),
    /// A bool byte that is neither 0 nor 1, and its index.
    BoolByte(usize, u8),
    /// A device in-out parameter whose argument and result are in different memory.
    NotAliased,
    /// An in-out parameter whose argument and result have different shapes.
    ShapesDiffer,
}

impl Mismatch {
    /// The reason as numbers, which cold functions take in registers: what is in memory would have to be there until
    /// the end of a call.
    #[inline(always)]
    pub fn to_code(self) -> (u16, usize) {
        match self {
            Mismatch::DType(dtype) => (0, dtype.code() as usize),
            Mismatch::UnknownDType => (1, 0),
            Mismatch::Rank(rank) => (2, rank),
            Mismatch::Alignment(bytes) => (3, bytes),
            Mismatch::NotAliased => (4, 0),
            Mismatch::ShapesDiffer => (5, 0),
            Mismatch::BoolByte(index, byte) => (256 + u16::from(byte), index),
        }
    }

    /// The reason of a code.
    pub(crate) fn from_code((kind, number): (u16, usize)) -> Mismatch {
        match kind {
            0 => DType::from_code(number as u32).map_or(Mismatch::UnknownDType, Mismatch::DType),
            2 => Mismatch::Rank(number),
            3 => Mismatch::Alignment(number),
            4 => Mismatch::NotAliased,
            5 => Mismatch::ShapesDiffer,
            256.. => Mismatch::BoolByte(number, (kind - 256) as u8),
            _ => Mismatch::UnknownDType,
        }
    }
}

/// A type that an argument can have: [`Array`](super::Array), [`Scalar`](super::Scalar), `&[T]`, `ArrayView2<T>`, ...
///
/// # Safety
/// `from_buffer` must check all that its type relies on, and read shared memory only.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a custom call",
    label = "not an argument type",
    note = "argument types are Array<T>, AnyArray, Scalar<T>, &[T], ArrayView<T, D>, Token and DeviceArray<T>, and Option<..> or Variadic<..> of them",
    note = "mark an attribute with `#[attr]`, a context with `#[ctx]`, a state with `#[state]`"
)]
pub unsafe trait ArgParam<'f>: Sized {
    /// The demands of the type.
    const SPEC: BufferSpec;

    /// Checks the buffer and gives it this type.
    ///
    /// # Safety
    /// The buffer's memory is initialised, live and not written by others during `'f`, and, if `SPEC.host_memory`,
    /// readable from the CPU.
    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch>;
}

/// A type that a result can have: [`Out`](super::Out), [`ScalarOut`](super::ScalarOut), `&mut [T]`, ...
///
/// # Safety
/// `from_buffer` must check all that its type relies on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a result of a custom call",
    label = "not a result type",
    note = "result types are Out<T>, AnyOut, ScalarOut<T>, &mut [T], ArrayViewMut<T, D>, TokenOut and DeviceOut<T>, and Option<..> or Variadic<..> of them",
    note = "`&mut [bool]` and views of bool cannot be results, since the memory holds bytes that are no bool: use Out<bool>"
)]
pub unsafe trait RetParam<'f>: Sized {
    /// The demands of the type.
    const SPEC: BufferSpec;

    /// Checks the buffer and gives it this type.
    ///
    /// # Safety
    /// The buffer's memory is live and no other code reads or writes it during `'f`; if `SPEC.host_memory`, it is
    /// writable from the CPU, and its bytes have some value, although an unknown one.
    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch>;
}

/// A type that an argument and a result in the same memory can have: [`InOut`](super::InOut).
///
/// # Safety
/// `from_buffers` must check all that its type relies on.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an in-out parameter of a custom call",
    label = "not an in-out type",
    note = "in-out types are InOut<T> and DeviceInOut<T>"
)]
pub unsafe trait InOutParam<'f>: Sized {
    /// The demands of the type.
    const SPEC: BufferSpec;

    /// Checks the buffers and gives them this type.
    ///
    /// # Safety
    /// As for [`ArgParam`] and [`RetParam`]; the two are the same memory, or have no byte in common.
    unsafe fn from_buffers(argument: BufferRef<'f>, result: BufferRef<'f>) -> Result<Self, Mismatch>;
}

/// Checks dtype, rank and alignment, for a type that sees memory as `T`s.
#[inline(always)]
pub(super) fn check<T: Element>(buffer: &BufferRef<'_>, rank: Option<usize>) -> Result<(), Mismatch> {
    if buffer.dtype_code() != T::DTYPE.code() {
        return Err(Mismatch::DType(T::DTYPE));
    }
    if let Some(rank) = rank
        && buffer.dims().len() != rank
    {
        return Err(Mismatch::Rank(rank));
    }
    if buffer.data().addr() & (T::ALIGN - 1) != 0 {
        return Err(Mismatch::Alignment(T::ALIGN));
    }
    Ok(())
}

/// Checks, for bools, that each byte is 0 or 1.
///
/// # Safety
/// As for [`ArgParam::from_buffer`], with dtype and alignment checked.
#[inline(always)]
pub(super) unsafe fn check_values<T: Element>(buffer: &BufferRef<'_>) -> Result<(), Mismatch> {
    if matches!(T::DTYPE, DType::Pred) && !buffer.is_empty() {
        // SAFETY: the caller guarantees initialised bytes, as many as there are elements.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.data(), buffer.len()) };
        // Without an early exit the loop vectorises.
        if bytes.iter().fold(0, |all, byte| all | byte) > 1 {
            let index = bytes.iter().position(|byte| *byte > 1).unwrap_or(0);
            return Err(Mismatch::BoolByte(index, bytes[index]));
        }
    }
    Ok(())
}

/// A token argument: it orders side effects and holds no data.
#[derive(Clone, Copy, Debug)]
pub struct Token(());

/// A token result.
#[derive(Debug)]
pub struct TokenOut(());

const TOKEN: BufferSpec = BufferSpec { dtype: Some(DType::Token), rank: Some(0), align: 1, host_memory: false };

fn check_token(buffer: &BufferRef<'_>) -> Result<(), Mismatch> {
    if buffer.dtype_code() == DType::Token.code() { Ok(()) } else { Err(Mismatch::DType(DType::Token)) }
}

// SAFETY: a token has no memory.
unsafe impl<'f> ArgParam<'f> for Token {
    const SPEC: BufferSpec = TOKEN;

    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
        check_token(&buffer).map(|()| Token(()))
    }
}

// SAFETY: a token has no memory.
unsafe impl<'f> RetParam<'f> for TokenOut {
    const SPEC: BufferSpec = TOKEN;

    unsafe fn from_buffer(buffer: BufferRef<'f>) -> Result<Self, Mismatch> {
        check_token(&buffer).map(|()| TokenOut(()))
    }
}

/// Any number of buffers of one type, the last of an operation's arguments or results.
///
/// ```
/// use oxcall::prelude::*;
///
/// /// Sum of one or more arrays of one shape.
/// #[custom_call]
/// fn sum_all(#[dims(..s)] x: Array<f32>, #[dims(..s)] others: Variadic<Array<f32>>, #[dims(..s)] mut y: Out<f32>) {
///     y.copy_from_slice(&x);
///     for other in &others {
///         for (y, x) in y.iter_mut().zip(other.iter()) {
///             *y += x;
///         }
///     }
/// }
/// # let ones = vec![1f32; 3];
/// # let out = oxcall::testing::call::<sum_all>().arg(ones.clone()).arg(ones).run().unwrap();
/// # assert_eq!(out.get::<f32>(0).as_slice().unwrap(), [2.0; 3]);
/// ```
#[derive(Debug)]
pub struct Variadic<P>(Vec<P>);

impl<P> Variadic<P> {
    #[doc(hidden)]
    pub fn __new(buffers: Vec<P>) -> Variadic<P> {
        Variadic(buffers)
    }
}

impl<P> Deref for Variadic<P> {
    type Target = [P];

    fn deref(&self) -> &[P] {
        &self.0
    }
}

impl<P> DerefMut for Variadic<P> {
    fn deref_mut(&mut self) -> &mut [P] {
        &mut self.0
    }
}

impl<P> IntoIterator for Variadic<P> {
    type Item = P;
    type IntoIter = std::vec::IntoIter<P>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, P> IntoIterator for &'a Variadic<P> {
    type Item = &'a P;
    type IntoIter = std::slice::Iter<'a, P>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, P> IntoIterator for &'a mut Variadic<P> {
    type Item = &'a mut P;
    type IntoIter = std::slice::IterMut<'a, P>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}
