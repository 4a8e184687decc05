//! Rare functions of real numbers, in double precision: zeta, digamma, polygamma, Bessel, inverse error function.
//!
//! Scalar code: series and recurrences whose formulas are in Abramowitz and Stegun, *Handbook of Mathematical
//! Functions* (numbers below), and the NIST Digital Library of Mathematical Functions.

use std::f64::consts::PI;

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

/// B(2k) / 2k, k = 1...: the coefficients of digamma's asymptotic series (6.3.18).
const DIGAMMA: [f64; 8] =
    [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32_760.0, 1.0 / 12.0, -3617.0 / 8160.0];

/// Digamma. NaN at the poles, the negative integers and 0.
pub fn digamma(x: f64) -> f64 {
    if x == f64::NEG_INFINITY || (x <= 0.0 && x == x.floor()) {
        return f64::NAN;
    }
    if x < 0.0 {
        // 6.3.7, reflection; the fraction keeps the argument of tan small.
        let fraction = x - x.floor();
        return digamma(1.0 - x) - PI / (PI * fraction).tan();
    }
    // The positive root, given as a sum of two doubles, so that values near it keep their digits.
    const ROOT: f64 = 1.461_632_144_968_362_3;
    const ROOT_LOW: f64 = 9.549_995_429_965_697e-17;
    if (x - ROOT).abs() < 0.02 {
        return digamma_near_root((x - ROOT) - ROOT_LOW);
    }
    let (mut x, mut shifted) = (x, 0.0);
    while x < 10.0 {
        shifted += 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = DIGAMMA.iter().rev().fold(0.0, |sum, c| (sum + c) * square);
    x.ln() - 0.5 / x - series - shifted
}

/// Taylor's series at the positive root: coefficients (-1)^(k+1) zeta(k + 1, root).
fn digamma_near_root(t: f64) -> f64 {
    const ROOT: f64 = 1.461_632_144_968_362_3;
    let mut sum = 0.0;
    for k in (1..=9).rev() {
        let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
        sum = (sum + sign * zeta(f64::from(k + 1), ROOT)) * t;
    }
    sum
}

/// The Hurwitz zeta function: the sum of (q + k)^-x. As XLA has it: infinite at x = 1 and at q a non-positive integer
/// (for even x; NaN otherwise), NaN for x < 1.
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
    }
    if q == f64::INFINITY {
        return 0.0;
    }
    // 23.2: the first terms, then Euler and Maclaurin's formula for the rest.
    let (mut sum, mut a) = (0.0, q);
    loop {
        if a > 12.0 {
            break;
        }
        let term = a.powf(-x);
        sum += term;
        a += 1.0;
        if a > 1.0 && term.abs() < sum.abs() * 1e-18 {
            return sum;
        }
    }
    let power = a.powf(-x);
    sum += power * a / (x - 1.0) + 0.5 * power;
    let (mut factor, mut power) = (x, power / a);
    for (k, coefficient) in EULER_MACLAURIN.iter().enumerate() {
        let term = coefficient * factor * power;
        sum += term;
        if term.abs() < sum.abs() * 1e-17 {
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
    if n < 0.0 || n != n.floor() {
        return f64::NAN;
    }
    if n == 0.0 {
        return digamma(x);
    }
    // 6.4.10.
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    sign * libm::exp(libm::lgamma(n + 1.0)) * zeta(n + 1.0, x)
}

/// e^-|x| I1(x), the exponentially scaled modified Bessel function of order 1.
pub fn bessel_i1e(x: f64) -> f64 {
    let a = x.abs();
    let value = if a < 20.0 {
        // 9.6.10: all terms are positive.
        let quarter = a * a / 4.0;
        let (mut term, mut sum, mut k) = (a / 2.0, a / 2.0, 1.0);
        while term > sum * 1e-18 {
            term *= quarter / (k * (k + 1.0));
            sum += term;
            k += 1.0;
        }
        sum * (-a).exp()
    } else if a == f64::INFINITY {
        0.0
    } else {
        // 9.7.1: the terms fall until about k = 2a.
        let (mut term, mut sum, mut k) = (1.0, 1.0, 1.0);
        while f64::abs(term) > 1e-18 && k < 40.0 {
            term *= ((2.0 * k - 1.0) * (2.0 * k - 1.0) - 4.0) / (8.0 * a * k);
            sum += term;
            k += 1.0;
        }
        sum / (2.0 * PI * a).sqrt()
    };
    value.copysign(x)
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
