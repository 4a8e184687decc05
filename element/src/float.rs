//! Floats of all formats, as bits and as numbers.

use half::{bf16, f16};

use crate::ElementType;

/// Evaluates `$body` with `$T` as the Rust type of an [`ElementType`] that is a float of at most 8 bits, and `$other`
/// for other types.
#[macro_export]
macro_rules! by_small_float {
    ($element:expr, $T:ident => $body:expr, _ => $other:expr) => {
        $crate::by_small_float!(@ $element, $T => $body, _ => $other;
            F4E2M1FN F6E2M3FN F6E3M2FN F8E3M4 F8E4M3 F8E4M3FN F8E4M3FNUZ F8E4M3B11FNUZ F8E5M2 F8E5M2FNUZ F8E8M0FNU)
    };
    (@ $element:expr, $T:ident => $body:expr, _ => $other:expr; $($name:ident)*) => {
        match $element {
            $($crate::ElementType::$name => {
                type $T = $crate::$name;
                $body
            })*
            _ => $other,
        }
    };
}

/// The nearest `f32` if that is exact, otherwise the neighbour with an odd last bit: rounding it to 16 bits gives what
/// rounding `value` itself does (Boldo and Melquiond 2008, "Emulation of FMA and correctly rounded sums"). The
/// conversions of `half` look at a part of the bits only, or round twice. Larger values become the largest `f32`,
/// which every format of at most 16 bits rounds as it does infinity. There are no branches, for loops in vectors.
#[inline(always)]
pub fn round_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    let bits = nearest.to_bits();
    let inexact = back != value && !value.is_nan();
    // Bits of floats grow with the magnitude.
    let toward_zero = if back.abs() > value.abs() { bits.wrapping_sub(1) } else { bits };
    f32::from_bits(if inexact { toward_zero | 1 } else { bits })
}

impl ElementType {
    /// The bits of the number of this floating-point type that is nearest to `value`, ties to even.
    pub fn encode(self, value: f64) -> u64 {
        by_small_float!(self, T => T::from_f32(round_to_odd(value)).to_bits().into(), _ => match self {
            ElementType::F16 => f16::from_f32(round_to_odd(value)).to_bits().into(),
            ElementType::BF16 => bf16::from_f32(round_to_odd(value)).to_bits().into(),
            ElementType::F32 => (value as f32).to_bits().into(),
            _ => value.to_bits(),
        })
    }

    /// The number of this floating-point type that has these bits; exact.
    pub fn decode(self, bits: u64) -> f64 {
        by_small_float!(self, T => T::from_bits(bits as u8).to_f32().into(), _ => match self {
            ElementType::F16 => f16::from_bits(bits as u16).into(),
            ElementType::BF16 => bf16::from_bits(bits as u16).into(),
            ElementType::F32 => f32::from_bits(bits as u32).into(),
            _ => f64::from_bits(bits),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_round_trip() {
        let floats = ElementType::ALL.iter().copied().filter(|element| element.is_float() && element.bits() <= 16);
        for element in floats {
            for code in 0..1 << element.bits() {
                let value = element.decode(code);
                assert!(value.is_nan() || element.encode(value) == code, "{element} {code:#x}");
            }
        }
    }

    /// Odd rounding gives the largest `f32` where the nearest is infinity.
    #[test]
    fn too_large_numbers_are_rounded_as_infinities() {
        assert_eq!((round_to_odd(f64::MAX), round_to_odd(f64::INFINITY)), (f32::MAX, f32::INFINITY));
        assert!(round_to_odd(f64::NAN).is_nan());
        for element in ElementType::ALL.iter().copied().filter(|element| element.is_float() && element.bits() <= 16) {
            for sign in [1.0, -1.0] {
                assert_eq!(element.encode(sign * f64::MAX), element.encode(sign * f64::INFINITY), "{element}");
            }
        }
    }

    /// Rounding to `f32` first would lose the last bit, which decides.
    #[test]
    fn doubles_round_once() {
        let above_half = 1.0625 + 1e-12;
        assert_eq!(ElementType::F8E4M3FN.decode(ElementType::F8E4M3FN.encode(above_half)), 1.125);
        assert_eq!(ElementType::F6E2M3FN.decode(ElementType::F6E2M3FN.encode(above_half)), 1.125);
        assert_eq!(ElementType::F8E4M3FN.decode(ElementType::F8E4M3FN.encode(1.0625)), 1.0);
        assert_eq!(ElementType::F6E3M2FN.decode(ElementType::F6E3M2FN.encode(f64::MAX)), 28.0);
    }
}
