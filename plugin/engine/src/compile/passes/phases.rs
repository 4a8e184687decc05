//! Convolutions of dilated inputs, such as transposed ones and gradients of strided ones, by phase.
//!
//! Between the elements of an input that is dilated by `d` are `d - 1` zeros. The places of the result whose index is
//! `r` modulo `d` see every `d`-th element of the kernel, from one that depends on `r`: they are a convolution of the
//! input and these elements. The results for all `r` are interleaved.

use oxcall::Error;
use oxcall_hlo::{ConvolutionDims, Literal, Module, Op, OpKind, TensorType, ValueId, WindowDim};

use super::ir::{Rewrite, Rewriter, rewrite};

/// The fewest products of a convolution for which it is worth to start several.
const FEWEST_PRODUCTS: usize = 1 << 18;

/// The most convolutions that one becomes.
const MOST_PHASES: usize = 64;

/// Replaces such convolutions. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn convolutions(module: &mut Module) -> Result<bool, Error> {
    rewrite(module, |rewriter, op| {
        let OpKind::Convolution(dims) = &op.kind else { return Ok(Rewrite::Keep(op)) };
        if !is_worth_it(rewriter, &op, dims) {
            return Ok(Rewrite::Keep(op));
        }
        let (operands, ty) = ([op.operands[0], op.operands[1]], rewriter.tensor(op.results[0]).clone());
        Ok(Rewrite::one(convolution(rewriter, operands, dims, &ty)))
    })
}

/// Whether an input is dilated, though not by much, and the convolution has many products.
fn is_worth_it(rewriter: &Rewriter<'_>, op: &Op, dims: &ConvolutionDims) -> bool {
    let (kernel, result) = (rewriter.tensor(op.operands[1]), rewriter.tensor(op.results[0]));
    let of_each = kernel.count() / kernel.dims[dims.kernel_output_feature].max(1);
    let dilations = dims.window.iter().filter(|window| splits(window)).map(|window| window.base_dilation);
    let phases = dilations.fold(1, usize::saturating_mul);
    (2..=MOST_PHASES).contains(&phases) && result.count().saturating_mul(of_each) >= FEWEST_PRODUCTS
}

/// Whether a dimension is dilated, and otherwise plain.
fn splits(window: &WindowDim) -> bool {
    window.base_dilation > 1 && window.stride == 1 && window.window_dilation == 1 && !window.reversal
}

/// The result of type `ty` of a convolution, without dilation where that is possible.
fn convolution(
    rewriter: &mut Rewriter<'_>,
    [input, kernel]: [ValueId; 2],
    dims: &ConvolutionDims,
    ty: &TensorType,
) -> ValueId {
    let Some(spatial) = dims.window.iter().position(splits) else {
        return rewriter.emit(OpKind::Convolution(dims.clone()), &[input, kernel], ty.clone());
    };
    let (window, dim) = (dims.window[spatial], dims.output_spatial[spatial]);
    // The last places of some phases may be beyond the result.
    let (count, dilation) = (ty.dims[dim], window.base_dilation);
    let phase = with_size(ty, dim, count.div_ceil(dilation));
    let mut apart = phase.clone();
    apart.dims.insert(dim + 1, 1);
    let phases: Vec<ValueId> = (0..dilation)
        .map(|first| {
            let value = one_phase(rewriter, [input, kernel], (dims, spatial), first, &phase);
            rewriter.emit(OpKind::Reshape, &[value], apart.clone())
        })
        .collect();
    let together = with_size(&apart, dim + 1, dilation);
    let value = rewriter.emit(OpKind::Concatenate { dim: dim + 1 }, &phases, together);
    let all = with_size(ty, dim, phase.dims[dim] * dilation);
    let value = rewriter.emit(OpKind::Reshape, &[value], all);
    let slice = OpKind::Slice { start: vec![0; ty.rank()], limit: ty.dims.to_vec(), strides: vec![1; ty.rank()] };
    rewriter.emit(slice, &[value], ty.clone())
}

/// Every `d`-th place of the result from the first one on, for a spatial dimension that is dilated by `d`.
fn one_phase(
    rewriter: &mut Rewriter<'_>,
    [input, kernel]: [ValueId; 2],
    (dims, spatial): (&ConvolutionDims, usize),
    first: usize,
    ty: &TensorType,
) -> ValueId {
    let window = dims.window[spatial];
    let dilation = window.base_dilation as i64;
    // The first element of the kernel that meets one of the input, and the index of that for the first place.
    let skipped = (window.padding_low - first as i64).rem_euclid(dilation);
    let start = (first as i64 + skipped - window.padding_low) / dilation;
    let size = window.size.saturating_sub(skipped as usize).div_ceil(window.base_dilation);
    if size == 0 {
        let zero = vec![0; ty.element.byte_width()];
        return rewriter.constant(Literal::splat(ty.clone(), zero));
    }
    let from = rewriter.tensor(kernel).clone();
    let dim = dims.kernel_spatial[spatial];
    let (mut starts, mut strides) = (vec![0; from.rank()], vec![1; from.rank()]);
    (starts[dim], strides[dim]) = (skipped as usize, window.base_dilation);
    let slice = OpKind::Slice { start: starts, limit: from.dims.to_vec(), strides };
    let kernel = rewriter.emit(slice, &[kernel], with_size(&from, dim, size));
    let (seen, places) =
        (rewriter.tensor(input).dims[dims.input_spatial[spatial]] as i64, ty.dims[dims.output_spatial[spatial]] as i64);
    let mut dims = dims.clone();
    dims.window[spatial] = WindowDim {
        size,
        padding_low: -start,
        padding_high: places - 1 + size as i64 - seen + start,
        base_dilation: 1,
        ..window
    };
    convolution(rewriter, [input, kernel], &dims, ty)
}

/// A type with another size of a dimension.
fn with_size(ty: &TensorType, dim: usize, size: usize) -> TensorType {
    let mut ty = ty.clone();
    ty.dims[dim] = size;
    ty
}
