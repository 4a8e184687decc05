//! The modulus of a complex number, and the number divided by it.

use num_complex::Complex;

use super::scale::Scaled;
use crate::math::double::Double;
use crate::math::level::Level;

/// |z| within an ULP: infinite if a part is, also beside NaN, as in C's Annex G.
#[inline(always)]
pub(super) fn modulus<L: Level>(z: Complex<f64>) -> f64 {
    let scaled = Scaled::new(z);
    let is_infinite = (z.re.abs() == f64::INFINITY) | (z.im.abs() == f64::INFINITY);
    if is_infinite { f64::INFINITY } else { scaled.norm::<L>().sqrt() / scaled.scale }
}

/// The same of two floats, in doubles: their squares are exact, and neither overflow nor underflow.
#[inline(always)]
pub(crate) fn modulus_of_floats<D: Double>([re, im]: [D; 2]) -> D {
    let [x, y] = [re * re, im * im];
    let is_infinite = x.same(D::INFINITY) | y.same(D::INFINITY);
    D::select(is_infinite, D::INFINITY, (x + y).root())
}

/// z / |z| of two floats, in doubles: 0 of zeros, NaN of what is not finite.
#[inline(always)]
pub(crate) fn sign_of_floats<D: Double>([re, im]: [D; 2]) -> [D; 2] {
    let zero = D::of(0.0);
    let size = (re * re + im * im).root();
    let finite = D::select(size.less(D::INFINITY), size, D::NAN);
    [re, im].map(|part| D::select(size.same(zero), zero, part / finite))
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::{modulus, modulus_of_floats, sign_of_floats};
    use crate::kernels::testing::Random;
    use crate::math::complex::Part;
    use crate::math::complex::quotient::{finite_sign, is_easy, other_sign};
    use crate::math::level::{Baseline, with_level};

    fn of_floats(z: Complex<f32>) -> f32 {
        f32::modulus::<Baseline>(z)
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
    fn floats_need_no_scale() {
        let odd = [0.0, -0.0, 1.0, f32::MIN_POSITIVE, 1e-45, -1e-40, 3e38, f32::MAX, f32::INFINITY, f32::NAN];
        let mut random = Random(6);
        let bytes = random.bytes(8 * 20_000);
        let any = bytes.chunks_exact(8).map(|bytes| {
            let (re, im) = bytes.split_at(4);
            [re, im].map(|part| f32::from_bits(u32::from_le_bytes(part.try_into().unwrap())))
        });
        // NaNs are equal here.
        let bits = |x: f64| if x.is_nan() { None } else { Some((x as f32).to_bits()) };
        for parts in odd.into_iter().flat_map(|x| odd.map(|y| [x, y])).chain(any) {
            let parts = parts.map(f64::from);
            let z = Complex::new(parts[0], parts[1]);
            let scaled = with_level!(L => modulus::<L>(z));
            assert_eq!(bits(modulus_of_floats(parts)), bits(scaled), "|{z}|");
            let scaled = if is_easy(z) { with_level!(L => finite_sign::<L>(z)) } else { other_sign(z) };
            assert_eq!(sign_of_floats(parts).map(bits), [scaled.re, scaled.im].map(bits), "the sign of {z}");
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
