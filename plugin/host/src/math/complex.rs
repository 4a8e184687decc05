//! Functions of complex numbers.

use num_complex::Complex;
use num_traits::Zero;
use oxcall_hlo::{BinaryOp, UnaryOp};

use super::function::{Function, Weight, Wide, binary, unary};
use super::level::Level;
use super::real::Real;

/// The quotient, scaled against overflow; by zero, infinities or NaN as C's Annex G has it.
fn quotient<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let (largest, zero) = (b.re.abs().max(b.im.abs()), T::zero());
    let scale = if largest.is_finite() && largest > zero {
        // A power of two, so that scaling is exact.
        T::from(2.0).expect("2").powi(-largest.log2().floor().to_i32().unwrap_or(0))
    } else {
        T::one()
    };
    let (c, d) = (b.re * scale, b.im * scale);
    let norm = c * c + d * d;
    let result = Complex::new((a.re * c + a.im * d) / norm * scale, (a.im * c - a.re * d) / norm * scale);
    if !(result.re.is_nan() && result.im.is_nan()) {
        return result;
    }
    let infinite = |x: T| if x.is_infinite() { T::one().copysign(x) } else { zero.copysign(x) };
    if norm == zero && !(a.re.is_nan() && a.im.is_nan()) {
        let infinity = T::infinity().copysign(c);
        Complex::new(infinity * a.re, infinity * a.im)
    } else if (a.re.is_infinite() || a.im.is_infinite()) && c.is_finite() && d.is_finite() {
        let (x, y) = (infinite(a.re), infinite(a.im));
        Complex::new(T::infinity() * (x * c + y * d), T::infinity() * (y * c - x * d))
    } else if (b.re.is_infinite() || b.im.is_infinite()) && a.re.is_finite() && a.im.is_finite() {
        let (x, y) = (infinite(b.re), infinite(b.im));
        Complex::new(zero * (a.re * x + a.im * y), zero * (a.im * x - a.re * y))
    } else {
        result
    }
}

/// e^z - 1.
fn exp_m1<T: Real>(z: Complex<T>) -> Complex<T> {
    // e^x cos y - 1 = (e^x - 1) cos y - 2 sin^2(y / 2)
    let two = T::one() + T::one();
    let (sin, cos) = z.im.sin_cos();
    let half = (z.im / two).sin();
    let real = z.re.exp_m1() * cos - two * half * half;
    let imaginary = if z.im == T::zero() { z.im } else { z.re.exp() * sin };
    Complex::new(real, imaginary)
}

/// e^z, where an imaginary part 0 stays so.
fn exp<T: Real>(z: Complex<T>) -> Complex<T> {
    let size = z.re.exp();
    if z.im == T::zero() {
        return Complex::new(size, z.im);
    }
    if z.re == T::neg_infinity() && !z.im.is_finite() {
        return Complex::zero();
    }
    if z.re == T::infinity() && !z.im.is_finite() {
        return Complex::new(z.re, T::nan());
    }
    let (sin, cos) = z.im.sin_cos();
    if size.is_infinite() && z.re.is_finite() {
        // e^x alone overflows, the parts perhaps do not.
        let half = (z.re / (T::one() + T::one())).exp();
        return Complex::new(half * cos * half, half * sin * half);
    }
    Complex::new(size * cos, size * sin)
}

/// ln(1 + z).
fn ln_1p<T: Real>(z: Complex<T>) -> Complex<T> {
    let two = T::one() + T::one();
    let angle = z.im.atan2(z.re + T::one());
    let (x, y) = (z.re.abs(), z.im.abs());
    let limit = T::from(0.5).expect("0.5");
    let real = if x < limit && y < limit {
        // |1 + z|^2 - 1 = x (2 + x) + y^2
        (z.re * (two + z.re) + z.im * z.im).ln_1p() / two
    } else {
        (z.re + T::one()).hypot(z.im).ln()
    };
    Complex::new(real, angle)
}

/// tanh z.
fn tanh<T: Real>(z: Complex<T>) -> Complex<T> {
    let (one, two) = (T::one(), T::one() + T::one());
    if z.re.abs() > T::from(22.0).expect("22") {
        let (sin, cos) = z.im.sin_cos();
        let small = (-two * z.re.abs()).exp();
        let imaginary = if z.im.is_finite() { two * two * sin * cos * small } else { T::zero().copysign(z.im) };
        return Complex::new(one.copysign(z.re), imaginary);
    }
    // Kahan's formula.
    let t = z.im.tan();
    let beta = one + t * t;
    let s = z.re.sinh();
    let rho = (one + s * s).sqrt();
    if t.is_infinite() {
        return Complex::new(rho / s, one / t);
    }
    let denominator = one + beta * s * s;
    Complex::new(beta * rho * s / denominator, t / denominator)
}

/// z times i.
fn by_i<T: Real>(z: Complex<T>) -> Complex<T> {
    Complex::new(-z.im, z.re)
}

/// z times -i.
fn by_minus_i<T: Real>(z: Complex<T>) -> Complex<T> {
    Complex::new(z.im, -z.re)
}

/// The square root with a non-negative real part.
fn sqrt<T: Real>(z: Complex<T>) -> Complex<T> {
    let (zero, two) = (T::zero(), T::one() + T::one());
    if z.im.is_infinite() {
        return Complex::new(T::infinity(), z.im);
    }
    if z.re == T::infinity() {
        return Complex::new(z.re, if z.im.is_nan() { z.im } else { zero.copysign(z.im) });
    }
    if z.re == T::neg_infinity() {
        let real = if z.im.is_nan() { z.im } else { zero };
        return Complex::new(real, T::infinity().copysign(z.im));
    }
    if z.re == zero && z.im == zero {
        return Complex::new(zero, z.im);
    }
    // Scaled by a power of four so that the modulus neither overflows nor loses digits.
    let four = two * two;
    let (big, small) = (T::max_value() / (four * four), T::min_positive_value() * four / T::epsilon());
    let largest = z.re.abs().max(z.im.abs());
    let (scale, unscale) = match () {
        () if largest > big => (T::one() / (four * four), four),
        () if largest < small => {
            let up = T::one() / (T::epsilon() * T::epsilon());
            (up, T::epsilon())
        }
        () => (T::one(), T::one()),
    };
    let (x, y) = (z.re * scale, z.im * scale);
    let root = ((x.abs() + x.hypot(y)) / two).sqrt();
    let other = y.abs() / (two * root);
    if x >= zero {
        Complex::new(root * unscale, other.copysign(y) * unscale)
    } else {
        Complex::new(other * unscale, root.copysign(y) * unscale)
    }
}

/// ln z.
fn ln<T: Real>(z: Complex<T>) -> Complex<T> {
    let angle = z.im.atan2(z.re);
    let modulus = z.re.hypot(z.im);
    let (x, y) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
    let real = match () {
        // Near the unit circle the logarithm of the modulus would lose digits.
        () if x > T::from(0.5).expect("0.5") && x < T::from(1.5).expect("1.5") => {
            ((x - T::one()) * (x + T::one()) + y * y).ln_1p() / (T::one() + T::one())
        }
        () if modulus.is_infinite() && x.is_finite() => {
            let two = T::one() + T::one();
            (x / two).hypot(y / two).ln() + T::LN_2()
        }
        () => modulus.ln(),
    };
    Complex::new(real, angle)
}

/// a^b.
fn power<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let zero = T::zero();
    if b.is_zero() {
        return Complex::new(T::one(), zero);
    }
    if a.is_zero() {
        return if b.re > zero { Complex::zero() } else { Complex::new(T::nan(), T::nan()) };
    }
    if b == Complex::new(T::one(), zero) {
        return a;
    }
    if b == Complex::new(T::one() + T::one(), zero) {
        return a * a;
    }
    let (modulus, angle) = (ln(a).re, a.im.atan2(a.re));
    exp(Complex::new(b.re * modulus - b.im * angle, b.im * modulus + b.re * angle))
}

/// The hyperbolic sine.
fn sinh<T: Real>(z: Complex<T>) -> Complex<T> {
    let (sin, cos) = z.im.sin_cos();
    let imaginary = if z.im == T::zero() { z.im } else { z.re.cosh() * sin };
    let real = if z.re == T::zero() { z.re } else { z.re.sinh() * cos };
    Complex::new(real, imaginary)
}

/// The hyperbolic cosine.
fn cosh<T: Real>(z: Complex<T>) -> Complex<T> {
    let (sin, cos) = z.im.sin_cos();
    let imaginary = if z.im == T::zero() || z.re == T::zero() { z.re * z.im } else { z.re.sinh() * sin };
    Complex::new(z.re.cosh() * cos, imaginary)
}

/// The arc sine, by Hull, Fairgrieve and Tang's formulas (ACM TOMS 23, 1997), without their scaling.
fn asin_acos<T: Real>(z: Complex<T>) -> (Complex<T>, Complex<T>) {
    let (one, two) = (T::one(), T::one() + T::one());
    let (x, y) = (z.re.abs(), z.im.abs());
    let large = T::one() / T::epsilon();
    let (real_asin, real_acos, imaginary);
    if x > large || y > large {
        // asin z = -i ln(2 i z) to working precision.
        real_asin = x.atan2(y);
        real_acos = y.atan2(x);
        imaginary =
            if x.is_infinite() || y.is_infinite() { T::infinity() } else { ln(Complex::new(x, y)).re + T::LN_2() };
    } else {
        let (r, s) = ((x + one).hypot(y), (x - one).hypot(y));
        let a = (r + s) / two;
        let b = x / a;
        let yy = y * y;
        // a + x, and a - x without cancellation.
        let plus = a + x;
        let minus = if x <= one {
            (yy / (r + x + one) + (s + (one - x))) / two
        } else {
            y * y * (one / (r + x + one) + one / (s + (x - one))) / two
        };
        let minus = if x > one && y == T::zero() { T::zero() } else { minus };
        if b <= T::from(0.6417).expect("0.6417") {
            real_asin = b.asin();
            real_acos = b.acos();
        } else {
            let root = (plus * minus).sqrt();
            real_asin = x.atan2(root);
            real_acos = root.atan2(x);
        }
        // a - 1, without cancellation.
        let above = if x < one {
            (yy / (r + x + one) + yy / (s + (one - x))) / two
        } else {
            let rest = if y == T::zero() && x == one { T::zero() } else { s + (x - one) };
            (yy / (r + x + one) + rest) / two
        };
        imaginary = if a <= T::from(1.5).expect("1.5") {
            (above + (above * (a + one)).sqrt()).ln_1p()
        } else {
            (a + (a * a - one).sqrt()).ln()
        };
    }
    let asin = Complex::new(real_asin.copysign(z.re), imaginary.copysign(z.im));
    let acos_real = if z.re.is_sign_negative() { T::PI() - real_acos } else { real_acos };
    (asin, Complex::new(acos_real, if z.im.is_sign_negative() { imaginary } else { -imaginary }))
}

/// The inverse hyperbolic tangent.
fn atanh<T: Real>(z: Complex<T>) -> Complex<T> {
    let (one, two) = (T::one(), T::one() + T::one());
    let four = two * two;
    let (x, y) = (z.re.abs(), z.im.abs());
    let large = one / T::epsilon();
    if x > large || y > large {
        // atanh z = 1 / z + i pi / 2 to working precision.
        let real = if x.is_infinite() || y.is_infinite() {
            T::zero()
        } else {
            quotient(Complex::new(one, T::zero()), Complex::new(x, y)).re
        };
        return Complex::new(real.copysign(z.re), T::FRAC_PI_2().copysign(z.im));
    }
    let distance = (one - x) * (one - x) + y * y;
    let real = (four * x / distance).ln_1p() / four;
    let imaginary = (two * y).atan2((one - x) * (one + x) - y * y) / two;
    Complex::new(real.copysign(z.re), imaginary.copysign(z.im))
}

/// The function of one complex number for `op`.
pub fn unary_op<L: Level, T: Real>(op: UnaryOp) -> Option<Function>
where
    Complex<T>: Wide,
{
    use Weight::{Heavy, Light};
    macro_rules! heavy {
        ($f:expr) => {
            unary::<L, Complex<T>, Complex<T>, _>(Heavy(80), $f)
        };
    }
    Some(match op {
        UnaryOp::Abs => unary::<L, _, _, _>(Heavy(10), |z: Complex<T>| z.re.hypot(z.im)),
        UnaryOp::Imag => unary::<L, _, _, _>(Light, |z: Complex<T>| z.im),
        UnaryOp::Real => unary::<L, _, _, _>(Light, |z: Complex<T>| z.re),
        UnaryOp::Negate => unary::<L, _, _, _>(Light, |z: Complex<T>| -z),
        UnaryOp::Conj => unary::<L, _, _, _>(Light, |z: Complex<T>| z.conj()),
        UnaryOp::Square => unary::<L, _, _, _>(Light, |z: Complex<T>| z * z).costing(6.0),
        UnaryOp::Sign => heavy!(|z| {
            let modulus = z.re.hypot(z.im);
            if modulus == T::zero() { Complex::zero() } else { quotient(z, Complex::new(modulus, T::zero())) }
        }),
        UnaryOp::IsFinite => unary::<L, _, _, _>(Light, |z: Complex<T>| u8::from(z.re.is_finite() && z.im.is_finite())),
        UnaryOp::Exponential => heavy!(|z| exp(z)),
        UnaryOp::ExponentialMinusOne => heavy!(|z| exp_m1(z)),
        UnaryOp::Log => heavy!(|z| ln(z)),
        UnaryOp::LogPlusOne => heavy!(|z| ln_1p(z)),
        UnaryOp::Logistic => heavy!(|z| {
            let one = Complex::new(T::one(), T::zero());
            quotient(one, one + exp(-z))
        }),
        UnaryOp::Sqrt => heavy!(|z| sqrt(z)),
        UnaryOp::Rsqrt => heavy!(|z| {
            if z.is_zero() {
                Complex::new(T::infinity(), T::nan())
            } else {
                quotient(Complex::new(T::one(), T::zero()), sqrt(z))
            }
        }),
        UnaryOp::Cbrt => heavy!(|z| {
            if z.is_zero() {
                return z;
            }
            let three = T::from(3.0).expect("3");
            let (sin, cos) = (z.im.atan2(z.re) / three).sin_cos();
            let modulus = z.re.hypot(z.im).cbrt();
            Complex::new(modulus * cos, modulus * sin)
        }),
        UnaryOp::Sinh => heavy!(|z| sinh(z)),
        UnaryOp::Cosh => heavy!(|z| cosh(z)),
        UnaryOp::Tanh => heavy!(|z| tanh(z)),
        UnaryOp::Sine => heavy!(|z| by_minus_i(sinh(by_i(z)))),
        UnaryOp::Cosine => heavy!(|z| cosh(by_i(z))),
        UnaryOp::Tan => heavy!(|z| by_minus_i(tanh(by_i(z)))),
        UnaryOp::Asin => heavy!(|z| asin_acos(z).0),
        UnaryOp::Acos => heavy!(|z| asin_acos(z).1),
        UnaryOp::Asinh => heavy!(|z| by_minus_i(asin_acos(by_i(z)).0)),
        UnaryOp::Acosh => heavy!(|z| {
            let acos = asin_acos(z).1;
            if z.im.is_sign_negative() { by_minus_i(acos) } else { by_i(acos) }
        }),
        UnaryOp::Atanh => heavy!(|z| atanh(z)),
        UnaryOp::Atan => heavy!(|z| by_minus_i(atanh(by_i(z)))),
        _ => return None,
    })
}

/// The function of two complex numbers for `op`.
pub fn binary_op<L: Level, T: Real>(op: BinaryOp) -> Option<Function>
where
    Complex<T>: Wide,
{
    use Weight::{Heavy, Light};
    macro_rules! heavy {
        ($f:expr) => {
            binary::<L, Complex<T>, Complex<T>, Complex<T>, _>(Heavy(80), $f)
        };
    }
    Some(match op {
        BinaryOp::Add => binary::<L, _, _, _, _>(Light, |x: Complex<T>, y: Complex<T>| x + y),
        BinaryOp::Subtract => binary::<L, _, _, _, _>(Light, |x: Complex<T>, y: Complex<T>| x - y),
        BinaryOp::Multiply => binary::<L, _, _, _, _>(Light, |x: Complex<T>, y: Complex<T>| x * y).costing(6.0),
        BinaryOp::Divide => heavy!(|x, y| quotient(x, y)),
        BinaryOp::Power => heavy!(|x, y| power(x, y)),
        BinaryOp::Maximum => heavy!(|x, y| if is_nan(x) || (!is_nan(y) && is_greater(x, y)) { x } else { y }),
        BinaryOp::Minimum => heavy!(|x, y| if is_nan(x) || (!is_nan(y) && is_greater(y, x)) { x } else { y }),
        BinaryOp::Atan2 => heavy!(|y, x| {
            // -i ln((x + i y) / sqrt(x^2 + y^2))
            by_minus_i(ln(quotient(x + by_i(y), sqrt(x * x + y * y))))
        }),
        _ => return None,
    })
}

fn is_nan<T: Real>(z: Complex<T>) -> bool {
    z.re.is_nan() || z.im.is_nan()
}

/// Whether `a` comes after `b` in lexicographic order.
fn is_greater<T: Real>(a: Complex<T>, b: Complex<T>) -> bool {
    a.re > b.re || (a.re == b.re && a.im > b.im)
}
