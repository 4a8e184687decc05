//! Modified Bessel functions of the first kind, scaled by e^-|x|, in double precision.
//!
//! One polynomial serves numbers of all sizes. Its variable maps them to the interval from -1 to 1, and its value is
//! the function without its growth near 0 and its decline at large numbers.

use crate::double::{self, Double};
use crate::level::Level;

/// e^-a I0(a) root(1 + a) in s = (a - 6) / (a + 6): a Chebyshev fit, within 1e-9.
const ORDER_0: [f64; 22] = [
    0.440934120711195,
    -0.08578174931938128,
    0.09198284167430135,
    -0.10517440906379841,
    0.12702935111114896,
    -0.14750677334809503,
    0.1323885126760406,
    -0.04346984169999707,
    -0.08745311178479703,
    0.13050182234784471,
    -0.018354107672684125,
    -0.08930608920635306,
    0.02675065656053522,
    0.06859396723562662,
    -0.019820592726970235,
    -0.04656820834157562,
    0.007576930806613331,
    0.025635239941970266,
    -0.0014407861096118564,
    -0.009050446415483988,
    -0.0001226747573034747,
    0.00159762816086179,
];

/// e^-a I1(a) / a (1 + a)^(3/2) in s = (a - 6) / (a + 6): a Chebyshev fit, within 9e-10.
const ORDER_1: [f64; 22] = [
    0.4693387392805383,
    -0.12947108392018383,
    0.10038836655750094,
    -0.054791593614410335,
    -0.013293241541434362,
    0.09628377357944091,
    -0.15104114106080285,
    0.11084972240266405,
    0.024847550019380927,
    -0.11903050787205599,
    0.0451129700777547,
    0.07872384437774775,
    -0.04694941281884835,
    -0.05725486708647369,
    0.03295602748911264,
    0.03891791254965321,
    -0.016242776729720982,
    -0.02058073660213329,
    0.005077850869486058,
    0.0069051880178997455,
    -0.0007237921137154239,
    -0.0010805117972047054,
];

/// Beyond it the functions are 0 in single precision.
const END: f64 = 1e100;

/// |x|, 1 + |x|, and the polynomial of one of these functions.
#[inline(always)]
fn parts<L: Level, T: Double>(x: T, coefficients: &[f64; 22]) -> [T; 3] {
    let (a, end) = (x.magnitude(), T::of_double(END));
    let a = T::select(end.less(a), end, a);
    let s = (a - T::of(6.0)) / (a + T::of(6.0));
    [a, T::of(1.0) + a, double::polynomial::<L, T, 22>(s, coefficients)]
}

/// e^-|x| I0(x) of a number of single precision, before it is rounded to that.
#[inline(always)]
pub fn i0e_in_double<L: Level, T: Double>(x: T) -> T {
    let [_, above, value] = parts::<L, T>(x, &ORDER_0);
    value / above.root()
}

/// e^-|x| I1(x) of a number of single precision, before it is rounded to that.
#[inline(always)]
pub fn i1e_in_double<L: Level, T: Double>(x: T) -> T {
    let [a, above, value] = parts::<L, T>(x, &ORDER_1);
    (a * value / (above * above.root())).signed_as(x)
}
