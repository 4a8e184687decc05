//! The types in which contractions are computed.

use std::ops::BitAnd;

use bytemuck::Pod;
use num_complex::Complex;
use oxcall_hlo::ElementType;

use crate::math::elementary::fma;
use crate::math::level::Level;

/// Sums of at most so many products are short.
pub(super) const SHORT: usize = 256;

/// A type in which products are summed. Integers wrap, so the low bits of a sum are those of any narrower type.
pub(in crate::kernels) trait Number: Pod + Send + Sync + PartialEq {
    /// An unsigned integer of the same size.
    type Bits: Pod + Send + Sync + BitAnd<Output = Self::Bits>;
    /// All bits.
    const ALL: Self::Bits;
    /// No bits.
    const NONE: Self::Bits;

    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// Whether the `gemm` crate multiplies matrices of this type.
    const IN_GEMM: bool;
    /// The cost of one multiplication and addition in [`Cost::flops`](crate::pool::Cost), where a core does eight
    /// operations per nanosecond.
    const COST: f64;

    /// Whether the bits of an element of this type are one of `Self`, or one modulo 2^n.
    fn holds(element: ElementType) -> bool;

    /// The largest number of products that `gemm` may add one after another, in sums of up to [`SHORT`] products and in
    /// longer ones. Longer parts have larger errors, shorter ones take more time. Those of `f64` are as long as
    /// XLA:CPU's.
    const TERMS: [usize; 2];
    /// Whether `gemm` multiplies dense rows by dense columns, if there are few, in the lanes of vectors.
    const IN_LANES: bool;
    /// Whether sums do not depend on the order of their terms.
    const IS_EXACT: bool = false;
    /// Whether narrow products use [tiles](super::tiles).
    const IN_TILES: bool = false;
    /// Whether large products use [blocks](super::blocks).
    const IN_BLOCKS: bool = false;

    /// The number itself by all bits, and zero by none.
    #[inline(always)]
    fn kept(self, mask: Self::Bits) -> Self {
        bytemuck::cast(bytemuck::cast::<Self, Self::Bits>(self) & mask)
    }

    /// `a * b`.
    fn times(self, other: Self) -> Self;

    /// `self + a * b`.
    fn plus_product(self, a: Self, b: Self) -> Self;

    /// `self + a * b`, with one rounding if the processor does that at no cost.
    fn plus_fused<L: Level>(self, a: Self, b: Self) -> Self {
        self.plus_product(a, b)
    }

    /// `self + other`.
    fn plus(self, other: Self) -> Self {
        self.plus_product(other, Self::ONE)
    }
}

macro_rules! floats {
    ($(
        $ty:ty, $bits:ty, $element:ident, $one:expr, $cost:literal, $terms:expr, $in_lanes:literal $(, { $($more:item)* })?;
    )*) => {$(
        impl Number for $ty {
            type Bits = $bits;
            const ALL: $bits = <$bits>::MAX;
            const NONE: $bits = 0;

            const ZERO: Self = <$ty as num_traits::ConstZero>::ZERO;
            const ONE: Self = $one;
            const IN_GEMM: bool = true;
            const COST: f64 = $cost;
            const TERMS: [usize; 2] = $terms;
            const IN_LANES: bool = $in_lanes;

            fn holds(element: ElementType) -> bool {
                element == ElementType::$element
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }

            #[inline(always)]
            fn plus_product(self, a: Self, b: Self) -> Self {
                self + a * b
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            $($($more)*)?
        }
    )*};
}

floats! {
    f32, u32, F32, 1.0, 0.2, [64, 128], true, {
        const IN_TILES: bool = true;
        const IN_BLOCKS: bool = true;

        #[inline(always)]
        fn plus_fused<L: Level>(self, a: Self, b: Self) -> Self {
            fma::<L, f32>(a, b, self)
        }
    };
    f64, u64, F64, 1.0, 0.4, [usize::MAX; 2], true;
    Complex<f32>, u64, C64, Complex::new(1.0, 0.0), 0.8, [48; 2], false;
    Complex<f64>, u128, C128, Complex::new(1.0, 0.0), 1.6, [48; 2], false;
}

macro_rules! integers {
    ($($ty:ty, $bits:ty, $signed:ident, $unsigned:ident, $cost:literal;)*) => {$(
        impl Number for $ty {
            type Bits = $bits;
            const ALL: $bits = <$bits>::MAX;
            const NONE: $bits = 0;

            const ZERO: Self = 0;
            const ONE: Self = 1;
            const IN_GEMM: bool = false;
            const COST: f64 = $cost;
            const TERMS: [usize; 2] = [usize::MAX; 2];
            const IN_LANES: bool = false;
            const IS_EXACT: bool = true;

            fn holds(element: ElementType) -> bool {
                matches!(element, ElementType::$signed | ElementType::$unsigned)
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            #[inline(always)]
            fn plus_product(self, a: Self, b: Self) -> Self {
                self.wrapping_add(a.wrapping_mul(b))
            }
        }
    )*};
}

integers! {
    i32, u32, S32, U32, 0.6;
    i64, u64, S64, U64, 2.0;
}
