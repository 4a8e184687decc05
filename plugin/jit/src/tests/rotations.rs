//! Rotations as two shifts of one value.

use super::{Arrays, Random, SPLATS, check};
use crate::{Binary, Builder, Counts, Isa, Shift, WideBinary, Width};

#[test]
fn two_shifts_of_one_value_are_a_rotation() {
    let mut random = Random(11);
    let array = SPLATS.len() as u16;
    for amount in 1..64 {
        for join in
            [(Binary::Or, WideBinary::Or), (Binary::Xor, WideBinary::Xor), (Binary::AddBits, WideBinary::AddBits)]
        {
            let builder = Builder::new();
            if amount < 32 {
                let x = builder.load(array, Width::Word);
                let [up, down] =
                    [(Shift::Left, amount), (Shift::Right, 32 - amount)].map(|(kind, by)| builder.shift(kind, x, by));
                builder.store(array + 2, Width::Word, builder.binary(join.0, up, down));
            }
            let (b, y) = (builder.wide(), builder.load(array + 1, Width::Pair));
            let [down, up] =
                [(Shift::Right, 64 - amount), (Shift::Left, amount)].map(|(kind, by)| b.shift(kind, y, by));
            builder.store(array + 3, Width::Pair, b.binary(join.1, down, up));
            let program = builder.build();
            assert_eq!(program.len(), if amount < 32 { 4 } else { 2 }, "rotations by {amount} have one operation each");
            let arrays = Arrays { loaded: vec![Width::Word, Width::Pair], stored: vec![Width::Word, Width::Pair] };
            for isa in Isa::all().filter(|isa| isa.is_present()) {
                check(&program, &arrays, isa, Counts::Any, &mut random);
            }
        }
    }
}

#[test]
fn other_shifts_are_not_rotations() {
    let builder = Builder::new();
    let [x, y] = [0, 1].map(|array| builder.load(array, Width::Word));
    let [by_3, by_29] = [(Shift::Left, 3), (Shift::Right, 29)].map(|(kind, by)| builder.shift(kind, x, by));
    let others = [
        (Binary::Or, by_3, builder.shift(Shift::Right, y, 29)),
        (Binary::Or, by_3, builder.shift(Shift::Right, x, 28)),
        (Binary::Or, by_3, builder.shift(Shift::RightArithmetic, x, 29)),
        (Binary::Or, by_3, builder.shift(Shift::Left, x, 29)),
        (Binary::And, by_3, by_29),
        (Binary::SubtractBits, by_3, by_29),
    ];
    for (array, (op, a, b)) in others.into_iter().enumerate() {
        builder.store(2 + array as u16, Width::Word, builder.binary(op, a, b));
    }
    // Two loads, six different shifts, and six operations on them.
    assert_eq!(builder.build().len(), 14);
}
