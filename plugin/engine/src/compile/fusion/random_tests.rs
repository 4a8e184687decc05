//! Random programs, run op by op and fused.

use oxcall_hlo::{
    BinaryOp, ComparisonDirection, ComparisonType, DotDims, ElementType, GatherDims, Literal, OpKind, TensorType,
    UnaryOp, ValueId,
};

use super::tests::{Program, one_nan, run_both};
use crate::testing::random_bytes;
use crate::testing::{Random, ty};

/// The shape of a program's matrices. Its vectors are as long as their rows or columns.
type Shape = [usize; 2];

/// The types of elements, and the number of those that have at most 32 bits.
const ELEMENTS: [ElementType; 10] = [
    ElementType::F32,
    ElementType::BF16,
    ElementType::F16,
    ElementType::S32,
    ElementType::Pred,
    ElementType::S8,
    ElementType::F64,
    ElementType::S64,
    ElementType::C64,
    ElementType::C128,
];
const NARROW: usize = 6;

/// An op over values of the program, chosen at random.
fn random_op(
    program: &mut Program,
    shape: Shape,
    elements: &[ElementType],
    values: &[ValueId],
    random: &mut Random,
) -> ValueId {
    let [rows, columns] = shape;
    let count = rows * columns;
    let shapes: [&[usize]; 6] = [&shape, &[count], &[rows], &[columns], &[], &[1, rows]];
    let value = values[random.below(values.len())];
    let from = program.ty(value);
    let peers: Vec<_> = values.iter().copied().filter(|&each| program.ty(each) == from).collect();
    let peer = peers[random.below(peers.len())];
    let is_complex = from.element.is_complex();
    match random.below(25) {
        20 | 21 if from.rank() > 0 && matches!(from.element, ElementType::F32 | ElementType::S32) => {
            let indices = values[random.below(values.len())];
            picked(program, value, indices, random)
        }
        16 | 17 if from.rank() > 0 => rolled(program, value, random),
        18 if from.rank() > 0 => framed(program, value, random),
        22..=24 if from.rank() > 0 && !is_complex => updated(program, value, peer, random),
        0 => {
            let (element, dims) = (elements[random.below(elements.len())], shapes[random.below(6)]);
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
        4 if from.count() == count => {
            let dims = shapes[random.below(2)];
            program.op(OpKind::Reshape, &[value], ty(from.element, dims))
        }
        5 | 19 if from.rank() == 2 && from.element.byte_width() >= 4 && !is_complex => {
            let scalar = TensorType::scalar(from.element);
            let init = Literal::splat(scalar.clone(), random_bytes(random, from.element, 1));
            let init = program.op(OpKind::Constant(init), &[], scalar);
            let dims = [vec![1], vec![0], vec![0, 1]][random.below(3)].clone();
            // Sums of floats depend on the order, which is the same for rows.
            let is_exact = from.element.is_integer() || dims == [1];
            let functions = if is_exact { &[BinaryOp::Add, BinaryOp::Maximum][..] } else { &[BinaryOp::Maximum] };
            program.reduce_dims(functions[random.below(functions.len())], dims, value, init)
        }
        5 if from.rank() > 0 => program.op(OpKind::Reverse { dims: vec![0] }, &[value], from),
        12 if from.rank() > 0 && !is_complex => program.sort(value),
        // A part, of a shape that other values have.
        13 if from.count() > rows => {
            let dims: &[usize] = if from.rank() == 2 { &[1, rows] } else { &[rows] };
            let start: Vec<usize> =
                from.dims.iter().zip(dims).map(|(&all, &part)| random.below(all - part + 1)).collect();
            let limit = start.iter().zip(dims).map(|(start, part)| start + part).collect();
            let kind = OpKind::Slice { start, limit, strides: vec![1; dims.len()] };
            program.op(kind, &[value], ty(from.element, dims))
        }
        // Products of rows with each other, or the outer product of two columns.
        14 if from.rank() == 2 && from.element != ElementType::Pred && !is_complex => {
            let dims = DotDims { lhs_contracting: vec![1], rhs_contracting: vec![1], ..batched(1) };
            program.op(OpKind::DotGeneral(dims), &[value, peer], ty(from.element, &from.dims[..1]))
        }
        // Sums of rows in f32, as JAX makes them of narrower elements.
        15 if from.dims[..] == shape && from.element != ElementType::Pred => {
            let zero = Literal::splat(TensorType::scalar(ElementType::F32), [0; 4]);
            let zero = program.op(OpKind::Constant(zero.clone()), &[], zero.ty().clone());
            let wide = program.op(OpKind::Convert, &[value], from.with_element(ElementType::F32));
            let sums = program.reduce(BinaryOp::Add, wide, zero);
            program.op(OpKind::Convert, &[sums], ty(from.element, &[rows]))
        }
        6 => program.op(OpKind::Convert, &[value], from.with_element(elements[random.below(elements.len())])),
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
        9 if from.element == ElementType::F32 && elements.contains(&ElementType::C64) => {
            program.op(OpKind::Complex, &[value, peer], from.with_element(ElementType::C64))
        }
        9 if from.element == ElementType::F64 => {
            program.op(OpKind::Complex, &[value, peer], from.with_element(ElementType::C128))
        }
        9 if is_complex => {
            let part = from.with_element(from.element.real());
            // A modulus of doubles fuses multiply-add too.
            let functions = [UnaryOp::Real, UnaryOp::Imag, UnaryOp::Abs];
            let exact = if from.element == ElementType::C128 { 2 } else { 3 };
            program.op(OpKind::Unary(functions[random.below(exact)]), &[value], part)
        }
        10 if is_complex => program.op(OpKind::Unary(UnaryOp::Sign), &[value], from),
        _ => {
            use BinaryOp::{Add, Divide, Maximum, Minimum, Multiply, Or, ShiftLeft, ShiftRightLogical, Subtract, Xor};
            let ops = match from.element {
                element if element.is_integer() => [Add, Subtract, Or, Xor, ShiftLeft, ShiftRightLogical],
                // Products fuse multiply-add where the processor does.
                element if element.is_complex() => [Add, Subtract, Divide, Maximum, Minimum, Add],
                _ => [Add, Subtract, Multiply, Divide, Maximum, Minimum],
            };
            match random.below(8) {
                6 => program.op(OpKind::Unary(UnaryOp::Negate), &[value], from),
                7 if from.element != ElementType::C128 => {
                    program.op(OpKind::Unary(UnaryOp::Abs), &[value], from.with_element(from.element.real()))
                }
                7 => program.op(OpKind::Unary(UnaryOp::Conj), &[value], from),
                op => program.op(OpKind::Binary(ops[op % 6]), &[value, peer], from),
            }
        }
    }
}

/// A part of `value`: every `step`-th element of each dimension in a range.
fn part(program: &mut Program, value: ValueId, start: &[usize], limit: &[usize], steps: &[usize]) -> ValueId {
    let from = program.ty(value);
    let dims: Vec<usize> = (0..from.rank()).map(|dim| (limit[dim] - start[dim]).div_ceil(steps[dim])).collect();
    let kind = OpKind::Slice { start: start.to_vec(), limit: limit.to_vec(), strides: steps.to_vec() };
    program.op(kind, &[value], ty(from.element, &dims))
}

/// `value`, moved along a dimension, where what leaves at one end enters at the other.
fn rolled(program: &mut Program, value: ValueId, random: &mut Random) -> ValueId {
    let from = program.ty(value);
    let dim = random.below(from.rank());
    let (zeros, ones) = (vec![0; from.rank()], vec![1; from.rank()]);
    let mut cut = from.dims.clone();
    cut[dim] = random.below(from.dims[dim] + 1);
    let start: Vec<usize> = (0..from.rank()).map(|each| if each == dim { cut[dim] } else { 0 }).collect();
    let last = part(program, value, &start, &from.dims, &ones);
    let first = part(program, value, &zeros, &cut, &ones);
    program.op(OpKind::Concatenate { dim }, &[last, first], from)
}

/// Elements of `value` at the indices that another value is, some of which are out of bounds.
fn picked(program: &mut Program, value: ValueId, indices: ValueId, random: &mut Random) -> ValueId {
    let from = program.ty(value);
    let array = program.op(OpKind::Reshape, &[value], ty(from.element, &[from.count()]));
    let index = program.ty(indices).with_element(ElementType::S32);
    let mut indices = program.op(OpKind::Convert, &[indices], index.clone());
    if random.below(4) > 0 {
        let most = Literal::splat(index.clone(), (2 * from.count().next_power_of_two() as i32 - 1).to_le_bytes());
        let most = program.op(OpKind::Constant(most), &[], index.clone());
        indices = program.op(OpKind::Binary(BinaryOp::And), &[indices, most], index.clone());
    }
    let dims = GatherDims::of_elements(index.rank());
    let kind = OpKind::Gather { dims, slice_sizes: vec![1], indices_are_sorted: false };
    program.op(kind, &[array, indices], ty(from.element, &index.dims))
}

/// Some elements of `value` between padding.
fn framed(program: &mut Program, value: ValueId, random: &mut Random) -> ValueId {
    let from = program.ty(value);
    let scalar = TensorType::scalar(from.element);
    let padding = Literal::splat(scalar.clone(), random_bytes(random, from.element, 1));
    let padding = program.op(OpKind::Constant(padding), &[], scalar);
    let start: Vec<usize> = from.dims.iter().map(|&size| random.below(size)).collect();
    let steps: Vec<usize> = from.dims.iter().map(|_| [1, 1, 1, 2, 3][random.below(5)]).collect();
    let inner = part(program, value, &start, &from.dims, &steps);
    let spare = from.dims.iter().zip(program.ty(inner).dims).map(|(all, part)| all - part);
    let (low, high) =
        spare.map(|spare| (random.below(spare + 1), spare)).map(|(low, all)| (low as i64, (all - low) as i64)).unzip();
    let interior = vec![0; from.rank()];
    program.op(OpKind::Pad { low, high, interior }, &[inner, padding], from)
}

/// `value` with what is computed of a box of a peer in a box of it, at another place or the same.
fn updated(program: &mut Program, value: ValueId, peer: ValueId, random: &mut Random) -> ValueId {
    let from = program.ty(value);
    let start: Vec<usize> = from.dims.iter().map(|&size| random.below(size.min(3))).collect();
    let sizes: Vec<usize> = from.dims.iter().zip(&start).map(|(&size, &start)| size - start).collect();
    let ones = vec![1; from.rank()];
    let inner = part(program, peer, &start, &from.dims, &ones);
    let ty = program.ty(inner);
    let inner = program.op(OpKind::Binary(BinaryOp::Maximum), &[inner, inner], ty);
    let mut operands = vec![value, inner];
    for (&start, (&all, &size)) in start.iter().zip(from.dims.iter().zip(&sizes)) {
        // Those out of bounds are moved inside.
        let index = if random.below(2) == 0 { start as i32 } else { random.below(2 * (all - size) + 2) as i32 - 1 };
        let literal = Literal::splat(TensorType::scalar(ElementType::S32), index.to_le_bytes());
        operands.push(program.op(OpKind::Constant(literal.clone()), &[], literal.ty().clone()));
    }
    program.op(OpKind::DynamicUpdateSlice, &operands, from)
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
        // Some have several tiles.
        let shape = [[6, 50], [6, 50], [6, 50], [40, 300], [3, 1500]][seed as usize % 5];
        let [rows, columns] = shape;
        let is_wide = seed % 2 == 1;
        let elements = if is_wide { &ELEMENTS[..] } else { &ELEMENTS[..NARROW] };
        let [float, integer] =
            if is_wide { [ElementType::F64, ElementType::S64] } else { [ElementType::F32, ElementType::S32] };
        for (element, dims) in [
            (float, &shape[..]),
            (ElementType::BF16, &shape),
            (integer, &[columns]),
            (float, &[]),
            (ElementType::BF16, &[rows]),
        ] {
            values.push(program.param(ty(element, dims)));
        }
        if is_wide {
            values.push(program.param(ty(ElementType::C64, &shape)));
            values.push(program.param(ty(ElementType::C128, &shape)));
        }
        for _ in 0..40 {
            let value = random_op(&mut program, shape, elements, &values, &mut random);
            let op = program.func.body.ops.last().expect("just added");
            // Not every op has a meaning for every type.
            if matches!(op.kind, OpKind::Constant(_)) || oxcall_kernels::single(op, &program.func).is_ok() {
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
