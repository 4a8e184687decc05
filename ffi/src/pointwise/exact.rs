//! Integers and complex numbers of pointwise functions.

use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use num_complex::Complex;

use super::Ring;

/// One integer or complex number.
///
/// ```
/// use oxcall::pointwise::{Exact, Ring};
///
/// fn square_plus_two<T: Ring>(x: T) -> T {
///     x * x + T::int(2)
/// }
/// assert_eq!(square_plus_two(Exact(3u8)), Exact(11));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exact<E>(pub E);

/// An operator of numbers, and the one that assigns.
macro_rules! operator {
    ($number:ty: $op:ident $method:ident $assign:ident $assign_method:ident |$a:ident, $b:ident| $value:expr) => {
        impl $op for Exact<$number> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, Exact($b): Self) -> Self {
                let Exact($a) = self;
                Exact($value)
            }
        }
        impl $assign for Exact<$number> {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = $op::$method(*self, other);
            }
        }
    };
}

macro_rules! integers {
    ($($int:ident)*) => {$(
        operator!($int: Add add AddAssign add_assign |a, b| a.wrapping_add(b));
        operator!($int: Sub sub SubAssign sub_assign |a, b| a.wrapping_sub(b));
        operator!($int: Mul mul MulAssign mul_assign |a, b| a.wrapping_mul(b));
        impl Neg for Exact<$int> {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Exact(self.0.wrapping_neg())
            }
        }
        impl Ring for Exact<$int> {
            #[inline(always)]
            fn int(value: i32) -> Self {
                Exact(value as $int)
            }
        }
    )*};
}
integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! complex {
    ($($float:ident)*) => {$(
        operator!(Complex<$float>: Add add AddAssign add_assign |a, b| a + b);
        operator!(Complex<$float>: Sub sub SubAssign sub_assign |a, b| a - b);
        operator!(Complex<$float>: Mul mul MulAssign mul_assign |a, b| a * b);
        impl Neg for Exact<Complex<$float>> {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Exact(-self.0)
            }
        }
        impl Ring for Exact<Complex<$float>> {
            #[inline(always)]
            fn int(value: i32) -> Self {
                Exact(Complex::new(value as $float, 0.0))
            }
        }
    )*};
}
complex!(f32 f64);
