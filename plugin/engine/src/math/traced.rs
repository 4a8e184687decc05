//! Lanes of generated code: functions that compute with them record their operations.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use oxcall_jit::{Binary, Builder, Compare, Shift, Unary, Value};

use super::elementary::Format;
use super::lane::{Bits, Lane, Mask, Number};
use super::level::Level;
use super::single;

/// The level of processors for which code is generated: all have fused multiply-add.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Generated;

impl Level for Generated {
    const FUSED: bool = true;

    fn enter<R>(f: impl FnOnce() -> R) -> R {
        f()
    }
}

/// 32 bits in each lane: a value of a program, or a constant.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Traced<'g> {
    /// A value.
    Value(&'g Builder, Value),
    /// A constant.
    Constant(u32),
}

impl<'g> Traced<'g> {
    /// The value in a program.
    pub(crate) fn value(self, builder: &Builder) -> Value {
        match self {
            Traced::Value(_, value) => value,
            Traced::Constant(bits) => builder.constant(bits),
        }
    }

    /// The result of an operation on values, or of the same one on constants.
    fn apply<const N: usize>(
        args: [Traced<'g>; N],
        record: impl FnOnce(&'g Builder, [Value; N]) -> Value,
        fold: impl FnOnce([u32; N]) -> u32,
    ) -> Traced<'g> {
        let builder = args.iter().find_map(|arg| match arg {
            Traced::Value(builder, _) => Some(*builder),
            Traced::Constant(_) => None,
        });
        match builder {
            Some(builder) => Traced::Value(builder, record(builder, args.map(|arg| arg.value(builder)))),
            None => Traced::Constant(fold(args.map(|arg| match arg {
                Traced::Constant(bits) => bits,
                Traced::Value(..) => unreachable!("all are constants"),
            }))),
        }
    }

    fn unary(self, op: Unary, fold: impl FnOnce(u32) -> u32) -> Traced<'g> {
        Traced::apply([self], |builder, [a]| builder.unary(op, a), |[a]| fold(a))
    }

    fn binary(self, other: Traced<'g>, op: Binary, fold: impl FnOnce(u32, u32) -> u32) -> Traced<'g> {
        Traced::apply([self, other], |builder, [a, b]| builder.binary(op, a, b), |[a, b]| fold(a, b))
    }

    fn compare(self, other: Traced<'g>, op: Compare, fold: impl FnOnce(u32, u32) -> bool) -> TracedMask<'g> {
        let mask = |is_true| if is_true { u32::MAX } else { 0 };
        let record = |builder: &'g Builder, [a, b]: [Value; 2]| builder.compare(op, a, b);
        TracedMask(Traced::apply([self, other], record, |[a, b]| mask(fold(a, b))))
    }

    fn shift(self, op: Shift, amount: u8, fold: impl FnOnce(u32) -> u32) -> Traced<'g> {
        Traced::apply([self], |builder, [a]| builder.shift(op, a, amount), |[a]| fold(a))
    }

    fn select(mask: TracedMask<'g>, yes: Traced<'g>, no: Traced<'g>) -> Traced<'g> {
        let record = |builder: &'g Builder, [mask, yes, no]: [Value; 3]| builder.select(mask, yes, no);
        Traced::apply([mask.0, yes, no], record, |[mask, yes, no]| mask & yes | !mask & no)
    }
}

/// A mask.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TracedMask<'g>(pub(crate) Traced<'g>);

impl Mask for TracedMask<'_> {}

impl BitAnd for TracedMask<'_> {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        TracedMask(self.0.binary(other.0, Binary::And, |a, b| a & b))
    }
}

impl BitOr for TracedMask<'_> {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        TracedMask(self.0.binary(other.0, Binary::Or, |a, b| a | b))
    }
}

impl Not for TracedMask<'_> {
    type Output = Self;
    fn not(self) -> Self {
        TracedMask(Traced::apply([self.0], |builder, [a]| builder.not(a), |[a]| !a))
    }
}

/// A float of 32 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TracedFloat<'g>(pub(crate) Traced<'g>);

/// A constant.
const fn constant<'g>(x: f32) -> TracedFloat<'g> {
    TracedFloat(Traced::Constant(x.to_bits()))
}

/// A function of floats, on their bits.
fn on_floats(f: impl FnOnce(f32, f32) -> f32) -> impl FnOnce(u32, u32) -> u32 {
    |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits()
}

macro_rules! arithmetic {
    ($($trait:ident $method:ident $op:ident $symbol:tt;)*) => {$(
        impl $trait for TracedFloat<'_> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                TracedFloat(self.0.binary(other.0, Binary::$op, on_floats(|a, b| a $symbol b)))
            }
        }
    )*};
}

arithmetic! {
    Add add Add +;
    Sub sub Subtract -;
    Mul mul Multiply *;
    Div div Divide /;
}

/// The sign of a float.
const SIGN: Traced<'static> = Traced::Constant(1 << 31);
/// All other bits.
const MAGNITUDE: Traced<'static> = Traced::Constant(u32::MAX >> 1);

impl Neg for TracedFloat<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        TracedFloat(self.0.binary(SIGN, Binary::Xor, |a, b| a ^ b))
    }
}

impl<'g> Number for TracedFloat<'g> {
    type Mask = TracedMask<'g>;

    fn less(self, other: Self) -> TracedMask<'g> {
        self.0.compare(other.0, Compare::Less, |a, b| f32::from_bits(a) < f32::from_bits(b))
    }
    fn same(self, other: Self) -> TracedMask<'g> {
        self.0.compare(other.0, Compare::Equal, |a, b| f32::from_bits(a) == f32::from_bits(b))
    }
    fn select(mask: TracedMask<'g>, yes: Self, no: Self) -> Self {
        TracedFloat(Traced::select(mask, yes.0, no.0))
    }
}

impl<'g> Lane for TracedFloat<'g> {
    type Int = TracedInt<'g>;

    fn fused(self, b: Self, c: Self) -> Self {
        let fold = |[a, b, c]: [u32; 3]| f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c)).to_bits();
        TracedFloat(Traced::apply([self.0, b.0, c.0], |builder, [a, b, c]| builder.fused(a, b, c), fold))
    }
    fn root(self) -> Self {
        TracedFloat(self.0.unary(Unary::Sqrt, |a| f32::from_bits(a).sqrt().to_bits()))
    }
    fn bits(self) -> TracedInt<'g> {
        TracedInt(self.0)
    }
    fn of_bits(bits: TracedInt<'g>) -> Self {
        TracedFloat(bits.0)
    }
    fn of(x: f32) -> Self {
        constant(x)
    }
    fn of_exponent(n: TracedInt<'g>) -> Self {
        TracedFloat(n.0.unary(Unary::ToFloat, |a| (a.cast_signed() as f32).to_bits()))
    }
    fn magnitude(self) -> Self {
        TracedFloat(self.0.binary(MAGNITUDE, Binary::And, |a, b| a & b))
    }
    fn with_sign(self, other: Self) -> Self {
        let sign = other.0.binary(SIGN, Binary::And, |a, b| a & b);
        TracedFloat(self.magnitude().0.binary(sign, Binary::Or, |a, b| a | b))
    }
}

/// A signed integer of 32 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TracedInt<'g>(pub(crate) Traced<'g>);

impl<'g> Number for TracedInt<'g> {
    type Mask = TracedMask<'g>;

    fn less(self, other: Self) -> TracedMask<'g> {
        other.0.compare(self.0, Compare::Greater, |a, b| a.cast_signed() > b.cast_signed())
    }
    fn same(self, other: Self) -> TracedMask<'g> {
        self.0.compare(other.0, Compare::EqualBits, |a, b| a == b)
    }
    fn select(mask: TracedMask<'g>, yes: Self, no: Self) -> Self {
        TracedInt(Traced::select(mask, yes.0, no.0))
    }
}

impl Bits for TracedInt<'_> {
    fn of(n: i32) -> Self {
        TracedInt(Traced::Constant(n.cast_unsigned()))
    }
    fn plus(self, other: Self) -> Self {
        TracedInt(self.0.binary(other.0, Binary::AddBits, u32::wrapping_add))
    }
    fn minus(self, other: Self) -> Self {
        TracedInt(self.0.binary(other.0, Binary::SubtractBits, u32::wrapping_sub))
    }
    fn and(self, other: Self) -> Self {
        TracedInt(self.0.binary(other.0, Binary::And, |a, b| a & b))
    }
    fn left(self, amount: u8) -> Self {
        TracedInt(self.0.shift(Shift::Left, amount, |a| a << amount))
    }
    fn right(self, amount: u8) -> Self {
        let fold = |a: u32| (a.cast_signed() >> amount).cast_unsigned();
        TracedInt(self.0.shift(Shift::RightArithmetic, amount, fold))
    }
}

impl Format for TracedFloat<'_> {
    const MANTISSA: u8 = <f32 as Format>::MANTISSA;
    const BIAS: i32 = <f32 as Format>::BIAS;
    const ROUNDER: Self = constant(<f32 as Format>::ROUNDER);
    const MIN_POSITIVE: Self = constant(f32::MIN_POSITIVE);
    const INFINITY: Self = constant(f32::INFINITY);
    const NAN: Self = constant(f32::NAN);
    const LOG2_E: Self = constant(<f32 as Format>::LOG2_E);
    const ROOT_HALF: Self::Int = TracedInt(Traced::Constant(<f32 as Format>::ROOT_HALF.cast_unsigned()));
    const LN_2_PARTS: [Self; 2] = {
        let [high, low] = <f32 as Format>::LN_2_PARTS;
        [constant(high), constant(low)]
    };
    const EXP_RANGE: [Self; 2] = {
        let [low, high] = <f32 as Format>::EXP_RANGE;
        [constant(low), constant(high)]
    };
    const TANH_END: Self = constant(<f32 as Format>::TANH_END);
    const NO_BITS: i32 = <f32 as Format>::NO_BITS;
    const TINY: Self = constant(<f32 as Format>::TINY);
    const SMALL: Self = constant(<f32 as Format>::SMALL);

    fn exp_series<L: Level>(r: Self) -> Self {
        single::exp_series::<L, Self>(r)
    }
    fn ln_parts<L: Level>(n: Self, f: Self, correction: Self) -> Self {
        single::ln_parts::<L, Self>(n, f, correction)
    }
}
