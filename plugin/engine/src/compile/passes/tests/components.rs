use oxcall_hlo::UnaryOp;

use super::*;

/// A column of `rows` elements that stands at a place of rows of such dimensions, with zeros around it.
fn padded(f: &mut FuncBuilder, column: ValueId, rows: usize, row: &[usize], place: &[i64], value: f32) -> ValueId {
    let ones = vec![1; row.len()];
    let column = f.typed(OpKind::Reshape, [column], f32s(&[&[rows], &ones[..]].concat())).unwrap();
    let low = [&[0], place].concat();
    let high = [0].into_iter().chain(row.iter().zip(place).map(|(&size, &at)| size as i64 - 1 - at)).collect();
    let value = f32_constant(f, value);
    f.op(OpKind::Pad { low, high, interior: vec![0; row.len() + 1] }, [column, value]).unwrap()
}

/// The ops that are left of the sum of columns of `rows` elements at these places.
fn gradient(rows: usize, row: &[usize], places: &[&[i64]]) -> String {
    let mut f = FuncBuilder::new("main");
    let columns: Vec<ValueId> = places.iter().map(|_| f.param(f32s(&[rows]))).collect();
    let mut sum = None;
    for (&column, place) in columns.iter().zip(places) {
        let column = f.op(OpKind::Unary(UnaryOp::Tanh), [column]).unwrap();
        let term = padded(&mut f, column, rows, row, place, 0.0);
        sum = Some(sum.map_or(term, |sum| f.op(add(), [sum, term]).unwrap()));
    }
    all_passes(f, [sum.expect("there is a place")])
}

#[test]
fn sums_of_padded_columns_are_stacks() {
    for (row, places) in [
        (&[3][..], &[&[2][..], &[0], &[1]][..]),
        (&[3], &[&[1]]),
        (&[4], &[&[0], &[2]]),
        (&[2, 2], &[&[0, 0], &[1, 1], &[0, 1], &[1, 0]]),
        (&[16], &[&[15], &[0]]),
    ] {
        let text = gradient(1000, row, places);
        assert_eq!((text.matches("= concatenate").count(), text.matches("= pad").count()), (1, 0), "{text}");
        // Of a column and all the zeros that are added to it one stays, which makes +0 of -0.
        let added = if places.len() > 1 { places.len() } else { 0 };
        assert_eq!(text.matches("= add").count(), added, "{text}");
    }
}

#[test]
fn columns_of_the_same_place_are_added() {
    let text = gradient(1000, &[3], &[&[1], &[2], &[1]]);
    assert_eq!((text.matches("= concatenate").count(), text.matches("= add").count()), (1, 3), "{text}");
}

#[test]
fn few_and_long_rows_stay() {
    for (rows, row) in [(100, 3), (1000, 17)] {
        let text = gradient(rows, &[row], &[&[1], &[2]]);
        assert_eq!((text.matches("= concatenate").count(), text.matches("= pad").count()), (0, 2), "{text}");
    }
}

#[test]
fn scaled_and_negated_stacks_are_stacks() {
    for op in [OpKind::Unary(UnaryOp::Negate), OpKind::Binary(BinaryOp::Multiply), OpKind::Binary(BinaryOp::Divide)] {
        let mut f = FuncBuilder::new("main");
        let column = f.param(f32s(&[1000]));
        let stack = padded(&mut f, column, 1000, &[3], &[1], 1.5);
        let three = f.splat(f32s(&[1000, 3]), 3f32.to_le_bytes());
        let operands = if op == OpKind::Unary(UnaryOp::Negate) { vec![stack] } else { vec![three, stack] };
        let result = f.op(op, operands).unwrap();
        let text = all_passes(f, [result]);
        let last: Vec<&str> = text.lines().rev().take(2).collect();
        assert!(last[1].contains("= concatenate"), "{text}");
    }
}
