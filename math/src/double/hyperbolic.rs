//! Hyperbolic functions and their inverses.

use std::f64::consts::LN_2;

use super::{Double, inverse_factorials, polynomial};
use crate::elementary::{exact_sum, fma, half_exp, ln_corrected, sum};
use crate::level::Level;

/// (sinh a - a) / a^3 in a^2, up to 1; the next term is below 2e-20.
const SINH: [f64; 9] = inverse_factorials(3, 2);

/// Below it the inverse functions are their argument.
const TINY: f64 = 1e-9;
/// Above it the root of a^2 + 1 is a.
const LARGE: f64 = 1e9;

/// sinh x = (e^x - e^-x) / 2.
#[inline(always)]
pub fn sinh<L: Level, T: Double>(x: T) -> T {
    let a = x.magnitude();
    let half = half_exp::<L, T>(a);
    let far = half - T::of(0.25) / half;
    let square = a * a;
    let near = fma::<L, T>(a * square, polynomial::<L, T, 9>(square, &SINH), a);
    T::select(a.less(T::of(1.0)), near, far).signed_as(x)
}

/// cosh x = (e^x + e^-x) / 2.
#[inline(always)]
pub fn cosh<L: Level, T: Double>(x: T) -> T {
    let half = half_exp::<L, T>(x.magnitude());
    half + T::of(0.25) / half
}

/// ln(a + root), where root^2 is `square + error`; ln 2a for a large `a`. Either of `a` and the root may be the larger.
#[inline(always)]
fn ln_of_root<L: Level, T: Double>(a: T, square: T, error: T) -> T {
    let root = square.root();
    // Twice the root times its error, which only a fused operation gives, at every level.
    let rest = (-root).fused(root, square) + error;
    let [total, lost] = exact_sum(a, root);
    let twice = root + root;
    let correction = fma::<L, T>(twice, lost, rest) / (twice * total);
    let correction = T::select(root.same(T::of(0.0)), root, correction);
    let is_large = T::of_double(LARGE).less(a);
    let correction = T::select(is_large, T::of_double(LN_2), correction);
    ln_corrected::<L, T>(T::select(is_large, a, total), correction)
}

/// arsinh x = ln(x + root(x^2 + 1)).
#[inline(always)]
pub fn asinh<L: Level, T: Double>(x: T) -> T {
    let a = x.magnitude();
    let square = a * a;
    let [above, lost] = exact_sum(square, T::of(1.0));
    let result = ln_of_root::<L, T>(a, above, lost + a.fused(a, -square));
    T::select(a.less(T::of_double(TINY)), a, result).signed_as(x)
}

/// arcosh x = ln(x + root((x - 1) (x + 1))), NaN below 1.
#[inline(always)]
pub fn acosh<L: Level, T: Double>(x: T) -> T {
    // The difference is exact where it matters.
    let less = x - T::of(1.0);
    let [more, lost] = sum(x, T::of(1.0));
    let square = less * more;
    let result = ln_of_root::<L, T>(x, square, fma::<L, T>(less, lost, less.fused(more, -square)));
    T::select(x.less(T::of(1.0)), T::NAN, result)
}

/// artanh x = ln((1 + x) / (1 - x)) / 2, NaN beyond 1.
#[inline(always)]
pub fn atanh<L: Level, T: Double>(x: T) -> T {
    let a = x.magnitude();
    let ([more, more_low], [less, less_low]) = (sum(T::of(1.0), a), sum(T::of(1.0), -a));
    let quotient = more / less;
    let rest = (-quotient).fused(less, more) + fma::<L, T>(-quotient, less_low, more_low);
    let result = T::of(0.5) * ln_corrected::<L, T>(quotient, rest / more);
    T::select(a.less(T::of_double(TINY)), a, result).signed_as(x)
}
