//! Sine, cosine and tangent.

use num_traits::{One, WrappingAdd, Zero};

use super::{Format, Level, fma, int};

/// Whether these functions are accurate for `x`: the multiple of pi / 2 next to it has few enough bits.
#[inline(always)]
pub fn is_angle_easy<T: Format>(x: T) -> bool {
    x.abs() <= T::EASY_ANGLES
}

#[inline(always)]
fn is_even<T: Format>(n: T::Int) -> bool {
    n & T::Int::one() == T::Int::zero()
}

/// `x`, with the other sign after an odd number of half turns.
#[inline(always)]
fn turned<T: Format>(x: T, quarters: T::Int) -> T {
    // The second bit becomes the sign.
    let sign = (quarters & int(2)) << (8 * size_of::<T>() - 2);
    T::of_bits(x.bits() ^ sign)
}

/// What of a function `f` of `x`, unless x is so small that it is x. Also keeps -0.
#[inline(always)]
fn or_tiny<T: Format>(x: T, f: T) -> T {
    if x.abs() < T::of(1e-8) { x } else { f }
}

/// sin x.
#[inline(always)]
pub fn sin<L: Level, T: Format>(x: T) -> T {
    let ([sin, _], [cos, _], n) = T::quarter_turns::<L>(x);
    or_tiny(x, turned(if is_even::<T>(n) { sin } else { cos }, n))
}

/// cos x.
#[inline(always)]
pub fn cos<L: Level, T: Format>(x: T) -> T {
    let ([sin, _], [cos, _], n) = T::quarter_turns::<L>(x);
    turned(if is_even::<T>(n) { cos } else { sin }, n.wrapping_add(&T::Int::one()))
}

/// tan x.
#[inline(always)]
pub fn tan<L: Level, T: Format>(x: T) -> T {
    let (sin, cos, n) = T::quarter_turns::<L>(x);
    let turn = |even: T, odd: T| if is_even::<T>(n) { even } else { odd };
    let (above, below) = (turn(sin[0], -cos[0]), turn(cos[0], sin[0]));
    let tan = above / below;
    if !L::FUSED {
        return or_tiny(x, tan);
    }
    // What is left of the numerator, over the denominator.
    let (above_low, below_low) = (turn(sin[1], -cos[1]), turn(cos[1], sin[1]));
    let rest = fma::<L, T>(-tan, below, above) + fma::<L, T>(-tan, below_low, above_low);
    or_tiny(x, tan + rest / below)
}
