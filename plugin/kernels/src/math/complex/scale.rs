//! Complex numbers scaled by powers of two, so that products of their parts neither overflow nor lose digits. There are
//! no branches, so that loops become vector code.

use num_complex::Complex;

use crate::math::elementary::fma;
use crate::math::level::Level;

/// A number times a power of two.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scaled {
    pub(super) scale: f64,
    /// Its largest part is between 1 and 4, or less if the number is subnormal.
    pub(super) number: Complex<f64>,
}

impl Scaled {
    /// Zero, and what is not finite, is itself.
    #[inline(always)]
    pub(super) fn new(z: Complex<f64>) -> Scaled {
        let largest = z.re.abs().max(z.im.abs());
        let exponent = ((largest.to_bits() >> 52) & 0x7ff).min(2045);
        let power = f64::from_bits((2046 - exponent) << 52);
        let scale = if largest.is_finite() & (largest > 0.0) { power } else { 1.0 };
        Scaled { scale, number: Complex::new(z.re * scale, z.im * scale) }
    }

    /// The square of the scaled number's modulus.
    #[inline(always)]
    pub(super) fn norm<L: Level>(self) -> f64 {
        let Complex { re, im } = self.number;
        fma::<L, f64>(re, re, im * im)
    }
}
