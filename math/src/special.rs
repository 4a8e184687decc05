//! Rare functions of real numbers, in double precision: gamma, zeta, digamma, polygamma, inverse error
//! function.
//!
//! Scalar code, except for functions marked "for loops": series and recurrences whose formulas are in Abramowitz and
//! Stegun, *Handbook of Mathematical Functions* (numbers below), and the NIST Digital Library of Mathematical
//! Functions.

use std::f64::consts::PI;

use super::elementary::{self, fma, polynomial};
use super::level::Level;

/// B(2k) / (2k)!, k = 1...: the coefficients of Euler and Maclaurin's sum.
const EULER_MACLAURIN: [f64; 12] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30_240.0,
    -1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    -691.0 / 1_307_674_368_000.0,
    1.0 / 74_724_249_600.0,
    -3617.0 / 10_670_622_842_880_000.0,
    43867.0 / 5_109_094_217_170_944_000.0,
    -174_611.0 / 802_857_662_698_291_200_000.0,
    77683.0 / 14_101_100_039_391_805_440_000.0,
    -236_364_091.0 / 1_693_824_136_731_743_669_452_800_000.0,
];

/// B(2k) / (2k (2k - 1)), k = 1...: the coefficients of Stirling's series (6.1.41).
const STIRLING: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
];

/// ln(2 pi) / 2.
const LN_ROOT_2_PI: f64 = 0.918_938_533_204_672_8;

/// Whether [`lgamma`] can be used: single precision is then exact. The logarithm is 0 at 1 and 2.
#[inline(always)]
pub fn is_lgamma_easy(x: f64) -> bool {
    x > 0.0 && x < 1e30 && (x - 1.0).abs() > 0.01 && (x - 2.0).abs() > 0.01
}

/// The logarithm of gamma, for loops: Stirling's series at x + 7. Its error is a few times 1e-15.
#[inline(always)]
pub fn lgamma<L: Level>(x: f64) -> f64 {
    let mut product = x;
    for step in 1..7 {
        product *= x + f64::from(step);
    }
    let z = x + 7.0;
    let inverse = 1.0 / z;
    let series = inverse * polynomial::<L, f64, 8>(inverse * inverse, &STIRLING);
    let log = |x: f64| elementary::ln::<L, f64>(x);
    (z - 0.5) * log(z) - z + (LN_ROOT_2_PI + series) - log(product)
}

/// Whether [`positive_digamma`] can be used.
#[inline(always)]
pub fn is_digamma_easy(x: f64) -> bool {
    x > 0.0
}

/// Digamma of positive numbers, for loops: the asymptotic series at x + 10. Its error is a few times 1e-15.
#[inline(always)]
pub fn positive_digamma<L: Level>(x: f64) -> f64 {
    // 1 / x + 1 / (x + 1) + ..., as one quotient.
    let (mut above, mut below) = (1.0, x);
    for step in 1..10 {
        let next = x + f64::from(step);
        above = fma::<L, f64>(above, next, below);
        below *= next;
    }
    // Powers of larger numbers are infinite, and the quotient is negligible beside the logarithm.
    let shifted = if x > 1e30 { 0.0 } else { above / below };
    let z = x + 10.0;
    let inverse = 1.0 / z;
    let square = inverse * inverse;
    let series = square * polynomial::<L, f64, 8>(square, &DIGAMMA);
    elementary::ln::<L, f64>(z) - 0.5 * inverse - series - shifted
}

/// B(2k) / 2k, k = 1...: the coefficients of digamma's asymptotic series (6.3.18).
const DIGAMMA: [f64; 8] =
    [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32_760.0, 1.0 / 12.0, -3617.0 / 8160.0];

/// Digamma. NaN at the poles, the negative integers and 0.
pub fn digamma(x: f64) -> f64 {
    if x == f64::NEG_INFINITY || (x <= 0.0 && x == x.floor()) {
        return f64::NAN;
    }
    if x < 0.0 {
        // 6.3.7, reflection; the argument of tan is the distance to the nearest integer, which is exact.
        return digamma(1.0 - x) - PI / (PI * (x - x.round())).tan();
    }
    // The positive root, given as a sum of two doubles, so that values near it keep their digits.
    const ROOT: f64 = 1.461_632_144_968_362_3;
    const ROOT_LOW: f64 = 9.549_995_429_965_697e-17;
    if (x - ROOT).abs() < 0.2 {
        let t = (x - ROOT) - ROOT_LOW;
        return NEAR_ROOT.iter().rev().fold(0.0, |sum, c| (sum + c) * t);
    }
    // The largest term comes last: only its rounding matters.
    let steps = (10.0 - x).ceil().max(0.0);
    let shifted: f64 = (0..steps as u32).rev().map(|step| 1.0 / (x + f64::from(step))).sum();
    let z = x + steps;
    let square = 1.0 / (z * z);
    let series = DIGAMMA.iter().rev().fold(0.0, |sum, c| (sum + c) * square);
    (z.ln() - (0.5 / z + series)) - shifted
}

/// (-1)^(k+1) zeta(k + 1, root), k = 1...: Taylor's series of digamma at its positive root.
const NEAR_ROOT: [f64; 21] = [
    0.9676722454476212,
    -0.4427631689835921,
    0.258499760955651,
    -0.16394270544240652,
    0.10782405069126237,
    -0.07219956125645471,
    0.04880428816414311,
    -0.03316112647484736,
    0.022597648232218104,
    -0.01542476590494896,
    0.010538791616612175,
    -0.007204534386356869,
    0.004926781395729853,
    -0.003369801655439328,
    0.002305126326734928,
    -0.0015769367714301972,
    0.0010788252019162967,
    -0.0007380709389960052,
    0.000504953265834602,
    -0.0003454680251063077,
    0.00023635601564027053,
];

/// The Hurwitz zeta function: the sum of (q + k)^-x. As in XLA: infinite at x = 1 and at q a non-positive integer (for
/// even x; NaN otherwise), NaN for x < 1.
pub fn zeta(x: f64, q: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    if x < 1.0 || x.is_nan() || q.is_nan() {
        return f64::NAN;
    }
    if q <= 0.0 {
        if q == q.floor() {
            return if x % 2.0 == 0.0 { f64::INFINITY } else { f64::NAN };
        }
        if x != x.floor() {
            return f64::NAN;
        }
        // The terms of negative numbers are as many of those of positive ones, with a sign.
        let (below, sign) = (q.ceil() - q, if x % 2.0 == 0.0 { 1.0 } else { -1.0 });
        let negative = zeta(x, below) - zeta(x, 1.0 - q);
        return zeta(x, q - q.floor()) + sign * negative;
    }
    if q == f64::INFINITY {
        return 0.0;
    }
    // Derivatives of digamma have whole exponents.
    let power = |a: f64| if x == x.floor() && x < 32.0 { a.powi(x as i32).recip() } else { a.powf(-x) };
    // 23.2: the first terms, then Euler and Maclaurin's formula for the rest.
    let (mut sum, mut a) = (0.0, q);
    loop {
        if a > 12.0 {
            break;
        }
        let term = power(a);
        sum += term;
        a += 1.0;
        if term < sum * 1e-18 {
            return sum;
        }
    }
    let power = power(a);
    sum += power * a / (x - 1.0) + 0.5 * power;
    let (mut factor, mut power) = (x, power / a);
    for (k, coefficient) in EULER_MACLAURIN.iter().enumerate() {
        let term = coefficient * factor * power;
        sum += term;
        if term.abs() < sum * 1e-17 {
            break;
        }
        let n = 2.0 * k as f64;
        factor *= (x + n + 1.0) * (x + n + 2.0);
        power /= a * a;
    }
    sum
}

/// The derivative of digamma of order `n`; NaN unless `n` is a whole number from 0.
pub fn polygamma(n: f64, x: f64) -> f64 {
    if !(0.0..f64::INFINITY).contains(&n) || n != n.floor() {
        return f64::NAN;
    }
    if n == 0.0 {
        return digamma(x);
    }
    // 6.4.10.
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    // Beyond 170 the factorial is infinite.
    let factorial = (2..=n.min(171.0) as u32).map(f64::from).product::<f64>();
    sign * factorial * zeta(n + 1.0, x)
}

/// The inverse of erf: the rational starting value of Giles (*Approximating the erfinv function*, GPU Computing Gems,
/// 2011), and two steps of Halley's method.
pub fn erf_inv(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a > 1.0 {
        return f64::NAN;
    }
    if a == 1.0 {
        return f64::INFINITY.copysign(x);
    }
    if a < 1e-8 {
        return x * (PI.sqrt() / 2.0);
    }
    let w = -(-a * a).ln_1p();
    let mut y = if w < 5.0 {
        GILES_CENTRE.iter().fold(0.0, |sum, c| sum * (w - 2.5) + c) * a
    } else if w < 16.0 {
        GILES_TAIL.iter().fold(0.0, |sum, c| sum * (w.sqrt() - 3.0) + c) * a
    } else {
        (w - 0.5 * (PI * w).ln()).sqrt()
    };
    for _ in 0..if w < 16.0 { 2 } else { 4 } {
        // The tail keeps its digits in erfc.
        let error = if a < 0.5 { libm::erf(y) - a } else { (1.0 - a) - libm::erfc(y) };
        let step = error * (PI.sqrt() / 2.0) * (y * y).exp();
        y -= step / (1.0 + y * step);
    }
    y.copysign(x)
}

/// Giles's coefficients in single precision, highest power first.
const GILES_CENTRE: [f64; 9] = [
    2.810_226_36e-08,
    3.432_739_39e-07,
    -3.523_387_7e-06,
    -4.391_506_54e-06,
    0.000_218_580_87,
    -0.001_253_725_03,
    -0.004_177_681_64,
    0.246_640_727,
    1.501_409_41,
];
const GILES_TAIL: [f64; 9] = [
    -0.000_200_214_257,
    0.000_100_950_558,
    0.001_349_343_22,
    -0.003_673_428_44,
    0.005_739_507_73,
    -0.007_622_461_3,
    0.009_438_870_47,
    1.001_674_06,
    2.832_976_82,
];
