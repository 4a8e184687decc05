//! The formats in which elements are computed.

use crate::elementary::{Angles, Format};
use crate::level::Level;
use crate::pair::{Four, Pair};
use crate::{double, single, special};

/// A format in which elements are computed: `f32` or `f64`.
pub trait Float: Angles + Default + Send + Sync + 'static {
    /// Its name, as an element type.
    const NAME: &'static str;

    /// Bits as wide as a number, in which loops collect outcomes.
    type Flags: Copy + Default + PartialEq + std::fmt::Debug + std::ops::BitOr<Output = Self::Flags>;

    /// Four numbers, whose operations take turns.
    type Four: Format;

    /// Four numbers at once.
    fn four(numbers: [Self; 4]) -> Self::Four;
    /// These numbers.
    fn of_four(four: Self::Four) -> [Self; 4];
    /// All bits, or none.
    fn flags(is_set: bool) -> Self::Flags;
    /// The nearest number.
    fn of_f64(x: f64) -> Self;
    /// The value; exact.
    fn as_f64(self) -> f64;
    /// The error function.
    fn erf<L: Level>(self) -> Self;
    /// 1 - erf(x).
    fn erfc<L: Level>(self) -> Self;
    /// e^-x^2 of four numbers, times [`GAUSS_SCALE`](single::GAUSS_SCALE).
    fn four_gauss<L: Level>(x: Self::Four) -> Self::Four;
    /// 1 - erf(x) of four numbers, given what `four_gauss` makes of them.
    fn four_erfc_of_gauss<L: Level>(x: Self::Four, gauss: Self::Four) -> Self::Four;
    /// The angle of the point (x, self).
    fn atan2<L: Level>(self, x: Self) -> Self;
    /// Whether [`power`](Float::power) can be used.
    fn is_power_easy(self, exponent: Self) -> bool;
    /// The number to the power of another.
    fn power<L: Level>(self, exponent: Self) -> Self;
    /// Whether [`lgamma`](Float::lgamma) can be used.
    fn is_lgamma_easy(self) -> bool;
    /// ln |gamma(x)|.
    fn lgamma<L: Level>(self) -> Self;
    /// Whether [`digamma`](Float::digamma) can be used.
    fn is_digamma_easy(self) -> bool;
    /// The derivative of ln |gamma(x)|.
    fn digamma<L: Level>(self) -> Self;
    /// The largest integer that is not above.
    fn floor<L: Level>(self) -> Self;
    /// The nearest integer, halves to even.
    fn round<L: Level>(self) -> Self;
    /// Whether it is NaN.
    fn is_nan(self) -> bool;
    /// A function of doubles, of this number, and rounded.
    fn in_double(self, f: impl Fn(f64) -> f64) -> Self;
}

macro_rules! float {
    ($float:ident $flags:ident $kernels:ident $($rest:item)*) => {
        impl Float for $float {
            const NAME: &'static str = stringify!($float);

            type Flags = $flags;
            type Four = Four<$float>;

            #[inline(always)]
            fn four([a, b, c, d]: [$float; 4]) -> Four<$float> {
                Pair(Pair(a, b), Pair(c, d))
            }
            #[inline(always)]
            fn of_four(Pair(Pair(a, b), Pair(c, d)): Four<$float>) -> [$float; 4] {
                [a, b, c, d]
            }
            #[inline(always)]
            fn flags(is_set: bool) -> $flags {
                if is_set { $flags::MAX } else { 0 }
            }
            #[inline(always)]
            fn of_f64(x: f64) -> $float {
                x as $float
            }
            #[inline(always)]
            fn as_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn erf<L: Level>(self) -> $float {
                $kernels::erf::<L, $float>(self)
            }
            #[inline(always)]
            fn erfc<L: Level>(self) -> $float {
                $kernels::erfc::<L, $float>(self)
            }
            #[inline(always)]
            fn four_gauss<L: Level>(x: Four<$float>) -> Four<$float> {
                $kernels::gauss::<L, Four<$float>>(x)
            }
            #[inline(always)]
            fn four_erfc_of_gauss<L: Level>(x: Four<$float>, gauss: Four<$float>) -> Four<$float> {
                $kernels::erfc_of_gauss::<L, Four<$float>>(x, gauss)
            }
            #[inline(always)]
            fn floor<L: Level>(self) -> $float {
                // Processors with fused multiply-add have an instruction for it; elsewhere it would be a call.
                if L::FUSED {
                    return self.floor();
                }
                let nearest = Float::round::<L>(self);
                let floor = if nearest > self { nearest - 1.0 } else { nearest };
                // Keeps -0.
                floor.copysign(self)
            }
            #[inline(always)]
            fn round<L: Level>(self) -> $float {
                if L::FUSED {
                    return self.round_ties_even();
                }
                const WHOLE: $float = (1u64 << ($float::MANTISSA_DIGITS - 1)) as $float;
                let magnitude = self.abs();
                let rounded = ((magnitude + WHOLE) - WHOLE).copysign(self);
                if magnitude < WHOLE { rounded } else { self }
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
            #[inline(always)]
            fn in_double(self, f: impl Fn(f64) -> f64) -> $float {
                f(f64::from(self)) as $float
            }
            $($rest)*
        }
    };
}

float! {
    f32 u32 single

    #[inline(always)]
    fn atan2<L: Level>(self, x: f32) -> f32 {
        single::atan2::<L>(self, x)
    }
    #[inline(always)]
    fn is_power_easy(self, exponent: f32) -> bool {
        single::is_power_easy(self, exponent)
    }
    #[inline(always)]
    fn power<L: Level>(self, exponent: f32) -> f32 {
        single::power::<L>(self, exponent)
    }
    #[inline(always)]
    fn is_lgamma_easy(self) -> bool {
        special::is_lgamma_easy(f64::from(self))
    }
    #[inline(always)]
    fn lgamma<L: Level>(self) -> f32 {
        special::lgamma::<L>(f64::from(self)) as f32
    }
    #[inline(always)]
    fn is_digamma_easy(self) -> bool {
        special::is_digamma_easy(f64::from(self))
    }
    #[inline(always)]
    fn digamma<L: Level>(self) -> f32 {
        special::positive_digamma::<L>(f64::from(self)) as f32
    }
}
// Doubles have no kernels for these.
float! {
    f64 u64 double

    #[inline(always)]
    fn atan2<L: Level>(self, x: f64) -> f64 {
        f64::atan2(self, x)
    }
    #[inline(always)]
    fn is_power_easy(self, _: f64) -> bool {
        true
    }
    #[inline(always)]
    fn power<L: Level>(self, exponent: f64) -> f64 {
        self.powf(exponent)
    }
    #[inline(always)]
    fn is_lgamma_easy(self) -> bool {
        true
    }
    #[inline(always)]
    fn lgamma<L: Level>(self) -> f64 {
        libm::lgamma(self)
    }
    #[inline(always)]
    fn is_digamma_easy(self) -> bool {
        true
    }
    #[inline(always)]
    fn digamma<L: Level>(self) -> f64 {
        special::digamma(self)
    }
}
