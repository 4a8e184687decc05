//! Quotients and signs of complex numbers, which are vector code for numbers that are finite and not zero.

use num_complex::Complex;
use num_traits::Zero;

use super::scale::Scaled;
use super::{C128, Part};
use crate::math::elementary::fma;
use crate::math::level::{Baseline, Level};

/// The power of two to scale a dividend by, whose largest part this is, and its reciprocal: products with the parts of
/// a scaled divisor then neither overflow nor lose digits, nor does a part that is far smaller.
#[inline(always)]
fn scale_of_dividend(largest: f64) -> (f64, f64) {
    const DOWN: f64 = 1.0 / 16.0;
    const UP: f64 = f64::from_bits((1023 + 110) << 52);
    let is_large = (largest > f64::MAX * DOWN) & largest.is_finite();
    let is_small = largest < f64::MIN_POSITIVE * UP;
    let pick = |large: f64, small: f64| {
        let other = if is_small { small } else { 1.0 };
        if is_large { large } else { other }
    };
    (pick(DOWN, UP), pick(1.0 / DOWN, 1.0 / UP))
}

/// The sum of two products, without the rounding error of the second: z / z is 1 also where multiply-add is fused.
///
/// Kahan's algorithm: C.-P. Jeannerod, N. Louvet, J.-M. Muller, "Further analysis of Kahan's algorithm", 2013.
#[inline(always)]
fn sum_of_products<L: Level>((a, b): (f64, f64), (c, d): (f64, f64)) -> f64 {
    let product = c * d;
    let error = if product.is_finite() { fma::<L, f64>(c, d, -product) } else { 0.0 };
    fma::<L, f64>(a, b, product) + error
}

/// Whether `z` is finite and not zero.
#[inline(always)]
pub(super) fn is_easy<T: Part>(z: Complex<T>) -> bool {
    is_finite(z) & ((z.re != T::zero()) | (z.im != T::zero()))
}

/// Whether both parts are finite.
#[inline(always)]
pub(super) fn is_finite<T: Part>(z: Complex<T>) -> bool {
    z.re.is_finite() & z.im.is_finite()
}

/// The quotient of finite numbers, scaled against overflow; the divisor is not zero.
#[inline(always)]
pub(super) fn finite_quotient<L: Level>(a: C128, b: C128) -> C128 {
    let divisor = Scaled::new(b);
    let Complex { re: c, im: d } = divisor.number;
    let (up, down) = scale_of_dividend(a.re.abs().max(a.im.abs()));
    let (x, y) = (a.re * up, a.im * up);
    // At most the largest power of two, so that a zero part stays zero.
    let back = (divisor.scale * down).min(f64::from_bits(2046 << 52));
    let norm = divisor.norm::<L>();
    let real = sum_of_products::<L>((x, c), (y, d)) / norm * back;
    let imaginary = sum_of_products::<L>((y, c), (-x, d)) / norm * back;
    Complex::new(real, imaginary)
}

/// The quotient; for zero, infinities and NaN as in C's Annex G.
pub(super) fn quotient<L: Level>(a: C128, b: C128) -> C128 {
    let result = finite_quotient::<L>(a, b);
    if !(result.re.is_nan() && result.im.is_nan()) {
        return result;
    }
    let Complex { re: c, im: d } = Scaled::new(b).number;
    let infinite = |x: f64| if x.is_infinite() { 1f64.copysign(x) } else { 0f64.copysign(x) };
    if b.is_zero() && !(a.re.is_nan() && a.im.is_nan()) {
        let infinity = f64::INFINITY.copysign(c);
        Complex::new(infinity * a.re, infinity * a.im)
    } else if (a.re.is_infinite() || a.im.is_infinite()) && c.is_finite() && d.is_finite() {
        let (x, y) = (infinite(a.re), infinite(a.im));
        Complex::new(f64::INFINITY * (x * c + y * d), f64::INFINITY * (y * c - x * d))
    } else if (b.re.is_infinite() || b.im.is_infinite()) && a.re.is_finite() && a.im.is_finite() {
        let (x, y) = (infinite(b.re), infinite(b.im));
        Complex::new(0.0 * (a.re * x + a.im * y), 0.0 * (a.im * x - a.re * y))
    } else {
        result
    }
}

/// z / |z| of a finite number other than zero.
#[inline(always)]
pub(super) fn finite_sign<L: Level>(z: C128) -> C128 {
    let scaled = Scaled::new(z);
    scaled.number.unscale(scaled.norm::<L>().sqrt())
}

/// The same of zero, which is its own sign, and of what is not finite.
pub(super) fn other_sign(z: C128) -> C128 {
    if z.is_zero() { Complex::zero() } else { quotient::<Baseline>(z, z.re.hypot(z.im).into()) }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::{finite_sign, other_sign};
    use crate::math::level::{Baseline, with_level};

    #[test]
    fn signs_of_triples_of_pythagoras_are_rounded_once_at_every_size() {
        for [x, y, size] in [[3.0, 4.0, 5.0], [-5.0, 12.0, 13.0], [15.0, -8.0, 17.0], [0.0, -1.0, 1.0]] {
            let expected = Complex::new(x / size, y / size);
            for exponent in 0..2041 {
                // From the least subnormal number on.
                let unit = f64::from_bits(1) * f64::from_bits((1023 + exponent / 2) << 52);
                let unit = unit * f64::from_bits((1023 + exponent.div_ceil(2)) << 52);
                let z = Complex::new(x * unit, y * unit);
                assert_eq!(finite_sign::<Baseline>(z), expected, "{z}");
                assert_eq!(with_level!(L => finite_sign::<L>(z)), expected, "{z}");
            }
        }
    }

    #[test]
    fn signs_of_what_is_zero_or_not_finite() {
        assert_eq!(other_sign(Complex::new(-0.0, 0.0)), Complex::new(0.0, 0.0));
        assert!(other_sign(Complex::new(f64::NAN, 1.0)).re.is_nan());
        assert!(other_sign(Complex::new(f64::INFINITY, 1.0)).re.is_nan());
    }
}
