//! The meaning of each operation, one lane at a time: the oracle of the generated code.

use crate::ir::{Binary, Compare, Op, Program, Round, Shift, Unary};

impl Program {
    /// Computes one lane: `load` gives the element of each array, filled with zeros above, and `store` takes the
    /// results, whose low bits count.
    pub fn interpret(&self, load: impl Fn(u16) -> u32, mut store: impl FnMut(u16, u32)) {
        let mut values: Vec<u32> = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            let value = match *op {
                Op::Load { array, .. } | Op::Splat { array } => load(array),
                _ => op.lane(|index| values[op.args()[index].index()]),
            };
            values.push(value);
        }
        for each in &self.stores {
            store(each.array, values[each.value.index()]);
        }
    }
}

impl Op {
    /// One lane of the result, by the same lane of each argument.
    pub(crate) fn lane(&self, arg: impl Fn(usize) -> u32) -> u32 {
        match *self {
            Op::Constant(bits) => bits,
            Op::Unary(kind, _) => unary(kind, arg(0)),
            Op::Shift(kind, _, amount) => shift(kind, arg(0), u32::from(amount)),
            Op::Binary(kind, _) => binary(kind, arg(0), arg(1)),
            Op::Fused(_) => float(arg(0)).mul_add(float(arg(1)), float(arg(2))).to_bits(),
            Op::Compare(kind, _) => {
                if compare(kind, arg(0), arg(1)) {
                    u32::MAX
                } else {
                    0
                }
            }
            Op::Select(_) => arg(0) & arg(1) | !arg(0) & arg(2),
            _ => unreachable!("{self:?} is not computed lane by lane"),
        }
    }
}

fn float(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn unary(op: Unary, a: u32) -> u32 {
    let x = float(a);
    match op {
        Unary::Sqrt => x.sqrt().to_bits(),
        Unary::Round(Round::Even) => x.round_ties_even().to_bits(),
        Unary::Round(Round::Floor) => x.floor().to_bits(),
        Unary::Round(Round::Ceil) => x.ceil().to_bits(),
        Unary::Round(Round::Truncate) => x.trunc().to_bits(),
        Unary::ToFloat => (a.cast_signed() as f32).to_bits(),
        Unary::ToInteger if (-2_147_483_648.0..2_147_483_648.0).contains(&x) => (x as i32).cast_unsigned(),
        Unary::ToInteger => 1 << 31,
    }
}

fn shift(op: Shift, a: u32, amount: u32) -> u32 {
    match op {
        Shift::Left => a << amount,
        Shift::Right => a >> amount,
        Shift::RightArithmetic => (a.cast_signed() >> amount).cast_unsigned(),
    }
}

fn binary(op: Binary, a: u32, b: u32) -> u32 {
    let (x, y) = (float(a), float(b));
    let (i, j) = (a.cast_signed(), b.cast_signed());
    match op {
        Binary::Add => (x + y).to_bits(),
        Binary::Subtract => (x - y).to_bits(),
        Binary::Multiply => (x * y).to_bits(),
        Binary::Divide => (x / y).to_bits(),
        Binary::AddBits => a.wrapping_add(b),
        Binary::SubtractBits => a.wrapping_sub(b),
        Binary::MultiplyBits => a.wrapping_mul(b),
        Binary::And => a & b,
        Binary::AndNot => !a & b,
        Binary::Or => a | b,
        Binary::Xor => a ^ b,
        Binary::ShiftLeft => a.checked_shl(b).unwrap_or(0),
        Binary::ShiftRight => a.checked_shr(b).unwrap_or(0),
        Binary::ShiftRightArithmetic => (i >> b.min(31)).cast_unsigned(),
        Binary::MinSigned => i.min(j).cast_unsigned(),
        Binary::MaxSigned => i.max(j).cast_unsigned(),
        Binary::MinUnsigned => a.min(b),
        Binary::MaxUnsigned => a.max(b),
    }
}

fn compare(op: Compare, a: u32, b: u32) -> bool {
    let (x, y) = (float(a), float(b));
    match op {
        Compare::Equal => x == y,
        Compare::NotEqual => x != y,
        Compare::Less => x < y,
        Compare::LessOrEqual => x <= y,
        Compare::EqualBits => a == b,
        Compare::Greater => a.cast_signed() > b.cast_signed(),
    }
}
