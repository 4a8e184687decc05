//! Dual numbers: derivatives in forward mode.

#![allow(
    clippy::manual_map,
    reason = "`Option::map` may remain a call where much is inlined, and a loop then no vectors"
)]

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::functions::{less_square, logistic_slope};
use super::operators::operators;
use super::{Mask, Real, Ring, unrolled};

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
/// assert_eq!((x * x).tangents(), [Scalar(6.0)]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Dual<T, const N: usize> {
    /// The number.
    pub value: T,
    /// Its derivatives along each direction.
    tangents: [Tangent<T>; N],
}

/// A derivative. `None` is a symbolic zero, as in JAX: that of a constant, or along another operand's direction. Which
/// derivatives are, is known when a function is compiled, so that it takes no operation; and a slope that is infinite
/// or NaN has no influence on it, as it would have on a product with 0.
type Tangent<T> = Option<T>;

/// A tangent times a slope.
#[inline(always)]
fn scaled<T: Ring>(tangent: Tangent<T>, slope: T) -> Tangent<T> {
    match tangent {
        None => None,
        Some(tangent) => Some(tangent * slope),
    }
}

/// The sum of two tangents.
#[inline(always)]
fn sum<T: Ring>(a: Tangent<T>, b: Tangent<T>) -> Tangent<T> {
    match (a, b) {
        (None, other) | (other, None) => other,
        (Some(a), Some(b)) => Some(a + b),
    }
}

/// The difference of two tangents.
#[inline(always)]
fn difference<T: Ring>(a: Tangent<T>, b: Tangent<T>) -> Tangent<T> {
    match (a, b) {
        (a, None) => a,
        (None, Some(b)) => Some(-b),
        (Some(a), Some(b)) => Some(a - b),
    }
}

/// One of two tangents, for each element.
#[inline(always)]
fn chosen<T: Real>(mask: T::Mask, yes: Tangent<T>, no: Tangent<T>) -> Tangent<T> {
    match (yes, no) {
        (None, None) => None,
        (yes, no) => Some(T::choose(mask, number(yes), number(no))),
    }
}

/// A tangent as a number.
#[inline(always)]
fn number<T: Ring>(tangent: Tangent<T>) -> T {
    match tangent {
        None => T::int(0),
        Some(tangent) => tangent,
    }
}

impl<T: Ring, const N: usize> Dual<T, N> {
    /// A number with derivatives.
    #[inline(always)]
    pub fn new(value: T, tangents: [T; N]) -> Self {
        let mut dual = Dual::constant(value);
        unrolled::<N>(
            #[inline(always)]
            |index| dual.tangents[index] = Some(tangents[index]),
        );
        dual
    }

    /// A number with derivatives; those that are `None` are 0, whatever the slopes of what is computed from it.
    #[inline(always)]
    pub fn along(value: T, tangents: [Option<T>; N]) -> Self {
        Dual { value, tangents }
    }

    /// A number that does not depend on the directions.
    #[inline(always)]
    pub fn constant(value: T) -> Self {
        Dual { value, tangents: [None; N] }
    }

    /// A number whose derivative is 1 along the direction `index`, and 0 along the others.
    #[inline(always)]
    pub fn variable(value: T, index: usize) -> Self {
        let mut dual = Dual::constant(value);
        dual.tangents[index] = Some(T::int(1));
        dual
    }

    /// The derivatives along each direction.
    #[inline(always)]
    pub fn tangents(&self) -> [T; N] {
        let mut numbers = [T::int(0); N];
        unrolled::<N>(
            #[inline(always)]
            |index| numbers[index] = number(self.tangents[index]),
        );
        numbers
    }

    /// The derivatives of a combination of some numbers, each times its factor; without those that have none.
    #[inline(always)]
    pub fn pull<const R: usize>(duals: &[Self; R], factors: [Option<T>; R]) -> [T; N] {
        let mut numbers = [T::int(0); N];
        unrolled::<N>(
            #[inline(always)]
            |index| {
                let mut total = None;
                unrolled::<R>(
                    #[inline(always)]
                    |dual| {
                        if let Some(factor) = factors[dual] {
                            total = sum(total, scaled(duals[dual].tangents[index], factor));
                        }
                    },
                );
                numbers[index] = number(total);
            },
        );
        numbers
    }

    /// A function's value, and its derivatives by the chain rule.
    #[inline(always)]
    fn chain(self, value: T, slope: T) -> Self {
        self.each(
            value,
            #[inline(always)]
            |tangent| scaled(tangent, slope),
        )
    }

    /// The value of a function of two numbers, and its derivatives by its slopes along both.
    #[inline(always)]
    fn chain2(self, other: Self, value: T, [of_self, of_other]: [T; 2]) -> Self {
        self.both(
            other,
            value,
            #[inline(always)]
            |a, b| sum(scaled(a, of_self), scaled(b, of_other)),
        )
    }

    /// A value, and a function of each tangent.
    #[inline(always)]
    fn each(mut self, value: T, f: impl Fn(Tangent<T>) -> Tangent<T>) -> Self {
        self.value = value;
        unrolled::<N>(
            #[inline(always)]
            |index| self.tangents[index] = f(self.tangents[index]),
        );
        self
    }

    /// A value, and a function of the tangents of two numbers.
    #[inline(always)]
    fn both(mut self, other: Self, value: T, f: impl Fn(Tangent<T>, Tangent<T>) -> Tangent<T>) -> Self {
        self.value = value;
        unrolled::<N>(
            #[inline(always)]
            |index| self.tangents[index] = f(self.tangents[index], other.tangents[index]),
        );
        self
    }
}

/// Symbolic zeros are equal to others.
impl<T: Ring + PartialEq, const N: usize> PartialEq for Dual<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value && self.tangents() == other.tangents()
    }
}

impl<T: Real, const N: usize> From<f64> for Dual<T, N> {
    #[inline(always)]
    fn from(x: f64) -> Self {
        Dual::constant(T::from(x))
    }
}

impl<T: Ring, const N: usize> Neg for Dual<T, N> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        self.each(
            -self.value,
            #[inline(always)]
            |tangent| difference(None, tangent),
        )
    }
}

/// The operators: the tangent of `$a $op $b` from those of `$a` and `$b`, given the value `$v`.
macro_rules! binary {
    ($(
        $bound:ident: $op:ident $method:ident $assign:ident $assign_method:ident
        |$a:ident, $b:ident, $v:ident, $ta:ident, $tb:ident| $value:expr => $tangent:expr;
    )*) => {$(
        #[allow(clippy::suspicious_arithmetic_impl, reason = "rules of products and quotients")]
        impl<T: $bound, const N: usize> $op for Dual<T, N> {
            type Output = Self;

            #[allow(clippy::suspicious_arithmetic_impl, reason = "a tangent has other operators than its value")]
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self.value, other.value);
                let $v = $value;
                self.both(other, $v, #[inline(always)] |$ta, $tb| $tangent)
            }
        }
        operators!(assign [T: $bound, const N: usize] Dual<T, N>: $op $method $assign $assign_method);
    )*};
}
binary! {
    Ring: Add add AddAssign add_assign |a, b, value, ta, tb| a + b => sum(ta, tb);
    Ring: Sub sub SubAssign sub_assign |a, b, value, ta, tb| a - b => difference(ta, tb);
    Ring: Mul mul MulAssign mul_assign |a, b, value, ta, tb| a * b => sum(scaled(ta, b), scaled(tb, a));
    Real: Div div DivAssign div_assign |a, b, value, ta, tb| a / b => match difference(ta, scaled(tb, value)) {
        None => None,
        Some(tangent) => Some(tangent / b),
    };
}
operators!(f64 [T: Real, const N: usize] Dual<T, N>);

impl<T: Ring, const N: usize> Ring for Dual<T, N> {
    #[inline(always)]
    fn int(value: i32) -> Self {
        Dual::constant(T::int(value))
    }
}

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
            |yes, no| chosen(mask, yes, no),
        )
    }
    #[inline(always)]
    fn mul_add(self, b: impl Into<Self>, c: impl Into<Self>) -> Self {
        let (b, c): (Self, Self) = (b.into(), c.into());
        self.chain2(b, self.value, [b.value, self.value]).both(c, self.value.mul_add(b.value, c.value), sum)
    }
    #[inline(always)]
    fn maximum(self, other: impl Into<Self>) -> Self {
        let other: Self = other.into();
        let (is_less, is_greater) = (self.value.less(other.value), self.value.greater(other.value));
        let are_equal = self.value.equal(other.value);
        self.both(
            other,
            self.value.maximum(other.value),
            #[inline(always)]
            |ta, tb| {
                // Of NaN none of these holds.
                let mean = scaled(sum(ta, tb), T::from(0.5));
                chosen(is_greater, ta, chosen(are_equal, mean, chosen(is_less, tb, None)))
            },
        )
    }
    #[inline(always)]
    fn log_add_exp(self, other: impl Into<Self>) -> Self {
        let other: Self = other.into();
        // Of two equal infinities the difference is NaN. Of equal numbers it has derivatives.
        let difference = self.value - other.value;
        let are_infinite = difference.is_nan() & self.value.equal(other.value);
        let distance = are_infinite.select(T::from(0.0), difference);
        let (of_self, of_other) = (distance.logistic(), (-distance).logistic());
        self.chain2(other, self.value.log_add_exp(other.value), [of_self, of_other])
    }

    #[inline(always)]
    fn polygamma(self, order: u32) -> Self {
        self.chain(self.value.polygamma(order), self.value.polygamma(order + 1))
    }
    #[inline(always)]
    fn atan2(self, x: impl Into<Self>) -> Self {
        let (y, x): (Self, Self) = (self, x.into());
        let square = x.value * x.value + y.value * y.value;
        let (of_y, of_x) = (x.value / square, -y.value / square);
        y.chain2(x, y.value.atan2(x.value), [of_y, of_x])
    }
    #[inline(always)]
    fn hypot(self, other: impl Into<Self>) -> Self {
        let other: Self = other.into();
        let length = self.value.hypot(other.value);
        let slope = |x: T| length.equal(0.0).select(T::from(0.0), x / length);
        self.chain2(other, length, [slope(self.value), slope(other.value)])
    }
    #[inline(always)]
    fn powi(self, n: i32) -> Self {
        let slope = if n == 0 { T::from(0.0) } else { self.value.powi(n.saturating_sub(1)) * f64::from(n) };
        self.chain(self.value.powi(n), slope)
    }
    #[inline(always)]
    fn powf(self, exponent: f64) -> Self {
        // The power of 0 to a negative exponent is infinite, which a factor of 0 does not undo.
        let slope = if exponent == 0.0 { T::from(0.0) } else { self.value.powf(exponent - 1.0) * exponent };
        self.chain(self.value.powf(exponent), slope)
    }
    #[inline(always)]
    fn pow(self, exponent: impl Into<Self>) -> Self {
        let exponent: Self = exponent.into();
        let (x, y) = (self.value, exponent.value);
        let power = x.pow(y);
        let of_self = y.equal(0.0).select(T::from(0.0), x.pow(y - 1.0) * y);
        let of_exponent = x.equal(0.0).select(T::from(1.0), x).ln() * power;
        self.chain2(exponent, power, [of_self, of_exponent])
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
        logistic |x, _y| logistic_slope(x);
        tanh |x, _y| logistic_slope(x * 2.0) * 4.0;
        erf |x, _y| (-(x * x)).exp() * ERF_SLOPE;
        erfc |x, _y| (-(x * x)).exp() * -ERF_SLOPE;
        sin |x, _y| x.cos();
        cos |x, _y| -x.sin();
        tan |_x, y| y * y + 1.0;
        sinh |x, _y| x.cosh();
        cosh |x, _y| x.sinh();
        asinh |x, _y| x.hypot(1.0).recip();
        acosh |x, _y| ((x - 1.0).sqrt() * (x + 1.0).sqrt()).recip();
        atanh |x, _y| less_square(x).recip();
        asin |x, _y| less_square(x).sqrt().recip();
        acos |x, _y| -less_square(x).sqrt().recip();
        atan |x, _y| (x * x + 1.0).recip();
        // A power, whose slopes are infinite at 0 where those of a quotient are NaN.
        cbrt |_x, y| y.powi(-2) * (1.0 / 3.0);
        lgamma |x, _y| x.digamma();
        digamma |x, _y| x.polygamma(1);
    }
}
