//! Dual numbers: derivatives in forward mode.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::operators::operators;
use super::{Mask, Real, unrolled};

/// A number and its derivatives along `N` directions: the sum of `value` and `N` infinitesimal parts, the products of
/// which are 0.
///
/// A function of duals gives its value and its derivatives along the same directions. `Dual<Dual<T, M>, N>` has the
/// second derivatives too.
///
/// ```
/// use oxcall_math::real::{Dual, Real, Scalar};
///
/// let x = Dual::new(Scalar(3.0), [Scalar(1.0)]);
/// assert_eq!((x * x).tangents, [Scalar(6.0)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dual<T, const N: usize> {
    /// The number.
    pub value: T,
    /// Its derivatives along each direction.
    pub tangents: [T; N],
}

impl<T: Real, const N: usize> Dual<T, N> {
    /// A number with derivatives.
    #[inline(always)]
    pub fn new(value: T, tangents: [T; N]) -> Self {
        Dual { value, tangents }
    }

    /// A number that does not depend on the directions.
    #[inline(always)]
    pub fn constant(value: T) -> Self {
        Dual { value, tangents: [T::from(0.0); N] }
    }

    /// A number whose derivative is 1 along the direction `index`, and 0 along the others.
    #[inline(always)]
    pub fn variable(value: T, index: usize) -> Self {
        let mut dual = Dual::constant(value);
        dual.tangents[index] = T::from(1.0);
        dual
    }

    /// A function's value, and its derivatives by the chain rule.
    #[inline(always)]
    fn chain(self, value: T, slope: T) -> Self {
        self.each(
            value,
            #[inline(always)]
            |tangent| tangent * slope,
        )
    }

    /// A value, and a function of each tangent.
    #[inline(always)]
    fn each(mut self, value: T, f: impl Fn(T) -> T) -> Self {
        self.value = value;
        unrolled::<N>(
            #[inline(always)]
            |index| self.tangents[index] = f(self.tangents[index]),
        );
        self
    }

    /// A value, and a function of the tangents of two numbers.
    #[inline(always)]
    fn both(mut self, other: Self, value: T, f: impl Fn(T, T) -> T) -> Self {
        self.value = value;
        unrolled::<N>(
            #[inline(always)]
            |index| self.tangents[index] = f(self.tangents[index], other.tangents[index]),
        );
        self
    }
}

impl<T: Real, const N: usize> From<f64> for Dual<T, N> {
    #[inline(always)]
    fn from(x: f64) -> Self {
        Dual::constant(T::from(x))
    }
}

impl<T: Real, const N: usize> Neg for Dual<T, N> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        self.each(
            -self.value,
            #[inline(always)]
            |tangent| -tangent,
        )
    }
}

/// The operators: the tangent of `$a $op $b` from those of `$a` and `$b`, given the value `$v`.
macro_rules! binary {
    ($($op:ident $method:ident |$a:ident, $b:ident, $v:ident, $ta:ident, $tb:ident| $value:expr => $tangent:expr;)*) => {$(
        #[allow(clippy::suspicious_arithmetic_impl, reason = "rules of products and quotients")]
        impl<T: Real, const N: usize> $op for Dual<T, N> {
            type Output = Self;

            #[allow(clippy::suspicious_arithmetic_impl, reason = "a tangent has other operators than its value")]
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self.value, other.value);
                let $v = $value;
                self.both(other, $v, #[inline(always)] |$ta, $tb| $tangent)
            }
        }
    )*};
}
binary! {
    Add add |a, b, value, ta, tb| a + b => ta + tb;
    Sub sub |a, b, value, ta, tb| a - b => ta - tb;
    Mul mul |a, b, value, ta, tb| a * b => ta * b + a * tb;
    Div div |a, b, value, ta, tb| a / b => (ta - value * tb) / b;
}
operators!([T: Real, const N: usize] Dual<T, N>);

/// Functions of one number: their values and slopes.
macro_rules! chains {
    ($($name:ident |$x:ident, $y:ident| $slope:expr;)*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            let $x = self.value;
            let $y = $x.$name();
            self.chain($y, $slope)
        }
    )*};
}

/// Functions whose derivatives are 0.
macro_rules! constants {
    ($($name:ident)*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            Dual::constant(self.value.$name())
        }
    )*};
}

/// 2 / root(pi)
const ERF_SLOPE: f64 = std::f64::consts::FRAC_2_SQRT_PI;

impl<T: Real, const N: usize> Real for Dual<T, N> {
    type Mask = T::Mask;

    #[inline(always)]
    fn less(self, other: impl Into<Self>) -> T::Mask {
        self.value.less(other.into().value)
    }
    #[inline(always)]
    fn less_equal(self, other: impl Into<Self>) -> T::Mask {
        self.value.less_equal(other.into().value)
    }
    #[inline(always)]
    fn equal(self, other: impl Into<Self>) -> T::Mask {
        self.value.equal(other.into().value)
    }
    #[inline(always)]
    fn choose(mask: T::Mask, yes: Self, no: Self) -> Self {
        yes.both(
            no,
            T::choose(mask, yes.value, no.value),
            #[inline(always)]
            |yes, no| T::choose(mask, yes, no),
        )
    }
    #[inline(always)]
    fn mul_add(self, b: impl Into<Self>, c: impl Into<Self>) -> Self {
        let (b, c): (Self, Self) = (b.into(), c.into());
        let product = self.both(
            b,
            self.value,
            #[inline(always)]
            |ta, tb| ta * b.value + self.value * tb,
        );
        product.both(
            c,
            self.value.mul_add(b.value, c.value),
            #[inline(always)]
            |product, tc| product + tc,
        )
    }
    #[inline(always)]
    fn maximum(self, other: impl Into<Self>) -> Self {
        let other: Self = other.into();
        let (is_less, is_greater) = (self.value.less(other.value), self.value.greater(other.value));
        self.both(
            other,
            self.value.maximum(other.value),
            #[inline(always)]
            |ta, tb| is_less.select(tb, is_greater.select(ta, (ta + tb) * 0.5)),
        )
    }
    #[inline(always)]
    fn log_add_exp(self, other: impl Into<Self>) -> Self {
        let other: Self = other.into();
        // Of two equal infinities the difference is NaN.
        let difference = self.value - other.value;
        let distance = difference.is_nan().select(T::from(0.0), difference);
        let (of_self, of_other) = (distance.logistic(), (-distance).logistic());
        self.both(
            other,
            self.value.log_add_exp(other.value),
            #[inline(always)]
            |ta, tb| ta * of_self + tb * of_other,
        )
    }

    constants! { signum floor round }
    chains! {
        abs |x, _y| x.signum();
        sqrt |_x, y| T::from(0.5) / y;
        exp |_x, y| y;
        // Near -1 the difference has lost the digits of e^x.
        exp_m1 |x, _y| x.exp();
        ln |x, _y| x.recip();
        ln_1p |x, _y| (x + 1.0).recip();
        // As products, so that no digits are lost where the slope is small.
        logistic |x, y| y * (-x).logistic();
        tanh |x, _y| (x * 2.0).logistic() * (x * -2.0).logistic() * 4.0;
        erf |x, _y| (-(x * x)).exp() * ERF_SLOPE;
        erfc |x, _y| (-(x * x)).exp() * -ERF_SLOPE;
        sin |x, _y| x.cos();
        cos |x, _y| -x.sin();
        tan |_x, y| y * y + 1.0;
    }
}
