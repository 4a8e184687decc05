//! Random programs.

use super::{Arrays, QUAD_SPLAT, Random, SPLAT, SPLATS, WIDE_SPLAT, wide};
use crate::{Binary, Builder, Compare, Conversion, Program, Round, Shift, Shuffle, Unary, Value, WideBinary, Width};

/// A random program over floats, integers and masks, and, if `has_pairs` is set, over doubles and masks of 64 bits.
pub(super) fn program(random: &mut Random, ops: usize, has_pairs: bool) -> (Program, Arrays) {
    let all = [Width::Quad, Width::Pair, Width::Word, Width::Word, Width::Float16, Width::Half, Width::Byte];
    let widths = if has_pairs { &all[random.below(2)..3 + random.below(5)] } else { &all[2..] };
    let arrays = Arrays {
        loaded: (0..1 + random.below(9)).map(|_| random.pick(widths)).collect(),
        stored: (0..1 + random.below(3)).map(|_| random.pick(widths)).collect(),
    };
    let builder = Builder::new();
    let (mut floats, mut integers) =
        (vec![builder.splat(SPLAT, Width::Word)], vec![builder.constant(random.next() as u32)]);
    let mut masks = vec![builder.compare(Compare::Less, floats[0], floats[0])];
    let mut pairs = Pairs { doubles: Vec::new(), integers: vec![builder.wide().constant(7)], masks: Vec::new() };
    if has_pairs {
        pairs.doubles.push(builder.splat(WIDE_SPLAT, Width::Pair));
        pairs.doubles.extend(builder.parts(builder.splat(QUAD_SPLAT, Width::Quad)));
        pairs.masks.push(builder.wide().compare(Compare::Equal, pairs.doubles[0], pairs.doubles[0]));
    }
    for (index, &width) in arrays.loaded.iter().enumerate() {
        let value = builder.load((SPLATS.len() + index) as u16, width);
        match width {
            Width::Pair if random.below(2) == 0 => pairs.integers.push(value),
            Width::Pair => pairs.doubles.push(value),
            Width::Quad => pairs.doubles.extend(builder.parts(value)),
            Width::Word | Width::Float16 => floats.push(value),
            Width::Half | Width::Byte => integers.push(value),
        }
    }
    for _ in 0..ops {
        if has_pairs && random.below(2) == 0 {
            pairs.push(&builder, random, [&mut floats, &mut integers, &mut masks]);
            continue;
        }
        let float = |random: &mut Random| -> Value {
            if random.below(4) == 0 { builder.constant(random.float()) } else { random.pick(&floats) }
        };
        let [x, y, z] = [(); 3].map(|()| float(random));
        let [i, j] = [(); 2].map(|()| random.pick(&integers));
        let [p, q] = [(); 2].map(|()| random.pick(&masks));
        use Binary::*;
        match random.below(12) {
            0 | 1 => {
                floats.push(builder.binary(random.pick(&[Add, Subtract, Multiply, Divide, Smaller, Larger]), x, y));
            }
            2 | 3 => floats.push(builder.fused(x, y, z)),
            4 => {
                let round = random.pick(&[Round::Even, Round::Floor, Round::Ceil, Round::Truncate]);
                floats.push(builder.unary(random.pick(&[Unary::Sqrt, Unary::Round(round)]), x));
            }
            5 => floats.push(builder.select(p, x, y)),
            6 => integers.push(builder.select(p, i, j)),
            7 => {
                let compare = [Compare::Equal, Compare::NotEqual, Compare::Less, Compare::LessOrEqual];
                masks.push(builder.compare(random.pick(&compare), x, y));
            }
            8 => masks.push(builder.compare(random.pick(&[Compare::EqualBits, Compare::Greater]), i, j)),
            9 => {
                let ops = [
                    AddBits,
                    SubtractBits,
                    MultiplyBits,
                    MultiplyHighSigned,
                    MultiplyHighUnsigned,
                    And,
                    AndNot,
                    Or,
                    Xor,
                    MinSigned,
                    MaxSigned,
                    MinUnsigned,
                    MaxUnsigned,
                ];
                let shifts = [ShiftLeft, ShiftRight, ShiftRightArithmetic];
                let op = if random.below(3) == 0 { random.pick(&shifts) } else { random.pick(&ops) };
                integers.push(builder.binary(op, i, j));
            }
            10 => {
                let shift = random.pick(&[Shift::Left, Shift::Right, Shift::RightArithmetic, Shift::Rotate]);
                integers.push(builder.shift(shift, i, random.below(32) as u8));
                floats.push(builder.unary(Unary::ToFloat, i));
                // Which NaN comes of two is not defined.
                let number = builder.binary(And, x, builder.compare(Compare::Equal, x, x));
                integers.push(builder.unary(Unary::ToHalf, number));
                let half = builder.binary(And, i, builder.constant(0xffff));
                floats.push(builder.unary(Unary::OfHalf, half));
                floats.push(builder.unary(Unary::RoundToHalf, y));
            }
            _ => {
                masks.push(builder.binary(random.pick(&[And, AndNot, Or, Xor]), p, q));
                integers.push(builder.truth(p));
                masks.push(builder.mask(builder.shift(Shift::Right, i, 1)));
                masks.push(builder.not(q));
            }
        }
    }
    for (index, &width) in arrays.stored.iter().enumerate() {
        let last = |values: &[Value]| values[values.len() - 1 - index % 2 % values.len()];
        let value = match width {
            Width::Pair if random.below(3) == 0 => last(&pairs.integers),
            Width::Pair => last(&pairs.doubles),
            Width::Quad => builder.joined([random.pick(&pairs.doubles), last(&pairs.doubles)]),
            Width::Word | Width::Float16 => last(&floats),
            Width::Half | Width::Byte => random.pick(&integers),
        };
        builder.store((SPLATS.len() + arrays.loaded.len() + index) as u16, width, value);
    }
    (builder.build(), arrays)
}

/// Values of 64 bits of a random program.
struct Pairs {
    doubles: Vec<Value>,
    integers: Vec<Value>,
    masks: Vec<Value>,
}

impl Pairs {
    /// Adds an operation on values of 64 bits to these or to those of 32.
    fn push(&mut self, builder: &Builder, random: &mut Random, [floats, integers, masks]: [&mut Vec<Value>; 3]) {
        let b = builder.wide();
        let double = |random: &mut Random| -> Value {
            if random.below(4) == 0 { b.constant(wide::number(random)) } else { random.pick(&self.doubles) }
        };
        let [x, y, z] = [(); 3].map(|()| double(random));
        let [i, j] = [(); 2].map(|()| random.pick(&self.integers));
        let mask = random.pick(&self.masks);
        use WideBinary::*;
        match random.below(10) {
            9 => {
                let shuffle = random.pick(&[Shuffle::Low, Shuffle::High, Shuffle::Swap]);
                let lanes = b.words(random.pick(&[Binary::AddBits, Binary::Xor]), b.shuffle(shuffle, i), j);
                self.integers.push(lanes);
            }
            0 | 1 => {
                self.doubles.push(b.binary(random.pick(&[Add, Subtract, Multiply, Divide, Smaller, Larger]), x, y));
            }
            2 => self.doubles.push(b.fused(x, y, z)),
            3 => {
                let round = random.pick(&[Round::Even, Round::Floor, Round::Ceil, Round::Truncate]);
                self.doubles.push(if random.below(2) == 0 { b.sqrt(x) } else { b.round(round, x) });
            }
            4 => self.doubles.push(b.select(mask, x, y)),
            5 => {
                let compare = [Compare::Equal, Compare::NotEqual, Compare::Less, Compare::LessOrEqual];
                let mask = match random.below(2) {
                    0 => b.compare(random.pick(&compare), x, y),
                    _ => b.compare(random.pick(&[Compare::EqualBits, Compare::Greater]), i, j),
                };
                self.masks.push(mask);
                self.doubles.push(b.select(mask, z, x));
                self.integers.push(b.select(mask, j, i));
                masks.push(b.convert(Conversion::Low, mask));
            }
            6 => {
                let ops = [AddBits, SubtractBits, MultiplyLow, And, Or, Xor, ShiftLeft, ShiftRight];
                let shift = random.pick(&[Shift::Left, Shift::Right, Shift::Rotate]);
                self.integers.push(b.binary(random.pick(&ops), b.shift(shift, i, random.below(64) as u8), j));
                integers.push(b.convert(Conversion::Low, i));
                let extend = random.pick(&[Conversion::SignExtend, Conversion::ZeroExtend]);
                self.integers.push(b.convert(extend, random.pick(integers)));
            }
            7 => {
                floats.push(b.convert(Conversion::ToFloat, x));
                self.doubles.push(b.convert(Conversion::ToDouble, random.pick(floats)));
            }
            _ => {
                self.doubles.push(b.convert(Conversion::IntegerToDouble, random.pick(integers)));
                let mask = b.convert(Conversion::SignExtend, random.pick(masks));
                self.doubles.push(b.select(mask, x, y));
            }
        }
    }
}
