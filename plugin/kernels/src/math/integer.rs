//! Functions of integers, which wrap.

use num_traits::{PrimInt, WrappingAdd, WrappingMul, WrappingNeg, WrappingShl, WrappingShr, WrappingSub};
use oxcall_hlo::{BinaryOp, UnaryOp};

use super::function::Weight::{Heavy, Light};
use super::function::{Function, Wide, binary, unary};
use super::level::Level;

/// An integer type.
pub(crate) trait Integer:
    Wide + PrimInt + WrappingAdd + WrappingMul + WrappingNeg + WrappingShl + WrappingShr + WrappingSub
{
    /// The absolute value; for the least value, itself.
    fn wrapping_abs(self) -> Self;
    /// -1, 0 or 1.
    fn sign(self) -> Self;
    /// The quotient, truncated; all bits set if `other` is 0; the least value divided by -1 is itself.
    fn quotient(self, other: Self) -> Self;
    /// The remainder with the sign of `self`; `self` if `other` is 0.
    fn remainder(self, other: Self) -> Self;
    /// Whether a shift by `self`, as an unsigned number, shifts every bit out.
    fn is_too_far(self) -> bool;
    /// The low bits of a shift's amount.
    fn amount(self) -> u32;
    /// The logical shift to the right by less than the width.
    fn shift_right_logical(self, amount: u32) -> Self;
}

macro_rules! integer {
    ($($ty:ident $unsigned:ident $abs:expr, $sign:expr, $truncated:expr;)*) => {$(
        impl Integer for $ty {
            #[inline(always)]
            fn wrapping_abs(self) -> Self {
                ($abs)(self)
            }
            #[inline(always)]
            fn sign(self) -> Self {
                ($sign)(self)
            }
            #[inline(always)]
            fn quotient(self, other: Self) -> Self {
                let quotient = ($truncated)(self, other);
                if other == 0 { !0 } else { quotient }
            }
            #[inline(always)]
            fn remainder(self, other: Self) -> Self {
                let quotient: Self = ($truncated)(self, other);
                if other == 0 { self } else { self.wrapping_sub(quotient.wrapping_mul(other)) }
            }
            #[inline(always)]
            fn is_too_far(self) -> bool {
                self as $unsigned >= $ty::BITS as $unsigned
            }
            #[inline(always)]
            fn amount(self) -> u32 {
                self as u32 & ($ty::BITS - 1)
            }
            #[inline(always)]
            fn shift_right_logical(self, amount: u32) -> Self {
                (self as $unsigned >> amount) as $ty
            }
        }
    )*};
}

/// The quotient of integers by floats, which vector units divide. `$float` has more bits than the integers: a quotient
/// `x / y` that is not an integer is at least `1 / y` below the next one, which is more than its rounding error. The
/// least number divided by -1 is itself.
macro_rules! by_floats {
    ($ty:ident $float:ident signed) => {
        |x: $ty, y: $ty| if y == -1 { x.wrapping_neg() } else { ($float::from(x) / $float::from(y)) as $ty }
    };
    ($ty:ident $float:ident) => {
        |x: $ty, y: $ty| ($float::from(x) / $float::from(y)) as $ty
    };
}

/// The quotient of integers that no float represents; of 0, anything.
macro_rules! by_integers {
    ($ty:ident) => {
        |x: $ty, y: $ty| if y == 0 { x } else { x.wrapping_div(y) }
    };
}

integer! {
    i8 u8 i8::wrapping_abs, i8::signum, by_floats!(i8 f32 signed);
    i16 u16 i16::wrapping_abs, i16::signum, by_floats!(i16 f32 signed);
    i32 u32 i32::wrapping_abs, i32::signum, by_floats!(i32 f64 signed);
    i64 u64 i64::wrapping_abs, i64::signum, by_integers!(i64);
    u8 u8 |x| x, |x: u8| u8::from(x != 0), by_floats!(u8 f32);
    u16 u16 |x| x, |x: u16| u16::from(x != 0), by_floats!(u16 f32);
    u32 u32 |x| x, |x: u32| u32::from(x != 0), by_floats!(u32 f64);
    u64 u64 |x| x, |x: u64| u64::from(x != 0), by_integers!(u64);
}

/// `base` to the power `exponent`. For a negative exponent it is the quotient 1 / x^-n, truncated: 0 unless x is 1 or
/// -1 (and, as in XLA, also for x = 0).
#[inline(always)]
pub(crate) fn power<T: Integer>(base: T, exponent: T) -> T {
    if exponent < T::zero() {
        let minus_one = T::zero().wrapping_sub(&T::one());
        return match () {
            () if base == T::one() => base,
            () if base == minus_one && exponent & T::one() == T::zero() => T::one(),
            () if base == minus_one => base,
            () => T::zero(),
        };
    }
    let (mut result, mut square, mut rest) = (T::one(), base, exponent);
    while rest != T::zero() {
        if rest & T::one() != T::zero() {
            result = result.wrapping_mul(&square);
        }
        square = square.wrapping_mul(&square);
        rest = rest >> 1;
    }
    result
}

/// The function of one integer for `op`, if it depends on the sign.
pub(crate) fn unary_op<L: Level, T: Integer>(op: UnaryOp) -> Option<Function> {
    Some(match op {
        UnaryOp::Abs => unary::<L, _, _, _>(Light, |x: T| x.wrapping_abs()),
        UnaryOp::Sign => unary::<L, _, _, _>(Light, |x: T| x.sign()),
        _ => return None,
    })
}

/// The function of one integer for `op`, if it is the same for signed and unsigned ones.
pub(crate) fn unary_bits_op<L: Level, T: Integer>(op: UnaryOp) -> Option<Function> {
    Some(match op {
        UnaryOp::CountLeadingZeros => {
            unary::<L, _, _, _>(Light, |x: T| T::from(x.leading_zeros()).expect("fits every type"))
        }
        UnaryOp::Negate => unary::<L, _, _, _>(Light, |x: T| T::zero().wrapping_sub(&x)),
        UnaryOp::Not => unary::<L, _, _, _>(Light, |x: T| !x),
        UnaryOp::Popcnt => unary::<L, _, _, _>(Light, |x: T| T::from(x.count_ones()).expect("fits every type")),
        UnaryOp::Square => unary::<L, _, _, _>(Light, |x: T| x.wrapping_mul(&x)),
        _ => return None,
    })
}

/// The function of two integers for `op`, if it depends on the sign.
pub(crate) fn binary_op<L: Level, T: Integer>(op: BinaryOp) -> Option<Function> {
    Some(match op {
        BinaryOp::Divide => binary::<L, _, _, _, _>(Light, |x: T, y: T| x.quotient(y)).costing(20.0),
        BinaryOp::Maximum => binary::<L, _, _, _, _>(Light, |x: T, y: T| x.max(y)),
        BinaryOp::Minimum => binary::<L, _, _, _, _>(Light, |x: T, y: T| x.min(y)),
        BinaryOp::Power => binary::<L, _, _, _, _>(Heavy(50), |x: T, y: T| power(x, y)),
        BinaryOp::Remainder => binary::<L, _, _, _, _>(Light, |x: T, y: T| x.remainder(y)).costing(20.0),
        _ => return None,
    })
}

/// The arithmetic shift to the right of signed integers: too far leaves copies of the sign.
pub(crate) fn shift_right_arithmetic<L: Level, T: Integer>() -> Function {
    binary::<L, _, _, _, _>(Light, |x: T, y: T| {
        x.signed_shr(if y.is_too_far() { T::zero().count_zeros() - 1 } else { y.amount() })
    })
}

/// The function of two integers for `op`, if it is the same for signed and unsigned ones.
pub(crate) fn binary_bits_op<L: Level, T: Integer>(op: BinaryOp) -> Option<Function> {
    Some(match op {
        BinaryOp::Add => binary::<L, _, _, _, _>(Light, |x: T, y: T| x.wrapping_add(&y)),
        BinaryOp::And => binary::<L, _, _, _, _>(Light, |x: T, y: T| x & y),
        BinaryOp::Multiply => binary::<L, _, _, _, _>(Light, |x: T, y: T| x.wrapping_mul(&y)),
        BinaryOp::Or => binary::<L, _, _, _, _>(Light, |x: T, y: T| x | y),
        BinaryOp::ShiftLeft => binary::<L, _, _, _, _>(Light, |x: T, y: T| {
            let shifted = x.wrapping_shl(y.amount());
            if y.is_too_far() { T::zero() } else { shifted }
        }),
        BinaryOp::ShiftRightLogical => binary::<L, _, _, _, _>(Light, |x: T, y: T| {
            let shifted = x.shift_right_logical(y.amount());
            if y.is_too_far() { T::zero() } else { shifted }
        }),
        BinaryOp::Subtract => binary::<L, _, _, _, _>(Light, |x: T, y: T| x.wrapping_sub(&y)),
        BinaryOp::Xor => binary::<L, _, _, _, _>(Light, |x: T, y: T| x ^ y),
        _ => return None,
    })
}
