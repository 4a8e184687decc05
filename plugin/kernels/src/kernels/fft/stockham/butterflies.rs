//! Transforms of a few complex numbers in each lane.
#![allow(clippy::needless_range_loop, reason = "lanes of several numbers at once, as they are in vectors")]

use std::f64::consts::FRAC_1_SQRT_2;

use pulp::Simd;

use super::vectors::Lanes;

/// Replaces `R` numbers in each lane by their transform. An odd `R` reads the cosines of the first `R / 2` multiples of
/// 2 pi / R, and the sines.
#[inline(always)]
pub(super) fn butterfly<S: Simd, const R: usize>(s: S, x: &mut [Lanes<S>; R], roots: &[f64]) {
    match R {
        2 => [x[0], x[1]] = two(s, x[0], x[1]),
        4 => [x[0], x[1], x[2], x[3]] = four(s, [x[0], x[1], x[2], x[3]]),
        8 => eight(s, x),
        9 => nine(s, x, roots),
        _ => odd(s, x, roots),
    }
}

#[inline(always)]
fn two<S: Simd>(s: S, a: Lanes<S>, b: Lanes<S>) -> [Lanes<S>; 2] {
    [a.plus(s, b), a.minus(s, b)]
}

#[inline(always)]
fn four<S: Simd>(s: S, x: [Lanes<S>; 4]) -> [Lanes<S>; 4] {
    let ([a, b], [c, d]) = (two(s, x[0], x[2]), two(s, x[1], x[3]));
    let ([y0, y2], [y1, y3]) = (two(s, a, c), b.turned(s, d));
    [y0, y1, y2, y3]
}

#[inline(always)]
fn eight<S: Simd>(s: S, x: &mut [Lanes<S>]) {
    let odd = four(s, [x[1], x[3], x[5], x[7]]);
    let even = four(s, [x[0], x[2], x[4], x[6]]);
    let ([b1, _], [_, b3]) = (odd[1].turned(s, odd[1]), odd[3].turned(s, odd[3]));
    [x[0], x[4]] = two(s, even[0], odd[0]);
    [x[1], x[5]] = two(s, even[1], b1.scaled(s, FRAC_1_SQRT_2));
    [x[2], x[6]] = even[2].turned(s, odd[2]);
    [x[7], x[3]] = two(s, even[3], b3.scaled(s, FRAC_1_SQRT_2));
}

#[inline(always)]
fn three<S: Simd>(s: S, x: [Lanes<S>; 3], cosine: f64, sine: f64) -> [Lanes<S>; 3] {
    let [sum, difference] = two(s, x[1], x[2]);
    let [y1, y2] = x[0].plus_scaled(s, cosine, sum).turned(s, difference.scaled(s, sine));
    [x[0].plus(s, sum), y1, y2]
}

/// Threes of threes.
#[inline(always)]
fn nine<S: Simd>(s: S, x: &mut [Lanes<S>], roots: &[f64]) {
    let (cosines, sines) = roots[..8].split_at(4);
    let (c, d) = (cosines[2], sines[2]);
    let mut rows =
        [three(s, [x[0], x[3], x[6]], c, d), three(s, [x[1], x[4], x[7]], c, d), three(s, [x[2], x[5], x[8]], c, d)];
    for (j, k) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        rows[j][k] = rows[j][k].times(s, Lanes::splat(s, cosines[j * k - 1], -sines[j * k - 1]));
    }
    for k in 0..3 {
        [x[k], x[k + 3], x[k + 6]] = three(s, [rows[0][k], rows[1][k], rows[2][k]], c, d);
    }
}

/// By the sums and the differences of `x[j]` and `x[R - j]`.
#[inline(always)]
fn odd<S: Simd, const R: usize>(s: S, x: &mut [Lanes<S>; R], roots: &[f64]) {
    let (cosines, sines) = roots[..R / 2 * 2].split_at(R / 2);
    let first = x[0];
    for j in 1..=R / 2 {
        [x[j], x[R - j]] = two(s, x[j], x[R - j]);
        x[0] = x[0].plus(s, x[j]);
    }
    let pairs = *x;
    for k in 1..=R / 2 {
        let (mut even, mut rest) =
            (first.plus_scaled(s, cosines[k - 1], pairs[1]), pairs[R - 1].scaled(s, sines[k - 1]));
        for j in 2..=R / 2 {
            let turn = j * k % R;
            let (at, sign) = if turn > R / 2 { (R - turn - 1, -1.0) } else { (turn - 1, 1.0) };
            even = even.plus_scaled(s, cosines[at], pairs[j]);
            rest = rest.plus_scaled(s, sign * sines[at], pairs[R - j]);
        }
        [x[k], x[R - k]] = even.turned(s, rest);
    }
}
