//! Numbers that add, subtract and multiply, and their derivatives.

use std::array::from_fn;
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use num_complex::Complex;
use oxcall_math::real::Real;

/// A number that adds, subtracts and multiplies: real, complex, or an integer, which wraps around.
///
/// A pointwise function of any `T: Ring` is an operation for all of them, and one of `T: Real` for floats.
/// `T::int(2)` is a constant.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number of a pointwise function",
    note = "write the function for any `T: Ring`; to call it on one number, wrap that: `square(Exact(2))`"
)]
pub trait Ring:
    Copy
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// An integer as a number; as by `as` where it is an integer too.
    fn int(value: i32) -> Self;
}

impl<T: Real> Ring for T {
    #[inline(always)]
    fn int(value: i32) -> Self {
        T::from(f64::from(value))
    }
}

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
    (
        [$($params:tt)*] $ty:ty: $op:ident $method:ident $assign:ident $assign_method:ident
        |$a:ident, $b:ident| $value:expr
    ) => {
        impl<$($params)*> $op for $ty {
            type Output = Self;

            #[allow(clippy::suspicious_arithmetic_impl, reason = "a tangent has other operators than its value")]
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $value
            }
        }
        impl<$($params)*> $assign for $ty {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                *self = $op::$method(*self, other);
            }
        }
    };
}

macro_rules! integers {
    ($($int:ident)*) => {$(
        operator!([] Exact<$int>: Add add AddAssign add_assign |a, b| Exact(a.0.wrapping_add(b.0)));
        operator!([] Exact<$int>: Sub sub SubAssign sub_assign |a, b| Exact(a.0.wrapping_sub(b.0)));
        operator!([] Exact<$int>: Mul mul MulAssign mul_assign |a, b| Exact(a.0.wrapping_mul(b.0)));
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
        operator!([] Exact<Complex<$float>>: Add add AddAssign add_assign |a, b| Exact(a.0 + b.0));
        operator!([] Exact<Complex<$float>>: Sub sub SubAssign sub_assign |a, b| Exact(a.0 - b.0));
        operator!([] Exact<Complex<$float>>: Mul mul MulAssign mul_assign |a, b| Exact(a.0 * b.0));
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

/// A number and its derivatives along `N` directions, of which `None` is a symbolic zero, as in `Dual`.
#[derive(Debug, Clone, Copy)]
struct Moving<T, const N: usize> {
    value: T,
    tangents: [Option<T>; N],
}

impl<T: Ring, const N: usize> Moving<T, N> {
    /// A function of both values, and of both tangents along each direction.
    #[inline(always)]
    fn both(self, other: Self, value: T, tangent: impl Fn(Option<T>, Option<T>) -> Option<T>) -> Self {
        Moving { value, tangents: from_fn(|index| tangent(self.tangents[index], other.tangents[index])) }
    }
}

#[inline(always)]
fn sum<T: Ring>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (None, other) | (other, None) => other,
        (Some(a), Some(b)) => Some(a + b),
    }
}

operator!([T: Ring, const N: usize] Moving<T, N>: Add add AddAssign add_assign |a, b| {
    a.both(b, a.value + b.value, sum)
});
operator!([T: Ring, const N: usize] Moving<T, N>: Sub sub SubAssign sub_assign |a, b| {
    a.both(b, a.value - b.value, |a, b| sum(a, b.map(|b| -b)))
});
operator!([T: Ring, const N: usize] Moving<T, N>: Mul mul MulAssign mul_assign |a, b| {
    a.both(b, a.value * b.value, |ta, tb| sum(ta.map(|ta| ta * b.value), tb.map(|tb| tb * a.value)))
});

impl<T: Ring, const N: usize> Neg for Moving<T, N> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Moving { value: -self.value, tangents: self.tangents.map(|tangent| tangent.map(|tangent| -tangent)) }
    }
}

impl<T: Ring, const N: usize> Ring for Moving<T, N> {
    #[inline(always)]
    fn int(value: i32) -> Self {
        Moving { value: T::int(value), tangents: [None; N] }
    }
}

/// A function of `I` numbers with `O` results; its attributes are its fields.
pub trait RingMap<const I: usize, const O: usize>: Copy + Send + Sync {
    /// Calls it.
    fn call<T: Ring>(self, inputs: [T; I]) -> [T; O];
}

/// The tangents of the results, given those of the operands.
pub fn jvp<T: Ring, M: RingMap<I, O>, const I: usize, const O: usize>(
    map: M,
    inputs: [T; I],
    tangents: [T; I],
) -> [T; O] {
    let moved = from_fn(|index| Moving { value: inputs[index], tangents: [Some(tangents[index])] });
    map.call(moved).map(|Moving { tangents: [tangent], .. }| tangent.unwrap_or(T::int(0)))
}

/// The cotangents of the operands, given those of the results. Complex ones are those of JAX: products with the
/// derivative, not with its conjugate.
pub fn vjp<T: Ring, M: RingMap<I, O>, const I: usize, const O: usize>(
    map: M,
    inputs: [T; I],
    cotangents: [T; O],
) -> [T; I] {
    let one = |of: usize, index: usize| (of == index).then_some(T::int(1));
    let moved: [Moving<T, I>; I] =
        from_fn(|of| Moving { value: inputs[of], tangents: from_fn(|index| one(of, index)) });
    let results = map.call(moved);
    from_fn(|index| {
        let parts = results.iter().zip(cotangents).map(|(result, factor)| result.tangents[index].map(|t| t * factor));
        parts.fold(None, sum).unwrap_or(T::int(0))
    })
}
