//! 8-bit floating-point elements.

use crate::minifloat::{Format, Special, minifloat};

macro_rules! float8 {
    ($($(#[$doc:meta])* $name:ident: $exponent:literal, $mantissa:literal, $bias:literal, $special:ident, default $default:literal;)*) => {
        $(
            minifloat! {
                $(#[$doc])* $name, codes: 256,
                Format { exponent: $exponent, mantissa: $mantissa, bias: $bias, special: Special::$special }
            }

            #[doc = concat!("The value ", stringify!($default), ".")]
            impl Default for $name {
                #[inline]
                fn default() -> Self {
                    Self::from_f32($default)
                }
            }
        )*
    };
}

float8! {
    /// 8-bit float of 5 exponent and 2 mantissa bits, bias 15, with infinities and NaNs as in IEEE 754.
    F8E5M2: 5, 2, 15, Ieee, default 0.0;
    /// 8-bit float of 3 exponent and 4 mantissa bits, bias 3, with infinities and NaNs as in IEEE 754.
    F8E3M4: 3, 4, 3, Ieee, default 0.0;
    /// 8-bit float of 4 exponent and 3 mantissa bits, bias 7, with infinities and NaNs as in IEEE 754.
    F8E4M3: 4, 3, 7, Ieee, default 0.0;
    /// 8-bit float of 4 exponent and 3 mantissa bits, bias 7, without infinities. Above 464, `from_f32` gives NaN.
    F8E4M3FN: 4, 3, 7, Nan, default 0.0;
    /// 8-bit float of 4 exponent and 3 mantissa bits, bias 11, without infinities or negative zero; overflow is NaN.
    F8E4M3B11FNUZ: 4, 3, 11, UnsignedZero, default 0.0;
    /// 8-bit float of 5 exponent and 2 mantissa bits, bias 16, without infinities or negative zero; overflow is NaN.
    F8E5M2FNUZ: 5, 2, 16, UnsignedZero, default 0.0;
    /// 8-bit float of 4 exponent and 3 mantissa bits, bias 8, without infinities or negative zero; overflow is NaN.
    F8E4M3FNUZ: 4, 3, 8, UnsignedZero, default 0.0;
    /// 8-bit power of two from `2^-127` to `2^127`, or NaN: a scale. Zero and negative values become NaN, and a value
    /// halfway between two powers becomes the larger.
    F8E8M0FNU: 8, 0, 127, Exponent, default 1.0;
}
