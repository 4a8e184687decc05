//! Programs run op by op and fused.

use std::collections::{HashMap, HashSet};

use oxcall_hlo::{
    ArgAttributes, BinaryOp, ComparisonDirection, ComparisonType, ElementType, Func, Literal, LocationId, Op, OpKind,
    Region, TensorType, UnaryOp, ValueId,
};
use oxcall_kernels::tile::generated::is_supported;

use super::{Fusion, fuse};
use crate::runtime::Codegen;
use crate::testing::random_bytes;
use crate::testing::{Random, elements, run_kernel, ty};

fn codegen(generate: bool) -> Codegen {
    if generate { Codegen::On } else { Codegen::Off }
}

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

    /// The ops of a region of two scalar parameters: `kind` applied to them.
    pub(super) fn scalar_region(&mut self, kind: OpKind, element: ElementType, result: ElementType) -> Region {
        let [a, b] = [0; 2].map(|_| self.func.add_value(TensorType::scalar(element).into()));
        let outcome = self.func.add_value(TensorType::scalar(result).into());
        let op = Op {
            kind,
            operands: vec![a, b],
            results: vec![outcome],
            regions: Vec::new(),
            location: LocationId::UNKNOWN,
        };
        Region { params: vec![a, b], ops: vec![op], results: vec![outcome] }
    }

    /// The last dimension of `value` sorted.
    pub(super) fn sort(&mut self, value: ValueId) -> ValueId {
        let ty = self.ty(value);
        let less = OpKind::Compare(ComparisonDirection::Lt, ComparisonType::NoType);
        let region = self.scalar_region(less, ty.element, ElementType::Pred);
        let result = self.op(OpKind::Sort { dim: ty.rank() - 1, stable: true }, &[value], ty);
        self.func.body.ops.last_mut().expect("just added").regions.push(region);
        result
    }

    /// The last dimension of `value` reduced.
    pub(super) fn reduce(&mut self, function: BinaryOp, value: ValueId, init: ValueId) -> ValueId {
        let dims = vec![self.ty(value).rank() - 1];
        self.reduce_dims(function, dims, value, init)
    }

    /// Some dimensions of `value` reduced.
    pub(super) fn reduce_dims(
        &mut self,
        function: BinaryOp,
        dims: Vec<usize>,
        value: ValueId,
        init: ValueId,
    ) -> ValueId {
        let mut ty = self.ty(value);
        let kept = (0..ty.rank()).filter(|dim| !dims.contains(dim));
        ty.dims = kept.map(|dim| ty.dims[dim]).collect();
        let body = self.scalar_region(OpKind::Binary(function), ty.element, ty.element);
        let result = self.op(OpKind::Reduce { dims }, &[value, init], ty);
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
    let kernel = oxcall_kernels::single(op, func).unwrap_or_else(|error| panic!("{error}"));
    let operands: Vec<_> = op.operands.iter().map(|operand| values[operand].clone()).collect();
    let results = run_kernel(&*kernel, &operands, &sizes(func, &op.results), &[], 1);
    values.extend(op.results.iter().copied().zip(results));
}

/// Runs fusions and the ops that are left, each as soon as its operands are there.
fn run_fused(func: &Func, fusions: &[Fusion], values: &mut Values) {
    let region = &func.body;
    let given: HashSet<ValueId> = fusions.iter().flat_map(|fusion| fusion.outputs.iter().copied()).collect();
    let mut wanted: Vec<ValueId> = region.results.clone();
    wanted.extend(fusions.iter().flat_map(|fusion| fusion.inputs.iter().copied()));
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
        for (index, fusion) in fusions.iter().enumerate() {
            let is_ready = fusion.inputs.iter().all(|input| values.contains_key(input));
            if is_ready && done.insert(region.ops.len() + index) {
                let operands: Vec<_> = fusion.inputs.iter().map(|input| values[input].clone()).collect();
                let sizes = sizes(func, &fusion.outputs);
                let results = run_kernel(&*fusion.kernel, &operands, &sizes, &[], 2);
                for pair in fusion.kernel.in_place() {
                    let again = run_kernel(&*fusion.kernel, &operands, &sizes, &[pair], 1);
                    assert_eq!(again, results, "{} in place", fusion.kernel.name());
                }
                values.extend(fusion.outputs.iter().copied().zip(results));
            }
        }
        if done.len() == before {
            break;
        }
    }
    assert_eq!(done.len(), own.len() + fusions.len(), "a cycle");
}

/// Runs a program both ways on random operands, and gives each result of both. Fusions are machine code if `generate`
/// is set.
pub(super) fn run_both(func: &Func, generate: bool, random: &mut Random) -> Vec<(ValueId, Vec<u8>, Vec<u8>)> {
    let mut values = Values::new();
    for &param in &func.body.params {
        let ty = func.ty(param).tensor().expect("a tensor");
        values.insert(param, random_bytes(random, ty.element, ty.count()));
    }
    let (mut plain, mut fused) = (values.clone(), values);
    func.body.ops.iter().for_each(|op| run_op(func, op, &mut plain));
    let fusions = fuse(func, &func.body, codegen(generate), false).unwrap_or_else(|error| panic!("{error}"));
    run_fused(func, &fusions, &mut fused);
    func.body.results.iter().map(|result| (*result, plain[result].clone(), fused[result].clone())).collect()
}

/// The bytes of elements, with one NaN for all: which of two NaNs an op gives is not specified.
pub(super) fn one_nan(element: ElementType, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    match element {
        ElementType::F32 | ElementType::C64 => {
            replace_nans(&mut bytes, f32::NAN.to_le_bytes(), |x| f32::from_le_bytes(x).is_nan());
        }
        ElementType::F64 | ElementType::C128 => {
            replace_nans(&mut bytes, f64::NAN.to_le_bytes(), |x| f64::from_le_bytes(x).is_nan());
        }
        ElementType::BF16 => {
            replace_nans(&mut bytes, half::bf16::NAN.to_le_bytes(), |x| half::bf16::from_le_bytes(x).is_nan());
        }
        ElementType::F16 => {
            replace_nans(&mut bytes, half::f16::NAN.to_le_bytes(), |x| half::f16::from_le_bytes(x).is_nan());
        }
        _ => {}
    }
    bytes
}

/// Replaces the elements of `N` bytes that are NaN.
fn replace_nans<const N: usize>(bytes: &mut [u8], nan: [u8; N], is_nan: impl Fn([u8; N]) -> bool) {
    let (elements, _) = bytes.as_chunks_mut::<N>();
    elements.iter_mut().filter(|x| is_nan(**x)).for_each(|x| *x = nan);
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
fn fusions_that_share_a_value_are_one() {
    let fusions = |count: usize| {
        let mut program = Program::new();
        let ty = ty(ElementType::F32, &[count]);
        let x = program.param(ty.clone());
        let shared = program.op(OpKind::Unary(UnaryOp::Exponential), &[x], ty.clone());
        let sum = program.op(OpKind::Binary(BinaryOp::Add), &[shared, x], ty.clone());
        let product = program.op(OpKind::Binary(BinaryOp::Multiply), &[shared, x], ty);
        program.func.body.results = vec![sum, product];
        let found = fuse(&program.func, &program.func.body, Codegen::Off, false).unwrap();
        found.iter().map(|fusion| fusion.outputs.len()).collect::<Vec<_>>()
    };
    assert_eq!(fusions(100), [2]);
    assert_eq!(fusions(60).len(), 2);
}

#[test]
fn a_softmax_is_one_kernel() {
    for (rows, row) in [(2, 2), (7, 33), (64, 1000), (3, 8192), (3, 8193), (16, 20_000)] {
        let mut program = Program::new();
        let x = program.param(ty(ElementType::F32, &[rows, row]));
        let result = softmax(&mut program, x);
        program.func.body.results.push(result);
        let fusions = fuse(&program.func, &program.func.body, Codegen::Off, false).unwrap();
        // A few long rows are reduced by kernels of their own, which several threads share.
        if (rows, row) != (3, 8193) {
            assert_eq!(fusions.len(), 1, "{rows} x {row}");
            assert_eq!((&fusions[0].inputs[..], &fusions[0].outputs[..]), (&[x][..], &[result][..]));
        }
        for generate in [false, is_supported()] {
            for (_, plain, fused) in run_both(&program.func, generate, &mut Random(row as u64)) {
                assert_eq!(one_nan(ElementType::F32, &fused), one_nan(ElementType::F32, &plain), "{rows} x {row}");
            }
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
    assert_eq!(fuse(&program.func, &program.func.body, Codegen::Off, false).unwrap().len(), 2);
    for (_, plain, fused) in run_both(&program.func, false, &mut Random(3)) {
        assert_eq!(one_nan(ElementType::F32, &fused), one_nan(ElementType::F32, &plain));
    }
}

/// The sums of rows, rounded, are sorted and added to themselves: a fusion of the sums with their addition would depend
/// on itself, since the sort takes the rounded sums as well.
#[test]
fn sums_that_are_also_used_outside_are_not_fused_around_it() {
    let mut program = Program::new();
    let x = program.param(ty(ElementType::BF16, &[7, 64]));
    let zero = Literal::splat(ty(ElementType::F32, &[]), [0; 4]);
    let zero = program.op(OpKind::Constant(zero), &[], ty(ElementType::F32, &[]));
    let wide = program.op(OpKind::Convert, &[x], ty(ElementType::F32, &[7, 64]));
    let sums = program.reduce(BinaryOp::Add, wide, zero);
    let rounded = program.op(OpKind::Convert, &[sums], ty(ElementType::BF16, &[7]));
    let sorted = program.sort(rounded);
    let result = program.op(OpKind::Binary(BinaryOp::Add), &[sorted, rounded], ty(ElementType::BF16, &[7]));
    program.func.body.results.push(result);
    for (_, plain, fused) in run_both(&program.func, false, &mut Random(5)) {
        assert_eq!(one_nan(ElementType::BF16, &fused), one_nan(ElementType::BF16, &plain));
    }
}

/// Sums and largest elements of squares of differences from a row, by dimension.
#[test]
fn reductions_of_all_dimensions_have_no_operand_in_memory() {
    let shapes: [&[usize]; 9] = [
        &[3000, 7],
        &[64, 64],
        &[5, 1021],
        &[4, 9001],
        &[4, 70, 80],
        &[5, 4099, 3],
        &[70_000],
        &[1100, 1, 128],
        &[17, 3, 5, 100],
    ];
    for dims in shapes {
        for (first, last) in (0..dims.len()).flat_map(|first| (first..dims.len()).map(move |last| (first, last))) {
            for escapes in [false, true] {
                for element in [ElementType::F32, ElementType::S32, ElementType::F64] {
                    let mut program = Program::new();
                    let all = ty(element, dims);
                    let x = program.param(all.clone());
                    let row = program.param(ty(element, &dims[dims.len() - 1..]));
                    // Numbers so small that sums of them are exact.
                    let small = |program: &mut Program, value: ValueId| {
                        let from = program.ty(value);
                        let is_wide = element == ElementType::F64;
                        let bits = from.with_element(if is_wide { ElementType::S64 } else { ElementType::S32 });
                        let bytes = program.op(OpKind::BitcastConvert, &[value], bits.clone());
                        let mask = 7_i64.to_le_bytes()[..element.byte_width()].to_vec();
                        let mask = Literal::splat(bits.clone(), mask);
                        let mask = program.op(OpKind::Constant(mask), &[], bits.clone());
                        let low = program.op(OpKind::Binary(BinaryOp::And), &[bytes, mask], bits);
                        program.op(OpKind::Convert, &[low], from)
                    };
                    let (x, row) = (small(&mut program, x), small(&mut program, row));
                    let row = program.op(OpKind::BroadcastInDim { dims: vec![dims.len() - 1] }, &[row], all.clone());
                    let difference = program.op(OpKind::Binary(BinaryOp::Subtract), &[x, row], all.clone());
                    let square = program.op(OpKind::Binary(BinaryOp::Multiply), &[difference, difference], all);
                    let init = Literal::splat(ty(element, &[]), vec![0; element.byte_width()]);
                    let init = program.op(OpKind::Constant(init), &[], ty(element, &[]));
                    let reduced: Vec<usize> = (first..=last).collect();
                    let sums = program.reduce_dims(BinaryOp::Add, reduced.clone(), square, init);
                    let largest = program.reduce_dims(BinaryOp::Maximum, reduced, square, init);
                    program.func.body.results.extend([sums, largest]);
                    program.func.body.results.extend(escapes.then_some(difference));
                    let name = format!("{element:?}{dims:?}, {first} to {last}");
                    for generate in [false, true] {
                        for (_, plain, fused) in run_both(&program.func, generate, &mut Random(dims.len() as u64)) {
                            assert!(plain == fused, "{name}");
                        }
                        if first == 0 {
                            let fusions = fuse(&program.func, &program.func.body, codegen(generate), false).unwrap();
                            let large = fusions.iter().filter(|fusion| fusion.outputs.contains(&sums)).count();
                            assert_eq!(large, 1, "{name}");
                        }
                    }
                }
            }
        }
    }
}

/// Sums of products along a dimension.
fn sums_of_products(dims: &[usize], dim: usize) -> Program {
    let mut program = Program::new();
    let all = ty(ElementType::F32, dims);
    let [x, y] = [(); 2].map(|()| program.param(ty(ElementType::S32, dims)));
    let [x, y] = [x, y].map(|value| program.op(OpKind::Convert, &[value], all.clone()));
    let product = program.op(OpKind::Binary(BinaryOp::Multiply), &[x, y], all);
    let init = Literal::splat(ty(ElementType::F32, &[]), [0; 4]);
    let init = program.op(OpKind::Constant(init), &[], ty(ElementType::F32, &[]));
    let sums = program.reduce_dims(BinaryOp::Add, vec![dim], product, init);
    program.func.body.results.push(sums);
    program
}

/// Small enough for Miri.
#[test]
fn results_that_are_reduced_have_a_tile() {
    let program = sums_of_products(&[64, 33], 0);
    assert_eq!(fuse(&program.func, &program.func.body, Codegen::Off, false).unwrap().len(), 1);
    for (_, plain, fused) in run_both(&program.func, false, &mut Random(2)) {
        let floats = elements::<f32>;
        let mut pairs = floats(&plain).into_iter().zip(floats(&fused));
        // Terms are below 2^62, and partial sums of 64 of them below 2^68, where an ULP is 2^45.
        assert!(pairs.all(|(plain, fused)| (plain - fused).abs() <= 4.0 * 2f32.powi(45)));
    }
}

/// Rounded sums do not depend on whether machine code adds.
#[test]
fn sums_have_the_same_bits_with_and_without_machine_code() {
    for (dims, reduced) in [(vec![301, 77], 0), (vec![90_000], 0), (vec![3, 50, 100], 1)] {
        let program = sums_of_products(&dims, reduced);
        let [steps, code] = [false, true].map(|generate| run_both(&program.func, generate, &mut Random(1)));
        assert_eq!(steps[0].2, code[0].2, "{dims:?}");
    }
}

/// Of all rows, one has copies of a narrow element between padding.
#[test]
fn one_row_of_copies_between_padding() {
    for (element, columns) in [(ElementType::BF16, 49), (ElementType::S8, 90), (ElementType::F16, 300)] {
        let mut program = Program::new();
        let x = program.param(ty(element, &[6]));
        let scalar = ty(element, &[]);
        let padding = Literal::splat(scalar.clone(), random_bytes(&mut Random(1), element, 1));
        let padding = program.op(OpKind::Constant(padding), &[], scalar);
        let rows = program.op(OpKind::BroadcastInDim { dims: vec![0] }, &[x], ty(element, &[6, columns]));
        let slice = OpKind::Slice { start: vec![5, 25], limit: vec![6, 34], strides: vec![1, 1] };
        let row = program.op(slice, &[rows], ty(element, &[1, 9]));
        let (low, high) = (vec![5, 25], vec![0, columns as i64 - 34]);
        let pad = OpKind::Pad { low, high, interior: vec![0, 0] };
        let padded = program.op(pad, &[row, padding], ty(element, &[6, columns]));
        let result = program.op(OpKind::Binary(BinaryOp::Maximum), &[padded, padded], ty(element, &[6, columns]));
        program.func.body.results.push(result);
        for (_, plain, fused) in run_both(&program.func, true, &mut Random(2)) {
            assert!(one_nan(element, &plain) == one_nan(element, &fused), "{element}");
        }
    }
}
