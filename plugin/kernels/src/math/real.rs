//! Functions of real numbers.

use num_traits::Float;
use oxcall_hlo::{BinaryOp, UnaryOp};

use super::function::{Function, Weight, Wide, binary, guarded_binary, guarded_unary, unary};
use super::lane::Lane;
use super::level::Level;
use super::{bessel, double, elementary, single, special};

/// A float in which elements are computed: `f32` or `f64`.
pub(crate) trait Real: Wide + Float + Lane {
    /// Its bits as a signed integer, ordered as IEEE 754's total order.
    type Key: Ord;

    /// The nearest integer, halves to even.
    fn round_even(self) -> Self;
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
    ($ty:ident $int:ident) => {
        impl Real for $ty {
            type Key = $int;

            #[inline(always)]
            fn round_even(self) -> Self {
                self.round_ties_even()
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

real!(f32 i32);
real!(f64 i64);

/// Functions for `f32` and for `f64`, in this order: vector kernels, and for `f64` also those of libraries.
macro_rules! elementary {
    ($($(#[$doc:meta])* $name:ident($x:ident $(, $y:ident)?) $single:expr, $double:expr;)*) => {
        /// Functions that are compiled for a [`Level`], beside those of [`mod@elementary`].
        pub(crate) trait Elementary: Real + elementary::Angles {
            $($(#[$doc])* fn $name<L: Level>(self $(, $y: Self)?) -> Self;)*

            /// Whether [`kernel_pow`](Elementary::kernel_pow) can be used.
            fn is_power_easy(self, exponent: Self) -> bool;
            /// Whether [`kernel_lgamma`](Elementary::kernel_lgamma) can be used.
            fn is_lgamma_easy(self) -> bool;
            /// Whether [`kernel_digamma`](Elementary::kernel_digamma) can be used.
            fn is_digamma_easy(self) -> bool;
        }
        impl Elementary for f32 {
            $(#[inline(always)] fn $name<L: Level>(self $(, $y: f32)?) -> f32 { let $x = self; $single })*

            #[inline(always)]
            fn is_power_easy(self, exponent: f32) -> bool {
                single::is_power_easy(self, exponent)
            }
            #[inline(always)]
            fn is_lgamma_easy(self) -> bool {
                special::is_lgamma_easy(f64::from(self))
            }
            #[inline(always)]
            fn is_digamma_easy(self) -> bool {
                special::is_digamma_easy(f64::from(self))
            }
        }
        impl Elementary for f64 {
            $(#[inline(always)] fn $name<L: Level>(self $(, $y: f64)?) -> f64 { let $x = self; $double })*

            #[inline(always)]
            fn is_power_easy(self, _: f64) -> bool {
                true
            }
            #[inline(always)]
            fn is_lgamma_easy(self) -> bool {
                true
            }
            #[inline(always)]
            fn is_digamma_easy(self) -> bool {
                true
            }
        }
    };
}

elementary! {
    /// The error function.
    kernel_erf(x) single::erf::<L, f32>(x), double::erf::<L, f64>(x);
    /// 1 - erf(x).
    kernel_erfc(x) single::erfc::<L, f32>(x), double::erfc::<L, f64>(x);
    /// The inverse of erf.
    kernel_erf_inv(x) single::erf_inv::<L, f32>(x), special::erf_inv(x);
    /// ln |gamma(x)|.
    kernel_lgamma(x) special::lgamma::<L>(f64::from(x)) as f32, libm::lgamma(x);
    /// Digamma.
    kernel_digamma(x) special::positive_digamma::<L>(f64::from(x)) as f32, special::digamma(x);
    /// The hyperbolic sine.
    kernel_sinh(x) single::sinh_in_double::<L, f64>(x.into()) as f32, double::sinh::<L, f64>(x);
    /// The hyperbolic cosine.
    kernel_cosh(x) single::cosh_in_double::<L, f64>(x.into()) as f32, double::cosh::<L, f64>(x);
    /// The inverse hyperbolic sine.
    kernel_asinh(x) single::asinh_in_double::<L, f64>(x.into()) as f32, double::asinh::<L, f64>(x);
    /// The inverse hyperbolic cosine; NaN below 1.
    kernel_acosh(x) single::acosh_in_double::<L, f64>(x.into()) as f32, double::acosh::<L, f64>(x);
    /// The inverse hyperbolic tangent; NaN beyond 1.
    kernel_atanh(x) single::atanh_in_double::<L, f64>(x.into()) as f32, double::atanh::<L, f64>(x);
    /// The arc sine; NaN beyond 1.
    kernel_asin(x) single::asin_in_double::<L, f64>(x.into()) as f32, x.asin();
    /// The arc cosine; NaN beyond 1.
    kernel_acos(x) single::acos_in_double::<L, f64>(x.into()) as f32, x.acos();
    /// The scaled Bessel function I0.
    kernel_bessel_i0e(x) single::i0e_in_double::<L, f64>(x.into()) as f32, bessel::i0e::<L>(x);
    /// The scaled Bessel function I1.
    kernel_bessel_i1e(x) single::i1e_in_double::<L, f64>(x.into()) as f32, bessel::i1e::<L>(x);
    /// x^y.
    kernel_pow(x, y) single::power::<L>(x, y), x.powf(y);
    /// The angle of the point (x, y).
    kernel_atan2(y, x) single::atan2::<L>(y, x), y.atan2(x);
}

/// The function of one real number for `op`.
pub(crate) fn unary_op<L: Level, T: Elementary>(op: UnaryOp) -> Option<Function> {
    use Weight::{Heavy, Light};
    let truth = |x: bool| u8::from(x);
    Some(match op {
        UnaryOp::Abs => unary::<L, _, _, _>(Light, |x: T| x.abs()),
        UnaryOp::Cbrt => unary::<L, _, _, _>(Heavy(40), |x: T| x.cbrt()),
        UnaryOp::Ceil => unary::<L, _, _, _>(Light, |x: T| x.ceil()),
        UnaryOp::Cosine => guarded_unary::<L, T, _, _, _>(
            20,
            #[inline(always)]
            |x: T| T::cosine::<L>(x),
            |x: T| elementary::is_angle_easy(x),
            |x: T| x.cos(),
        ),
        UnaryOp::Exponential => unary::<L, _, _, _>(
            Heavy(10),
            #[inline(always)]
            |x: T| elementary::exp::<L, T>(x),
        ),
        UnaryOp::ExponentialMinusOne => unary::<L, _, _, _>(
            Heavy(12),
            #[inline(always)]
            |x: T| elementary::expm1::<L, T>(x),
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
            |x: T| elementary::ln::<L, T>(x),
        ),
        UnaryOp::LogPlusOne => unary::<L, _, _, _>(
            Heavy(15),
            #[inline(always)]
            |x: T| elementary::ln_1p::<L, T>(x),
        ),
        UnaryOp::Logistic => unary::<L, _, _, _>(
            Heavy(14),
            #[inline(always)]
            |x: T| elementary::logistic::<L, T>(x),
        ),
        UnaryOp::Negate => unary::<L, _, _, _>(Light, |x: T| -x),
        UnaryOp::Real | UnaryOp::Conj => unary::<L, _, _, _>(Light, |x: T| x),
        UnaryOp::RoundNearestAfz => unary::<L, _, _, _>(Light, |x: T| x.round()),
        UnaryOp::RoundNearestEven => unary::<L, _, _, _>(Light, |x: T| x.round_even()),
        UnaryOp::Rsqrt => unary::<L, _, _, _>(
            Light,
            #[inline(always)]
            |x: T| elementary::rsqrt::<L, T>(x),
        )
        .costing(8.0),
        UnaryOp::Sign => unary::<L, _, _, _>(Light, |x: T| Real::sign(x)),
        UnaryOp::Sine => guarded_unary::<L, T, _, _, _>(
            20,
            #[inline(always)]
            |x: T| T::sine::<L>(x),
            |x: T| elementary::is_angle_easy(x),
            |x: T| x.sin(),
        ),
        UnaryOp::Sqrt => unary::<L, _, _, _>(Light, |x: T| x.sqrt()).costing(4.0),
        UnaryOp::Tan => guarded_unary::<L, T, _, _, _>(
            25,
            #[inline(always)]
            |x: T| T::tangent::<L>(x),
            |x: T| elementary::is_angle_easy(x),
            |x: T| x.tan(),
        ),
        UnaryOp::Tanh => unary::<L, _, _, _>(
            Heavy(14),
            #[inline(always)]
            |x: T| elementary::tanh::<L, T>(x),
        ),
        UnaryOp::Acos => unary::<L, _, _, _>(
            Heavy(30),
            #[inline(always)]
            |x: T| x.kernel_acos::<L>(),
        ),
        UnaryOp::Acosh => unary::<L, _, _, _>(
            Heavy(40),
            #[inline(always)]
            |x: T| x.kernel_acosh::<L>(),
        ),
        UnaryOp::Asin => unary::<L, _, _, _>(
            Heavy(30),
            #[inline(always)]
            |x: T| x.kernel_asin::<L>(),
        ),
        UnaryOp::Asinh => unary::<L, _, _, _>(
            Heavy(40),
            #[inline(always)]
            |x: T| x.kernel_asinh::<L>(),
        ),
        UnaryOp::Atan => unary::<L, _, _, _>(
            Heavy(30),
            #[inline(always)]
            |x: T| x.kernel_atan2::<L>(T::one()),
        ),
        UnaryOp::Atanh => unary::<L, _, _, _>(
            Heavy(40),
            #[inline(always)]
            |x: T| x.kernel_atanh::<L>(),
        ),
        UnaryOp::BesselI0e => unary::<L, _, _, _>(
            Heavy(40),
            #[inline(always)]
            |x: T| x.kernel_bessel_i0e::<L>(),
        ),
        UnaryOp::BesselI1e => unary::<L, _, _, _>(
            Heavy(40),
            #[inline(always)]
            |x: T| x.kernel_bessel_i1e::<L>(),
        ),
        UnaryOp::Cosh => unary::<L, _, _, _>(
            Heavy(25),
            #[inline(always)]
            |x: T| x.kernel_cosh::<L>(),
        ),
        UnaryOp::Digamma => guarded_unary::<L, T, _, _, _>(
            60,
            #[inline(always)]
            |x: T| x.kernel_digamma::<L>(),
            |x: T| x.is_digamma_easy(),
            |x: T| x.in_double(special::digamma),
        ),
        UnaryOp::Erf => unary::<L, _, _, _>(
            Heavy(15),
            #[inline(always)]
            |x: T| x.kernel_erf::<L>(),
        ),
        UnaryOp::ErfInv => unary::<L, _, _, _>(
            Heavy(30),
            #[inline(always)]
            |x: T| x.kernel_erf_inv::<L>(),
        ),
        UnaryOp::Erfc => unary::<L, _, _, _>(
            Heavy(25),
            #[inline(always)]
            |x: T| x.kernel_erfc::<L>(),
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
        UnaryOp::Lgamma => guarded_unary::<L, T, _, _, _>(
            60,
            #[inline(always)]
            |x: T| x.kernel_lgamma::<L>(),
            |x: T| x.is_lgamma_easy(),
            |x: T| x.in_double(libm::lgamma),
        ),
        UnaryOp::Sinh => unary::<L, _, _, _>(
            Heavy(35),
            #[inline(always)]
            |x: T| x.kernel_sinh::<L>(),
        ),
        UnaryOp::Square => unary::<L, _, _, _>(Light, |x: T| x * x),
        UnaryOp::CountLeadingZeros | UnaryOp::Not | UnaryOp::Popcnt => return None,
    })
}

/// The complementary error function of x, given x and e^-(x x).
pub(crate) fn erfc_of_exp<L: Level>() -> Function {
    let function = binary::<L, f32, f32, f32, _>(
        Weight::Heavy(18),
        #[inline(always)]
        |x, exp| single::erfc_of_exp::<L, f32>(x, exp),
    );
    function.named("erfc", function.flops)
}

/// The function of two real numbers for `op`.
pub(crate) fn binary_op<L: Level, T: Elementary>(op: BinaryOp) -> Option<Function> {
    use Weight::{Heavy, Light};
    Some(match op {
        BinaryOp::Add => binary::<L, _, _, _, _>(Light, |x: T, y: T| x + y),
        BinaryOp::Atan2 => binary::<L, _, _, _, _>(
            Heavy(30),
            #[inline(always)]
            |x: T, y: T| x.kernel_atan2::<L>(y),
        ),
        BinaryOp::Divide => binary::<L, _, _, _, _>(Light, |x: T, y: T| x / y).costing(4.0),
        BinaryOp::Maximum => binary::<L, _, _, _, _>(Light, |x: T, y: T| x.max_nan(y)),
        BinaryOp::Minimum => binary::<L, _, _, _, _>(Light, |x: T, y: T| x.min_nan(y)),
        BinaryOp::Multiply => binary::<L, _, _, _, _>(Light, |x: T, y: T| x * y),
        BinaryOp::Power => guarded_binary::<L, T, _, _, _>(
            40,
            #[inline(always)]
            |x: T, y: T| x.kernel_pow::<L>(y),
            |x: T, y: T| x.is_power_easy(y),
            |x: T, y: T| x.powf(y),
        ),
        BinaryOp::Remainder => binary::<L, _, _, _, _>(Heavy(20), |x: T, y: T| x % y),
        BinaryOp::Subtract => binary::<L, _, _, _, _>(Light, |x: T, y: T| x - y),
        BinaryOp::NextAfter => binary::<L, _, _, _, _>(Light, |x: T, y: T| x.next_after(y)),
        BinaryOp::Polygamma => binary::<L, _, _, _, _>(Heavy(200), |x: T, y: T| x.in_double2(y, special::polygamma)),
        BinaryOp::Zeta => binary::<L, _, _, _, _>(Heavy(200), |x: T, y: T| x.in_double2(y, special::zeta)),
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRightArithmetic
        | BinaryOp::ShiftRightLogical => return None,
    })
}
