//! The arithmetic operations of ops, as plans show them.
//!
//! A unary or binary function, a comparison and a clamp are one operation for each element. A product of matrices has
//! two for each pair of elements that are multiplied, and so has a convolution. A region of a reduction, window or
//! scatter runs once for each element that it takes in. A transform of `n` elements along lines of length `l` has
//! `5 n log2 l`, half of that if one side is real. A Cholesky factor has a third of `n` for each element, a triangular
//! solve `n`. Nothing else counts: neither copies nor conversions, sorts and random numbers.

use oxcall_hlo::{FftType, Func, Op, OpKind, ValueId};

/// The arithmetic operations of an op; 0 for loops and branches.
pub(super) fn flops(op: &Op, func: &Func) -> f64 {
    let dims = |value: ValueId| func.ty(value).tensor().map_or(&[][..], |ty| &ty.dims[..]);
    let count = |value: ValueId| product(dims(value).iter().copied());
    let result = || op.results.first().map_or(0.0, |&result| count(result));
    let operand = |index: usize| op.operands.get(index).map_or(0.0, |&operand| count(operand));
    let of_region = || op.regions.first().map_or(0.0, |region| region.ops.iter().map(|op| flops(op, func)).sum());
    match &op.kind {
        OpKind::Unary(_) | OpKind::Binary(_) | OpKind::Compare(..) | OpKind::Clamp => result(),
        OpKind::DotGeneral(contraction) => {
            let lhs = dims(op.operands[0]);
            2.0 * result() * product(contraction.lhs_contracting.iter().map(|&dim| lhs[dim]))
        }
        OpKind::Convolution(convolution) => {
            let kernel = dims(op.operands[1]);
            let summed = convolution.kernel_spatial.iter().chain([&convolution.kernel_input_feature]);
            2.0 * result() * product(summed.map(|&dim| kernel[dim]))
        }
        OpKind::Reduce { .. } => operand(0) * of_region(),
        OpKind::ReduceWindow { window } => result() * product(window.iter().map(|dim| dim.size)) * of_region(),
        OpKind::Scatter { .. } => operand(op.operands.len() - 1) * of_region(),
        OpKind::Fft { fft_type, lengths } => {
            let depth: f64 = lengths.iter().map(|&length| (length.max(1) as f64).log2()).sum();
            let half = if matches!(fft_type, FftType::Rfft | FftType::Irfft) { 0.5 } else { 1.0 };
            half * 5.0 * operand(0).max(result()) * depth
        }
        OpKind::Cholesky { .. } => result() * dims(op.results[0]).last().map_or(0.0, |&n| n as f64) / 3.0,
        OpKind::TriangularSolve { .. } => result() * dims(op.operands[0]).last().map_or(0.0, |&n| n as f64),
        _ => 0.0,
    }
}

fn product(sizes: impl Iterator<Item = usize>) -> f64 {
    sizes.map(|size| size as f64).product()
}
