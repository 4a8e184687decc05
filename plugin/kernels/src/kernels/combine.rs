//! Recognised bodies of reductions, windows and scatters, as types for which loops are compiled.

use oxcall_hlo::ElementType;

use crate::element::{Complex, Element};

/// An associative and commutative function of two numbers.
pub trait Combine<W> {
    /// The identity element.
    const IDENTITY: W;
    /// Whether kernels compile special loops for it; see `is_common`.
    const IS_COMMON: bool = true;
    /// Whether it is the product.
    const IS_PRODUCT: bool = false;
    /// Whether many numbers have the same result in any order, though they are floats: all but which of several NaN.
    const IN_ANY_ORDER: bool = false;
    /// The function.
    fn combine(a: W, b: W) -> W;
    /// The function by fewer instructions: what it makes of many numbers is right if it [is sure](Self::is_sure), and
    /// none of them has more than [`MOST_DOUBT`](Self::MOST_DOUBT).
    #[inline(always)]
    fn roughly(a: W, b: W) -> W {
        Self::combine(a, b)
    }
    /// How much there is in the way of a number being combined roughly.
    #[inline(always)]
    fn doubt(_: W) -> u32 {
        0
    }
    /// The doubt up to which numbers can be combined roughly.
    const MOST_DOUBT: u32 = 0;
    /// Whether a rough result is right.
    #[inline(always)]
    fn is_sure(_: W) -> bool {
        true
    }
}

/// Whether kernels compile special loops for a function of elements of a type: what programs reduce short rows and few
/// columns by. For others the general loops alone keep the library small, as for [rare types](Element::IS_COMMON).
pub(crate) const fn is_common<T: Element, C: Combine<T::Wide>>() -> bool {
    let is_usual = matches!(T::TYPE, ElementType::F32 | ElementType::F64) || !C::IS_PRODUCT;
    T::IS_COMMON && C::IS_COMMON && is_usual
}

/// The sum.
pub enum Add {}
/// The product.
pub enum Multiply {}
/// The larger number; NaN if one is.
pub enum Maximum {}
/// The smaller number; NaN if one is.
pub enum Minimum {}
/// Bitwise and.
pub enum And {}
/// Bitwise or.
pub enum Or {}
/// Bitwise exclusive or.
pub enum Xor {}

macro_rules! combine {
    ($op:ident for $($ty:ty)+: $identity:expr, |$a:ident, $b:ident| $body:expr) => {$(
        combine!(@ $op $ty: $identity, |$a, $b| $body);
    )+};
    (rare $op:ident for $($ty:ty)+: $identity:expr, |$a:ident, $b:ident| $body:expr) => {$(
        combine!(@ $op $ty: $identity, |$a, $b| $body; const IS_COMMON: bool = false;);
    )+};
    (product $op:ident for $($ty:ty)+: $identity:expr, |$a:ident, $b:ident| $body:expr) => {$(
        combine!(@ $op $ty: $identity, |$a, $b| $body; const IS_PRODUCT: bool = true;);
    )+};
    (extreme $op:ident for $ty:ident, $half:expr, $most:expr;
        $identity:expr, |$a:ident, $b:ident| $body:expr, $roughly:expr) => {
        combine!(@ $op $ty: $identity, |$a, $b| $body;
            const IN_ANY_ORDER: bool = true;
            // One instruction, which drops NaN, and either of two zeros.
            #[inline(always)]
            fn roughly($a: $ty, $b: $ty) -> $ty { $roughly }
            // The upper word without the sign: NaN is above infinity.
            #[inline(always)]
            fn doubt(x: $ty) -> u32 { (x.abs().to_bits() >> $half) as u32 }
            const MOST_DOUBT: u32 = ($most.to_bits() >> $half) as u32;
            #[inline(always)]
            fn is_sure(rough: $ty) -> bool { rough != 0.0 }
        );
    };
    (@ $op:ident $ty:ty: $identity:expr, |$a:ident, $b:ident| $body:expr $(; $($more:tt)*)?) => {
        impl Combine<$ty> for $op {
            const IDENTITY: $ty = $identity;
            $($($more)*)?
            #[inline(always)]
            fn combine($a: $ty, $b: $ty) -> $ty { $body }
        }
    };
}

combine!(Add for i8 i16 i32 i64: 0, |a, b| a.wrapping_add(b));
combine!(product Multiply for i8 i16 i32 i64: 1, |a, b| a.wrapping_mul(b));
combine!(And for u8: !0, |a, b| a & b);
combine!(Or for u8: 0, |a, b| a | b);
combine!(rare And for i8 i16 i32 i64: !0, |a, b| a & b);
combine!(rare Or for i8 i16 i32 i64: 0, |a, b| a | b);
combine!(rare Xor for i8 i16 i32 i64: 0, |a, b| a ^ b);

macro_rules! extremes {
    ($($ty:ident)+) => {$(
        combine!(Maximum for $ty: $ty::MIN, |a, b| a.max(b));
        combine!(Minimum for $ty: $ty::MAX, |a, b| a.min(b));
    )+};
}

extremes!(u8 u16 u32 u64 i8 i16 i32 i64);

// Equal floats have the same bits, except zeros; the larger zero is the positive one. Each step is a selection, which
// vectors have, and no branch.
macro_rules! float_extremes {
    ($($ty:ident $half:expr, $most:expr;)+) => {$(
        combine!(extreme Maximum for $ty, $half, $most; $ty::NEG_INFINITY, |a, b| {
            let larger = if a > b { a } else { b };
            let larger = if a == b { $ty::from_bits(a.to_bits() & b.to_bits()) } else { larger };
            if a.is_nan() { a } else { larger }
        }, if b > a { b } else { a });
        combine!(extreme Minimum for $ty, $half, $most; $ty::INFINITY, |a, b| {
            let smaller = if a < b { a } else { b };
            let smaller = if a == b { $ty::from_bits(a.to_bits() | b.to_bits()) } else { smaller };
            if a.is_nan() { a } else { smaller }
        }, if b < a { b } else { a });
    )+};
}

// The upper word of some NaN of 64 bits is that of infinity.
float_extremes!(
    f32 0, f32::INFINITY;
    f64 32, f64::MAX;
);

combine!(Add for f32 f64: 0.0, |a, b| a + b);
combine!(product Multiply for f32 f64: 1.0, |a, b| a * b);
combine!(Add for Complex<f32> Complex<f64>: Complex::new(0.0, 0.0), |a, b| a + b);
// In each part, one of the two products is not rounded.
combine!(product Multiply for Complex<f32> Complex<f64>: Complex::new(1.0, 0.0), |a, b| {
    Complex::new(a.re.mul_add(b.re, -(a.im * b.im)), a.re.mul_add(b.im, a.im * b.re))
});

/// A number with the type in which long sums of it are kept: a wider one for single precision, otherwise the same.
pub(crate) trait Precise: Copy {
    /// The type of such a sum.
    type Sum: bytemuck::Pod + Send + Sync;
    /// The number as a sum.
    fn to_sum(self) -> Self::Sum;
    /// The sum, rounded.
    fn from_sum(sum: Self::Sum) -> Self;
}

impl Precise for f32 {
    type Sum = f64;

    #[inline(always)]
    fn to_sum(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn from_sum(sum: f64) -> f32 {
        sum as f32
    }
}

impl Precise for Complex<f32> {
    type Sum = Complex<f64>;

    #[inline(always)]
    fn to_sum(self) -> Complex<f64> {
        Complex::new(self.re.into(), self.im.into())
    }

    #[inline(always)]
    fn from_sum(sum: Complex<f64>) -> Complex<f32> {
        Complex::new(sum.re as f32, sum.im as f32)
    }
}

macro_rules! precise {
    ($($ty:ty),*) => {$(
        impl Precise for $ty {
            type Sum = $ty;
            #[inline(always)]
            fn to_sum(self) -> $ty { self }
            #[inline(always)]
            fn from_sum(sum: $ty) -> $ty { sum }
        }
    )*};
}

precise!(u8, u32, u64, i32, i64, f64, Complex<f64>);

/// Evaluates `$body` with `$T` as the type in which elements are read and `$C` as the function for `$op`, and wraps it
/// in `Some`; `None` for rare combinations, which run as a program, and for narrow numbers, which a pass reduces in 32
/// bits. Integers of one width share code that does not depend on their sign: that of signed ones, which are common.
#[macro_export]
macro_rules! by_combine {
    (@function $value:ident, $result:ident, $C:ident => $body:expr; [$($op:ident)+]) => {
        match $value {
            $(BinaryOp::$op => {
                type $C = $crate::kernels::combine::$op;
                $result = Some($body);
            })+
            _ => {}
        }
    };
    ($op:expr, $element:expr, ($T:ident, $C:ident) => $body:expr) => {
        $crate::by_combine!(@ $op, $element, ($T, $C) => $body;
            [F32 => f32, F64 => f64] [Add Multiply Maximum Minimum],
            [U32 | S32 => i32, U64 | S64 => i64] [Add Multiply And Or Xor],
            [Pred => $crate::element::Pred] [And Or],
            [U32 => u32, U64 => u64, S32 => i32, S64 => i64] [Maximum Minimum],
            [C64 => $crate::element::Complex<f32>, C128 => $crate::element::Complex<f64>] [Add Multiply])
    };
    // As above, and for narrow floats.
    (@narrow $op:expr, $element:expr, ($T:ident, $C:ident) => $body:expr) => {
        $crate::by_combine!($op, $element, ($T, $C) => $body).or_else(|| {
            $crate::by_combine!(@ $op, $element, ($T, $C) => $body;
                [F16 => $crate::element::f16, BF16 => $crate::element::bf16] [Add Multiply Maximum Minimum])
        })
    };
    // As above, and for narrow integers, one at a time.
    (@any_width $op:expr, $element:expr, ($T:ident, $C:ident) => $body:expr) => {
        $crate::by_combine!(@narrow $op, $element, ($T, $C) => $body).or_else(|| {
            $crate::by_combine!(@ $op, $element, ($T, $C) => $body;
                [U8 | S8 => i8, U16 | S16 => i16] [Add Multiply And Or Xor],
                [U8 => u8, U16 => u16, S8 => i8, S16 => i16] [Maximum Minimum])
        })
    };
    // The types in which elements are computed.
    (@computed $op:expr, $element:expr, ($T:ident, $C:ident) => $body:expr) => {
        $crate::by_combine!(@ $op, $element, ($T, $C) => $body;
            [F32 => f32, F64 => f64] [Add Multiply Maximum Minimum],
            [U32 | S32 => i32, U64 | S64 => i64] [Add Multiply And Or Xor],
            [U32 => u32, U64 => u64, S32 => i32, S64 => i64] [Maximum Minimum])
    };
    (@ $op:expr, $element:expr, ($T:ident, $C:ident) => $body:expr;
        $([$($($name:ident)|+ => $ty:ty),+] $ops:tt),+) => {{
        #[allow(unused_imports, reason = "every group names the types it needs")]
        use ::oxcall_hlo::{BinaryOp, ElementType};
        let (op, element): (BinaryOp, ElementType) = ($op, $element);
        let mut result = None;
        $($(
            if matches!(element, $(ElementType::$name)|+) {
                type $T = $ty;
                $crate::by_combine!(@function op, result, $C => $body; $ops);
            }
        )+)+
        result
    }};
}

pub use by_combine;
