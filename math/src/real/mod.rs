//! Real numbers as pointwise functions see them: single elements of arrays, without branches that depend on a value.
//!
//! * [`Real`]: the operations; [`Mask`]: outcomes of comparisons; [`Ring`]: what integers and complex numbers do too.
//! * [`SimdLane`]: an element in a loop that becomes vector code; [`Scalar`]: one element by itself.
//! * [`Dual`]: a number with its derivatives along some directions.
//! * [`Traced`]: a number that records the operations on it, as an [`Expression`].

mod dual;
mod expression;
mod float;
mod functions;
mod lane;
mod operators;
mod ring;
mod scalar;
mod traced;
mod unrolled;

pub use dual::Dual;
pub use expression::{Expression, Kind, Opcode, Operation};
pub use float::Float;
pub use lane::SimdLane;
pub use ring::Ring;
pub use scalar::Scalar;
pub use traced::{Traced, TracedMask};
pub use unrolled::unrolled;

use std::ops::{Add, AddAssign, BitAnd, BitOr, Div, DivAssign, Mul, MulAssign, Not, Sub, SubAssign};

/// The outcome of a comparison of [`Real`] numbers. Combine masks by `&`, `|` and `!`.
///
/// It is no `bool`, since each element of an array has its own: where `if` would choose one of two values,
/// [`select`](Mask::select) does.
pub trait Mask: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {
    /// `yes` where the comparison holds, and `no` elsewhere. Both are computed; what is not chosen has no influence on
    /// the result or its derivatives, not even as NaN.
    #[must_use]
    fn select<T: Real<Mask = Self>>(self, yes: T, no: T) -> T;
}

impl Mask for bool {
    #[inline(always)]
    fn select<T: Real<Mask = bool>>(self, yes: T, no: T) -> T {
        T::choose(self, yes, no)
    }
}

/// A real number: an element of the operands of a pointwise function, or such a number with its derivatives.
///
/// Operators take another `Real`, or an `f64` on the right: `x * 2.0`. `T::from(1.0)` is a constant. Functions stay
/// within the errors given here (in units of the last place, ULP) of `f32` and `f64`; halves are computed as `f32` and
/// rounded once, at the end. Results for NaN, infinities and values outside of a domain are those of the standard
/// library's functions. Each function also has its derivative, by the rule that is given where it is not the plain one.
///
/// There is no `PartialOrd`, since a comparison has an outcome for each element: `x.less(y)` gives a [`Mask`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a real number of a pointwise function",
    note = "write the function for any `T: Real`; to call it on one number, wrap that: `softplus(Scalar(1.0), 2.0)`"
)]
pub trait Real:
    Ring
    + From<f64>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + DivAssign
    + AddAssign<f64>
    + SubAssign<f64>
    + MulAssign<f64>
    + DivAssign<f64>
{
    /// The outcome of a comparison.
    type Mask: Mask;

    /// `self < other`.
    #[doc(alias = "lt")]
    fn less(self, other: impl Into<Self>) -> Self::Mask;
    /// `self <= other`.
    #[doc(alias = "le")]
    fn less_equal(self, other: impl Into<Self>) -> Self::Mask;
    /// `self == other`.
    #[doc(alias = "eq")]
    fn equal(self, other: impl Into<Self>) -> Self::Mask;
    /// `self > other`.
    #[doc(alias = "gt")]
    #[inline(always)]
    fn greater(self, other: impl Into<Self>) -> Self::Mask {
        other.into().less(self)
    }
    /// `self >= other`.
    #[doc(alias = "ge")]
    #[inline(always)]
    fn greater_equal(self, other: impl Into<Self>) -> Self::Mask {
        other.into().less_equal(self)
    }
    /// Whether the number is NaN.
    #[inline(always)]
    fn is_nan(self) -> Self::Mask {
        !self.equal(self)
    }
    /// [`Mask::select`].
    #[doc(hidden)]
    fn choose(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// `self * b + c`, rounded once where the processor has an instruction for it.
    #[doc(alias = "fma")]
    fn mul_add(self, b: impl Into<Self>, c: impl Into<Self>) -> Self;
    /// The absolute value; exact. Its derivative at 0 is 0.
    fn abs(self) -> Self;
    /// -1, 0 or 1 with the sign of the number, NaN of NaN. Its derivative is 0.
    #[doc(alias = "sign")]
    fn signum(self) -> Self;
    /// The largest integer that is not above; exact. Its derivative is 0.
    fn floor(self) -> Self;
    /// The least integer that is not below; exact. Its derivative is 0.
    #[doc(alias = "ceiling")]
    #[inline(always)]
    fn ceil(self) -> Self {
        -(-self).floor()
    }
    /// The nearest integer, halves to even; exact. Its derivative is 0.
    fn round(self) -> Self;
    /// The square root; rounded correctly.
    fn sqrt(self) -> Self;
    /// e^x; within 2 ULP.
    fn exp(self) -> Self;
    /// e^x - 1; within 3 ULP.
    #[doc(alias = "expm1")]
    fn exp_m1(self) -> Self;
    /// The natural logarithm; within 2 ULP.
    #[doc(alias = "log")]
    fn ln(self) -> Self;
    /// ln(1 + x); within 2 ULP.
    #[doc(alias = "log1p")]
    fn ln_1p(self) -> Self;
    /// 1 / (1 + e^-x); within 3 ULP.
    #[doc(alias("sigmoid", "expit"))]
    fn logistic(self) -> Self;
    /// The hyperbolic tangent; within 4 ULP.
    fn tanh(self) -> Self;
    /// The error function; within 2 ULP, or 2.5 without fused multiply-add.
    fn erf(self) -> Self;
    /// 1 - erf(x); within 5.1 ULP, or 6 without fused multiply-add.
    fn erfc(self) -> Self;
    /// The sine; within 2 ULP. Angles beyond 6000 (`f64`: 1,000,000) take scalar code.
    fn sin(self) -> Self;
    /// The cosine; as [`sin`](Real::sin).
    fn cos(self) -> Self;
    /// The tangent; within 4 ULP, and as [`sin`](Real::sin).
    fn tan(self) -> Self;

    /// The hyperbolic sine; within 6 ULP.
    #[inline(always)]
    #[must_use]
    fn sinh(self) -> Self {
        functions::sinh(self)
    }
    /// The hyperbolic cosine; within 6 ULP.
    #[inline(always)]
    #[must_use]
    fn cosh(self) -> Self {
        functions::cosh(self)
    }
    /// The inverse hyperbolic sine; within 5 ULP.
    #[doc(alias = "arcsinh")]
    #[inline(always)]
    #[must_use]
    fn asinh(self) -> Self {
        functions::asinh(self)
    }
    /// The inverse hyperbolic cosine, NaN below 1; within 5 ULP.
    #[doc(alias = "arccosh")]
    #[inline(always)]
    #[must_use]
    fn acosh(self) -> Self {
        functions::acosh(self)
    }
    /// The inverse hyperbolic tangent, NaN beyond 1; within 5 ULP.
    #[doc(alias = "arctanh")]
    #[inline(always)]
    #[must_use]
    fn atanh(self) -> Self {
        functions::atanh(self)
    }
    /// The arc sine, NaN beyond 1; within 4 ULP. Of `f64`, as [`atan2`](Real::atan2).
    #[doc(alias = "arcsin")]
    #[inline(always)]
    #[must_use]
    fn asin(self) -> Self {
        self.atan2(functions::other_side(self))
    }
    /// The arc cosine, NaN beyond 1; within 4 ULP. Of `f64`, as [`atan2`](Real::atan2).
    #[doc(alias = "arccos")]
    #[inline(always)]
    #[must_use]
    fn acos(self) -> Self {
        functions::other_side(self).atan2(self)
    }
    /// The arc tangent; within 2 ULP. Of `f64`, as [`atan2`](Real::atan2).
    #[doc(alias = "arctan")]
    #[inline(always)]
    #[must_use]
    fn atan(self) -> Self {
        self.atan2(1.0)
    }
    /// The cube root; within 2 ULP.
    #[inline(always)]
    #[must_use]
    fn cbrt(self) -> Self {
        functions::cbrt(self)
    }
    /// The logarithm to base 2; within 3 ULP.
    #[inline(always)]
    #[must_use]
    fn log2(self) -> Self {
        functions::log2(self)
    }
    /// The logarithm to base 10; within 3 ULP.
    #[inline(always)]
    #[must_use]
    fn log10(self) -> Self {
        functions::log10(self)
    }
    /// ln |gamma(x)|; within 2 ULP. Numbers of `f32` that are not positive, or within 0.01 of the zeros at 1 and 2,
    /// take scalar code, and so do all of `f64`.
    #[doc(alias("gammaln", "ln_gamma"))]
    fn lgamma(self) -> Self;
    /// The derivative of [`lgamma`](Real::lgamma); within 4 ULP. Numbers of `f32` that are not positive take scalar
    /// code, and so do all of `f64`.
    fn digamma(self) -> Self;
    /// The derivative of [`digamma`](Real::digamma) of a positive order, by scalar code.
    #[doc(hidden)]
    fn polygamma(self, order: u32) -> Self;

    /// The angle of the point with the ordinate `self` and the abscissa `x`; within 2 ULP. Of `f64`, by scalar code.
    #[doc(alias = "arctan2")]
    fn atan2(self, x: impl Into<Self>) -> Self;
    /// The length of the vector of two numbers, which does not overflow; within 3 ULP. Its derivatives at 0 are 0.
    #[inline(always)]
    #[must_use]
    fn hypot(self, other: impl Into<Self>) -> Self {
        functions::hypot(self, other.into())
    }
    /// The number to the power of a constant; within 1 ULP. [`powi`](Real::powi) is faster for small integers: numbers
    /// of `f32` that are not positive take scalar code, and so do all of `f64`.
    fn powf(self, exponent: f64) -> Self;
    /// The number to the power of another; as [`powf`](Real::powf). Of a negative number the derivative along the
    /// exponent is NaN, of 0 it is 0.
    fn pow(self, exponent: impl Into<Self>) -> Self;

    /// The larger of two numbers; NaN if one is. Where they are equal, the derivative is the mean of both, and where
    /// one is NaN it is 0.
    #[doc(alias = "max")]
    fn maximum(self, other: impl Into<Self>) -> Self;
    /// The smaller of two numbers, with derivatives as those of [`maximum`](Real::maximum); NaN if one is.
    #[doc(alias = "min")]
    #[inline(always)]
    fn minimum(self, other: impl Into<Self>) -> Self {
        -(-self).maximum(-other.into())
    }
    /// `min(max(x, low), high)`; NaN if one is.
    #[doc(alias = "clip")]
    #[inline(always)]
    #[must_use]
    fn clamp(self, low: impl Into<Self>, high: impl Into<Self>) -> Self {
        self.maximum(low).minimum(high)
    }
    /// ln(e^x + e^y), which does not overflow; within 4 ULP for a `y` of 0. The softplus of `x`
    /// is `x.log_add_exp(0.0)`.
    #[doc(alias = "logaddexp")]
    fn log_add_exp(self, other: impl Into<Self>) -> Self;
    /// x^n by multiplications, about one rounding for each.
    #[doc(alias = "integer_pow")]
    #[inline(always)]
    #[must_use]
    fn powi(self, n: i32) -> Self {
        let (mut result, mut factor, mut rest) = (Self::from(1.0), self, n.unsigned_abs());
        while rest > 0 {
            if rest & 1 == 1 {
                result *= factor;
            }
            factor *= factor;
            rest >>= 1;
        }
        if n < 0 { Self::from(1.0) / result } else { result }
    }
    /// 1 / x; rounded correctly.
    #[doc(alias = "reciprocal")]
    #[inline(always)]
    #[must_use]
    fn recip(self) -> Self {
        Self::from(1.0) / self
    }
}

#[cfg(test)]
mod tests;
