//! Single elements, by functions of the standard library.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::float::Float;
use super::lane::{maximum, signum};
use super::operators::operators;
use super::{Mask, Real};
use crate::level::Baseline;
use crate::special;

/// One number, `f32` or `f64`, whose functions are those of the standard library, accurate for all operands.
///
/// ```
/// use oxcall_math::real::{Real, Scalar};
///
/// fn softplus<T: Real>(x: T, beta: f64) -> T {
///     (x * beta).exp().ln_1p() / beta
/// }
/// assert_eq!(softplus(Scalar(0.0), 2.0).0, std::f64::consts::LN_2 / 2.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scalar<F>(pub F);

impl<F: Float> From<f64> for Scalar<F> {
    #[inline(always)]
    fn from(x: f64) -> Self {
        Scalar(F::of_f64(x))
    }
}

macro_rules! binary {
    ($($op:ident $method:ident),*) => {$(
        impl<F: Float> $op for Scalar<F> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Scalar(self.0.$method(other.0))
            }
        }
    )*};
}
binary!(Add add, Sub sub, Mul mul, Div div);
operators!([F: Float] Scalar<F>);

impl<F: Float> Neg for Scalar<F> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Scalar(-self.0)
    }
}

/// Methods of one number, by functions of doubles.
macro_rules! in_double {
    ($($name:ident $function:expr;)*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            Scalar(self.0.in_double($function))
        }
    )*};
}

impl<F: Float> Real for Scalar<F> {
    type Mask = bool;

    #[inline(always)]
    fn less(self, other: impl Into<Self>) -> bool {
        self.0 < other.into().0
    }
    #[inline(always)]
    fn less_equal(self, other: impl Into<Self>) -> bool {
        self.0 <= other.into().0
    }
    #[inline(always)]
    fn equal(self, other: impl Into<Self>) -> bool {
        self.0 == other.into().0
    }
    #[inline(always)]
    fn choose(mask: bool, yes: Self, no: Self) -> Self {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn mul_add(self, b: impl Into<Self>, c: impl Into<Self>) -> Self {
        Scalar(self.0.fused(b.into().0, c.into().0))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Scalar(self.0.magnitude())
    }
    #[inline(always)]
    fn signum(self) -> Self {
        Scalar(signum(self.0))
    }
    #[inline(always)]
    fn floor(self) -> Self {
        Scalar(Float::floor::<Baseline>(self.0))
    }
    #[inline(always)]
    fn round(self) -> Self {
        Scalar(Float::round::<Baseline>(self.0))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Scalar(self.0.root())
    }
    #[inline(always)]
    fn maximum(self, other: impl Into<Self>) -> Self {
        Scalar(maximum(self.0, other.into().0))
    }
    #[inline(always)]
    fn log_add_exp(self, other: impl Into<Self>) -> Self {
        log_add_exp(self, other.into())
    }

    #[inline(always)]
    fn polygamma(self, order: u32) -> Self {
        Scalar(self.0.in_double(|x| special::polygamma(f64::from(order), x)))
    }
    #[inline(always)]
    fn atan2(self, x: impl Into<Self>) -> Self {
        let x: Self = x.into();
        Scalar(self.0.in_double(|y| y.atan2(x.0.as_f64())))
    }
    #[inline(always)]
    fn hypot(self, other: impl Into<Self>) -> Self {
        let other: Self = other.into();
        Scalar(self.0.in_double(|x| x.hypot(other.0.as_f64())))
    }
    #[inline(always)]
    fn powf(self, exponent: f64) -> Self {
        self.pow(exponent)
    }
    #[inline(always)]
    fn pow(self, exponent: impl Into<Self>) -> Self {
        let exponent: Self = exponent.into();
        Scalar(self.0.in_double(|x| x.powf(exponent.0.as_f64())))
    }

    in_double! {
        exp f64::exp;
        exp_m1 f64::exp_m1;
        ln f64::ln;
        ln_1p f64::ln_1p;
        logistic |x| 1.0 / (1.0 + (-x).exp());
        tanh f64::tanh;
        erf libm::erf;
        erfc libm::erfc;
        sin f64::sin;
        cos f64::cos;
        tan f64::tan;
        sinh f64::sinh;
        cosh f64::cosh;
        asinh f64::asinh;
        acosh f64::acosh;
        atanh f64::atanh;
        asin f64::asin;
        acos f64::acos;
        atan f64::atan;
        cbrt f64::cbrt;
        log2 f64::log2;
        log10 f64::log10;
        lgamma libm::lgamma;
        digamma special::digamma;
    }
}

/// ln(e^a + e^b) = max(a, b) + ln(1 + e^-|a - b|).
#[inline(always)]
pub(super) fn log_add_exp<T: Real>(a: T, b: T) -> T {
    let distance = (a - b).abs();
    let larger = a.maximum(b);
    // The distance of two infinities is NaN, and their sum is the larger one.
    let sum = larger + (-distance).exp().ln_1p();
    a.equal(b).select(larger + std::f64::consts::LN_2, sum)
}
