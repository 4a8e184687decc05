//! The order of operations.

use super::program::program;
use super::{Random, SPLATS};
use crate::ir::{Op, Program};
use crate::registers::Lifetimes;
use crate::{Binary, Builder, Compare, Width};

fn pressure(program: &Program) -> usize {
    Lifetimes::new(program).pressure(program, &[])
}

#[test]
fn values_that_are_needed_late_are_computed_late() {
    let builder = Builder::new();
    let x = builder.load(0, Width::Word);
    let sums: Vec<_> = (1..20).map(|number| builder.binary(Binary::Add, x, builder.constant(number))).collect();
    let product = sums.into_iter().reduce(|a, b| builder.binary(Binary::Multiply, a, b)).expect("there are sums");
    builder.store(1, Width::Word, product);
    let program = builder.build();
    assert_eq!((pressure(&program), pressure(&program.scheduled())), (19, 3));
}

#[test]
fn a_comparison_stays_before_its_selection() {
    let builder = Builder::new();
    let [x, y] = [0, 1].map(|array| builder.load(array, Width::Word));
    let mask = builder.compare(Compare::Less, x, y);
    let sum = builder.binary(Binary::Add, x, y);
    builder.store(2, Width::Word, builder.select(mask, sum, x));
    let program = builder.build().scheduled();
    let compare = program.ops.iter().position(|op| matches!(op, Op::Compare(..))).expect("it is there");
    assert!(matches!(program.ops[compare + 1], Op::Select(_)), "{program:?}");
}

#[test]
fn loads_stay_before_the_stores_that_they_come_before() {
    let mut random = Random(0x5eed);
    // The numbers of stores after each load, by arrays.
    let later = |program: &Program| {
        let mut all = vec![Vec::new(); program.arrays()];
        for (index, op) in program.ops.iter().enumerate() {
            if let Op::Load { array, .. } = op {
                let after = program.stores.iter().filter(|store| store.value.index() >= index);
                all[usize::from(*array)].push(after.count());
            }
        }
        all
    };
    for round in 0..200 {
        let ops = 1 + random.below(60);
        let (program, _) = program(&mut random, ops, round % 2 == 0);
        let scheduled = program.scheduled();
        assert_eq!(program.len(), scheduled.len());
        for (array, (before, after)) in later(&program).iter().zip(later(&scheduled)).enumerate().skip(SPLATS.len()) {
            assert!(before.iter().zip(&after).all(|(before, after)| before <= after), "array {array}\n{program:#?}");
        }
        assert!(!program.loads_before_it_stores() || scheduled.loads_before_it_stores(), "{program:#?}");
    }
}
