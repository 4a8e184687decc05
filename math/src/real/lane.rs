//! Elements in loops that become vector code.

use std::marker::PhantomData;
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::float::Float;
use super::operators::operators;
use super::{Real, unrolled};
use crate::level::Level;
use crate::{elementary, special};

/// An element of a loop that the compiler turns into code for the vectors of a [`Level`].
///
/// A few functions are accurate for usual operands only. An unusual one leaves a mark in all that is computed from it,
/// so that the loop can compute that element again with [`Scalar`](super::Scalar).
#[derive(Debug, Clone, Copy)]
pub struct SimdLane<F: Float, L> {
    /// The number.
    pub value: F,
    /// Some bit, if it may be wrong, since a function was called outside of the range of its kernel.
    unusual: F::Flags,
    level: PhantomData<L>,
}

impl<F: Float, L: Level> SimdLane<F, L> {
    /// An element.
    #[inline(always)]
    pub fn new(value: F) -> Self {
        SimdLane { value, unusual: F::Flags::default(), level: PhantomData }
    }

    #[inline(always)]
    fn map(self, f: impl FnOnce(F) -> F) -> Self {
        SimdLane { value: f(self.value), ..self }
    }

    #[inline(always)]
    fn with(self, other: Self, f: impl FnOnce(F, F) -> F) -> Self {
        let unusual = self.unusual | other.unusual;
        SimdLane { value: f(self.value, other.value), unusual, level: PhantomData }
    }

    /// The number, marked where it is not easy for the function that is next.
    #[inline(always)]
    fn guarded(self, is_easy: bool) -> Self {
        SimdLane { unusual: self.unusual | F::flags(!is_easy), ..self }
    }

    /// A function of angles.
    #[inline(always)]
    fn turn(self, f: impl FnOnce(F) -> F) -> Self {
        self.guarded(elementary::is_angle_easy(self.value)).map(f)
    }
}

impl<F: Float, L: Level> From<f64> for SimdLane<F, L> {
    #[inline(always)]
    fn from(x: f64) -> Self {
        SimdLane::new(F::of_f64(x))
    }
}

macro_rules! binary {
    ($($op:ident $method:ident),*) => {$(
        impl<F: Float, L: Level> $op for SimdLane<F, L> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.with(other, #[inline(always)] |a, b| a.$method(b))
            }
        }
    )*};
}
binary!(Add add, Sub sub, Mul mul, Div div);
operators!([F: Float, L: Level] SimdLane<F, L>);

impl<F: Float, L: Level> Neg for SimdLane<F, L> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        SimdLane { value: -self.value, ..self }
    }
}

/// Methods of one number.
macro_rules! unary {
    ($($name:ident $through:ident $kernel:expr;)*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            self.$through(#[inline(always)] |x| $kernel(x))
        }
    )*};
}

impl<F: Float, L: Level> Real for SimdLane<F, L> {
    type Mask = bool;

    #[inline(always)]
    fn less(self, other: impl Into<Self>) -> bool {
        self.value < other.into().value
    }
    #[inline(always)]
    fn less_equal(self, other: impl Into<Self>) -> bool {
        self.value <= other.into().value
    }
    #[inline(always)]
    fn equal(self, other: impl Into<Self>) -> bool {
        self.value == other.into().value
    }
    #[inline(always)]
    fn choose(mask: bool, yes: Self, no: Self) -> Self {
        yes.with(
            no,
            #[inline(always)]
            |yes, no| if mask { yes } else { no },
        )
    }
    #[inline(always)]
    fn mul_add(self, b: impl Into<Self>, c: impl Into<Self>) -> Self {
        let (b, c) = (b.into(), c.into());
        let unusual = self.unusual | b.unusual | c.unusual;
        SimdLane { value: elementary::fma::<L, F>(self.value, b.value, c.value), unusual, level: PhantomData }
    }
    #[inline(always)]
    fn maximum(self, other: impl Into<Self>) -> Self {
        self.with(
            other.into(),
            #[inline(always)]
            |a, b| maximum(a, b),
        )
    }
    #[inline(always)]
    fn log_add_exp(self, other: impl Into<Self>) -> Self {
        self.with(
            other.into(),
            #[inline(always)]
            |a, b| elementary::log_add_exp::<L, F>(a, b),
        )
    }
    #[inline(always)]
    fn atan2(self, x: impl Into<Self>) -> Self {
        self.with(
            x.into(),
            #[inline(always)]
            |y, x| Float::atan2::<L>(y, x),
        )
    }
    #[inline(always)]
    fn powf(self, exponent: f64) -> Self {
        self.pow(exponent)
    }
    #[inline(always)]
    fn pow(self, exponent: impl Into<Self>) -> Self {
        let exponent = exponent.into();
        self.guarded(self.value.is_power_easy(exponent.value)).with(exponent, F::power::<L>)
    }
    #[inline(always)]
    fn lgamma(self) -> Self {
        self.guarded(self.value.is_lgamma_easy()).map(F::lgamma::<L>)
    }
    #[inline(always)]
    fn digamma(self) -> Self {
        self.guarded(self.value.is_digamma_easy()).map(F::digamma::<L>)
    }
    #[inline(always)]
    fn polygamma(self, order: u32) -> Self {
        self.map(
            #[inline(always)]
            |x| x.in_double(|x| special::polygamma(f64::from(order), x)),
        )
    }

    unary! {
        abs map F::magnitude;
        signum map signum;
        floor map F::floor::<L>;
        round map F::round::<L>;
        sqrt map F::root;
        exp map elementary::exp::<L, F>;
        exp_m1 map elementary::expm1::<L, F>;
        ln map elementary::ln::<L, F>;
        ln_1p map elementary::ln_1p::<L, F>;
        logistic map elementary::logistic::<L, F>;
        tanh map elementary::tanh::<L, F>;
        erf map F::erf::<L>;
        erfc map F::erfc::<L>;
        sin turn F::sine::<L>;
        cos turn F::cosine::<L>;
        tan turn F::tangent::<L>;
    }
}

/// The larger; NaN if one is; +0 rather than -0.
#[inline(always)]
pub(super) fn maximum<F: Float>(a: F, b: F) -> F {
    let larger = if b < a { a } else { b };
    // 0 is equal to -0, and their sum is 0.
    let larger = if a == b { if a == F::of(0.0) { a + b } else { a } } else { larger };
    if a.is_nan() { a } else { larger }
}

/// -1, 0 or 1.
#[inline(always)]
pub(super) fn signum<F: Float>(x: F) -> F {
    if x.is_nan() | (x == F::of(0.0)) { x } else { F::of(1.0).with_sign(x) }
}

impl<F: Float, L: Level> SimdLane<F, L> {
    /// Some bit, if one of some numbers may be wrong.
    #[inline(always)]
    pub fn unusual<const N: usize>(lanes: &[Self; N]) -> F::Flags {
        let mut any = F::Flags::default();
        unrolled::<N>(
            #[inline(always)]
            |index| any = any | lanes[index].unusual,
        );
        any
    }

    /// Whether the number may be wrong.
    #[inline(always)]
    pub fn is_unusual(self) -> bool {
        self.unusual != F::Flags::default()
    }
}
