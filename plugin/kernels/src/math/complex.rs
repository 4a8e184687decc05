//! Functions of complex numbers.
//!
//! Functions of more than a few products are computed in double precision for both types, so that the results of the
//! smaller one are rounded once.

mod modulus;
mod quotient;
mod scale;

use std::f64::consts::{FRAC_PI_2, LN_2, PI};

use num_complex::Complex;
use num_traits::Zero;
use oxcall_hlo::{BinaryOp, UnaryOp};

use self::modulus::modulus;
pub(crate) use self::modulus::{modulus_of_floats, sign_of_floats};
use self::quotient::{finite_quotient, finite_sign, is_easy, is_finite, other_sign, quotient};
use super::elementary::fma;
use super::function::{Function, Weight, Wide, binary, guarded_binary, guarded_unary, unary};
use super::level::Level;
use super::real::Real;

type C128 = Complex<f64>;

/// A type of complex numbers by its parts.
pub(crate) trait Part: Real {
    /// A function of complex doubles.
    fn of_one(z: Complex<Self>, f: impl Fn(C128) -> C128) -> Complex<Self>;
    /// A function of two complex doubles.
    fn of_two(x: Complex<Self>, y: Complex<Self>, f: impl Fn(C128, C128) -> C128) -> Complex<Self>;
    /// |z|.
    fn modulus<L: Level>(z: Complex<Self>) -> Self;
    /// The function z / |z|.
    fn complex_sign<L: Level>() -> Function;
}

macro_rules! part {
    ($ty:ident: $($own:item)*) => {
        impl Part for $ty {
            #[inline(always)]
            fn of_one(z: Complex<$ty>, f: impl Fn(C128) -> C128) -> Complex<$ty> {
                let result = f(Complex::new(f64::from(z.re), f64::from(z.im)));
                Complex::new(result.re as $ty, result.im as $ty)
            }
            #[inline(always)]
            fn of_two(x: Complex<$ty>, y: Complex<$ty>, f: impl Fn(C128, C128) -> C128) -> Complex<$ty> {
                Self::of_one(x, |x| f(x, Complex::new(f64::from(y.re), f64::from(y.im))))
            }
            $($own)*
        }
    };
}

part! { f32:
    #[inline(always)]
    fn modulus<L: Level>(z: Complex<f32>) -> f32 {
        modulus_of_floats([z.re, z.im].map(f64::from)) as f32
    }
    fn complex_sign<L: Level>() -> Function {
        unary::<L, _, _, _>(Weight::Heavy(10), |z: Complex<f32>| {
            let [re, im] = sign_of_floats([z.re, z.im].map(f64::from));
            Complex::new(re as f32, im as f32)
        })
    }
}

part! { f64:
    #[inline(always)]
    fn modulus<L: Level>(z: C128) -> f64 {
        modulus::<L>(z)
    }
    fn complex_sign<L: Level>() -> Function {
        guarded_unary::<L, C128, _, _, _>(20, finite_sign::<L>, is_easy, other_sign)
    }
}

/// The product; each part is rounded at its first product, and at the sum, if the processor fuses these.
#[inline(always)]
fn product<L: Level, T: Real>(x: Complex<T>, y: Complex<T>) -> Complex<T> {
    Complex::new(fma::<L, T>(x.re, y.re, -(x.im * y.im)), fma::<L, T>(x.re, y.im, x.im * y.re))
}

/// e^z - 1.
fn exp_m1(z: C128) -> C128 {
    let (sin, cos) = z.im.sin_cos();
    let size = z.re.exp();
    let real = if z.re.abs() > 1.0 && z.im != 0.0 {
        size * cos - 1.0
    } else {
        // e^x cos y - 1 = (e^x - 1) cos y - 2 sin^2(y / 2)
        let half = (z.im / 2.0).sin();
        z.re.exp_m1() * cos - 2.0 * half * half
    };
    let imaginary = if z.im == 0.0 { z.im } else { size * sin };
    Complex::new(real, imaginary)
}

/// e^z, where an imaginary part 0 stays so.
fn exp(z: C128) -> C128 {
    let size = z.re.exp();
    if z.im == 0.0 {
        return Complex::new(size, z.im);
    }
    if z.re == f64::NEG_INFINITY && !z.im.is_finite() {
        return Complex::zero();
    }
    if z.re == f64::INFINITY && !z.im.is_finite() {
        return Complex::new(z.re, f64::NAN);
    }
    let (sin, cos) = z.im.sin_cos();
    if size.is_infinite() && z.re.is_finite() {
        // e^x alone overflows; the parts may not.
        let half = (z.re / 2.0).exp();
        return Complex::new(half * cos * half, half * sin * half);
    }
    Complex::new(size * cos, size * sin)
}

/// ln(1 + z).
fn ln_1p(z: C128) -> C128 {
    let two = 2.0;
    let angle = z.im.atan2(z.re + 1.0);
    let (x, y) = (z.re.abs(), z.im.abs());
    let limit = 0.5;
    let real = if x < limit && y < limit {
        // |1 + z|^2 - 1 = x (2 + x) + y^2
        (z.re * (two + z.re) + z.im * z.im).ln_1p() / two
    } else {
        (z.re + 1.0).hypot(z.im).ln()
    };
    Complex::new(real, angle)
}

/// tanh z.
fn tanh(z: C128) -> C128 {
    let (one, two) = (1f64, 2f64);
    if z.re.abs() > 22.0 {
        let (sin, cos) = z.im.sin_cos();
        let small = (-two * z.re.abs()).exp();
        let imaginary = if z.im.is_finite() { two * two * sin * cos * small } else { 0f64.copysign(z.im) };
        return Complex::new(one.copysign(z.re), imaginary);
    }
    // sinh 2x / (cosh 2x + cos 2y), and sin 2y over the same, which does not cancel as a sum of squares.
    let (cos, s) = (z.im.cos(), z.re.sinh());
    let denominator = 2.0 * (cos * cos + s * s);
    let imaginary = if z.im == 0.0 { z.im } else { (2.0 * z.im).sin() / denominator };
    Complex::new((2.0 * z.re).sinh() / denominator, imaginary)
}

/// z times i.
fn by_i(z: C128) -> C128 {
    Complex::new(-z.im, z.re)
}

/// z times -i.
fn by_minus_i(z: C128) -> C128 {
    Complex::new(z.im, -z.re)
}

/// The square root with a non-negative real part.
fn sqrt(z: C128) -> C128 {
    let (zero, two) = (0f64, 2f64);
    if z.im.is_infinite() {
        return Complex::new(f64::INFINITY, z.im);
    }
    if z.re == f64::INFINITY {
        return Complex::new(z.re, if z.im.is_nan() { z.im } else { zero.copysign(z.im) });
    }
    if z.re == f64::NEG_INFINITY {
        let real = if z.im.is_nan() { z.im } else { zero };
        return Complex::new(real, f64::INFINITY.copysign(z.im));
    }
    if z.re == zero && z.im == zero {
        return Complex::new(zero, z.im);
    }
    // Scaled by a power of four so that the modulus neither overflows nor loses digits.
    let four = two * two;
    let (big, small) = (f64::MAX / (four * four), f64::MIN_POSITIVE * four / f64::EPSILON);
    let largest = z.re.abs().max(z.im.abs());
    let (scale, unscale) = match () {
        () if largest > big => (1.0 / (four * four), four),
        () if largest < small => {
            let up = 1.0 / (f64::EPSILON * f64::EPSILON);
            (up, f64::EPSILON)
        }
        () => (1.0, 1.0),
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
fn ln(z: C128) -> C128 {
    let angle = z.im.atan2(z.re);
    let modulus = z.re.hypot(z.im);
    let (x, y) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
    let real = match () {
        // Near the unit circle the logarithm of the modulus would lose digits.
        () if x > 0.5 && x < 1.5 => ((x - 1.0) * (x + 1.0) + y * y).ln_1p() / 2.0,
        () if modulus.is_infinite() && x.is_finite() => {
            let two = 2.0;
            (x / two).hypot(y / two).ln() + LN_2
        }
        () => modulus.ln(),
    };
    Complex::new(real, angle)
}

/// a^b.
fn power(a: C128, b: C128) -> C128 {
    let zero = 0f64;
    if b.is_zero() {
        return Complex::new(1.0, zero);
    }
    if a.is_zero() {
        return if b.re > zero { Complex::zero() } else { Complex::new(f64::NAN, f64::NAN) };
    }
    if b == Complex::new(1.0, zero) {
        return a;
    }
    if b == Complex::new(2.0, zero) {
        return a * a;
    }
    let (log, angle) = (ln(a).re, a.im.atan2(a.re));
    let turn = if b.im == zero { b.re * angle } else { b.im * log + b.re * angle };
    // The power of the modulus is nearer than the exponential of its logarithm.
    let power = a.re.hypot(a.im).powf(b.re);
    let size = if b.im == zero { power } else { power * (-b.im * angle).exp() };
    if size.is_normal() && power.is_normal() {
        let (sin, cos) = turn.sin_cos();
        return Complex::new(size * cos, if turn == zero { turn } else { size * sin });
    }
    exp(Complex::new(b.re * log - b.im * angle, turn))
}

/// The hyperbolic sine.
fn sinh(z: C128) -> C128 {
    let (sin, cos) = z.im.sin_cos();
    let imaginary = if z.im == 0.0 { z.im } else { z.re.cosh() * sin };
    let real = if z.re == 0.0 { z.re } else { z.re.sinh() * cos };
    Complex::new(real, imaginary)
}

/// The hyperbolic cosine.
fn cosh(z: C128) -> C128 {
    let (sin, cos) = z.im.sin_cos();
    let imaginary = if z.im == 0.0 || z.re == 0.0 { z.re * z.im } else { z.re.sinh() * sin };
    Complex::new(z.re.cosh() * cos, imaginary)
}

/// The arc sine, by Hull, Fairgrieve and Tang's formulas (ACM TOMS 23, 1997), without their scaling.
fn asin_acos(z: C128) -> (C128, C128) {
    let (one, two) = (1f64, 2f64);
    let (x, y) = (z.re.abs(), z.im.abs());
    let large = 1.0 / f64::EPSILON;
    let (real_asin, real_acos, imaginary);
    if x > large || y > large {
        // asin z = -i ln(2 i z) to working precision.
        real_asin = x.atan2(y);
        real_acos = y.atan2(x);
        imaginary = if x.is_infinite() || y.is_infinite() { f64::INFINITY } else { ln(Complex::new(x, y)).re + LN_2 };
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
        let minus = if x > one && y == 0.0 { 0.0 } else { minus };
        if b <= 0.6417 {
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
            let rest = if y == 0.0 && x == one { 0.0 } else { s + (x - one) };
            (yy / (r + x + one) + rest) / two
        };
        imaginary =
            if a <= 1.5 { (above + (above * (a + one)).sqrt()).ln_1p() } else { (a + (a * a - one).sqrt()).ln() };
    }
    let asin = Complex::new(real_asin.copysign(z.re), imaginary.copysign(z.im));
    let acos_real = if z.re.is_sign_negative() { PI - real_acos } else { real_acos };
    (asin, Complex::new(acos_real, if z.im.is_sign_negative() { imaginary } else { -imaginary }))
}

/// The inverse hyperbolic tangent.
fn atanh<L: Level>(z: C128) -> C128 {
    let (one, two) = (1f64, 2f64);
    let four = two * two;
    let (x, y) = (z.re.abs(), z.im.abs());
    let large = one / f64::EPSILON;
    if x > large || y > large {
        // atanh z = 1 / z + i pi / 2 to working precision.
        let real = if x.is_infinite() || y.is_infinite() {
            0.0
        } else {
            quotient::<L>(Complex::new(one, 0.0), Complex::new(x, y)).re
        };
        return Complex::new(real.copysign(z.re), FRAC_PI_2.copysign(z.im));
    }
    let distance = (one - x) * (one - x) + y * y;
    let real = (four * x / distance).ln_1p() / four;
    let imaginary = (two * y).atan2(fma::<L, f64>(-y, y, (one - x) * (one + x))) / two;
    Complex::new(real.copysign(z.re), imaginary.copysign(z.im))
}

/// The function of one complex number for `op`.
pub(crate) fn unary_op<L: Level, T: Part>(op: UnaryOp) -> Option<Function>
where
    Complex<T>: Wide,
{
    use Weight::{Heavy, Light};
    macro_rules! heavy {
        ($f:expr) => {
            unary::<L, Complex<T>, Complex<T>, _>(Heavy(80), |z| T::of_one(z, $f))
        };
    }
    Some(match op {
        UnaryOp::Abs => unary::<L, _, _, _>(Heavy(4), |z: Complex<T>| T::modulus::<L>(z)),
        UnaryOp::Imag => unary::<L, _, _, _>(Light, |z: Complex<T>| z.im),
        UnaryOp::Real => unary::<L, _, _, _>(Light, |z: Complex<T>| z.re),
        UnaryOp::Negate => unary::<L, _, _, _>(Light, |z: Complex<T>| -z),
        UnaryOp::Conj => unary::<L, _, _, _>(Light, |z: Complex<T>| z.conj()),
        UnaryOp::Square => unary::<L, _, _, _>(Light, |z: Complex<T>| product::<L, T>(z, z)).costing(6.0),
        UnaryOp::Sign => T::complex_sign::<L>(),
        UnaryOp::IsFinite => unary::<L, _, _, _>(Light, |z: Complex<T>| u8::from(is_finite(z))),
        UnaryOp::Exponential => heavy!(exp),
        UnaryOp::ExponentialMinusOne => heavy!(exp_m1),
        UnaryOp::Log => heavy!(ln),
        UnaryOp::LogPlusOne => heavy!(ln_1p),
        UnaryOp::Logistic => heavy!(|z| {
            let one = Complex::new(1.0, 0.0);
            quotient::<L>(one, one + exp(-z))
        }),
        UnaryOp::Sqrt => heavy!(sqrt),
        UnaryOp::Rsqrt => heavy!(|z| {
            let modulus = z.re.hypot(z.im);
            match () {
                () if z.is_zero() => Complex::new(f64::INFINITY, f64::NAN),
                () if modulus.is_normal() => sqrt(z).conj() / modulus,
                () => quotient::<L>(Complex::new(1.0, 0.0), sqrt(z)),
            }
        }),
        UnaryOp::Cbrt => heavy!(|z| {
            if z.is_zero() {
                return z;
            }
            let (sin, cos) = (z.im.atan2(z.re) / 3.0).sin_cos();
            let modulus = z.re.hypot(z.im).cbrt();
            Complex::new(modulus * cos, modulus * sin)
        }),
        UnaryOp::Sinh => heavy!(sinh),
        UnaryOp::Cosh => heavy!(cosh),
        UnaryOp::Tanh => heavy!(tanh),
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
        UnaryOp::Atanh => heavy!(atanh::<L>),
        UnaryOp::Atan => heavy!(|z| by_minus_i(atanh::<L>(by_i(z)))),
        _ => return None,
    })
}

/// The function of two complex numbers for `op`.
pub(crate) fn binary_op<L: Level, T: Part>(op: BinaryOp) -> Option<Function>
where
    Complex<T>: Wide,
{
    use Weight::{Heavy, Light};
    macro_rules! heavy {
        ($f:expr) => {
            binary::<L, Complex<T>, Complex<T>, Complex<T>, _>(Heavy(80), |x, y| T::of_two(x, y, $f))
        };
    }
    Some(match op {
        BinaryOp::Add => binary::<L, _, _, _, _>(Light, |x: Complex<T>, y: Complex<T>| x + y),
        BinaryOp::Subtract => binary::<L, _, _, _, _>(Light, |x: Complex<T>, y: Complex<T>| x - y),
        BinaryOp::Multiply => {
            binary::<L, _, _, _, _>(Light, |x: Complex<T>, y: Complex<T>| product::<L, T>(x, y)).costing(6.0)
        }
        BinaryOp::Divide => guarded_binary::<L, Complex<T>, _, _, _>(
            30,
            |x, y| T::of_two(x, y, finite_quotient::<L>),
            |x, y| is_finite(x) & is_easy(y),
            |x, y| T::of_two(x, y, quotient::<L>),
        ),
        BinaryOp::Power => heavy!(power),
        BinaryOp::Maximum => heavy!(|x, y| if is_nan(x) || (!is_nan(y) && is_greater(x, y)) { x } else { y }),
        BinaryOp::Minimum => heavy!(|x, y| if is_nan(x) || (!is_nan(y) && is_greater(y, x)) { x } else { y }),
        BinaryOp::Atan2 => heavy!(|y, x| {
            // -i ln((x + i y) / sqrt(x^2 + y^2))
            by_minus_i(ln(quotient::<L>(x + by_i(y), sqrt(x * x + y * y))))
        }),
        _ => return None,
    })
}

fn is_nan(z: C128) -> bool {
    z.re.is_nan() || z.im.is_nan()
}

/// Whether `a` comes after `b` in lexicographic order.
fn is_greater(a: C128, b: C128) -> bool {
    a.re > b.re || (a.re == b.re && a.im > b.im)
}
