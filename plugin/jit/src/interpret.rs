//! The meaning of each operation, one element at a time: the oracle of the generated code.

use crate::ir::{Binary, Compare, Op, Program, Round, Shift, Unary, Width};
use crate::packed::Packing;
use crate::wide::{Conversion, Shuffle, Wide, WideBinary};

impl Program {
    /// Computes one element: `load` gives the element of each array, filled with zeros above, and `store` takes the
    /// results, whose low bits count.
    ///
    /// # Panics
    /// If the program picks elements of an array.
    pub fn interpret(&self, load: impl Fn(u16) -> u128, store: impl FnMut(u16, u128)) {
        self.interpret_with(load, |array, _| panic!("elements of array {array} are picked"), store);
    }

    /// The same, where `pick` gives an element of an array by its index.
    pub fn interpret_with(
        &self,
        load: impl Fn(u16) -> u128,
        pick: impl Fn(u16, usize) -> u32,
        mut store: impl FnMut(u16, u128),
    ) {
        let mut values: Vec<u64> = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            let arg = |index: usize| values[op.args()[index].index()];
            let value = match *op {
                Op::Load { array, width: Width::Float16 } => of_half(load(array) as u32).into(),
                Op::Load { array, .. } | Op::Splat { array, .. } => load(array) as u64,
                Op::LoadPart { array, part } | Op::SplatPart { array, part } => {
                    (load(array) >> (8 * part.offset())) as u64
                }
                // Only a store reads it.
                Op::Join(_) => 0,
                Op::Pick(array, _) => pick(array, arg(0) as u32 as usize).into(),
                Op::Pair(bits) => bits,
                // Both lanes of a pair have the constant.
                Op::Constant(bits) => u64::from(bits) << 32 | u64::from(bits),
                Op::Wide(wide, _) => wide.element(arg),
                _ => op.lane(|index| arg(index) as u32).into(),
            };
            values.push(value);
        }
        for each in &self.stores {
            let value = values[each.value.index()];
            let stored = match (each.width, self.ops[each.value.index()]) {
                (Width::Float16, _) => to_half(value as u32).into(),
                (_, Op::Join([first, second])) => {
                    let [first, second] = [first, second].map(|part| u128::from(values[part.index()]));
                    second << 64 | first
                }
                _ => value.into(),
            };
            store(each.array, stored);
        }
    }
}

/// The operations that words and pairs share, in a module for each: `$word` has the bits of a `$float`. The arms that
/// follow are those of the other binary operations, on the bits `$a` and `$b`.
macro_rules! shared {
    ($module:ident: $word:ident $float:ident $Binary:ident, |$a:ident, $b:ident| { $($op:ident => $value:expr,)* }) => {
        mod $module {
            use super::{$Binary, Compare, Round};

            pub(super) fn float(bits: $word) -> $float {
                $float::from_bits(bits)
            }

            pub(super) fn round(round: Round, a: $word) -> $word {
                let x = float(a);
                let rounded = match round {
                    Round::Even => x.round_ties_even(),
                    Round::Floor => x.floor(),
                    Round::Ceil => x.ceil(),
                    Round::Truncate => x.trunc(),
                };
                rounded.to_bits()
            }

            pub(super) fn compare(op: Compare, a: $word, b: $word) -> $word {
                let (x, y) = (float(a), float(b));
                let is_true = match op {
                    Compare::Equal => x == y,
                    Compare::NotEqual => x != y,
                    Compare::Less => x < y,
                    Compare::LessOrEqual => x <= y,
                    Compare::EqualBits => a == b,
                    Compare::Greater => a.cast_signed() > b.cast_signed(),
                };
                if is_true { $word::MAX } else { 0 }
            }

            pub(super) fn fused([a, b, c]: [$word; 3]) -> $word {
                float(a).mul_add(float(b), float(c)).to_bits()
            }

            pub(super) fn select([mask, a, b]: [$word; 3]) -> $word {
                mask & a | !mask & b
            }

            pub(super) fn binary(op: $Binary, $a: $word, $b: $word) -> $word {
                let (x, y) = (float($a), float($b));
                let shift = u32::try_from($b).unwrap_or(u32::MAX);
                match op {
                    $Binary::Add => (x + y).to_bits(),
                    $Binary::Subtract => (x - y).to_bits(),
                    $Binary::Multiply => (x * y).to_bits(),
                    $Binary::Divide => (x / y).to_bits(),
                    $Binary::Smaller if x < y => $a,
                    $Binary::Larger if x > y => $a,
                    $Binary::Smaller | $Binary::Larger => $b,
                    $Binary::AddBits => $a.wrapping_add($b),
                    $Binary::SubtractBits => $a.wrapping_sub($b),
                    $Binary::And => $a & $b,
                    $Binary::Or => $a | $b,
                    $Binary::Xor => $a ^ $b,
                    $Binary::ShiftLeft => $a.checked_shl(shift).unwrap_or(0),
                    $Binary::ShiftRight => $a.checked_shr(shift).unwrap_or(0),
                    $($Binary::$op => $value,)*
                }
            }
        }
    };
}

shared!(words: u32 f32 Binary, |a, b| {
    MultiplyBits => a.wrapping_mul(b),
    MultiplyHighSigned => ((i64::from(a.cast_signed()) * i64::from(b.cast_signed())) >> 32) as u32,
    MultiplyHighUnsigned => ((u64::from(a) * u64::from(b)) >> 32) as u32,
    AndNot => !a & b,
    ShiftRightArithmetic => (a.cast_signed() >> b.min(31)).cast_unsigned(),
    MinSigned => a.cast_signed().min(b.cast_signed()).cast_unsigned(),
    MaxSigned => a.cast_signed().max(b.cast_signed()).cast_unsigned(),
    MinUnsigned => a.min(b),
    MaxUnsigned => a.max(b),
});

shared!(pairs: u64 f64 WideBinary, |a, b| {
    MultiplyLow => (a & 0xffff_ffff) * (b & 0xffff_ffff),
});

impl Op {
    /// One lane of the result, by the same lane of each argument.
    pub(crate) fn lane(&self, arg: impl Fn(usize) -> u32) -> u32 {
        match *self {
            Op::Constant(bits) => bits,
            Op::Unary(kind, _) => unary(kind, arg(0)),
            Op::Shift(kind, _, amount) => shift(kind, arg(0), u32::from(amount)),
            Op::Binary(kind, _) => words::binary(kind, arg(0), arg(1)),
            Op::Fused(_) => words::fused([0, 1, 2].map(arg)),
            Op::Compare(kind, _) => words::compare(kind, arg(0), arg(1)),
            Op::Select(_) => words::select([0, 1, 2].map(arg)),
            Op::PackedShift(kind, _, amount) => packed_shift(kind, arg(0), u32::from(amount)),
            Op::PackedBinary(packing, kind, _) => packed_binary(packing, kind, [arg(0), arg(1)]),
            Op::PackedCompare(packing, kind, _) => {
                packing.map([arg(0), arg(1)], |[a, b]| words::compare(kind, packing.signed(a), packing.signed(b)))
            }
            _ => unreachable!("{self:?} is not computed lane by lane"),
        }
    }
}

fn unary(op: Unary, a: u32) -> u32 {
    let x = words::float(a);
    match op {
        Unary::Sqrt => x.sqrt().to_bits(),
        Unary::Round(round) => words::round(round, a),
        Unary::ToFloat => (a.cast_signed() as f32).to_bits(),
        Unary::ToInteger if (-2_147_483_648.0..2_147_483_648.0).contains(&x) => (x as i32).cast_unsigned(),
        Unary::ToInteger => 1 << 31,
        Unary::ToHalf => to_half(a),
        Unary::OfHalf => of_half(a),
        Unary::RoundToHalf => of_half(to_half(a)),
    }
}

const HALF_INFINITY: u32 = 0x7c00;

fn to_half(a: u32) -> u32 {
    let (sign, size) = (a >> 16 & 0x8000, a & 0x7fff_ffff);
    if size > f32::INFINITY.to_bits() {
        // A NaN becomes a quiet one.
        return sign | HALF_INFINITY | 0x200 | size >> 13 & 0x3ff;
    }
    // Halves below 2^-14 have the exponent of those above.
    let exponent = ((size >> 23).cast_signed() - 127).clamp(-14, 16);
    let last_places = f64::from(words::float(size)) * 2.0_f64.powi(10 - exponent);
    let code = ((exponent + 14) << 10).cast_unsigned() + last_places.round_ties_even().min(2048.0) as u32;
    sign | code.min(HALF_INFINITY)
}

fn of_half(a: u32) -> u32 {
    let (sign, size) = ((a & 0x8000) << 16, a & 0x7fff);
    sign | match size {
        HALF_INFINITY => f32::INFINITY.to_bits(),
        _ if size > HALF_INFINITY => 0x7fc0_0000 | size << 13,
        // The exponent's bias differs by 112.
        _ => (words::float(size << 13) * 2.0_f32.powi(112)).to_bits(),
    }
}

fn shift(op: Shift, a: u32, amount: u32) -> u32 {
    match op {
        Shift::Left => a << amount,
        Shift::Right => a >> amount,
        Shift::RightArithmetic => (a.cast_signed() >> amount).cast_unsigned(),
        Shift::Rotate => a.rotate_left(amount),
    }
}

fn packed_shift(op: Shift, a: u32, amount: u32) -> u32 {
    let extended = |a: u32| if op == Shift::RightArithmetic { Packing::Halves.signed(a) } else { a };
    Packing::Halves.map([a], |[a]| shift(op, extended(a), amount))
}

fn packed_binary(packing: Packing, op: Binary, args: [u32; 2]) -> u32 {
    let is_signed = !matches!(op, Binary::MinUnsigned | Binary::MaxUnsigned);
    let extended = |a: u32| if is_signed { packing.signed(a) } else { a };
    packing.map(args, |[a, b]| words::binary(op, extended(a), extended(b)))
}

impl Wide {
    /// One element of the result, by the same element of each argument.
    pub(crate) fn element(self, arg: impl Fn(usize) -> u64) -> u64 {
        match self {
            Wide::Sqrt => pairs::float(arg(0)).sqrt().to_bits(),
            Wide::Round(round) => pairs::round(round, arg(0)),
            Wide::Shift(Shift::Left, amount) => arg(0) << amount,
            Wide::Shift(Shift::Rotate, amount) => arg(0).rotate_left(amount.into()),
            Wide::Shift(_, amount) => arg(0) >> amount,
            Wide::Binary(op) => pairs::binary(op, arg(0), arg(1)),
            Wide::Fused => pairs::fused([0, 1, 2].map(arg)),
            Wide::Compare(kind) => pairs::compare(kind, arg(0), arg(1)),
            Wide::Select => pairs::select([0, 1, 2].map(arg)),
            Wide::Broadcast => unreachable!("programs over arrays do not broadcast"),
            Wide::Convert(conversion) => convert(conversion, arg(0)),
            Wide::Words(op) => each_word(|lane| words::binary(op, lane(arg(0)), lane(arg(1)))),
            Wide::FusedWords => each_word(|lane| words::fused([0, 1, 2].map(|index| lane(arg(index))))),
            Wide::Shuffle(Shuffle::Low) => arg(0) & 0xffff_ffff | arg(0) << 32,
            Wide::Shuffle(Shuffle::High) => arg(0) >> 32 | arg(0) >> 32 << 32,
            Wide::Shuffle(Shuffle::Swap) => arg(0).rotate_left(32),
        }
    }
}

/// Both lanes of a pair, each of which `word` computes from the same lane of its operands.
fn each_word(word: impl Fn(fn(u64) -> u32) -> u32) -> u64 {
    u64::from(word(|pair| (pair >> 32) as u32)) << 32 | u64::from(word(|pair| pair as u32))
}

fn convert(conversion: Conversion, a: u64) -> u64 {
    let low = a as u32;
    match conversion {
        Conversion::Low | Conversion::ZeroExtend => low.into(),
        Conversion::SignExtend => i64::from(low.cast_signed()).cast_unsigned(),
        Conversion::ToDouble => f64::from(words::float(low)).to_bits(),
        Conversion::ToFloat => (pairs::float(a) as f32).to_bits().into(),
        Conversion::IntegerToDouble => f64::from(low.cast_signed()).to_bits(),
    }
}
