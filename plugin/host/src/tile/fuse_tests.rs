//! Random programs, run op by op and fused.

use std::collections::{HashMap, HashSet};

use oxcall_hlo::{
    ArgAttributes, BinaryOp, ComparisonDirection, ComparisonType, ElementType, Func, Literal, LocationId, Op, OpKind,
    Region, TensorType, UnaryOp, ValueId,
};

use super::tests::random_bytes;
use super::{Cluster, fuse};
use crate::kernels::testing::{Random, run_kernel, ty};
use crate::kernels::{self};

/// A function of one region under construction.
pub(super) struct Program {
    pub(super) func: Func,
}

impl Program {
    pub(super) fn new() -> Program {
        let func = Func {
            name: "test".into(),
            public: true,
            body: Region::default(),
            values: Vec::new(),
            param_attributes: Vec::new(),
            result_attributes: Vec::new(),
        };
        Program { func }
    }

    pub(super) fn param(&mut self, ty: TensorType) -> ValueId {
        let value = self.func.add_value(ty.into());
        self.func.body.params.push(value);
        self.func.param_attributes.push(ArgAttributes::new());
        value
    }

    pub(super) fn op(&mut self, kind: OpKind, operands: &[ValueId], result: TensorType) -> ValueId {
        let result = self.func.add_value(result.into());
        let (operands, results) = (operands.to_vec(), vec![result]);
        self.func.body.ops.push(Op { kind, operands, results, regions: Vec::new(), location: LocationId::UNKNOWN });
        result
    }

    /// The last dimension of `value` reduced.
    pub(super) fn reduce(&mut self, function: BinaryOp, value: ValueId, init: ValueId) -> ValueId {
        let mut ty = self.ty(value);
        let dims = vec![ty.rank() - 1];
        ty.dims.pop();
        let scalar = TensorType::scalar(ty.element);
        let [a, b, sum] = [0; 3].map(|_| self.func.add_value(scalar.clone().into()));
        let (kind, location) = (OpKind::Binary(function), LocationId::UNKNOWN);
        let ops = vec![Op { kind, operands: vec![a, b], results: vec![sum], regions: Vec::new(), location }];
        let result = self.op(OpKind::Reduce { dims }, &[value, init], ty);
        let body = Region { params: vec![a, b], ops, results: vec![sum] };
        self.func.body.ops.last_mut().expect("just added").regions.push(body);
        result
    }

    pub(super) fn ty(&self, value: ValueId) -> TensorType {
        self.func.ty(value).tensor().expect("a tensor").clone()
    }
}

type Values = HashMap<ValueId, Vec<u8>>;

fn sizes(func: &Func, values: &[ValueId]) -> Vec<usize> {
    values.iter().map(|&value| func.ty(value).tensor().expect("a tensor").byte_size()).collect()
}

fn run_op(func: &Func, op: &Op, values: &mut Values) {
    if let OpKind::Constant(literal) = &op.kind {
        values.insert(op.results[0], literal.to_bytes().to_vec());
        return;
    }
    let kernel = kernels::make(op, func).unwrap_or_else(|error| panic!("{error}"));
    let operands: Vec<_> = op.operands.iter().map(|operand| values[operand].clone()).collect();
    let results = run_kernel(&*kernel, &operands, &sizes(func, &op.results), &[], 1);
    values.extend(op.results.iter().copied().zip(results));
}

/// Runs clusters and the ops that are left, each as soon as its operands are there.
fn run_fused(func: &Func, clusters: &[Cluster], values: &mut Values) {
    let region = &func.body;
    let given: HashSet<ValueId> = clusters.iter().flat_map(|cluster| cluster.outputs.iter().copied()).collect();
    let mut wanted: Vec<ValueId> = region.results.clone();
    wanted.extend(clusters.iter().flat_map(|cluster| cluster.inputs.iter().copied()));
    let mut own = HashSet::new();
    while let Some(value) = wanted.pop() {
        let producer = region.ops.iter().position(|op| op.results.contains(&value));
        if let Some(op) = producer.filter(|_| !given.contains(&value))
            && own.insert(op)
        {
            wanted.extend(&region.ops[op].operands);
        }
    }
    let mut done = HashSet::new();
    loop {
        let before = done.len();
        for (index, op) in region.ops.iter().enumerate() {
            let is_ready = op.operands.iter().all(|operand| values.contains_key(operand));
            if own.contains(&index) && is_ready && done.insert(index) {
                run_op(func, op, values);
            }
        }
        for (index, cluster) in clusters.iter().enumerate() {
            let is_ready = cluster.inputs.iter().all(|input| values.contains_key(input));
            if is_ready && done.insert(region.ops.len() + index) {
                let operands: Vec<_> = cluster.inputs.iter().map(|input| values[input].clone()).collect();
                let sizes = sizes(func, &cluster.outputs);
                let results = run_kernel(&*cluster.kernel, &operands, &sizes, &[], 2);
                for pair in cluster.kernel.in_place() {
                    let again = run_kernel(&*cluster.kernel, &operands, &sizes, &[pair], 1);
                    assert_eq!(again, results, "{} in place", cluster.kernel.name());
                }
                values.extend(cluster.outputs.iter().copied().zip(results));
            }
        }
        if done.len() == before {
            break;
        }
    }
    assert_eq!(done.len(), own.len() + clusters.len(), "a cycle");
}

/// Runs a program both ways on random operands, and gives each result of both.
pub(super) fn run_both(func: &Func, random: &mut Random) -> Vec<(ValueId, Vec<u8>, Vec<u8>)> {
    let mut values = Values::new();
    for &param in &func.body.params {
        let ty = func.ty(param).tensor().expect("a tensor");
        values.insert(param, random_bytes(random, ty.element, ty.count()));
    }
    let (mut plain, mut fused) = (values.clone(), values);
    func.body.ops.iter().for_each(|op| run_op(func, op, &mut plain));
    let clusters = fuse(func, &func.body).unwrap_or_else(|error| panic!("{error}"));
    run_fused(func, &clusters, &mut fused);
    func.body.results.iter().map(|result| (*result, plain[result].clone(), fused[result].clone())).collect()
}

/// An op over values of the program, chosen at random.
fn random_op(program: &mut Program, values: &[ValueId], random: &mut Random) -> ValueId {
    let shapes: [&[usize]; 6] = [&[6, 50], &[300], &[6], &[50], &[], &[1, 6]];
    let elements = [ElementType::F32, ElementType::BF16, ElementType::S32, ElementType::Pred, ElementType::S8];
    let value = values[random.below(values.len())];
    let from = program.ty(value);
    let peers: Vec<_> = values.iter().copied().filter(|&each| program.ty(each) == from).collect();
    let peer = peers[random.below(peers.len())];
    match random.below(12) {
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

/// The bytes of elements, with one NaN for all: which of two NaNs an op gives is not specified.
fn one_nan(element: ElementType, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    match element {
        ElementType::F32 => {
            let floats = bytes.chunks_exact_mut(4);
            floats
                .filter(|x| f32::from_le_bytes((**x).try_into().unwrap()).is_nan())
                .for_each(|x| x.copy_from_slice(&f32::NAN.to_le_bytes()));
        }
        ElementType::BF16 => {
            let floats = bytes.chunks_exact_mut(2);
            floats
                .filter(|x| half::bf16::from_le_bytes((**x).try_into().unwrap()).is_nan())
                .for_each(|x| x.copy_from_slice(&half::bf16::NAN.to_le_bytes()));
        }
        _ => {}
    }
    bytes
}

#[test]
fn random_programs_compute_the_same_fused() {
    for seed in 0..150 {
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
            if matches!(op.kind, OpKind::Constant(_)) || kernels::make(op, &program.func).is_ok() {
                values.push(value);
            } else {
                program.func.body.ops.pop();
            }
        }
        for _ in 0..4 {
            program.func.body.results.push(values[values.len() - 1 - random.below(12)]);
        }
        for (value, plain, fused) in run_both(&program.func, &mut random) {
            let element = program.ty(value).element;
            assert_eq!(one_nan(element, &fused), one_nan(element, &plain), "seed {seed}, {value:?}");
        }
    }
}

/// `exp(x - max(x))` over its sums, along the last dimension.
fn softmax(program: &mut Program, x: ValueId) -> ValueId {
    let wide = program.ty(x);
    let f32s = |dims: &[usize]| ty(ElementType::F32, dims);
    let constant = |program: &mut Program, value: f32| {
        let literal = Literal::splat(f32s(&[]), value.to_le_bytes());
        program.op(OpKind::Constant(literal), &[], f32s(&[]))
    };
    let rows = &wide.dims[..1];
    let spread = |program: &mut Program, value: ValueId| {
        let column = program.op(OpKind::BroadcastInDim { dims: vec![0] }, &[value], f32s(&[rows[0], 1]));
        program.op(OpKind::BroadcastInDim { dims: vec![0, 1] }, &[column], wide.clone())
    };
    let (lowest, zero) = (constant(program, f32::NEG_INFINITY), constant(program, 0.0));
    let largest = program.reduce(BinaryOp::Maximum, x, lowest);
    let least = program.op(OpKind::BroadcastInDim { dims: vec![] }, &[lowest], f32s(rows));
    let largest = program.op(OpKind::Binary(BinaryOp::Maximum), &[least, largest], f32s(rows));
    let largest = spread(program, largest);
    let shifted = program.op(OpKind::Binary(BinaryOp::Subtract), &[x, largest], wide.clone());
    let powers = program.op(OpKind::Unary(UnaryOp::Exponential), &[shifted], wide.clone());
    let sums = program.reduce(BinaryOp::Add, powers, zero);
    let sums = spread(program, sums);
    program.op(OpKind::Binary(BinaryOp::Divide), &[powers, sums], wide.clone())
}

#[test]
fn a_softmax_is_one_kernel() {
    for (rows, row) in [(2, 2), (7, 33), (64, 1000), (3, 8192), (3, 8193)] {
        let mut program = Program::new();
        let x = program.param(ty(ElementType::F32, &[rows, row]));
        let result = softmax(&mut program, x);
        program.func.body.results.push(result);
        let clusters = fuse(&program.func, &program.func.body).unwrap();
        // Rows that are too long are reduced by kernels of their own.
        if row <= 8192 {
            assert_eq!(clusters.len(), 1, "{rows} x {row}");
            assert_eq!((&clusters[0].inputs[..], &clusters[0].outputs[..]), (&[x][..], &[result][..]));
        }
        for (_, plain, fused) in run_both(&program.func, &mut Random(row as u64)) {
            assert_eq!(one_nan(ElementType::F32, &fused), one_nan(ElementType::F32, &plain), "{rows} x {row}");
        }
    }
}

#[test]
fn rows_that_are_used_across_are_not_in_the_cluster() {
    // The sums of a square matrix's rows are subtracted from its columns.
    let mut program = Program::new();
    let square = ty(ElementType::F32, &[20, 20]);
    let x = program.param(square.clone());
    let zero = Literal::splat(ty(ElementType::F32, &[]), [0; 4]);
    let zero = program.op(OpKind::Constant(zero), &[], ty(ElementType::F32, &[]));
    let double = program.op(OpKind::Binary(BinaryOp::Add), &[x, x], square.clone());
    let sums = program.reduce(BinaryOp::Add, double, zero);
    let across = program.op(OpKind::BroadcastInDim { dims: vec![1] }, &[sums], square.clone());
    let result = program.op(OpKind::Binary(BinaryOp::Subtract), &[double, across], square);
    program.func.body.results.extend([result, sums]);
    assert_eq!(fuse(&program.func, &program.func.body).unwrap().len(), 2);
    for (_, plain, fused) in run_both(&program.func, &mut Random(3)) {
        assert_eq!(one_nan(ElementType::F32, &fused), one_nan(ElementType::F32, &plain));
    }
}
