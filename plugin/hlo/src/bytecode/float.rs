//! Floating-point numbers of every type as `f64`, which holds each exactly.

use crate::ElementType;

/// What the bit patterns with the highest exponent mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Specials {
    /// Infinity, and NaN if the mantissa is not 0.
    Ieee,
    /// NaN if the mantissa is all ones, otherwise finite.
    NanOnes,
    /// NaN is the pattern of negative zero, everything else finite.
    NanNegativeZero,
    /// All finite.
    Finite,
}

/// The number that the lowest bits of `bits` hold in format `element`, which must be a float.
pub(super) fn to_f64(element: ElementType, bits: u64) -> f64 {
    use ElementType::*;
    let (exponent_bits, mantissa_bits, bias, specials) = match element {
        F64 => return f64::from_bits(bits),
        F32 => return f64::from(f32::from_bits(bits as u32)),
        F8E8M0FNU if bits as u8 == 0xff => return f64::NAN,
        F8E8M0FNU => return 2f64.powi(i32::from(bits as u8) - 127),
        F16 => (5, 10, 15, Specials::Ieee),
        BF16 => (8, 7, 127, Specials::Ieee),
        F8E5M2 => (5, 2, 15, Specials::Ieee),
        F8E4M3 => (4, 3, 7, Specials::Ieee),
        F8E3M4 => (3, 4, 3, Specials::Ieee),
        F8E4M3FN => (4, 3, 7, Specials::NanOnes),
        F8E4M3FNUZ => (4, 3, 8, Specials::NanNegativeZero),
        F8E4M3B11FNUZ => (4, 3, 11, Specials::NanNegativeZero),
        F8E5M2FNUZ => (5, 2, 16, Specials::NanNegativeZero),
        F4E2M1FN => (2, 1, 1, Specials::Finite),
        F6E2M3FN => (2, 3, 1, Specials::Finite),
        F6E3M2FN => (3, 2, 3, Specials::Finite),
        other => unreachable!("{other} is no float"),
    };
    let mantissa = bits & ((1 << mantissa_bits) - 1);
    let exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
    let negative = bits >> (mantissa_bits + exponent_bits) & 1 == 1;
    let highest = exponent == (1 << exponent_bits) - 1;
    let magnitude = match specials {
        Specials::Ieee if highest && mantissa == 0 => f64::INFINITY,
        Specials::Ieee if highest => f64::NAN,
        Specials::NanOnes if highest && mantissa == (1 << mantissa_bits) - 1 => f64::NAN,
        Specials::NanNegativeZero if negative && exponent == 0 && mantissa == 0 => f64::NAN,
        _ => {
            let implicit = u64::from(exponent > 0) << mantissa_bits;
            let power = exponent.max(1) as i32 - bias - mantissa_bits;
            (implicit | mantissa) as f64 * 2f64.powi(power)
        }
    };
    if negative { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::to_f64;
    use crate::ElementType::*;

    #[test]
    fn values_of_each_format() {
        for (element, bits, value) in [
            (F16, 0x3c00, 1.0),
            (F16, 0xfc00, f64::NEG_INFINITY),
            (F16, 0x0001, 2f64.powi(-24)),
            (BF16, 0xc049, -3.140625),
            (F8E5M2, 0x7b, 57344.0),
            (F8E4M3, 0x77, 240.0),
            (F8E4M3FN, 0x7e, 448.0),
            (F8E4M3FNUZ, 0x7f, 240.0),
            (F8E4M3B11FNUZ, 0x7f, 30.0),
            (F8E5M2FNUZ, 0x7f, 57344.0),
            (F8E3M4, 0x6f, 15.5),
            (F8E8M0FNU, 0x80, 2.0),
            (F4E2M1FN, 0xf, -6.0),
            (F6E2M3FN, 0x1f, 7.5),
            (F6E3M2FN, 0x1f, 28.0),
            (F64, 1.5f64.to_bits(), 1.5),
        ] {
            assert_eq!(to_f64(element, bits), value, "{element} {bits:x}");
        }
        for (element, bits) in
            [(F16, 0x7e00), (F8E4M3FN, 0xff), (F8E5M2FNUZ, 0x80), (F8E8M0FNU, 0xff), (F32, 0x7fc0_0000)]
        {
            assert!(to_f64(element, bits).is_nan(), "{element} {bits:x}");
        }
    }
}
