//! Functions of real numbers.

use num_traits::{Float, FloatConst};
use oxcall_hlo::{BinaryOp, UnaryOp};

use super::function::{Function, Weight, Wide, binary, unary};
use super::level::Level;

/// A float in which elements are computed: `f32` or `f64`.
///
/// Functions that are generic over a [`Level`] are free of branches, so that loops of them become vector code.
pub trait Real: Wide + Float + FloatConst {
    /// Its bits as a signed integer, ordered as IEEE 754's total order.
    type Key: Ord;

    /// `self * b + c`, fused if the processor does that at no cost.
    fn multiply_add<L: Level>(self, b: Self, c: Self) -> Self;
    /// e^x.
    fn exp_<L: Level>(self) -> Self;
    /// e^x - 1.
    fn expm1_<L: Level>(self) -> Self;
    /// The natural logarithm.
    fn ln_<L: Level>(self) -> Self;
    /// ln(1 + x).
    fn ln1p_<L: Level>(self) -> Self;
    /// 1 / (1 + e^-x).
    fn logistic<L: Level>(self) -> Self;
    /// Sine.
    fn sin_<L: Level>(self) -> Self;
    /// Cosine.
    fn cos_<L: Level>(self) -> Self;
    /// Tangent.
    fn tan_<L: Level>(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh_<L: Level>(self) -> Self;
    /// x^y.
    fn pow_<L: Level>(self, y: Self) -> Self;
    /// The error function.
    fn erf<L: Level>(self) -> Self;
    /// 1 - erf(x).
    fn erfc<L: Level>(self) -> Self;
    /// The inverse of erf.
    fn erf_inv<L: Level>(self) -> Self;
    /// The cube root.
    fn cbrt_<L: Level>(self) -> Self;
    /// The angle of the point (x, self).
    fn atan2_<L: Level>(self, x: Self) -> Self;
    /// The nearest integer, halves to even.
    fn round_even(self) -> Self;
    /// ln |gamma(x)|.
    fn lgamma(self) -> Self;
    /// A function of doubles.
    fn in_double(self, f: impl Fn(f64) -> f64) -> Self;
    /// A function of two doubles.
    fn in_double2(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self;
    /// The next number towards `other`.
    fn next_after(self, other: Self) -> Self;
    /// The key for IEEE 754's total order.
    fn total_order(self) -> Self::Key;

    /// The larger; NaN if one is; +0 rather than -0.
    #[inline(always)]
    fn max_nan(self, other: Self) -> Self {
        if self.is_nan() || self > other || (self == other && !self.is_sign_negative()) { self } else { other }
    }

    /// The smaller; NaN if one is; -0 rather than +0.
    #[inline(always)]
    fn min_nan(self, other: Self) -> Self {
        if self.is_nan() || self < other || (self == other && self.is_sign_negative()) { self } else { other }
    }

    /// -1, 0 or 1 with the sign of `self`; NaN of NaN.
    #[inline(always)]
    fn sign(self) -> Self {
        if self.is_nan() || self == Self::zero() { self } else { Self::one().copysign(self) }
    }
}

macro_rules! real {
    ($ty:ident $int:ident $lgamma:path, $erf:path, $erfc:path) => {
        impl Real for $ty {
            type Key = $int;

            #[inline(always)]
            fn multiply_add<L: Level>(self, b: Self, c: Self) -> Self {
                if L::FUSED { self.mul_add(b, c) } else { self * b + c }
            }
            #[inline(always)]
            fn exp_<L: Level>(self) -> Self {
                self.exp()
            }
            #[inline(always)]
            fn expm1_<L: Level>(self) -> Self {
                self.exp_m1()
            }
            #[inline(always)]
            fn ln_<L: Level>(self) -> Self {
                self.ln()
            }
            #[inline(always)]
            fn ln1p_<L: Level>(self) -> Self {
                self.ln_1p()
            }
            #[inline(always)]
            fn logistic<L: Level>(self) -> Self {
                1.0 / (1.0 + (-self).exp_::<L>())
            }
            #[inline(always)]
            fn sin_<L: Level>(self) -> Self {
                self.sin()
            }
            #[inline(always)]
            fn cos_<L: Level>(self) -> Self {
                self.cos()
            }
            #[inline(always)]
            fn tan_<L: Level>(self) -> Self {
                self.tan()
            }
            #[inline(always)]
            fn tanh_<L: Level>(self) -> Self {
                self.tanh()
            }
            #[inline(always)]
            fn pow_<L: Level>(self, y: Self) -> Self {
                self.powf(y)
            }
            #[inline(always)]
            fn erf<L: Level>(self) -> Self {
                $erf(self)
            }
            #[inline(always)]
            fn erfc<L: Level>(self) -> Self {
                $erfc(self)
            }
            #[inline(always)]
            fn erf_inv<L: Level>(self) -> Self {
                self.in_double(super::special::erf_inv)
            }
            #[inline(always)]
            fn cbrt_<L: Level>(self) -> Self {
                self.cbrt()
            }
            #[inline(always)]
            fn atan2_<L: Level>(self, x: Self) -> Self {
                self.atan2(x)
            }
            #[inline(always)]
            fn round_even(self) -> Self {
                self.round_ties_even()
            }
            #[inline(always)]
            fn lgamma(self) -> Self {
                $lgamma(self)
            }
            #[inline(always)]
            fn in_double(self, f: impl Fn(f64) -> f64) -> Self {
                f(f64::from(self)) as $ty
            }
            #[inline(always)]
            fn in_double2(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
                f(f64::from(self), f64::from(other)) as $ty
            }
            #[inline(always)]
            fn next_after(self, other: Self) -> Self {
                match () {
                    () if self.is_nan() || other.is_nan() => $ty::NAN,
                    () if self == other => other,
                    () if self < other => self.next_up(),
                    () => self.next_down(),
                }
            }
            #[inline(always)]
            fn total_order(self) -> $int {
                let bits = self.to_bits() as $int;
                bits ^ (bits >> ($int::BITS - 1)) & $int::MAX
            }
        }
    };
}

real!(f32 i32 libm::lgammaf, libm::erff, libm::erfcf);
real!(f64 i64 libm::lgamma, libm::erf, libm::erfc);

/// The function of one real number for `op`.
pub fn unary_op<L: Level, T: Real>(op: UnaryOp) -> Option<Function> {
    use Weight::{Heavy, Light};
    let truth = |x: bool| u8::from(x);
    Some(match op {
        UnaryOp::Abs => unary::<L, _, _, _>(Light, |x: T| x.abs()),
        UnaryOp::Cbrt => unary::<L, _, _, _>(
            Heavy(15),
            #[inline(always)]
            |x: T| x.cbrt_::<L>(),
        ),
        UnaryOp::Ceil => unary::<L, _, _, _>(Light, |x: T| x.ceil()),
        UnaryOp::Cosine => unary::<L, _, _, _>(
            Heavy(20),
            #[inline(always)]
            |x: T| x.cos_::<L>(),
        ),
        UnaryOp::Exponential => unary::<L, _, _, _>(
            Heavy(10),
            #[inline(always)]
            |x: T| x.exp_::<L>(),
        ),
        UnaryOp::ExponentialMinusOne => unary::<L, _, _, _>(
            Heavy(12),
            #[inline(always)]
            |x: T| x.expm1_::<L>(),
        ),
        UnaryOp::Floor => unary::<L, _, _, _>(Light, |x: T| x.floor()),
        UnaryOp::Imag => unary::<L, _, _, _>(Light, |_: T| T::zero()),
        UnaryOp::IsFinite => unary::<L, _, _, _>(
            Light,
            #[inline(always)]
            move |x: T| truth(x.is_finite()),
        ),
        UnaryOp::Log => unary::<L, _, _, _>(
            Heavy(12),
            #[inline(always)]
            |x: T| x.ln_::<L>(),
        ),
        UnaryOp::LogPlusOne => unary::<L, _, _, _>(
            Heavy(15),
            #[inline(always)]
            |x: T| x.ln1p_::<L>(),
        ),
        UnaryOp::Logistic => unary::<L, _, _, _>(
            Heavy(14),
            #[inline(always)]
            |x: T| x.logistic::<L>(),
        ),
        UnaryOp::Negate => unary::<L, _, _, _>(Light, |x: T| -x),
        UnaryOp::Real | UnaryOp::Conj => unary::<L, _, _, _>(Light, |x: T| x),
        UnaryOp::RoundNearestAfz => unary::<L, _, _, _>(Light, |x: T| x.round()),
        UnaryOp::RoundNearestEven => unary::<L, _, _, _>(Light, |x: T| x.round_even()),
        UnaryOp::Rsqrt => unary::<L, _, _, _>(Light, |x: T| T::one() / x.sqrt()).costing(6.0),
        UnaryOp::Sign => unary::<L, _, _, _>(Light, |x: T| Real::sign(x)),
        UnaryOp::Sine => unary::<L, _, _, _>(
            Heavy(20),
            #[inline(always)]
            |x: T| x.sin_::<L>(),
        ),
        UnaryOp::Sqrt => unary::<L, _, _, _>(Light, |x: T| x.sqrt()).costing(4.0),
        UnaryOp::Tan => unary::<L, _, _, _>(
            Heavy(25),
            #[inline(always)]
            |x: T| x.tan_::<L>(),
        ),
        UnaryOp::Tanh => unary::<L, _, _, _>(
            Heavy(14),
            #[inline(always)]
            |x: T| x.tanh_::<L>(),
        ),
        UnaryOp::Acos => unary::<L, _, _, _>(Heavy(40), |x: T| x.acos()),
        UnaryOp::Acosh => unary::<L, _, _, _>(Heavy(40), |x: T| x.in_double(libm::acosh)),
        UnaryOp::Asin => unary::<L, _, _, _>(Heavy(40), |x: T| x.asin()),
        UnaryOp::Asinh => unary::<L, _, _, _>(Heavy(40), |x: T| x.in_double(libm::asinh)),
        UnaryOp::Atan => unary::<L, _, _, _>(
            Heavy(30),
            #[inline(always)]
            |x: T| x.atan2_::<L>(T::one()),
        ),
        UnaryOp::Atanh => unary::<L, _, _, _>(Heavy(40), |x: T| x.in_double(libm::atanh)),
        UnaryOp::BesselI1e => unary::<L, _, _, _>(Heavy(200), |x: T| x.in_double(super::special::bessel_i1e)),
        UnaryOp::Cosh => unary::<L, _, _, _>(Heavy(40), |x: T| x.cosh()),
        UnaryOp::Digamma => unary::<L, _, _, _>(Heavy(100), |x: T| x.in_double(super::special::digamma)),
        UnaryOp::Erf => unary::<L, _, _, _>(
            Heavy(15),
            #[inline(always)]
            |x: T| x.erf::<L>(),
        ),
        UnaryOp::ErfInv => unary::<L, _, _, _>(
            Heavy(30),
            #[inline(always)]
            |x: T| x.erf_inv::<L>(),
        ),
        UnaryOp::Erfc => unary::<L, _, _, _>(
            Heavy(25),
            #[inline(always)]
            |x: T| x.erfc::<L>(),
        ),
        UnaryOp::IsInf => unary::<L, _, _, _>(
            Light,
            #[inline(always)]
            move |x: T| truth(x.is_infinite()),
        ),
        UnaryOp::IsNegInf => unary::<L, _, _, _>(
            Light,
            #[inline(always)]
            move |x: T| truth(x == T::neg_infinity()),
        ),
        UnaryOp::IsPosInf => unary::<L, _, _, _>(
            Light,
            #[inline(always)]
            move |x: T| truth(x == T::infinity()),
        ),
        UnaryOp::Lgamma => unary::<L, _, _, _>(Heavy(60), |x: T| x.lgamma()),
        UnaryOp::Sinh => unary::<L, _, _, _>(Heavy(40), |x: T| x.sinh()),
        UnaryOp::Square => unary::<L, _, _, _>(Light, |x: T| x * x),
        UnaryOp::CountLeadingZeros | UnaryOp::Not | UnaryOp::Popcnt => return None,
    })
}

/// The function of two real numbers for `op`.
pub fn binary_op<L: Level, T: Real>(op: BinaryOp) -> Option<Function> {
    use Weight::{Heavy, Light};
    Some(match op {
        BinaryOp::Add => binary::<L, _, _, _, _>(Light, |x: T, y: T| x + y),
        BinaryOp::Atan2 => binary::<L, _, _, _, _>(
            Heavy(30),
            #[inline(always)]
            |x: T, y: T| x.atan2_::<L>(y),
        ),
        BinaryOp::Divide => binary::<L, _, _, _, _>(Light, |x: T, y: T| x / y).costing(4.0),
        BinaryOp::Maximum => binary::<L, _, _, _, _>(Light, |x: T, y: T| x.max_nan(y)),
        BinaryOp::Minimum => binary::<L, _, _, _, _>(Light, |x: T, y: T| x.min_nan(y)),
        BinaryOp::Multiply => binary::<L, _, _, _, _>(Light, |x: T, y: T| x * y),
        BinaryOp::Power => binary::<L, _, _, _, _>(
            Heavy(40),
            #[inline(always)]
            |x: T, y: T| x.pow_::<L>(y),
        ),
        BinaryOp::Remainder => binary::<L, _, _, _, _>(Heavy(20), |x: T, y: T| x % y),
        BinaryOp::Subtract => binary::<L, _, _, _, _>(Light, |x: T, y: T| x - y),
        BinaryOp::NextAfter => binary::<L, _, _, _, _>(Light, |x: T, y: T| x.next_after(y)),
        BinaryOp::Polygamma => {
            binary::<L, _, _, _, _>(Heavy(200), |x: T, y: T| x.in_double2(y, super::special::polygamma))
        }
        BinaryOp::Zeta => binary::<L, _, _, _, _>(Heavy(200), |x: T, y: T| x.in_double2(y, super::special::zeta)),
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRightArithmetic
        | BinaryOp::ShiftRightLogical => return None,
    })
}
