//! Sine, cosine and tangent.

use super::{fma, nearest, polynomial};
use crate::math::level::Level;

/// Whether these functions are accurate for `x`: the multiple of pi / 2 next to it has few enough bits.
#[inline(always)]
pub fn is_angle_easy(x: f32) -> bool {
    x.abs() <= 6000.0
}

/// The sine and cosine of what is left of x after multiples of pi / 2, and their number.
#[inline(always)]
fn reduced<L: Level>(x: f32) -> (f32, f32, i32) {
    /// pi / 2 in parts: three of 11 bits, so that multiples are exact, and the rest.
    const PARTS: [f32; 4] = [1.570_312_5, 4.837_513e-4, 7.549_533_62e-8, 2.563_344e-12];
    let (n, integer) = nearest(x * std::f32::consts::FRAC_2_PI);
    let r = fma::<L>(n, -PARTS[0], x);
    let r = fma::<L>(n, -PARTS[1], r);
    let r = fma::<L>(n, -PARTS[2], r);
    let r = fma::<L>(n, -PARTS[3], r);
    let u = r * r;
    // (sin r - r) / r^3 in u = r^2; 2.8e-11.
    let s = polynomial::<L, 4>(u, [-0.166_666_666_64, 0.008_333_331_866, -0.000_198_400_82, 2.724_931_4e-6]);
    let sin = fma::<L>(r * u, s, r);
    // (cos r - 1 + u / 2) / u^2; 2.0e-9.
    let c = polynomial::<L, 3>(u, [0.041_666_664_65, -0.001_388_830_07, 2.454_743_75e-5]);
    let cos = fma::<L>(u * u, c, fma::<L>(-0.5, u, 1.0));
    (sin, cos, integer)
}

/// sin x.
#[inline(always)]
pub fn sin<L: Level>(x: f32) -> f32 {
    let (sin, cos, n) = reduced::<L>(x);
    let value = if n & 1 == 0 { sin } else { cos };
    let result = f32::from_bits(value.to_bits() ^ ((n as u32 & 2) << 30));
    // Also keeps -0.
    if x.abs() < 1e-8 { x } else { result }
}

/// cos x.
#[inline(always)]
pub fn cos<L: Level>(x: f32) -> f32 {
    let (sin, cos, n) = reduced::<L>(x);
    let value = if n & 1 == 0 { cos } else { sin };
    f32::from_bits(value.to_bits() ^ ((n.wrapping_add(1) as u32 & 2) << 30))
}

/// tan x.
#[inline(always)]
pub fn tan<L: Level>(x: f32) -> f32 {
    let (sin, cos, n) = reduced::<L>(x);
    let (above, below) = if n & 1 == 0 { (sin, cos) } else { (-cos, sin) };
    if x.abs() < 1e-8 { x } else { above / below }
}
