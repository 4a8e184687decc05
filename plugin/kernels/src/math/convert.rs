//! Conversions between the types in which elements are computed, and from and to stored elements.

use bytemuck::Zeroable;
use num_complex::Complex;
use num_traits::AsPrimitive;
use oxcall_element::by_small_float;
use oxcall_hlo::ElementType;

use super::function::{Function, Weight, binary, unary};
use super::level::Level;
use super::{generated, round};
use crate::element::Element;

use Weight::Light;

/// The type in which elements of type `element` are computed.
pub fn wide(element: ElementType) -> ElementType {
    use ElementType::*;
    match element {
        Pred | U2 | U4 => U8,
        S2 | S4 => S8,
        _ if element.is_float() && element != F64 => F32,
        _ => element,
    }
}

/// The unsigned integer of the same width; for `C128`, itself.
pub(crate) fn bits(wide: ElementType) -> ElementType {
    use ElementType::*;
    match wide {
        S8 => U8,
        S16 => U16,
        S32 | F32 => U32,
        S64 | F64 | C64 => U64,
        other => other,
    }
}

/// The signed integer of the same width as an unsigned one.
pub(crate) fn signed(wide: ElementType) -> ElementType {
    use ElementType::*;
    match wide {
        U8 => S8,
        U16 => S16,
        U32 => S32,
        U64 => S64,
        other => other,
    }
}

/// Whether the stored form differs from the computed one: narrow floats.
pub(crate) fn is_packed(element: ElementType) -> bool {
    element.is_float() && wide(element) != element
}

/// Evaluates `$body` with `$T` as the Rust type of a type in which elements are computed, or `None` for others.
macro_rules! by_wide {
    ($element:expr, $T:ident => $body:expr) => {
        by_wide!(@ $element, $T => $body;
            U8 u8, U16 u16, U32 u32, U64 u64, S8 i8, S16 i16, S32 i32, S64 i64, F32 f32, F64 f64,
            C64 num_complex::Complex<f32>, C128 num_complex::Complex<f64>)
    };
    (@ $element:expr, $T:ident => $body:expr; $($name:ident $ty:ty),*) => {
        match $element {
            $(oxcall_hlo::ElementType::$name => { type $T = $ty; $body })*
            _ => None,
        }
    };
}
pub(crate) use by_wide;

/// As `by_wide!`, for real numbers.
macro_rules! by_real {
    ($element:expr, $T:ident => $body:expr) => {
        by_wide!(@ $element, $T => $body;
            U8 u8, U16 u16, U32 u32, U64 u64, S8 i8, S16 i16, S32 i32, S64 i64, F32 f32, F64 f64)
    };
}

/// As `by_wide!`, for integers.
macro_rules! by_integer {
    ($element:expr, $T:ident => $body:expr) => {
        by_wide!(@ $element, $T => $body; U8 u8, U16 u16, U32 u32, U64 u64, S8 i8, S16 i16, S32 i32, S64 i64)
    };
}
pub(crate) use by_integer;

/// As `by_wide!`, for signed integers.
macro_rules! by_signed {
    ($element:expr, $T:ident => $body:expr) => {
        by_wide!(@ $element, $T => $body; S8 i8, S16 i16, S32 i32, S64 i64)
    };
}
pub(crate) use by_signed;

/// As `by_wide!`, for unsigned integers.
macro_rules! by_unsigned {
    ($element:expr, $T:ident => $body:expr) => {
        by_wide!(@ $element, $T => $body; U8 u8, U16 u16, U32 u32, U64 u64)
    };
}
pub(crate) use by_unsigned;

/// As `by_wide!`, for floats.
macro_rules! by_float {
    ($element:expr, $T:ident => $body:expr) => {
        by_wide!(@ $element, $T => $body; F32 f32, F64 f64)
    };
}
pub(crate) use by_float;

/// The conversion from one type in which elements are computed to another: floats to integers truncate and saturate,
/// NaN gives 0; integers wrap; complex numbers lose their imaginary part.
pub(crate) fn convert<L: Level>(from: ElementType, to: ElementType) -> Option<Function> {
    // Among integers it does not matter whether the result is signed.
    // LLVM makes no vectors of conversions that saturate.
    let flops = if from.is_float() && to.is_integer() { 10.0 } else { 1.0 };
    let function = if from.is_integer() && to.is_integer() {
        by_integer!(from, A => by_unsigned!(bits(to), B => {
            Some(unary::<L, A, B, _>(Light, |x: A| AsPrimitive::<B>::as_(x)))
        }))
    } else if from.is_integer() {
        by_integer!(from, A => by_float!(to, B => {
            Some(unary::<L, A, B, _>(Light, |x: A| AsPrimitive::<B>::as_(x)))
        }))
    } else {
        by_float!(from, A => by_real!(to, B => {
            Some(unary::<L, A, B, _>(Light, |x: A| AsPrimitive::<B>::as_(x)))
        }))
    };
    function.map(|function| function.named("convert", flops).giving(to))
}

/// The complex number with a given real part.
pub(crate) fn to_complex<L: Level>(real: ElementType) -> Option<Function> {
    match real {
        ElementType::F32 => Some(unary::<L, _, _, _>(Light, |x: f32| Complex::new(x, 0.0))),
        ElementType::F64 => Some(unary::<L, _, _, _>(Light, |x: f64| Complex::new(x, 0.0))),
        _ => None,
    }
    .map(|function| function.named("convert", 1.0))
}

/// The conversion between both complex types.
pub(crate) fn between_complex<L: Level>(from: ElementType) -> Function {
    match from {
        ElementType::C64 => {
            unary::<L, _, _, _>(Light, |z: Complex<f32>| Complex::new(f64::from(z.re), f64::from(z.im)))
        }
        _ => unary::<L, _, _, _>(Light, |z: Complex<f64>| Complex::new(z.re as f32, z.im as f32)),
    }
    .named("convert", 2.0)
}

/// Whether a real element is not zero, as 0 or 1; NaN is not.
pub(crate) fn is_nonzero<L: Level>(from: ElementType) -> Option<Function> {
    let from = if from.is_integer() { bits(from) } else { from };
    by_wide!(@ from, A => Some(unary::<L, A, u8, _>(Light, |x: A| u8::from(x != A::zeroed())));
        U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64)
    .map(|function| function.named("nonzero", 1.0))
}

/// The complex number of two parts.
pub(crate) fn complex<L: Level>(part: ElementType) -> Option<Function> {
    match part {
        ElementType::F32 => Some(binary::<L, _, _, _, _>(Light, |re: f32, im: f32| Complex::new(re, im))),
        ElementType::F64 => Some(binary::<L, _, _, _, _>(Light, |re: f64, im: f64| Complex::new(re, im))),
        _ => None,
    }
    .map(|function| function.named("complex", 1.0))
}

/// `f64` to `f32`, rounded to odd if inexact: rounding the result to a narrower type equals rounding once.
pub(crate) fn to_f32_odd<L: Level>() -> Function {
    unary::<L, _, _, _>(Light, oxcall_element::round_to_odd).named("convert", 3.0)
}

/// The functions of a narrow float type.
#[derive(Clone, Copy)]
pub(crate) struct Packed {
    /// From its stored code to `f32`.
    pub load: Function,
    /// From `f32` to its stored code.
    pub store: Function,
    /// From `f32` to the nearest `f32` that it has.
    pub round: Function,
}

/// The functions of a narrow float type; `None` for types that are stored as they are computed.
pub(crate) fn packed<L: Level>(element: ElementType) -> Option<Packed> {
    let (functions, flops) = match element {
        ElementType::F16 => {
            let packed = Packed {
                load: unary::<L, u16, f32, _>(Light, round::f16_to_f32),
                store: unary::<L, f32, u16, _>(Light, round::f32_to_f16),
                round: unary::<L, f32, f32, _>(Light, |x: f32| round::f16_to_f32(round::f32_to_f16(x))),
            };
            (packed, 6.0)
        }
        ElementType::BF16 => {
            let packed = Packed {
                load: unary::<L, u16, f32, _>(Light, |code: u16| f32::from_bits(u32::from(code) << 16)),
                store: unary::<L, f32, u16, _>(Light, |x: f32| (round::to_bf16(x).to_bits() >> 16) as u16),
                round: unary::<L, f32, f32, _>(Light, round::to_bf16),
            };
            (packed, 3.0)
        }
        _ => {
            let packed = by_small_float!(element, T => Packed {
                load: unary::<L, u8, f32, _>(Light, |code: u8| T::from_bits(code).widen()),
                store: unary::<L, f32, u8, _>(Light, |x: f32| T::narrow(x).to_bits()),
                round: unary::<L, f32, f32, _>(Light, |x: f32| T::narrow(x).widen()),
            }, _ => return None);
            (packed, 20.0)
        }
    };
    let records = generated::packed(element);
    let record = |index: usize| records.map(|records| records[index]);
    Some(Packed {
        load: functions.load.named("load", flops).recorded(record(0)),
        store: functions.store.named("store", flops).recorded(record(1)),
        round: functions.round.named("round", 2.0 * flops).recorded(record(2)).rounding_to(element),
    })
}
