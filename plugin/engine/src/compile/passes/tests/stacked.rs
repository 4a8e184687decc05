use oxcall_hlo::{ComparisonDirection, ComparisonType, DotDims};

use super::*;

/// The numbers of products before and in a loop of `turns`, which multiplies a slice of `slices` with weights: `x w`
/// for slices along the first dimension of an array, or along the second.
fn products(slices: usize, turns: i32, along: usize, terms: usize) -> [usize; 2] {
    let mut f = FuncBuilder::new("main");
    let mut dims = vec![8, terms];
    dims.insert(along, slices);
    let (xs, w) = (f.param(f32s(&dims)), f.param(f32s(&[terms, 32])));
    let sum = f.param(f32s(&[8, 32]));
    let zero = f.splat(scalar(ElementType::S32), [0; 4]);
    let types: [Type; 2] = [zero, sum].map(|value| f.ty(value).clone());
    let cond = f.region(types.clone(), |f, params| {
        let end = f.splat(scalar(ElementType::S32), turns.to_le_bytes());
        Ok(vec![f.op(OpKind::Compare(ComparisonDirection::Lt, ComparisonType::Signed), [params[0], end])?])
    });
    let body = f.region(types, |f, params| {
        let one = f.splat(scalar(ElementType::S32), 1i32.to_le_bytes());
        let next = f.op(add(), [params[0], one])?;
        let mut starts = [xs, zero, zero, zero];
        starts[1 + along] = params[0];
        let mut sizes = dims.clone();
        sizes[along] = 1;
        let slice = f.op(OpKind::DynamicSlice { sizes }, starts)?;
        let x = f.typed(OpKind::Reshape, [slice], f32s(&[8, terms]))?;
        let dims = DotDims {
            lhs_batching: Vec::new(),
            rhs_batching: Vec::new(),
            lhs_contracting: vec![1],
            rhs_contracting: vec![0],
            precision: Vec::new(),
            algorithm: None,
        };
        let product = f.op(OpKind::DotGeneral(dims), [x, w])?;
        Ok(vec![next, f.op(add(), [params[1], product])?])
    });
    let results = f.with_regions(OpKind::While, [zero, sum], [cond.unwrap(), body.unwrap()]).unwrap();
    let text = all_passes(f, [results[1]]);
    let (before, inside) = text.split_once("= while").unwrap();
    [before, inside].map(|part| part.matches("= dot_general").count())
}

#[test]
fn products_of_all_slices_come_before_the_loop() {
    assert_eq!(products(10, 10, 0, 16), [1, 0]);
    // Every slice, and some of them again.
    assert_eq!(products(10, 12, 0, 16), [1, 0]);
}

#[test]
fn other_products_stay_in_the_loop() {
    // Slices that are never taken; slices of the result apart; machine code; results of more than 16 MiB.
    assert_eq!(products(11, 10, 0, 16), [0, 1]);
    assert_eq!(products(10, 10, 1, 16), [0, 1]);
    assert_eq!(products(10, 10, 0, 2), [0, 1]);
    assert_eq!(products(20_000, 20_000, 0, 16), [0, 1]);
}
