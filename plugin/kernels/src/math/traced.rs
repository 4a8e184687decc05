//! Lanes of generated code: functions that compute with them record their operations.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use oxcall_jit::{Binary, Builder, Compare, Conversion, Shift, Unary, Value, WideBinary};

use super::double::{self, Double};
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

/// The bits of an element: `u32` in each lane, or `u64` in each pair.
pub(crate) trait Word: Copy + Eq {
    /// The bits of -0.
    const NEGATIVE_ZERO: Self;
    /// The bits of +0.
    const ZERO: Self;

    /// A constant of a program.
    fn constant(self, builder: &Builder) -> Value;

    /// The bits of a constant; `None` for other values.
    fn known(builder: &Builder, value: Value) -> Option<Self>;

    /// Whether these are the bits of a NaN.
    fn is_nan(self) -> bool;

    /// The mask of a comparison.
    fn compare(builder: &Builder, op: Compare, args: [Value; 2]) -> Value;

    /// `mask ? yes : no`.
    fn select(builder: &Builder, args: [Value; 3]) -> Value;

    /// The bits that both values have.
    fn and(builder: &Builder, args: [Value; 2]) -> Value;

    /// The bits that one of the values has.
    fn or(builder: &Builder, args: [Value; 2]) -> Value;
}

/// An element: a value of a program, or a constant.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Traced<'g, W> {
    /// A value.
    Value(&'g Builder, Value),
    /// A constant.
    Constant(W),
}

impl<'g, W: Word> Traced<'g, W> {
    /// The value in a program.
    pub(crate) fn value(self, builder: &Builder) -> Value {
        match self {
            Traced::Value(_, value) => value,
            Traced::Constant(bits) => bits.constant(builder),
        }
    }

    /// The result of an operation on values, or of the same one on constants.
    fn apply<const N: usize>(
        args: [Traced<'g, W>; N],
        record: impl FnOnce(&'g Builder, [Value; N]) -> Value,
        fold: impl FnOnce([W; N]) -> W,
    ) -> Traced<'g, W> {
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
}

/// A mask: all bits of an element, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TracedMask<'g, W>(Traced<'g, W>);

/// A float.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TracedFloat<'g, W>(pub(crate) Traced<'g, W>);

/// A signed integer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TracedInt<'g, W>(Traced<'g, W>);

/// Implements lanes of a float whose bits are `$word`, by the builder that `$on` gives, its `$Binary` operations, and
/// the series of a module. The last three parameters differ between the formats: an arithmetic shift to the right, a
/// square root, and the conversion of a 32-bit integer.
macro_rules! traced {
    (
        $word:ident $int:ident $float:ident $Binary:ident $series:ident,
        $on:path, $right:path, $root:path, $of_exponent:path
    ) => {
        impl Word for $word {
            const NEGATIVE_ZERO: $word = 1 << ($word::BITS - 1);
            const ZERO: $word = 0;

            fn constant(self, builder: &Builder) -> Value {
                $on(builder).constant(self)
            }
            fn known(builder: &Builder, value: Value) -> Option<$word> {
                $on(builder).known(value)
            }
            fn is_nan(self) -> bool {
                $float::from_bits(self).is_nan()
            }
            fn compare(builder: &Builder, op: Compare, [a, b]: [Value; 2]) -> Value {
                $on(builder).compare(op, a, b)
            }
            fn select(builder: &Builder, [mask, yes, no]: [Value; 3]) -> Value {
                $on(builder).select(mask, yes, no)
            }
            fn and(builder: &Builder, [a, b]: [Value; 2]) -> Value {
                $on(builder).binary($Binary::And, a, b)
            }
            fn or(builder: &Builder, [a, b]: [Value; 2]) -> Value {
                $on(builder).binary($Binary::Or, a, b)
            }
        }

        const _: () = {
            type Bare<'g> = Traced<'g, $word>;

            /// The sign, and all other bits.
            const SIGN: Bare<'static> = Traced::Constant($word::NEGATIVE_ZERO);
            const MAGNITUDE: Bare<'static> = Traced::Constant($word::MAX >> 1);

            fn binary<'g>([a, b]: [Bare<'g>; 2], op: $Binary, fold: impl FnOnce($word, $word) -> $word) -> Bare<'g> {
                Traced::apply([a, b], |builder, [a, b]| $on(builder).binary(op, a, b), |[a, b]| fold(a, b))
            }

            fn on_floats(f: impl FnOnce($float, $float) -> $float) -> impl FnOnce($word, $word) -> $word {
                |a, b| f($float::from_bits(a), $float::from_bits(b)).to_bits()
            }

            fn compare<'g>(
                [a, b]: [Bare<'g>; 2],
                op: Compare,
                fold: impl FnOnce($word, $word) -> bool,
            ) -> TracedMask<'g, $word> {
                let mask = |is_true| if is_true { $word::MAX } else { 0 };
                let record = |builder: &'g Builder, args| $word::compare(builder, op, args);
                TracedMask(Traced::apply([a, b], record, |[a, b]| mask(fold(a, b))))
            }

            fn select<'g>(mask: TracedMask<'g, $word>, yes: Bare<'g>, no: Bare<'g>) -> Bare<'g> {
                Traced::apply([mask.0, yes, no], $word::select, |[mask, yes, no]| mask & yes | !mask & no)
            }

            const fn constant<'g>(x: $float) -> TracedFloat<'g, $word> {
                TracedFloat(Traced::Constant(x.to_bits()))
            }

            impl Mask for TracedMask<'_, $word> {}

            impl BitAnd for TracedMask<'_, $word> {
                type Output = Self;
                fn bitand(self, other: Self) -> Self {
                    TracedMask(binary([self.0, other.0], $Binary::And, |a, b| a & b))
                }
            }

            impl BitOr for TracedMask<'_, $word> {
                type Output = Self;
                fn bitor(self, other: Self) -> Self {
                    TracedMask(binary([self.0, other.0], $Binary::Or, |a, b| a | b))
                }
            }

            impl Not for TracedMask<'_, $word> {
                type Output = Self;
                fn not(self) -> Self {
                    TracedMask(Traced::apply([self.0], |builder, [a]| $on(builder).not(a), |[a]| !a))
                }
            }

            impl Add for TracedFloat<'_, $word> {
                type Output = Self;
                fn add(self, other: Self) -> Self {
                    TracedFloat(binary([self.0, other.0], $Binary::Add, on_floats(|a, b| a + b)))
                }
            }

            impl Sub for TracedFloat<'_, $word> {
                type Output = Self;
                fn sub(self, other: Self) -> Self {
                    TracedFloat(binary([self.0, other.0], $Binary::Subtract, on_floats(|a, b| a - b)))
                }
            }

            impl Mul for TracedFloat<'_, $word> {
                type Output = Self;
                fn mul(self, other: Self) -> Self {
                    TracedFloat(binary([self.0, other.0], $Binary::Multiply, on_floats(|a, b| a * b)))
                }
            }

            impl Div for TracedFloat<'_, $word> {
                type Output = Self;
                fn div(self, other: Self) -> Self {
                    TracedFloat(binary([self.0, other.0], $Binary::Divide, on_floats(|a, b| a / b)))
                }
            }

            impl Neg for TracedFloat<'_, $word> {
                type Output = Self;
                fn neg(self) -> Self {
                    TracedFloat(binary([self.0, SIGN], $Binary::Xor, |a, b| a ^ b))
                }
            }

            impl<'g> Number for TracedFloat<'g, $word> {
                type Mask = TracedMask<'g, $word>;

                fn less(self, other: Self) -> Self::Mask {
                    let fold = |a, b| $float::from_bits(a) < $float::from_bits(b);
                    compare([self.0, other.0], Compare::Less, fold)
                }
                fn same(self, other: Self) -> Self::Mask {
                    let fold = |a, b| $float::from_bits(a) == $float::from_bits(b);
                    compare([self.0, other.0], Compare::Equal, fold)
                }
                fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
                    TracedFloat(select(mask, yes.0, no.0))
                }
            }

            impl<'g> Lane for TracedFloat<'g, $word> {
                type Int = TracedInt<'g, $word>;

                fn fused(self, b: Self, c: Self) -> Self {
                    let fold = |args: [$word; 3]| {
                        let [a, b, c] = args.map($float::from_bits);
                        a.mul_add(b, c).to_bits()
                    };
                    let record = |builder: &'g Builder, [a, b, c]: [Value; 3]| $on(builder).fused(a, b, c);
                    TracedFloat(Traced::apply([self.0, b.0, c.0], record, fold))
                }
                fn root(self) -> Self {
                    let fold = |[a]: [$word; 1]| $float::from_bits(a).sqrt().to_bits();
                    TracedFloat(Traced::apply([self.0], |builder, [a]| $root(builder, a), fold))
                }
                fn bits(self) -> Self::Int {
                    TracedInt(self.0)
                }
                fn of_bits(bits: Self::Int) -> Self {
                    TracedFloat(bits.0)
                }
                fn of(x: f32) -> Self {
                    constant($float::from(x))
                }
                fn of_exponent(n: Self::Int) -> Self {
                    let fold = |[a]: [$word; 1]| (a as i32 as $float).to_bits();
                    TracedFloat(Traced::apply([n.0], |builder, [a]| $of_exponent(builder, a), fold))
                }
                fn magnitude(self) -> Self {
                    TracedFloat(binary([self.0, MAGNITUDE], $Binary::And, |a, b| a & b))
                }
                fn with_sign(self, other: Self) -> Self {
                    let sign = binary([other.0, SIGN], $Binary::And, |a, b| a & b);
                    TracedFloat(binary([self.magnitude().0, sign], $Binary::Or, |a, b| a | b))
                }
                fn signed_as(self, other: Self) -> Self {
                    let sign = binary([other.0, SIGN], $Binary::And, |a, b| a & b);
                    TracedFloat(binary([self.0, sign], $Binary::Or, |a, b| a | b))
                }
            }

            impl<'g> Number for TracedInt<'g, $word> {
                type Mask = TracedMask<'g, $word>;

                fn less(self, other: Self) -> Self::Mask {
                    compare([other.0, self.0], Compare::Greater, |a, b| a.cast_signed() > b.cast_signed())
                }
                fn same(self, other: Self) -> Self::Mask {
                    compare([self.0, other.0], Compare::EqualBits, |a, b| a == b)
                }
                fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
                    TracedInt(select(mask, yes.0, no.0))
                }
            }

            impl<'g> Bits for TracedInt<'g, $word> {
                fn of(n: i32) -> Self {
                    TracedInt(Traced::Constant($int::from(n).cast_unsigned()))
                }
                fn plus(self, other: Self) -> Self {
                    TracedInt(binary([self.0, other.0], $Binary::AddBits, $word::wrapping_add))
                }
                fn minus(self, other: Self) -> Self {
                    TracedInt(binary([self.0, other.0], $Binary::SubtractBits, $word::wrapping_sub))
                }
                fn and(self, other: Self) -> Self {
                    TracedInt(binary([self.0, other.0], $Binary::And, |a, b| a & b))
                }
                fn left(self, amount: u8) -> Self {
                    let record = |builder: &'g Builder, [a]: [Value; 1]| $on(builder).shift(Shift::Left, a, amount);
                    TracedInt(Traced::apply([self.0], record, |[a]| a << amount))
                }
                fn right(self, amount: u8) -> Self {
                    let fold = |[a]: [$word; 1]| (a.cast_signed() >> amount).cast_unsigned();
                    TracedInt(Traced::apply([self.0], |builder, [a]| $right(builder, a, amount), fold))
                }
                fn halved(self) -> Self {
                    let record = |builder: &'g Builder, [a]: [Value; 1]| $on(builder).shift(Shift::Right, a, 1);
                    TracedInt(Traced::apply([self.0], record, |[a]| a >> 1))
                }
            }

            impl Format for TracedFloat<'_, $word> {
                const MANTISSA: u8 = <$float as Format>::MANTISSA;
                const BIAS: i32 = <$float as Format>::BIAS;
                const ROUNDER: Self = constant(<$float as Format>::ROUNDER);
                const MIN_POSITIVE: Self = constant($float::MIN_POSITIVE);
                const INFINITY: Self = constant($float::INFINITY);
                const NAN: Self = constant($float::NAN);
                const LOG2_E: Self = constant(<$float as Format>::LOG2_E);
                const ROOT_HALF: Self::Int = TracedInt(Traced::Constant(<$float as Format>::ROOT_HALF.cast_unsigned()));
                const LN_2_PARTS: [Self; 2] = {
                    let [high, low] = <$float as Format>::LN_2_PARTS;
                    [constant(high), constant(low)]
                };
                const EXP_RANGE: [Self; 2] = {
                    let [low, high] = <$float as Format>::EXP_RANGE;
                    [constant(low), constant(high)]
                };
                const TANH_END: Self = constant(<$float as Format>::TANH_END);
                const TANH_SERIES: Option<[Self; 2]> = match <$float as Format>::TANH_SERIES {
                    Some([cube, fifth]) => Some([constant(cube), constant(fifth)]),
                    None => None,
                };
                const NO_BITS: Self = constant(<$float as Format>::NO_BITS);
                const TINY: Self = constant(<$float as Format>::TINY);
                const SMALL: Self = constant(<$float as Format>::SMALL);

                fn exp_series<L: Level>(r: Self) -> Self {
                    $series::exp_series::<L, Self>(r)
                }
                fn ln_parts<L: Level>(n: Self, f: Self, correction: Self) -> Self {
                    $series::ln_parts::<L, Self>(n, f, correction)
                }
                fn atanh_series<L: Level>(z: Self) -> Self {
                    $series::atanh_series::<L, Self>(z)
                }
            }
        };
    };
}

traced!(u32 i32 f32 Binary single, std::convert::identity, shifted_right, root, float_of);
traced!(u64 i64 f64 WideBinary double, Builder::wide, wide_shifted_right, wide_root, double_of);

fn shifted_right(builder: &Builder, a: Value, amount: u8) -> Value {
    builder.shift(Shift::RightArithmetic, a, amount)
}

/// AVX2 lacks this shift for 64 bits: flip the sign bit, shift logically, and subtract the shifted sign bit.
fn wide_shifted_right(builder: &Builder, a: Value, amount: u8) -> Value {
    let (b, sign) = (builder.wide(), 1 << 63);
    let shifted = b.shift(Shift::Right, b.binary(WideBinary::Xor, a, b.constant(sign)), amount);
    b.binary(WideBinary::SubtractBits, shifted, b.constant(sign >> amount))
}

fn root(builder: &Builder, a: Value) -> Value {
    builder.unary(Unary::Sqrt, a)
}

fn wide_root(builder: &Builder, a: Value) -> Value {
    builder.wide().sqrt(a)
}

fn float_of(builder: &Builder, a: Value) -> Value {
    builder.unary(Unary::ToFloat, a)
}

fn double_of(builder: &Builder, a: Value) -> Value {
    let b = builder.wide();
    b.convert(Conversion::IntegerToDouble, b.convert(Conversion::Low, a))
}

impl Double for TracedFloat<'_, u64> {
    fn of_double(x: f64) -> Self {
        TracedFloat(Traced::Constant(x.to_bits()))
    }
}
