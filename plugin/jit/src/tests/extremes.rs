//! Selections that are the smaller or the larger of two floats.

use crate::ir::Op;
use crate::wide::{Wide, WideBinary};
use crate::{Binary, Builder, Compare, Program, Value, Width};

const NUMBERS: [f64; 9] = [0.0, -0.0, 1.0, -1.0, 2.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN];

/// `op(x, y) ? a : b`, where `a` and `b` are `x` and `y` or the reverse; `y` may be a constant.
fn selection(width: Width, op: Compare, is_reverse: bool, constant: Option<f64>) -> Program {
    let builder = Builder::new();
    let x = builder.load(0, width);
    let y = match (constant, width) {
        (None, _) => builder.load(1, width),
        (Some(y), Width::Pair) => builder.wide().constant(y.to_bits()),
        (Some(y), _) => builder.constant((y as f32).to_bits()),
    };
    let [a, b]: [Value; 2] = if is_reverse { [y, x] } else { [x, y] };
    let selected = match width {
        Width::Pair => builder.wide().select(builder.wide().compare(op, x, y), a, b),
        _ => builder.select(builder.compare(op, x, y), a, b),
    };
    builder.store(2, width, selected);
    builder.build()
}

fn is_extreme(program: &Program) -> bool {
    program.ops.iter().any(|op| {
        matches!(op, Op::Binary(Binary::Smaller | Binary::Larger, _))
            || matches!(op, Op::Wide(Wide::Binary(WideBinary::Smaller | WideBinary::Larger), _))
    })
}

/// They keep the bits of the selection, also of zeros and NaNs, and are made wherever that is so.
#[test]
fn extremes_are_the_selections_that_they_replace() {
    let constants = NUMBERS.map(Some).into_iter().chain([None]);
    for (width, constant) in [Width::Word, Width::Pair].into_iter().flat_map(|w| constants.clone().map(move |c| (w, c)))
    {
        let bits = |x: f64| if width == Width::Pair { x.to_bits() } else { u64::from((x as f32).to_bits()) };
        for (op, is_reverse) in [Compare::Less, Compare::LessOrEqual, Compare::Equal]
            .into_iter()
            .flat_map(|op| [false, true].map(move |is_reverse| (op, is_reverse)))
        {
            let program = selection(width, op, is_reverse, constant);
            let is_exact = match op {
                Compare::Less => true,
                Compare::LessOrEqual => constant.is_some_and(|y| y != 0.0),
                _ => false,
            };
            assert_eq!(is_extreme(&program), is_exact, "{op:?}, {constant:?}, {width:?}");
            for (x, y) in NUMBERS.into_iter().flat_map(|x| NUMBERS.map(move |y| (x, constant.unwrap_or(y)))) {
                let is_true = match op {
                    Compare::Less => x < y,
                    Compare::LessOrEqual => x <= y,
                    _ => x == y,
                };
                let expected = bits(if is_true != is_reverse { x } else { y });
                program.interpret(
                    |array| bits(if array == 0 { x } else { y }).into(),
                    |_, found| assert_eq!(found, expected.into(), "{op:?} of {x} and {y}, {width:?}"),
                );
            }
        }
    }
}
