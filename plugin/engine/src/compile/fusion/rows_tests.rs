//! Programs of rows: what each row, or all of them, repeat.

use oxcall_hlo::{BinaryOp, ElementType, Literal, OpKind, UnaryOp, ValueId};
use oxcall_kernels::tile::generated::is_supported;

use super::fuse;
use super::tests::{Program, one_nan, run_both};
use crate::runtime::Codegen;
use crate::testing::{Random, ty};

/// Rows without their scaled sums, scaled by the sums of their squares, a gain for each column and a weight for each
/// row, and shifted by a bias, with their scales and the largest of each; computed in `compute`.
fn normalised(element: ElementType, compute: ElementType, [rows, row]: [usize; 2]) -> Program {
    let mut program = Program::new();
    let (all, of_rows, scalar) = (ty(compute, &[rows, row]), ty(compute, &[rows]), ty(compute, &[]));
    let mut param = |dims: &[usize]| {
        let given = program.param(ty(element, dims));
        if element == compute { given } else { program.op(OpKind::Convert, &[given], ty(compute, dims)) }
    };
    let (x, gain, bias, weights) = (param(&[rows, row]), param(&[row]), param(&[row]), param(&[rows]));
    let zero = Literal::splat(scalar.clone(), vec![0; compute.byte_width()]);
    let zero = program.op(OpKind::Constant(zero), &[], scalar);
    let repeat = |program: &mut Program, value: ValueId, dim: usize| {
        program.op(OpKind::BroadcastInDim { dims: vec![dim] }, &[value], all.clone())
    };
    let binary = |program: &mut Program, function: BinaryOp, a: ValueId, b: ValueId| {
        program.op(OpKind::Binary(function), &[a, b], all.clone())
    };
    let sums = program.reduce(BinaryOp::Add, x, zero);
    let mean = program.op(OpKind::Unary(UnaryOp::Tanh), &[sums], of_rows.clone());
    let mean = repeat(&mut program, mean, 0);
    let centred = binary(&mut program, BinaryOp::Subtract, x, mean);
    let squares = binary(&mut program, BinaryOp::Multiply, centred, centred);
    let squares = program.reduce(BinaryOp::Add, squares, zero);
    let scales = program.op(OpKind::Unary(UnaryOp::Rsqrt), &[squares], of_rows);
    let (scale, weights) = (repeat(&mut program, scales, 0), repeat(&mut program, weights, 0));
    let (gain, bias) = (repeat(&mut program, gain, 1), repeat(&mut program, bias, 1));
    let mut result = centred;
    for (function, operand) in
        [(BinaryOp::Multiply, scale), (BinaryOp::Multiply, gain), (BinaryOp::Multiply, weights), (BinaryOp::Add, bias)]
    {
        result = binary(&mut program, function, result, operand);
    }
    let largest = program.reduce(BinaryOp::Maximum, result, zero);
    if element != compute {
        result = program.op(OpKind::Convert, &[result], ty(element, &[rows, row]));
    }
    program.func.body.results = vec![scales, result, largest];
    program
}

/// Bits are those of single ops, with machine code or without, for rows of all lengths: shorter than those for which
/// code runs on each row, around a vector and a block, longer than a tile.
#[test]
fn what_rows_repeat_is_read_where_it_is() {
    use ElementType::{BF16, F16, F32, F64};
    for (element, compute) in [(F32, F32), (F64, F64), (BF16, F32), (F16, F32)] {
        for row in [2, 31, 32, 33, 63, 64, 65, 100, 127, 128, 257, 768, 1000, 4097] {
            let program = normalised(element, compute, [7, row]);
            if element == compute {
                let fusions = fuse(&program.func, &program.func.body, Codegen::Off, false).unwrap();
                assert_eq!(fusions.len(), 1, "{element} {row}");
            }
            for generate in [false, is_supported()] {
                for (value, plain, fused) in run_both(&program.func, generate, &mut Random(row as u64)) {
                    let one_nan = |bytes: &[u8]| one_nan(program.ty(value).element, bytes);
                    assert_eq!(one_nan(&fused), one_nan(&plain), "{element} {row} {generate}");
                }
            }
        }
    }
}
