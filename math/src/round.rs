//! Rounding of floats to narrower formats, free of branches.

/// To the nearest `f32` that bfloat16 has, ties to even.
#[inline(always)]
pub fn to_bf16(x: f32) -> f32 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) & 0xffff_0000;
    // A NaN keeps its sign and upper bits, and becomes a quiet one.
    let nan = (bits | 0x0040_0000) & 0xffff_0000;
    f32::from_bits(if x.is_nan() { nan } else { rounded })
}

/// To the code of the nearest IEEE half, ties to even.
#[inline(always)]
pub fn f32_to_f16(x: f32) -> u16 {
    let bits = x.to_bits();
    let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
    // Carries run into the exponent, up to infinity.
    let normal = magnitude.wrapping_sub((127 - 15) << 23).wrapping_add(0xfff + (magnitude >> 13 & 1)) >> 13;
    // Adding 0.5 leaves multiples of 2^-24 in the lowest bits, rounded by the addition itself.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
    let finite = if magnitude < (127 - 14) << 23 { subnormal } else { normal };
    let large = if magnitude > 0x7f80_0000 { nan } else { 0x7c00 };
    (sign | if magnitude < (127 + 16) << 23 { finite } else { large }) as u16
}

/// The value of the code of an IEEE half.
#[inline(always)]
pub fn f16_to_f32(code: u16) -> f32 {
    let code = u32::from(code);
    let (sign, magnitude) = ((code & 0x8000) << 16, code & 0x7fff);
    let normal = (magnitude << 13) + ((127 - 15) << 23);
    // A subnormal is a multiple of 2^-24.
    let subnormal = (magnitude as i32 as f32 * 5.960_464_5e-8).to_bits();
    let special = (magnitude << 13) | 0x7f80_0000;
    let finite = if magnitude < 0x400 { subnormal } else { normal };
    f32::from_bits(sign | if magnitude >= 0x7c00 { special } else { finite })
}

/// Rounds to a float format with the given exponent and mantissa bits, as StableHLO's `reduce_precision` does: ties to
/// even; numbers that are too large become infinite, and numbers that are subnormal in the format become zero. It works
/// on the bits of an IEEE format: their type, the number of mantissa bits, the exponent's bias, and the conversions to
/// bits and back.
macro_rules! reduce_precision {
    ($(#[$doc:meta])* $name:ident $float:ident $bits:ident $mantissa:literal $bias:literal $to:expr, $from:expr) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(x: $float, exponent_bits: u32, mantissa_bits: u32) -> $float {
            let bits: $bits = $to(x);
            let sign = bits & (1 << ($bits::BITS - 1));
            let magnitude = bits ^ sign;
            let dropped = $mantissa - mantissa_bits.min($mantissa);
            let last = magnitude >> dropped & 1;
            // Half of the last place, less one unless that place is odd.
            let half = if dropped == 0 { 0 } else { ((1 << dropped) >> 1) - 1 + last };
            let rounded = (magnitude + half) >> dropped << dropped;
            let bias = (1 << (exponent_bits.min($bits::BITS - 1 - $mantissa) - 1)) - 1;
            let exponent = i32::from((rounded >> $mantissa) as u16);
            let infinity = (2 * $bias + 1) << $mantissa;
            let result = match () {
                () if exponent > $bias + bias => infinity,
                // A format with all exponents has the same subnormal numbers.
                () if exponent <= $bias - bias && bias < $bias => 0,
                () => rounded,
            };
            if x.is_nan() { x } else { $from(sign | result) }
        }
    };
}

reduce_precision!(
    /// Rounds a single to a format.
    reduce_f32 f32 u32 23 127 f32::to_bits, f32::from_bits
);
reduce_precision!(
    /// Rounds a double to a format.
    reduce_f64 f64 u64 52 1023 f64::to_bits, f64::from_bits
);
reduce_precision!(
    /// Rounds a half, given as a single, to a format.
    reduce_f16 f32 u16 10 15 f32_to_f16, f16_to_f32
);
