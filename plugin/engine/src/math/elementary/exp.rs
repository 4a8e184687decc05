//! Exponentials.

use num_traits::WrappingSub;

use super::{Format, Level, fma, nearest, power_of_two};

/// n and e^r - 1, where x = n ln 2 + r and |r| is at most ln 2 / 2.
#[inline(always)]
fn reduced<L: Level, T: Format>(x: T) -> (T::Int, T) {
    let (n, integer) = nearest(x * T::LOG2_E());
    let [high, low] = T::LN_2_PARTS;
    let r = fma::<L, T>(n, -low, fma::<L, T>(n, -high, x));
    (integer, fma::<L, T>(r * r, T::exp_series::<L>(r), r))
}

/// `x`, clamped to the range beyond which e^x is 0 or infinite; NaN stays.
#[inline(always)]
fn bounded<T: Format>(x: T) -> T {
    let [low, high] = T::EXP_RANGE;
    let x = if x > high { high } else { x };
    if x < low { low } else { x }
}

/// e^x.
#[inline(always)]
pub(crate) fn exp<L: Level, T: Format>(x: T) -> T {
    let (n, less_one) = reduced::<L, T>(bounded(x));
    // In two steps, since 2^n can be beyond the normal numbers.
    let half = n >> 1;
    (T::one() + less_one) * power_of_two::<T>(half) * power_of_two::<T>(n.wrapping_sub(&half))
}

/// e^x - 1.
#[inline(always)]
pub(crate) fn expm1<L: Level, T: Format>(x: T) -> T {
    let (n, less_one) = reduced::<L, T>(bounded(x));
    // 2^n e^r - 1 = 2^n (e^r - 1) + (2^n - 1); twice half of it, since 2^n may be beyond the largest number.
    let n = if n < T::NO_BITS { T::NO_BITS } else { n };
    let scale = power_of_two::<T>(n.wrapping_sub(&super::int(1)));
    let result = T::of(2.0) * fma::<L, T>(scale, less_one, scale - T::of(0.5));
    // Also keeps -0.
    if x.abs() < T::TINY { x } else { result }
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub(crate) fn logistic<L: Level, T: Format>(x: T) -> T {
    let small = exp::<L, T>(-x.abs());
    (if x < T::zero() { small } else { T::one() }) / (T::one() + small)
}

/// The hyperbolic tangent: (e^2x - 1) / (e^2x + 1).
#[inline(always)]
pub(crate) fn tanh<L: Level, T: Format>(x: T) -> T {
    let a = x.abs();
    let a = if a > T::TANH_END { T::TANH_END } else { a };
    let less_one = expm1::<L, T>(T::of(2.0) * a);
    (less_one / (less_one + T::of(2.0))).copysign(x)
}
