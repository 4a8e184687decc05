//! Functions that follow from others, for lanes of loops and for recorded functions.

use std::f64::consts::{LN_2, LOG2_E, LOG10_E};

use super::{Mask, Real};

/// Beyond it the reciprocal of e^x is nothing beside e^x, which may be infinite where its half is not.
const LARGE_EXPONENT: f64 = 80.0;
/// Beyond it the root of x^2 + 1 is x, and squares may be infinite.
const LARGE_SQUARE: f64 = 1e15;

/// e^x / 2 of a large x, as a product of two numbers that are finite.
#[inline(always)]
fn half_exp<T: Real>(x: T) -> T {
    let root = (x * 0.5).exp();
    root * 0.5 * root
}

/// An odd function, given its value at |x|. Functions of rows are differentiated as they are recorded: at 0, where |x|
/// and the sign have no derivative, the slope is 1.
#[inline(always)]
fn odd<T: Real>(x: T, value: T) -> T {
    x.equal(0.0).select(x, value * x.signum())
}

#[inline(always)]
pub(super) fn sinh<T: Real>(x: T) -> T {
    let size = x.abs();
    let less_one = size.exp_m1();
    let small = (less_one + less_one / (less_one + 1.0)) * 0.5;
    odd(x, size.greater(LARGE_EXPONENT).select(half_exp(size), small))
}

#[inline(always)]
pub(super) fn cosh<T: Real>(x: T) -> T {
    // By a choice, which has second derivatives at 0.
    let size = x.less(0.0).select(-x, x);
    let power = size.exp();
    size.greater(LARGE_EXPONENT).select(half_exp(size), (power + power.recip()) * 0.5)
}

#[inline(always)]
pub(super) fn asinh<T: Real>(x: T) -> T {
    let size = x.abs();
    let square = size * size;
    let small = (size + square / ((square + 1.0).sqrt() + 1.0)).ln_1p();
    // Of at least 1: the slope of ln at 0 is infinite, also where it is not chosen.
    let large = size.maximum(1.0).ln() + LN_2;
    odd(x, size.greater(LARGE_SQUARE).select(large, small))
}

#[inline(always)]
pub(super) fn acosh<T: Real>(x: T) -> T {
    let above = x - 1.0;
    let small = (above + above.sqrt() * (x + 1.0).sqrt()).ln_1p();
    x.greater(LARGE_SQUARE).select(x.ln() + LN_2, small)
}

#[inline(always)]
pub(super) fn atanh<T: Real>(x: T) -> T {
    let size = x.abs();
    odd(x, (size * 2.0 / (-size + 1.0)).ln_1p() * 0.5)
}

/// The slope of the logistic function: e^-|x| / (1 + e^-|x|)^2, which loses no digits where it is small. The sign is
/// chosen, since |x| has no derivative at 0, where the slope has all of them.
#[inline(always)]
pub(super) fn logistic_slope<T: Real>(x: T) -> T {
    let small = x.less(0.0).select(x, -x).exp();
    let sum = small + 1.0;
    small / (sum * sum)
}

/// 1 - x^2: near 1 as a product, which has all digits there, near 0 as a difference, whose slope has.
#[inline(always)]
pub(super) fn less_square<T: Real>(x: T) -> T {
    x.abs().less(0.5).select(-(x * x) + 1.0, (-x + 1.0) * (x + 1.0))
}

/// The other side of a right triangle with a hypotenuse of 1.
#[inline(always)]
pub(super) fn other_side<T: Real>(x: T) -> T {
    ((-x + 1.0) * (x + 1.0)).sqrt()
}

#[inline(always)]
pub(super) fn cbrt<T: Real>(x: T) -> T {
    let size = x.abs();
    let near = (size.ln() / 3.0).exp();
    // A step of Newton's method, by a quotient, since the cube may be infinite.
    let root = near - (near - size / (near * near)) / 3.0;
    let is_itself = size.equal(0.0) | size.equal(f64::INFINITY);
    is_itself.select(x, root * x.signum())
}

#[inline(always)]
pub(super) fn hypot<T: Real>(x: T, y: T) -> T {
    let (x, y) = (x.abs(), y.abs());
    let (long, short) = (x.maximum(y), x.minimum(y));
    let ratio = short / long;
    let is_itself = long.equal(0.0) | long.equal(f64::INFINITY);
    is_itself.select(long, long * (ratio * ratio + 1.0).sqrt())
}

#[inline(always)]
pub(super) fn log2<T: Real>(x: T) -> T {
    x.ln() * LOG2_E
}

#[inline(always)]
pub(super) fn log10<T: Real>(x: T) -> T {
    x.ln() * LOG10_E
}
