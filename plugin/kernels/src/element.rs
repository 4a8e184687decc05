//! Element types: the Rust types in which elements are stored and computed.
//!
//! In the engine's buffers every element takes whole bytes: `Pred` is a byte 0 or 1, `S4` a sign-extended `i8`, and so
//! on. [`Element`] is the stored type, and [`Element::Wide`] the type of computations: the same type, or `f32` for
//! narrower floats, with a rounding after each op.

mod scalar;

use bytemuck::{Pod, Zeroable};
pub use half::{bf16, f16};
pub use num_complex::Complex;
pub use oxcall_element::{
    F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU,
    S2, S4, U2, U4,
};
use oxcall_hlo::ElementType;
pub use scalar::Scalar;

/// A stored element.
pub trait Element: Pod + Send + Sync + PartialEq {
    /// Its type in programs.
    const TYPE: ElementType;
    /// Whether kernels compile special loops for it. For other types they compile the general loop alone, which keeps
    /// the library small.
    const IS_COMMON: bool = matches!(
        Self::TYPE,
        ElementType::F16
            | ElementType::BF16
            | ElementType::F32
            | ElementType::F64
            | ElementType::S32
            | ElementType::S64
            | ElementType::Pred
    );
    /// The type in which it is computed.
    type Wide: Pod + Send + Sync + PartialEq;
    /// The value.
    fn widen(self) -> Self::Wide;
    /// The nearest element: floats round to nearest even, integers wrap.
    fn narrow(wide: Self::Wide) -> Self;
}

macro_rules! native {
    ($($ty:ty = $element:ident),*) => {$(
        impl Element for $ty {
            const TYPE: ElementType = ElementType::$element;
            type Wide = $ty;
            #[inline(always)]
            fn widen(self) -> $ty { self }
            #[inline(always)]
            fn narrow(wide: $ty) -> $ty { wide }
        }
    )*};
}

native!(i8 = S8, i16 = S16, i32 = S32, i64 = S64, u8 = U8, u16 = U16, u32 = U32, u64 = U64, f32 = F32, f64 = F64);
native!(Complex<f32> = C64, Complex<f64> = C128);

macro_rules! half_floats {
    ($($ty:ty = $element:ident),*) => {$(
        impl Element for $ty {
            const TYPE: ElementType = ElementType::$element;
            type Wide = f32;
            #[inline(always)]
            fn widen(self) -> f32 { self.to_f32() }
            #[inline(always)]
            fn narrow(wide: f32) -> $ty { <$ty>::from_f32(wide) }
        }
    )*};
}

half_floats!(f16 = F16, bf16 = BF16);

/// A boolean: 0 or 1, computed as `u8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub struct Pred(pub u8);

impl Element for Pred {
    const TYPE: ElementType = ElementType::Pred;
    type Wide = u8;
    #[inline(always)]
    fn widen(self) -> u8 {
        self.0
    }
    #[inline(always)]
    fn narrow(wide: u8) -> Pred {
        Pred(u8::from(wide != 0))
    }
}

macro_rules! narrow_integers {
    ($($name:ident($repr:ty)),*) => {$(
        impl Element for $name {
            const TYPE: ElementType = ElementType::$name;
            type Wide = $repr;
            #[inline(always)]
            fn widen(self) -> $repr { self.get() }
            #[inline(always)]
            fn narrow(wide: $repr) -> $name { $name::wrapping(wide) }
        }
    )*};
}

narrow_integers!(S2(i8), S4(i8), U2(u8), U4(u8));

macro_rules! small_floats {
    ($($name:ident)*) => {$(
        impl Element for $name {
            const TYPE: ElementType = ElementType::$name;
            type Wide = f32;
            #[inline]
            fn widen(self) -> f32 { self.to_f32() }
            #[inline]
            fn narrow(wide: f32) -> $name { $name::from_f32(wide) }
        }
    )*};
}

small_floats! {
    F4E2M1FN F6E2M3FN F6E3M2FN F8E3M4 F8E4M3 F8E4M3FN F8E4M3FNUZ F8E4M3B11FNUZ F8E5M2 F8E5M2FNUZ F8E8M0FNU
}

/// Evaluates `$body` with `$T` as the stored type of an element type; each type is an instance of the body.
#[macro_export]
macro_rules! by_element {
    ($element:expr, $T:ident => $body:expr) => {
        $crate::by_element!(@ $element, $T => $body;
            Pred $crate::element::Pred, S2 $crate::element::S2, S4 $crate::element::S4, S8 i8, S16 i16, S32 i32,
            S64 i64, U2 $crate::element::U2, U4 $crate::element::U4, U8 u8, U16 u16, U32 u32, U64 u64,
            F4E2M1FN $crate::element::F4E2M1FN, F6E2M3FN $crate::element::F6E2M3FN,
            F6E3M2FN $crate::element::F6E3M2FN, F8E3M4 $crate::element::F8E3M4, F8E4M3 $crate::element::F8E4M3,
            F8E4M3FN $crate::element::F8E4M3FN, F8E4M3FNUZ $crate::element::F8E4M3FNUZ,
            F8E4M3B11FNUZ $crate::element::F8E4M3B11FNUZ, F8E5M2 $crate::element::F8E5M2,
            F8E5M2FNUZ $crate::element::F8E5M2FNUZ, F8E8M0FNU $crate::element::F8E8M0FNU,
            F16 $crate::element::f16, BF16 $crate::element::bf16, F32 f32, F64 f64,
            C64 $crate::element::Complex<f32>, C128 $crate::element::Complex<f64>)
    };
    (@ $element:expr, $T:ident => $body:expr; $($name:ident $ty:ty),*) => {
        match $element { $(::oxcall_hlo::ElementType::$name => { type $T = $ty; $body })* }
    };
}

/// Evaluates `$body` with `$T` as a type of an element's width in bytes; for kernels that only move elements.
#[macro_export]
macro_rules! by_width {
    ($element:expr, $T:ident => $body:expr) => {
        match $element.byte_width() {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            8 => {
                type $T = u64;
                $body
            }
            _ => {
                type $T = [u64; 2];
                $body
            }
        }
    };
}
