//! Random programs, run op by op and fused.

use oxcall_hlo::{
    BinaryOp, ComparisonDirection, ComparisonType, DotDims, ElementType, Literal, OpKind, TensorType, UnaryOp, ValueId,
};

use super::tests::{Program, one_nan, run_both};
use crate::compile::lower;
use crate::kernels::testing::{Random, ty};
use crate::tile::tests::random_bytes;

/// An op over values of the program, chosen at random.
fn random_op(program: &mut Program, values: &[ValueId], random: &mut Random) -> ValueId {
    let shapes: [&[usize]; 6] = [&[6, 50], &[300], &[6], &[50], &[], &[1, 6]];
    let elements = [ElementType::F32, ElementType::BF16, ElementType::S32, ElementType::Pred, ElementType::S8];
    let value = values[random.below(values.len())];
    let from = program.ty(value);
    let peers: Vec<_> = values.iter().copied().filter(|&each| program.ty(each) == from).collect();
    let peer = peers[random.below(peers.len())];
    match random.below(16) {
        0 => {
            let (element, dims) = (elements[random.below(5)], shapes[random.below(6)]);
            let literal = Literal::splat(ty(element, dims), random_bytes(random, element, 1));
            program.op(OpKind::Constant(literal.clone()), &[], literal.ty().clone())
        }
        1 if from.rank() > 0 && from.element != ElementType::Pred => {
            program.op(OpKind::Iota { dim: random.below(from.rank()) }, &[], from)
        }
        2 | 3 => {
            let dims = shapes[random.below(6)];
            let fits: Vec<usize> = (0..dims.len()).filter(|&dim| from.dims.first() == Some(&dims[dim])).collect();
            match (from.rank(), fits.first()) {
                (0, _) => program.op(OpKind::BroadcastInDim { dims: vec![] }, &[value], ty(from.element, dims)),
                (1, Some(&dim)) => {
                    program.op(OpKind::BroadcastInDim { dims: vec![dim] }, &[value], ty(from.element, dims))
                }
                _ => program.op(OpKind::Unary(UnaryOp::Not), &[value], from.clone()),
            }
        }
        4 if from.count() == 300 => {
            let dims = shapes[random.below(2)];
            program.op(OpKind::Reshape, &[value], ty(from.element, dims))
        }
        5 if from.rank() == 2 && matches!(from.element, ElementType::F32 | ElementType::S32) => {
            let scalar = TensorType::scalar(from.element);
            let init = Literal::splat(scalar.clone(), random_bytes(random, from.element, 1));
            let init = program.op(OpKind::Constant(init), &[], scalar);
            program.reduce([BinaryOp::Add, BinaryOp::Maximum][random.below(2)], value, init)
        }
        5 if from.rank() > 0 => program.op(OpKind::Reverse { dims: vec![0] }, &[value], from),
        12 if from.rank() > 0 => program.sort(value),
        // A part, of a shape that other values have.
        13 if from.count() > 6 => {
            let dims: &[usize] = if from.rank() == 2 { &[1, 6] } else { &[6] };
            let start: Vec<usize> =
                from.dims.iter().zip(dims).map(|(&all, &part)| random.below(all - part + 1)).collect();
            let limit = start.iter().zip(dims).map(|(start, part)| start + part).collect();
            let kind = OpKind::Slice { start, limit, strides: vec![1; dims.len()] };
            program.op(kind, &[value], ty(from.element, dims))
        }
        // Products of rows with each other, or the outer product of two columns.
        14 if from.rank() == 2 && from.element != ElementType::Pred => {
            let dims = DotDims { lhs_contracting: vec![1], rhs_contracting: vec![1], ..batched(1) };
            program.op(OpKind::DotGeneral(dims), &[value, peer], ty(from.element, &from.dims[..1]))
        }
        // Sums of rows in f32, as JAX makes them of narrower elements.
        15 if from.dims[..] == [6, 50] && from.element != ElementType::Pred => {
            let zero = Literal::splat(TensorType::scalar(ElementType::F32), [0; 4]);
            let zero = program.op(OpKind::Constant(zero.clone()), &[], zero.ty().clone());
            let wide = program.op(OpKind::Convert, &[value], from.with_element(ElementType::F32));
            let sums = program.reduce(BinaryOp::Add, wide, zero);
            program.op(OpKind::Convert, &[sums], ty(from.element, &[6]))
        }
        6 => program.op(OpKind::Convert, &[value], from.with_element(elements[random.below(5)])),
        7 => {
            let direction = ComparisonDirection::ALL[random.below(6)];
            let kind = OpKind::Compare(direction, ComparisonType::NoType);
            program.op(kind, &[value, peer], from.with_element(ElementType::Pred))
        }
        8 => {
            let is_predicate = |each: &ValueId| program.ty(*each) == from.with_element(ElementType::Pred);
            match values.iter().copied().find(is_predicate) {
                Some(predicate) => program.op(OpKind::Select, &[predicate, value, peer], from),
                None => program.op(OpKind::Binary(BinaryOp::Maximum), &[value, peer], from),
            }
        }
        _ => {
            use BinaryOp::{Add, Divide, Maximum, Minimum, Multiply, Or, ShiftLeft, ShiftRightLogical, Subtract, Xor};
            let ops = match from.element {
                ElementType::S32 | ElementType::S8 => [Add, Subtract, Or, Xor, ShiftLeft, ShiftRightLogical],
                _ => [Add, Subtract, Multiply, Divide, Maximum, Minimum],
            };
            match random.below(8) {
                6 => program.op(OpKind::Unary(UnaryOp::Negate), &[value], from),
                7 => program.op(OpKind::Unary(UnaryOp::Abs), &[value], from),
                op => program.op(OpKind::Binary(ops[op % 6]), &[value, peer], from),
            }
        }
    }
}

/// The dimensions of a product with as many batching dimensions.
fn batched(count: usize) -> DotDims {
    let dims: Vec<usize> = (0..count).collect();
    DotDims {
        lhs_batching: dims.clone(),
        rhs_batching: dims,
        lhs_contracting: Vec::new(),
        rhs_contracting: Vec::new(),
        precision: Vec::new(),
        algorithm: None,
    }
}

/// Builds programs of `seeds`, and compares what they give fused with what they give op by op. Fusions that depend on
/// each other in a circle cannot be run.
fn check(seeds: impl IntoIterator<Item = u64>) {
    for seed in seeds {
        let mut random = Random(seed);
        let mut program = Program::new();
        let mut values = Vec::new();
        for (element, dims) in [
            (ElementType::F32, &[6, 50][..]),
            (ElementType::BF16, &[6, 50]),
            (ElementType::S32, &[50]),
            (ElementType::F32, &[]),
            (ElementType::BF16, &[6]),
        ] {
            values.push(program.param(ty(element, dims)));
        }
        for _ in 0..40 {
            let value = random_op(&mut program, &values, &mut random);
            let op = program.func.body.ops.last().expect("just added");
            // Not every op has a meaning for every type.
            if matches!(op.kind, OpKind::Constant(_)) || lower::single(op, &program.func).is_ok() {
                values.push(value);
            } else {
                program.func.body.ops.pop();
            }
        }
        for _ in 0..4 {
            program.func.body.results.push(values[values.len() - 1 - random.below(12)]);
        }
        // These ops are exact, so that generated code gives the same bits on every processor.
        for generate in [false, true] {
            for (value, plain, fused) in run_both(&program.func, generate, &mut random) {
                let element = program.ty(value).element;
                assert_eq!(
                    one_nan(element, &fused),
                    one_nan(element, &plain),
                    "seed {seed}, {value:?}, machine code: {generate}"
                );
            }
        }
    }
}

#[test]
fn random_programs_compute_the_same_fused() {
    check(0..300);
}

#[test]
#[ignore = "minutes"]
fn many_random_programs_compute_the_same_fused() {
    check(300..20_000);
}
