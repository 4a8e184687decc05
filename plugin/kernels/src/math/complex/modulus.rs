//! The modulus of a complex number.

use num_complex::Complex;

use super::scale::Scaled;
use crate::math::level::Level;

/// |z| within an ULP: infinite if a part is, also beside NaN, as in C's Annex G.
#[inline(always)]
pub(super) fn modulus<L: Level>(z: Complex<f64>) -> f64 {
    let scaled = Scaled::new(z);
    let is_infinite = (z.re.abs() == f64::INFINITY) | (z.im.abs() == f64::INFINITY);
    if is_infinite { f64::INFINITY } else { scaled.norm::<L>().sqrt() / scaled.scale }
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::modulus;
    use crate::kernels::testing::Random;
    use crate::math::complex::Part;
    use crate::math::level::{Baseline, with_level};

    fn of_floats(z: Complex<f32>) -> f32 {
        f32::of_one(z, |z| modulus::<Baseline>(z).into()).re
    }

    fn both(re: f64, im: f64) -> [f64; 2] {
        let z = Complex::new(re, im);
        [modulus::<Baseline>(z), with_level!(L => modulus::<L>(z))]
    }

    #[test]
    fn triples_of_pythagoras_are_exact_at_every_size() {
        for [x, y, size] in
            [[3.0, 4.0, 5.0], [-5.0, 12.0, 13.0], [15.0, -8.0, 17.0], [-20.0, -21.0, 29.0], [0.0, 1.0, 1.0]]
        {
            for exponent in -1022..1019 {
                let unit = 2f64.powi(exponent);
                assert_eq!(both(x * unit, y * unit), [size * unit; 2], "({x}, {y}) 2^{exponent}");
            }
            // Numbers of the least subnormal one.
            let least = f64::from_bits(1);
            assert_eq!(both(x * least, y * least), [size * least; 2]);
            let unit = 1e-30;
            let z = Complex::new(x as f32, y as f32);
            assert_eq!(of_floats(z), size as f32);
            assert!((f64::from(of_floats(z * unit as f32)) / (size * unit) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn other_numbers_are_within_two_units_of_the_last_place() {
        let mut random = Random(5);
        for _ in 0..20_000 {
            let bytes = random.bytes(18);
            let part = |bytes: &[u8], near: u8| {
                let bits = u64::from_le_bytes(bytes.try_into().unwrap());
                // Half of the numbers have sizes near to each other.
                let exponent =
                    if near.is_multiple_of(2) { (bits >> 52 & 0x7ff) % 2046 } else { 1000 + u64::from(near >> 4) };
                f64::from_bits(bits & !(0x7ff << 52) | exponent << 52)
            };
            let (x, y) = (part(&bytes[..8], bytes[16]), part(&bytes[8..16], bytes[16]));
            let exact = x.hypot(y);
            for found in both(x, y) {
                assert!(found.to_bits().abs_diff(exact.to_bits()) <= 2, "|{x:e} + {y:e} i|: {found:e}, not {exact:e}");
            }
            let z = Complex::new(x as f32, y as f32);
            let exact = f64::from(z.re).hypot(f64::from(z.im)) as f32;
            assert!(of_floats(z).to_bits().abs_diff(exact.to_bits()) <= 1, "{z}");
        }
    }

    #[test]
    fn infinity_is_larger_than_nan() {
        let (infinity, nan) = (f64::INFINITY, f64::NAN);
        for (x, y) in [(infinity, nan), (nan, -infinity), (-infinity, 1.0), (infinity, infinity)] {
            assert_eq!(both(x, y), [infinity; 2]);
            assert_eq!(of_floats(Complex::new(x as f32, y as f32)), f32::INFINITY);
        }
        assert!(both(nan, 1.0).iter().chain(&both(0.0, nan)).all(|size| size.is_nan()));
        assert!(of_floats(Complex::new(f32::NAN, 0.0)).is_nan());
        assert_eq!(both(-0.0, 0.0).map(f64::to_bits), [0; 2]);
        assert_eq!(both(f64::MAX, f64::MAX), [infinity; 2]);
    }
}
