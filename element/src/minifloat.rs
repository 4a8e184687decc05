//! Conversion between `f32` and floating-point formats of at most eight bits.
//!
//! One codec serves all formats; each is a [`Format`] constant. Results equal those of the `ml_dtypes` Python package
//! bit for bit, NaNs and overflow included, because that is what JAX users compare with.

/// The bits of a quiet NaN in binary32.
const NAN: u32 = 0x7fc0_0000;
/// Explicit mantissa bits of binary32.
const F32_MANTISSA: u32 = 23;
/// Exponent bias of binary32.
const F32_BIAS: u32 = 127;

/// The use of a format's special codes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// As IEEE 754: the largest exponent means infinity or NaN. Overflow gives an infinity.
    Ieee,
    /// `FN`: no infinities; all ones is NaN. Overflow gives NaN.
    Nan,
    /// `FNUZ`: no infinities, and NaN where negative zero would be. Overflow gives NaN.
    UnsignedZero,
    /// `FN` without NaN, all codes finite. Overflow gives the largest value; NaN gives a zero of the other sign.
    Finite,
    /// `FNU`: no sign, no zero and no mantissa: all ones is NaN, other codes are powers of two. Zero, negative values
    /// and overflow give NaN.
    Exponent,
}

/// A floating-point format.
#[derive(Clone, Copy)]
pub struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Explicit bits of the mantissa.
    pub mantissa: u32,
    /// The bias: a stored exponent is the exponent plus this.
    pub bias: u32,
    /// The special codes.
    pub special: Special,
}

/// `2^exponent`, for exponents of normal numbers.
const fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + F32_BIAS as i32) as u32) << F32_MANTISSA)
}

impl Format {
    /// The 6-bit format with two exponent and three mantissa bits. It exists in programs only: the FFI has no such
    /// dtype.
    pub const F6E2M3FN: Format = Format { exponent: 2, mantissa: 3, bias: 1, special: Special::Finite };

    /// The 6-bit format with three exponent and two mantissa bits; in programs only.
    pub const F6E3M2FN: Format = Format { exponent: 3, mantissa: 2, bias: 3, special: Special::Finite };

    /// All bits but the sign.
    const fn magnitude_mask(self) -> u32 {
        (1 << (self.exponent + self.mantissa)) - 1
    }

    /// The code of positive infinity in formats that have one.
    const fn infinity(self) -> u32 {
        self.magnitude_mask() & !((1 << self.mantissa) - 1)
    }

    /// The exponent of the smallest positive value, which is the distance of subnormal numbers.
    const fn min_exponent(self) -> i32 {
        1 - self.bias as i32 - self.mantissa as i32
    }

    /// The values of all codes.
    pub const fn table<const N: usize>(self) -> [f32; N] {
        let mut table = [0.0; N];
        let mut code = 0;
        while code < N {
            table[code] = self.decode(code as u32);
            code += 1;
        }
        table
    }

    /// The value of a code; exact.
    const fn decode(self, code: u32) -> f32 {
        if matches!(self.special, Special::Exponent) {
            return f32::from_bits(match code {
                0 => 1 << (F32_MANTISSA - 1), // 2^-127 is subnormal in binary32
                0xff => NAN,
                _ => code << F32_MANTISSA,
            });
        }
        let mask = self.magnitude_mask();
        let magnitude = code & mask;
        let sign = (code >> (self.exponent + self.mantissa)) << 31;
        let infinity = self.infinity();
        let nan = match self.special {
            Special::Ieee => magnitude > infinity,
            Special::Nan => magnitude == mask,
            Special::UnsignedZero => sign != 0 && magnitude == 0,
            Special::Finite | Special::Exponent => false,
        };
        if nan {
            return f32::from_bits(NAN | sign);
        }
        if matches!(self.special, Special::Ieee) && magnitude == infinity {
            return f32::from_bits(f32::INFINITY.to_bits() | sign);
        }
        let exponent = magnitude >> self.mantissa;
        let fraction = magnitude - (exponent << self.mantissa);
        let value = match exponent {
            0 => fraction as f32 * power_of_two(self.min_exponent()),
            _ => (fraction + (1 << self.mantissa)) as f32 * power_of_two(self.min_exponent() + exponent as i32 - 1),
        };
        f32::from_bits(value.to_bits() | sign)
    }

    /// The code of the nearest value, ties to even.
    #[inline(always)]
    pub const fn encode(self, value: f32) -> u8 {
        if matches!(self.special, Special::Exponent) {
            return encode_exponent(value);
        }
        let sign = (value.to_bits() >> 31) << (self.exponent + self.mantissa);
        let absolute = value.to_bits() & (u32::MAX >> 1);
        let mask = self.magnitude_mask();
        if absolute > f32::INFINITY.to_bits() {
            return match self.special {
                Special::Ieee => self.infinity() | (1 << (self.mantissa - 1)) | sign,
                Special::Nan => mask | sign,
                Special::UnsignedZero => mask + 1,
                Special::Finite | Special::Exponent => sign ^ (mask + 1),
            } as u8;
        }

        let min_normal = power_of_two(self.min_exponent() + self.mantissa as i32).to_bits();
        let magnitude = if absolute < min_normal {
            // A sum with this constant has its last bit where the subnormal numbers have theirs, so the addition
            // rounds.
            let rounder = power_of_two(self.min_exponent() + F32_MANTISSA as i32);
            (f32::from_bits(absolute) + rounder).to_bits() - rounder.to_bits()
        } else {
            let shift = F32_MANTISSA - self.mantissa;
            let odd = (absolute >> shift) & 1;
            ((absolute + (1 << (shift - 1)) - 1 + odd) >> shift) - ((F32_BIAS - self.bias) << self.mantissa)
        };

        // The largest finite magnitude, and what replaces larger ones.
        let (max, overflow) = match self.special {
            Special::Ieee => (self.infinity() - 1, self.infinity() | sign),
            Special::Nan => (mask - 1, mask | sign),
            Special::UnsignedZero => (mask, mask + 1),
            Special::Finite | Special::Exponent => (mask, mask | sign),
        };
        if magnitude > max {
            overflow as u8
        } else if magnitude == 0 && matches!(self.special, Special::UnsignedZero) {
            0
        } else {
            (magnitude | sign) as u8
        }
    }
}

/// The code of the power of two next to `value` in `f8e8m0fnu`; halfway between two, the larger.
///
/// Rounding adds half to the mantissa's bits, also in binary32's subnormal range, where they have no leading one: there
/// everything above `2^-127` becomes `2^-126`. `ml_dtypes` and XLA do so too.
#[inline(always)]
const fn encode_exponent(value: f32) -> u8 {
    const HALF: u32 = 1 << (F32_MANTISSA - 1);
    let bits = value.to_bits();
    match bits {
        HALF => 0,
        // Past positive infinity come the NaNs and then the negative numbers.
        1..=0x7f80_0000 => ((bits + HALF) >> F32_MANTISSA) as u8,
        _ => 0xff,
    }
}

/// Declares a minifloat type over its `$codes` codes.
macro_rules! minifloat {
    ($(#[$doc:meta])* $name:ident, codes: $codes:literal, $format:expr) => {
        $(#[$doc])*
        ///
        /// Comparison is by value, as for `f32`: NaN differs from itself, and zeros of both signs are equal. Compare
        /// [`to_bits`](Self::to_bits) to tell codes apart.
        #[derive(Clone, Copy)]
        #[cfg_attr(feature = "bytemuck", derive(bytemuck::Pod, bytemuck::Zeroable))]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            const FORMAT: $crate::minifloat::Format = $format;

            /// The value of a code. Bits above the format's are ignored.
            #[inline]
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits & ($codes - 1) as u8)
            }

            /// The code.
            #[inline]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The same value as an `f32`; exact.
            #[inline]
            pub const fn to_f32(self) -> f32 {
                static VALUES: [f32; $codes] = $name::FORMAT.table();
                // As plain data, it may have bits above the format's.
                VALUES[self.0 as usize & ($codes - 1)]
            }

            /// The nearest value to an `f32`, bit for bit as the `ml_dtypes` Python package has it.
            #[inline]
            pub const fn from_f32(value: f32) -> Self {
                Self(Self::FORMAT.encode(value))
            }
        }

        impl PartialEq for $name {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl From<$name> for f32 {
            #[inline]
            fn from(value: $name) -> f32 {
                value.to_f32()
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.to_f32(), f)
            }
        }
    };
}
pub(crate) use minifloat;

#[cfg(test)]
mod tests {
    use crate::*;

    /// Conversions of `ml_dtypes`; the script that writes the file says what its lines mean.
    const TABLE: &str = include_str!("testdata/ml_dtypes.txt");

    fn line<'a>(direction: &str, dtype: DType) -> impl Iterator<Item = &'a str> {
        let mut lines = TABLE.lines().map(str::split_ascii_whitespace);
        lines
            .find_map(|mut words| {
                (words.next() == Some(direction) && words.next() == Some(dtype.name())).then_some(words)
            })
            .unwrap_or_else(|| panic!("no line {direction} {dtype}"))
    }

    fn hex(digits: &str) -> u32 {
        u32::from_str_radix(digits, 16).unwrap()
    }

    fn check<T>(dtype: DType, from_bits: fn(u8) -> T, to_f32: fn(T) -> f32, from_f32: fn(f32) -> u8) {
        let values: Vec<u32> = line("decode", dtype).map(hex).collect();
        assert_eq!(values.len(), 1 << dtype.bits());
        for (code, &expected) in values.iter().enumerate() {
            let value = to_f32(from_bits(code as u8));
            assert_eq!(value.to_bits(), expected, "{dtype} {code:#x}");
            if !value.is_nan() {
                assert_eq!(from_f32(value), code as u8, "{dtype} round trip of {value}");
            }
        }

        let mut runs: Vec<(u32, u8)> = line("encode", dtype)
            .map(|run| run.split_once(':').unwrap())
            .map(|(start, code)| (hex(start), hex(code) as u8))
            .collect();
        assert_eq!(runs[0].0, 0);
        runs.dedup_by_key(|run| run.1);
        let ends = runs.iter().skip(1).map(|run| run.0 - 1).chain([u32::MAX]);
        for (&(start, code), end) in runs.iter().zip(ends) {
            for part in 0..=16u64 {
                let bits = start + (u64::from(end - start) * part / 16) as u32;
                assert_eq!(from_f32(f32::from_bits(bits)), code, "{dtype} from bits {bits:#010x}");
            }
        }
    }

    macro_rules! check {
        ($($name:ident)*) => {$(
            check(DType::$name, $name::from_bits, $name::to_f32, |value| $name::from_f32(value).to_bits());
        )*};
    }

    #[test]
    fn conversions_are_those_of_ml_dtypes() {
        check! { F8E5M2 F8E3M4 F8E4M3 F8E4M3FN F8E4M3B11FNUZ F8E5M2FNUZ F8E4M3FNUZ F8E8M0FNU F4E2M1FN }
    }

    #[test]
    fn comparison_is_by_value() {
        assert_eq!(F8E5M2::from_bits(0x80), F8E5M2::default());
        assert_ne!(F8E5M2::from_f32(f32::NAN), F8E5M2::from_f32(f32::NAN));
        assert!(F8E4M3FN::from_f32(-2.0) < F8E4M3FN::from_f32(0.5));
        assert_eq!(F8E8M0FNU::default().to_f32(), 1.0);
        assert_eq!(format!("{:?} {}", F8E3M4::from_f32(1.5), F4E2M1FN::from_f32(-9.0)), "1.5 -6");
    }
}
