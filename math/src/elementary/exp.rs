//! Exponentials.

use super::{Format, Level, fma, nearest_to_product, power_of_two_of_biased};
use crate::lane::Bits;

/// n + `offset`, in the lowest bits of an integer, and e^r - 1, where x = n ln 2 + r and |r| is at most ln 2 / 2.
#[inline(always)]
fn reduced<L: Level, T: Format>(x: T, offset: i32) -> (T::Int, T) {
    let (n, integer) = nearest_to_product::<L, T>(x, T::LOG2_E, offset);
    let [high, low] = T::LN_2_PARTS;
    let r = fma::<L, T>(n, -low, fma::<L, T>(n, -high, x));
    (integer, fma::<L, T>(r * r, T::exp_series::<L>(r), r))
}

/// `x`, clamped; NaN stays.
#[inline(always)]
fn bounded<T: Format>(x: T, [low, high]: [T; 2]) -> T {
    let x = T::select(high.less(x), high, x);
    T::select(x.less(low), low, x)
}

/// e^x.
#[inline(always)]
pub fn exp<L: Level, T: Format>(x: T) -> T {
    scaled_exp::<L, T>(bounded(x, T::EXP_RANGE), 0)
}

/// e^x / 2 of an `x` that is not negative, which is finite where e^x may be infinite.
#[inline(always)]
pub fn half_exp<L: Level, T: Format>(x: T) -> T {
    let [low, high] = T::EXP_RANGE;
    scaled_exp::<L, T>(bounded(x, [low, high + T::of(1.0)]), -1)
}

/// 2^exponent e^x.
#[inline(always)]
fn scaled_exp<L: Level, T: Format>(x: T, exponent: i32) -> T {
    // In two steps, since 2^n can be beyond the normal numbers. Both exponents get their bias at once.
    let (n, less_one) = reduced::<L, T>(x, 2 * T::BIAS + exponent);
    let half = n.halved();
    let power = power_of_two_of_biased::<T>(half);
    fma::<L, T>(power, less_one, power) * power_of_two_of_biased::<T>(n.minus(half))
}

/// e^x - 1.
#[inline(always)]
pub fn expm1<L: Level, T: Format>(x: T) -> T {
    // Where 2^n is nothing beside 1, it need not be right.
    let [_, high] = T::EXP_RANGE;
    let (n, less_one) = reduced::<L, T>(bounded(x, [T::NO_BITS, high]), T::BIAS - 1);
    // 2^n e^r - 1 = 2^n (e^r - 1) + (2^n - 1); twice half of it, since 2^n may be beyond the largest number.
    let scale = power_of_two_of_biased::<T>(n);
    let result = T::of(2.0) * fma::<L, T>(scale, less_one, scale - T::of(0.5));
    // Also keeps -0.
    T::select(x.magnitude().less(T::TINY), x, result)
}

/// 1 / (1 + e^-x).
#[inline(always)]
pub fn logistic<L: Level, T: Format>(x: T) -> T {
    let small = exp::<L, T>(-x.magnitude());
    T::select(x.less(T::of(0.0)), small, T::of(1.0)) / (T::of(1.0) + small)
}

/// The hyperbolic tangent: (e^2x - 1) / (e^2x + 1).
#[inline(always)]
pub fn tanh<L: Level, T: Format>(x: T) -> T {
    let a = x.magnitude();
    let a = T::select(T::TANH_END.less(a), T::TANH_END, a);
    // As in `expm1`, where the bounds of `a` make its clamps unnecessary.
    let (n, less_one) = reduced::<L, T>(T::of(2.0) * a, T::BIAS);
    let scale = power_of_two_of_biased::<T>(n);
    let less_one = fma::<L, T>(scale, less_one, scale - T::of(1.0));
    let quotient = less_one / (less_one + T::of(2.0));
    let result = match T::TANH_SERIES {
        // The sum is rounded once, where the quotient is rounded three times.
        Some([cube, fifth]) => {
            let square = a * a;
            let series = fma::<L, T>(a * square, fma::<L, T>(square, fifth, cube), a);
            T::select(a.less(T::of(1.0 / 1024.0)), series, quotient)
        }
        None => quotient,
    };
    result.signed_as(x)
}
