//! Rust types that are elements of buffers, one for each [`DType`].

mod packed;

use std::fmt::Debug;

use half::{bf16, f16};
use num_complex::Complex;
use oxcall_element::round_to_odd;
#[doc(inline)]
pub use oxcall_element::{
    F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU, S1, S2, S4, U1, U2,
    U4, minifloat,
};
pub use packed::Packed;

use crate::DType;

/// A Rust type that is the element of a buffer.
///
/// | dtype | Rust type |
/// |---|---|
/// | `pred` | `bool` (bytes are checked when a buffer is decoded) |
/// | `s8` .. `s64`, `u8` .. `u64` | `i8` .. `i64`, `u8` .. `u64` |
/// | `f16`, `bf16` | `half::f16`, `half::bf16` |
/// | `f32`, `f64` | `f32`, `f64` |
/// | `c64`, `c128` | `Complex<f32>`, `Complex<f64>` |
/// | `f8...` | [`F8E5M2`], [`F8E4M3FN`], ...: one byte, converted with `to_f32` and `from_f32` |
/// | `s1`, `s2`, `s4`, `u1`, `u2`, `u4`, `f4e2m1fn` | [`S4`], ...: packed several to a byte |
///
/// # Safety
/// `DTYPE`, `load` and `store` must agree with the memory layout that XLA gives buffers of that dtype.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type of XLA buffers",
    label = "not an element type",
    note = "element types are bool, i8..i64, u8..u64, f16, bf16, f32, f64, Complex<f32>, Complex<f64>, and the types of `oxcall::element`"
)]
pub unsafe trait Element: Copy + PartialEq + Debug + Send + Sync + 'static {
    /// The dtype.
    const DTYPE: DType;

    /// The alignment that the buffer's memory must have, in bytes.
    const ALIGN: usize;

    /// Reads the element at `index`.
    ///
    /// # Safety
    /// `base` points to a live buffer of this dtype, aligned to `ALIGN`, with more than `index` elements; the bytes
    /// of the element are a valid value.
    unsafe fn load(base: *const u8, index: usize) -> Self;

    /// Writes the element at `index`.
    ///
    /// # Safety
    /// As for [`load`](Element::load); no other code reads or writes the bytes of the element meanwhile.
    unsafe fn store(base: *mut u8, index: usize, value: Self);
}

/// An element that takes whole bytes, so that a buffer of it is a slice.
///
/// # Safety
/// A buffer of `n` elements has the layout of `[Self; n]`.
#[diagnostic::on_unimplemented(
    message = "a buffer of `{Self}` is not a Rust slice",
    note = "packed types share bytes: use `get`, `iter`, `set` or `as_bytes` instead of slices"
)]
pub unsafe trait Unpacked: Element {}

/// An element whose every bit pattern is a value, so that memory of unknown content may be seen as elements.
///
/// # Safety
/// Every bit pattern is a valid value.
#[diagnostic::on_unimplemented(
    message = "memory with unknown content cannot be seen as `{Self}`",
    note = "a result buffer of bool or of a packed type is written through `Out::fill`, `Out::set` or `Out::as_bytes_mut`"
)]
pub unsafe trait Plain: Unpacked {}

macro_rules! unpacked {
    ($($ty:ty = $dtype:ident),* $(,)?) => {$(
        // SAFETY: XLA stores this dtype as consecutive values with the layout of the Rust type.
        unsafe impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            const ALIGN: usize = align_of::<$ty>();

            #[inline(always)]
            unsafe fn load(base: *const u8, index: usize) -> Self {
                // SAFETY: the caller guarantees a live, aligned element at `index`.
                unsafe { base.cast::<$ty>().add(index).read() }
            }

            #[inline(always)]
            unsafe fn store(base: *mut u8, index: usize, value: Self) {
                // SAFETY: the caller guarantees a live, aligned, unshared element at `index`.
                unsafe { base.cast::<$ty>().add(index).write(value) }
            }
        }

        // SAFETY: as above.
        unsafe impl Unpacked for $ty {}
    )*};
}

macro_rules! plain {
    ($($ty:ty = $dtype:ident),* $(,)?) => {
        unpacked!($($ty = $dtype),*);
        // SAFETY: every bit pattern of these types is a value.
        $(unsafe impl Plain for $ty {})*
    };
}

unpacked! { bool = Pred }
plain! {
    i8 = S8, i16 = S16, i32 = S32, i64 = S64, u8 = U8, u16 = U16, u32 = U32, u64 = U64,
    f16 = F16, bf16 = BF16, f32 = F32, f64 = F64, Complex<f32> = C64, Complex<f64> = C128,
    F8E5M2 = F8E5M2, F8E3M4 = F8E3M4, F8E4M3 = F8E4M3, F8E4M3FN = F8E4M3FN, F8E4M3B11FNUZ = F8E4M3B11FNUZ,
    F8E5M2FNUZ = F8E5M2FNUZ, F8E4M3FNUZ = F8E4M3FNUZ, F8E8M0FNU = F8E8M0FNU,
}

/// A floating-point element with arithmetic: `f16`, `bf16`, `f32`, `f64`.
///
/// Sums of the 16-bit types lose digits quickly: accumulate in [`Wide`](Float::Wide).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a floating-point element",
    note = "list only f16, bf16, f32 and f64 (`T = floats`), or bound the type parameter by `Number` or `Element`"
)]
pub trait Float: Plain + num_traits::Float + num_traits::NumAssign + Default {
    /// The type to accumulate in: `f32` for the 16-bit types, otherwise `Self`.
    type Wide: Float<Wide = Self::Wide>;

    /// The same value in the wide type; exact.
    fn widen(self) -> Self::Wide;

    /// The nearest value in this type, ties to even.
    fn narrow(wide: Self::Wide) -> Self;

    /// The nearest value to an `f64`, ties to even.
    fn from_f64(value: f64) -> Self;

    /// The same value as an `f64`; exact.
    fn as_f64(self) -> f64;
}

macro_rules! float {
    ($($ty:ty, $wide:ty, |$v:ident| $widen:expr, |$w:ident| $narrow:expr, |$d:ident| $from:expr, |$s:ident| $to:expr;)*) => {$(
        impl Float for $ty {
            type Wide = $wide;

            #[inline(always)]
            fn widen(self) -> $wide {
                let $v = self;
                $widen
            }

            #[inline(always)]
            fn narrow($w: $wide) -> Self {
                $narrow
            }

            #[inline(always)]
            fn from_f64($d: f64) -> Self {
                $from
            }

            #[inline(always)]
            fn as_f64(self) -> f64 {
                let $s = self;
                $to
            }
        }
    )*};
}

float! {
    f16, f32, |v| v.to_f32(), |w| f16::from_f32(w), |d| f16::from_f32(round_to_odd(d)), |s| f64::from(s);
    bf16, f32, |v| f32::from_bits(u32::from(v.to_bits()) << 16), |w| bf16_from_f32(w), |d| bf16_from_f32(round_to_odd(d)), |s| f64::from(s);
    f32, f32, |v| v, |w| w, |d| d as f32, |s| f64::from(s);
    f64, f64, |v| v, |w| w, |d| d, |s| s;
}

/// The nearest `bf16`, ties to even. As `bf16::from_f32`, but without a branch, so that loops become vector code.
#[inline(always)]
fn bf16_from_f32(value: f32) -> bf16 {
    let bits = value.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    // A NaN stays one: the sum may carry out of its mantissa, and its low half alone may say that it is a NaN.
    let kept = if value.is_nan() { bits | 0x40_0000 } else { rounded };
    bf16::from_bits((kept as i32 >> 16) as u16)
}

/// An element with arithmetic: every integer and [`Float`] type, and complex numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element with arithmetic",
    note = "list only integers, floats and complex numbers (`T = numbers`), or bound the type parameter by `Element`"
)]
pub trait Number: Plain + num_traits::NumAssign + Default {}

macro_rules! number {
    ($($ty:ty),*) => {$(impl Number for $ty {})*};
}
number!(i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, Complex<f32>, Complex<f64>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bf16_rounds_as_half_does() {
        for bits in (0..=u32::MAX).step_by(if cfg!(miri) { 67_108_859 } else { 4099 }).chain([
            0x3f80_8000,
            0x3f81_8000,
            0x7f7f_ffff,
            0x7f80_0001,
            0xffff_ffff,
        ]) {
            let value = f32::from_bits(bits);
            assert_eq!(bf16::narrow(value).to_bits(), bf16::from_f32(value).to_bits(), "{bits:#x}");
        }
        for bits in (0..=u16::MAX).step_by(if cfg!(miri) { 509 } else { 1 }) {
            let value = bf16::from_bits(bits);
            assert!(value.is_nan() || value.widen() == value.to_f32());
            assert_eq!(value.widen().is_nan(), value.is_nan());
        }
    }

    /// Values around each midpoint of two neighbours round to the side on which they are.
    #[test]
    fn doubles_round_once() {
        fn check<T: Float>(neighbours: impl Iterator<Item = (T, T)>) {
            for (low, high) in neighbours {
                let middle = (low.as_f64() + high.as_f64()) / 2.0;
                let (below, above) = (f64::from_bits(middle.to_bits() - 1), f64::from_bits(middle.to_bits() + 1));
                for sign in [1.0, -1.0] {
                    assert_eq!(T::from_f64(sign * below).as_f64(), sign * low.as_f64(), "{below:e}");
                    assert_eq!(T::from_f64(sign * above).as_f64(), sign * high.as_f64(), "{above:e}");
                }
            }
        }
        let step = if cfg!(miri) { 1999 } else { 1 };
        check((0..0x7bff).step_by(step).map(|bits| (f16::from_bits(bits), f16::from_bits(bits + 1))));
        check((0..0x7f7f).step_by(step).map(|bits| (bf16::from_bits(bits), bf16::from_bits(bits + 1))));
        assert_eq!(<f16 as Float>::from_f64(f64::MAX), f16::INFINITY);
        assert!(<f16 as Float>::from_f64(f64::NAN).is_nan());
        assert_eq!(<bf16 as Float>::from_f64(-0.0).to_bits(), 0x8000);
        assert_eq!(<f16 as Float>::from_f64(5e-324).to_bits(), 0);
    }
}
