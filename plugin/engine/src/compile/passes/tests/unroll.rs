use oxcall_hlo::{ComparisonDirection, ComparisonType};

use super::*;

/// The ops that are left of a loop of `iterations` that doubles an array of so many numbers.
fn doublings(size: usize, iterations: i32) -> (usize, usize) {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[size]));
    let zero = f.splat(scalar(ElementType::S32), [0; 4]);
    let types: [Type; 2] = [zero, x].map(|value| f.ty(value).clone());
    let cond = f.region(types.clone(), |f, params| {
        let end = f.splat(scalar(ElementType::S32), iterations.to_le_bytes());
        Ok(vec![f.op(OpKind::Compare(ComparisonDirection::Lt, ComparisonType::Signed), [params[0], end])?])
    });
    let body = f.region(types, |f, params| {
        let step = f.splat(scalar(ElementType::S32), 2i32.to_le_bytes());
        let next = f.op(add(), [params[0], step])?;
        Ok(vec![next, f.op(add(), [params[1], params[1]])?])
    });
    let results = f.with_regions(OpKind::While, [zero, x], [cond.unwrap(), body.unwrap()]).unwrap();
    let text = all_passes(f, [results[1]]);
    (text.matches("= while").count(), text.matches("= add ").count())
}

#[test]
fn short_loops_over_large_arrays_are_unrolled() {
    // Counted by twos: five and six end after three times.
    assert_eq!(doublings(1 << 20, 5), (0, 3));
    assert_eq!(doublings(1 << 20, 6), (0, 3));
    assert_eq!(doublings(1 << 20, 1), (0, 1));
}

#[test]
fn other_loops_stay() {
    let in_loop = 2;
    assert_eq!(doublings(1 << 20, 1000), (1, in_loop));
    assert_eq!(doublings(16, 6), (1, in_loop));
}
