//! Elements that share bytes in the buffers of custom calls: integers of 1, 2 and 4 bits, and a 4-bit float.

use std::fmt;

use crate::minifloat::{Format, Special, minifloat};

macro_rules! packed_integers {
    ($($name:ident($repr:ident): $bits:literal, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
        #[repr(transparent)]
        pub struct $name($repr);

        impl $name {
            /// The smallest value.
            pub const MIN: Self = Self($repr::MIN >> (8 - $bits));
            /// The largest value.
            pub const MAX: Self = Self($repr::MAX >> (8 - $bits));

            /// The value `v`; `None` outside [`MIN`](Self::MIN) to [`MAX`](Self::MAX).
            #[inline]
            pub const fn new(v: $repr) -> Option<Self> {
                if v >= Self::MIN.0 && v <= Self::MAX.0 { Some(Self(v)) } else { None }
            }

            /// The value of the low bits of `v`.
            #[inline]
            pub const fn wrapping(v: $repr) -> Self {
                // The right shift extends the sign of signed types.
                Self(v << (8 - $bits) >> (8 - $bits))
            }

            /// The value.
            #[inline]
            pub const fn get(self) -> $repr {
                self.0
            }
        }

        impl From<$name> for $repr {
            #[inline]
            fn from(value: $name) -> $repr {
                value.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    )*};
}

packed_integers! {
    S1(i8): 1, "Signed 1-bit integer: -1 or 0.";
    S2(i8): 2, "Signed 2-bit integer: -2 to 1.";
    S4(i8): 4, "Signed 4-bit integer: -8 to 7.";
    U1(u8): 1, "Unsigned 1-bit integer: 0 or 1.";
    U2(u8): 2, "Unsigned 2-bit integer: 0 to 3.";
    U4(u8): 4, "Unsigned 4-bit integer: 0 to 15.";
}

minifloat! {
    /// 4-bit float of 2 exponent bits and 1 mantissa bit: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives.
    ///
    /// `from_f32` saturates: infinities become ±6. There is no NaN; a NaN becomes a zero of the other sign.
    F4E2M1FN, codes: 16, Format { exponent: 2, mantissa: 1, bias: 1, special: Special::Finite }
}

impl Default for F4E2M1FN {
    #[inline]
    fn default() -> Self {
        Self(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_checked() {
        assert_eq!((S4::MIN.get(), S4::MAX.get(), S1::MIN.get(), S1::MAX.get()), (-8, 7, -1, 0));
        assert_eq!((U2::MAX.get(), U1::MAX.get(), U4::MIN.get()), (3, 1, 0));
        assert_eq!((S4::new(8), S4::new(-9), U2::new(4), S1::new(1)), (None, None, None, None));
        assert_eq!(S4::wrapping(9).get(), -7);
        assert_eq!(U4::wrapping(0x2f).get(), 15);
        assert_eq!((i8::from(S2::wrapping(2)), S2::wrapping(2).to_string()), (-2, "-2".to_owned()));
    }
}
