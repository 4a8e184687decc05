//! Lanes: the elements that functions without branches compute with, which are numbers, or values of generated code.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// The outcome of a comparison in each lane.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {}

impl Mask for bool {}

/// What floats and integers have in common.
pub trait Number: Copy {
    /// The outcome of comparisons.
    type Mask: Mask;

    /// `self < other`.
    fn less(self, other: Self) -> Self::Mask;
    /// `self == other`.
    fn same(self, other: Self) -> Self::Mask;
    /// `mask ? yes : no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

/// A float of some format.
pub trait Lane:
    Number + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// Signed integers of the same width.
    type Int: Bits<Mask = Self::Mask>;

    /// `self * b + c`, rounded once.
    fn fused(self, b: Self, c: Self) -> Self;
    /// The square root.
    fn root(self) -> Self;
    /// Its bits.
    fn bits(self) -> Self::Int;
    /// The number of these bits.
    fn of_bits(bits: Self::Int) -> Self;
    /// A number that every format can represent.
    fn of(x: f32) -> Self;
    /// An integer of at most 31 bits.
    fn of_exponent(n: Self::Int) -> Self;
    /// `|self|`.
    fn magnitude(self) -> Self;
    /// `|self|` with the sign of `other`.
    fn with_sign(self, other: Self) -> Self;
    /// The same of a number that is not negative.
    fn signed_as(self, other: Self) -> Self;
}

/// Signed integers as wide as a float; arithmetic wraps.
pub trait Bits: Number {
    /// A small integer.
    fn of(n: i32) -> Self;
    /// `self + other`.
    fn plus(self, other: Self) -> Self;
    /// `self - other`.
    fn minus(self, other: Self) -> Self;
    /// Bits that both have.
    fn and(self, other: Self) -> Self;
    /// `self << amount`, which is less than the width.
    fn left(self, amount: u8) -> Self;
    /// `self >> amount`, which is less than the width; fills with the sign.
    fn right(self, amount: u8) -> Self;
    /// Half of an integer that is not negative, rounded down.
    fn halved(self) -> Self;
}

macro_rules! numbers {
    ($($ty:ident)*) => {$(
        impl Number for $ty {
            type Mask = bool;

            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn same(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
        }
    )*};
}

numbers!(f32 f64 i32 i64);

macro_rules! lanes {
    ($($float:ident $int:ident),*) => {$(
        impl Lane for $float {
            type Int = $int;

            #[inline(always)]
            fn fused(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn bits(self) -> $int {
                self.to_bits().cast_signed()
            }
            #[inline(always)]
            fn of_bits(bits: $int) -> Self {
                $float::from_bits(bits.cast_unsigned())
            }
            #[inline(always)]
            fn of(x: f32) -> Self {
                $float::from(x)
            }
            #[inline(always)]
            fn of_exponent(n: $int) -> Self {
                // Through 32 bits, whose conversions every vector unit has.
                n as i32 as $float
            }
            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn with_sign(self, other: Self) -> Self {
                self.copysign(other)
            }
            #[inline(always)]
            fn signed_as(self, other: Self) -> Self {
                $float::from_bits(self.to_bits() | ((-0.0 as $float).to_bits() & other.to_bits()))
            }
        }

        impl Bits for $int {
            #[inline(always)]
            fn of(n: i32) -> Self {
                $int::from(n)
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn left(self, amount: u8) -> Self {
                self << amount
            }
            #[inline(always)]
            fn right(self, amount: u8) -> Self {
                self >> amount
            }
            #[inline(always)]
            fn halved(self) -> Self {
                (self.cast_unsigned() >> 1).cast_signed()
            }
        }
    )*};
}

lanes!(f32 i32, f64 i64);
