//! Lanes of several numbers, whose operations take turns.
//!
//! A processor waits for each step of a polynomial, and needs a vector of each constant. Code for several vectors at a
//! time computes one of them while another waits, and loads each constant once for all of them.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use crate::double::{self, Double};
use crate::elementary::Format;
use crate::lane::{Bits, Lane, Mask, Number};
use crate::level::Level;
use crate::single;

/// Two numbers, or two outcomes of comparisons.
#[derive(Debug, Clone, Copy)]
pub struct Pair<T>(pub T, pub T);

/// Four numbers.
pub type Four<T> = Pair<Pair<T>>;

/// Implements a method of two numbers, or of one, for both.
macro_rules! both {
    ($($method:ident($($arg:ident),*);)*) => {$(
        #[inline(always)]
        fn $method(self $(, $arg: Self)*) -> Self {
            Pair(self.0.$method($($arg.0),*), self.1.$method($($arg.1),*))
        }
    )*};
}

macro_rules! operators {
    ($($op:ident [$bound:ident] $method:ident($($arg:ident)?);)*) => {$(
        impl<T: $bound> $op for Pair<T> {
            type Output = Self;

            both!($method($($arg)?););
        }
    )*};
}
operators! {
    Add [Lane] add(other);
    Sub [Lane] sub(other);
    Mul [Lane] mul(other);
    Div [Lane] div(other);
    Neg [Lane] neg();
    BitAnd [Mask] bitand(other);
    BitOr [Mask] bitor(other);
    Not [Mask] not();
}

impl<M: Mask> Mask for Pair<M> {}

impl<T: Number> Number for Pair<T> {
    type Mask = Pair<T::Mask>;

    #[inline(always)]
    fn less(self, other: Self) -> Self::Mask {
        Pair(self.0.less(other.0), self.1.less(other.1))
    }
    #[inline(always)]
    fn same(self, other: Self) -> Self::Mask {
        Pair(self.0.same(other.0), self.1.same(other.1))
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Pair(T::select(mask.0, yes.0, no.0), T::select(mask.1, yes.1, no.1))
    }
}

impl<T: Lane> Lane for Pair<T> {
    type Int = Pair<T::Int>;

    both! {
        fused(b, c);
        root();
        magnitude();
        with_sign(other);
        signed_as(other);
    }

    #[inline(always)]
    fn bits(self) -> Self::Int {
        Pair(self.0.bits(), self.1.bits())
    }
    #[inline(always)]
    fn of_bits(bits: Self::Int) -> Self {
        Pair(T::of_bits(bits.0), T::of_bits(bits.1))
    }
    #[inline(always)]
    fn of(x: f32) -> Self {
        Pair(T::of(x), T::of(x))
    }
    #[inline(always)]
    fn of_exponent(n: Self::Int) -> Self {
        Pair(T::of_exponent(n.0), T::of_exponent(n.1))
    }
}

impl<T: Bits> Bits for Pair<T> {
    both! {
        plus(other);
        minus(other);
        and(other);
        halved();
    }

    #[inline(always)]
    fn of(n: i32) -> Self {
        Pair(T::of(n), T::of(n))
    }
    #[inline(always)]
    fn left(self, amount: u8) -> Self {
        Pair(self.0.left(amount), self.1.left(amount))
    }
    #[inline(always)]
    fn right(self, amount: u8) -> Self {
        Pair(self.0.right(amount), self.1.right(amount))
    }
}

/// A constant twice.
const fn twice<T: Copy>(x: T) -> Pair<T> {
    Pair(x, x)
}

const fn twice_each<T: Copy>([a, b]: [T; 2]) -> [Pair<T>; 2] {
    [twice(a), twice(b)]
}

macro_rules! formats {
    ($($kernels:ident $half:ty;)*) => {$(
        impl Format for Pair<$half> {
            const MANTISSA: u8 = <$half>::MANTISSA;
            const BIAS: i32 = <$half as Format>::BIAS;
            const ROUNDER: Self = twice(<$half>::ROUNDER);
            const MIN_POSITIVE: Self = twice(<$half as Format>::MIN_POSITIVE);
            const INFINITY: Self = twice(<$half as Format>::INFINITY);
            const NAN: Self = twice(<$half as Format>::NAN);
            const LOG2_E: Self = twice(<$half>::LOG2_E);
            const ROOT_HALF: Self::Int = twice(<$half>::ROOT_HALF);
            const LN_2_PARTS: [Self; 2] = twice_each(<$half>::LN_2_PARTS);
            const EXP_RANGE: [Self; 2] = twice_each(<$half>::EXP_RANGE);
            const TANH_END: Self = twice(<$half>::TANH_END);
            const TANH_SERIES: Option<[Self; 2]> = match <$half>::TANH_SERIES {
                Some(series) => Some(twice_each(series)),
                None => None,
            };
            const NO_BITS: Self = twice(<$half>::NO_BITS);
            const TINY: Self = twice(<$half>::TINY);
            const SMALL: Self = twice(<$half>::SMALL);

            #[inline(always)]
            fn exp_series<L: Level>(r: Self) -> Self {
                $kernels::exp_series::<L, Self>(r)
            }
            #[inline(always)]
            fn ln_parts<L: Level>(n: Self, f: Self, correction: Self) -> Self {
                $kernels::ln_parts::<L, Self>(n, f, correction)
            }
            #[inline(always)]
            fn atanh_series<L: Level>(z: Self) -> Self {
                $kernels::atanh_series::<L, Self>(z)
            }
        }
    )*};
}
formats! {
    single f32;
    single Pair<f32>;
    double f64;
    double Pair<f64>;
}

impl<T: Double> Double for Pair<T>
where
    Pair<T>: Format,
{
    #[inline(always)]
    fn of_double(x: f64) -> Self {
        twice(T::of_double(x))
    }
}
