//! Programs over integers that share lanes.

use super::{Arrays, Random, SPLAT, SPLATS, check};
use crate::packed::Packing;
use crate::{Binary, Builder, Compare, Counts, Isa, Program, Shift, Value, Width};

/// A random program over integers of these widths.
fn program(random: &mut Random, ops: usize, widths: &[Width]) -> (Program, Arrays) {
    let arrays = Arrays {
        loaded: (0..1 + random.below(6)).map(|_| random.pick(widths)).collect(),
        stored: (0..1 + random.below(3)).map(|_| random.pick(widths)).collect(),
    };
    let builder = Builder::new();
    let mut numbers: Vec<Value> = arrays
        .loaded
        .iter()
        .enumerate()
        .map(|(index, &width)| builder.load((SPLATS.len() + index) as u16, width))
        .collect();
    numbers.push(builder.splat(SPLAT, Width::Word));
    for _ in 0..3 {
        let number = random.pick(&[0, 1, 3, 0x7f, 0x80, 0xff, 0x1234, 0x8000, 0xffff, u32::MAX, u32::MAX - 0x7f]);
        numbers.push(builder.constant(number));
    }
    let mut masks = vec![builder.compare(Compare::EqualBits, numbers[0], numbers[0])];
    for _ in 0..ops {
        let [i, j] = [(); 2].map(|()| random.pick(&numbers));
        let [p, q] = [(); 2].map(|()| random.pick(&masks));
        use Binary::*;
        // As functions of narrow integers do, which depend on their signs or sizes.
        let extended = |value: Value, bits: u8, is_signed: bool| {
            let above = 32 - bits;
            if is_signed {
                return builder.shift(Shift::RightArithmetic, builder.shift(Shift::Left, value, above), above);
            }
            builder.binary(And, value, builder.constant(u32::MAX >> above))
        };
        let [bits, is_signed] = [random.pick(&[4, 8, 8, 8, 16]), random.below(2) as u8];
        let [x, y] = [i, j].map(|value| extended(value, bits, is_signed == 1));
        match random.below(8) {
            0 | 1 => numbers.push(builder.binary(random.pick(&[AddBits, SubtractBits, MultiplyBits]), i, j)),
            2 => numbers.push(builder.binary(random.pick(&[And, AndNot, Or, Xor]), i, j)),
            3 => numbers.push(builder.binary(random.pick(&[MinSigned, MaxSigned]), x, y)),
            4 => {
                let shift = random.pick(&[Shift::Left, Shift::Right, Shift::RightArithmetic]);
                let x = if is_signed == 1 && shift == Shift::Right { extended(i, bits, false) } else { x };
                numbers.push(builder.shift(shift, x, random.below(20) as u8));
            }
            5 => masks.push(builder.compare(random.pick(&[Compare::EqualBits, Compare::Greater]), x, y)),
            6 => numbers.push(builder.select(p, i, j)),
            _ => {
                masks.push(builder.binary(random.pick(&[And, AndNot, Or, Xor]), p, q));
                numbers.push(builder.truth(p));
                masks.push(builder.mask(extended(i, 8, false)));
                masks.push(builder.not(q));
            }
        }
    }
    for (index, &width) in arrays.stored.iter().enumerate() {
        let value = random.pick(&numbers[numbers.len().saturating_sub(3)..]);
        builder.store((SPLATS.len() + arrays.loaded.len() + index) as u16, width, value);
    }
    (builder.build(), arrays)
}

#[test]
fn random_programs_over_narrow_integers() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut packed = [0; 3];
    for round in 0..if cfg!(miri) { 1 } else { 4000 } {
        let ops = 1 + random.below(if round % 4 == 0 { 60 } else { 12 });
        let widths: &[Width] = if round % 3 == 0 { &[Width::Byte, Width::Half] } else { &[Width::Byte] };
        let (program, arrays) = program(&mut random, ops, widths);
        packed[program.packed().map_or(1, |program| program.packing.map_or(1, Packing::elements)).ilog2() as usize] +=
            1;
        for isa in Isa::all().filter(|isa| isa.is_present()) {
            for counts in [Counts::Blocks, Counts::Any] {
                check(&program, &arrays, isa, counts, &mut random);
            }
        }
    }
    assert!(cfg!(miri) || packed[1..].iter().all(|&programs| programs > 400), "elements in a lane: {packed:?}");
}

/// The number of elements that share a lane of a program that stores what `f` makes of bytes.
fn elements(f: impl Fn(&Builder, [Value; 2]) -> Value) -> usize {
    let builder = Builder::new();
    let args = [0, 1].map(|array| builder.load(array, Width::Byte));
    builder.store(2, Width::Byte, f(&builder, args));
    builder.build().packed().map_or(1, |program| program.packing.map_or(1, Packing::elements))
}

#[test]
fn elements_share_lanes_as_long_as_their_values_fit() {
    let signed = |b: &Builder, x: Value| b.shift(Shift::RightArithmetic, b.shift(Shift::Left, x, 24), 24);
    assert_eq!(elements(|b, [x, y]| b.binary(Binary::AddBits, x, y)), 4);
    assert_eq!(elements(|b, [x, y]| b.binary(Binary::MultiplyBits, x, y)), 4);
    assert_eq!(elements(|b, [x, y]| b.binary(Binary::MaxSigned, x, y)), 4);
    assert_eq!(elements(|b, args| b.truth(b.compare(Compare::Greater, signed(b, args[0]), signed(b, args[1])))), 4);
    // A mean, and a comparison of numbers with and without sign, need a bit more.
    let mean = |b: &Builder, [x, y]: [Value; 2]| b.shift(Shift::Right, b.binary(Binary::AddBits, x, y), 1);
    assert_eq!(elements(mean), 2);
    assert_eq!(elements(|b, [x, y]| b.truth(b.compare(Compare::Greater, signed(b, x), y))), 2);
    // Products of three are too large.
    let high = |b: &Builder, [x, y]: [Value; 2]| {
        let product = b.binary(Binary::MultiplyBits, b.binary(Binary::MultiplyBits, x, y), y);
        b.shift(Shift::Right, product, 8)
    };
    assert_eq!(elements(high), 1);
    assert_eq!(elements(|b, [x, _]| b.unary(crate::Unary::ToFloat, x)), 1);
}
