//! Small convolutions as element-wise ops.
//!
//! `convolution(x, k)` with a few products in each sum becomes `k[0] * x[0..n] + k[1] * x[1..n + 1] + ...`, of slices
//! of the padded input: arrays as large as the result, which fuse with their users and are machine code in loops, where
//! a convolution takes longer to start than to run. The slices of a kernel that does not change leave the loop.

use oxcall::Error;
use oxcall_hlo::{BinaryOp, ConvolutionDims, ElementType, Literal, Module, Op, OpKind, TensorType, ValueId};

use super::ir::{Rewrite, Rewriter, rewrite};

/// The most products in each sum.
const MOST_PRODUCTS: usize = 16;

/// The most elements of the result.
const MOST_RESULTS: usize = 256;

/// Replaces small convolutions. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn convolutions(module: &mut Module) -> Result<bool, Error> {
    rewrite(module, |rewriter, op| {
        Ok(match expanded(rewriter, &op) {
            Some(value) => Rewrite::one(value),
            None => Rewrite::Keep(op),
        })
    })
}

/// The result of `op`, if it is a small convolution of one group.
fn expanded(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<ValueId> {
    let OpKind::Convolution(dims) = &op.kind else { return None };
    let [input, kernel, result] = [op.operands[0], op.operands[1], op.results[0]].map(|value| rewriter.tensor(value));
    let result = result.clone();
    let sizes: Vec<usize> = dims.kernel_spatial.iter().map(|&dim| kernel.dims[dim]).collect();
    let features = kernel.dims[dims.kernel_input_feature];
    let products = sizes.iter().product::<usize>().checked_mul(features)?;
    // Features beside each other would be read one by one.
    let last = result.rank() - 1;
    let is_in_rows = dims.input_spatial.contains(&last) && dims.output_spatial.contains(&last)
        || features * kernel.dims[dims.kernel_output_feature] == 1;
    let is_small =
        is_in_rows && (1..=MOST_PRODUCTS).contains(&products) && (1..=MOST_RESULTS).contains(&result.count());
    let is_plain = dims.feature_groups == 1
        && dims.batch_groups == 1
        && dims
            .window
            .iter()
            .all(|window| window.base_dilation == 1 && window.padding_low.min(window.padding_high) >= 0);
    // Dimensions of the result in the order of those of the input.
    let mut places: Vec<(usize, usize)> = vec![(dims.input_batch, dims.output_batch)];
    places.extend(dims.input_spatial.iter().copied().zip(dims.output_spatial.iter().copied()));
    places.sort_unstable();
    let places: Vec<usize> = places.into_iter().map(|(_, output)| output).collect();
    let is_alike = [input.element, kernel.element].iter().all(|&element| element == result.element);
    if !is_small || !is_plain || !is_alike || !places.is_sorted() || result.element == ElementType::Pred {
        return None;
    }
    let is_narrow = result.element.is_float() && result.element.bits() < 32;
    let compute = if is_narrow { ElementType::F32 } else { result.element };
    let [input, kernel] = [op.operands[0], op.operands[1]].map(|value| rewriter.convert(value, compute));
    let wide = result.with_element(compute);
    let input = padded(rewriter, input, dims);
    let mut terms: Vec<ValueId> = (0..products)
        .map(|index| {
            let (feature, mut rest) = (index % features, index / features);
            let mut window = vec![0; sizes.len()];
            for (at, size) in window.iter_mut().zip(&sizes).rev() {
                (*at, rest) = (rest % size, rest / size);
            }
            let seen = seen(rewriter, input, dims, feature, &window, &wide);
            let seen = rewriter.broadcast(seen, &places, &wide);
            let factors = factors(rewriter, kernel, dims, feature, &window);
            let factors = rewriter.broadcast(factors, &[dims.output_feature], &wide);
            rewriter.emit(OpKind::Binary(BinaryOp::Multiply), &[seen, factors], wide.clone())
        })
        .collect();
    // In pairs, then pairs of pairs.
    while terms.len() > 1 {
        terms = terms
            .chunks(2)
            .map(|pair| match *pair {
                [a, b] => rewriter.emit_like(OpKind::Binary(BinaryOp::Add), &[a, b]),
                _ => pair[0],
            })
            .collect();
    }
    Some(rewriter.convert(terms[0], result.element))
}

/// The input between zeros.
fn padded(rewriter: &mut Rewriter<'_>, input: ValueId, dims: &ConvolutionDims) -> ValueId {
    let mut value = input;
    for (window, &dim) in dims.window.iter().zip(&dims.input_spatial) {
        let ty = rewriter.tensor(value).clone();
        let with_size = |size: usize| {
            let mut ty = ty.clone();
            ty.dims[dim] = size;
            ty
        };
        let (low, high) = (window.padding_low as usize, window.padding_high as usize);
        let zeros = |rewriter: &mut Rewriter<'_>, size: usize| {
            let ty = with_size(size);
            let zero = vec![0; ty.element.byte_width()];
            (size > 0).then(|| rewriter.constant(Literal::splat(ty, zero)))
        };
        let (before, after) = (zeros(rewriter, low), zeros(rewriter, high));
        if low + high > 0 {
            let parts: Vec<ValueId> = before.into_iter().chain([value]).chain(after).collect();
            value = rewriter.emit(OpKind::Concatenate { dim }, &parts, with_size(low + ty.dims[dim] + high));
        }
    }
    value
}

/// The elements of one feature that an element of the window sees at each place, without the dimension of features.
fn seen(
    rewriter: &mut Rewriter<'_>,
    input: ValueId,
    dims: &ConvolutionDims,
    feature: usize,
    window: &[usize],
    result: &TensorType,
) -> ValueId {
    let mut ty = rewriter.tensor(input).clone();
    let (mut start, mut limit, mut strides) = (vec![0; ty.rank()], ty.dims.to_vec(), vec![1; ty.rank()]);
    (start[dims.input_feature], limit[dims.input_feature]) = (feature, feature + 1);
    ty.dims[dims.input_feature] = 1;
    for (index, &dim) in dims.input_spatial.iter().enumerate() {
        let (each, places) = (&dims.window[index], result.dims[dims.output_spatial[index]]);
        start[dim] = window[index] * each.window_dilation;
        limit[dim] = start[dim] + (places - 1) * each.stride + 1;
        strides[dim] = each.stride;
        ty.dims[dim] = places;
    }
    let slice = rewriter.emit(OpKind::Slice { start, limit, strides }, &[input], ty.clone());
    ty.dims.remove(dims.input_feature);
    rewriter.emit(OpKind::Reshape, &[slice], ty)
}

/// The factors of the features of the result for an element of the window.
fn factors(
    rewriter: &mut Rewriter<'_>,
    kernel: ValueId,
    dims: &ConvolutionDims,
    feature: usize,
    window: &[usize],
) -> ValueId {
    let mut ty = rewriter.tensor(kernel).clone();
    let (mut start, mut limit) = (vec![0; ty.rank()], ty.dims.to_vec());
    let mut take = |dim: usize, index: usize| (start[dim], limit[dim]) = (index, index + 1);
    take(dims.kernel_input_feature, feature);
    for (index, &dim) in dims.kernel_spatial.iter().enumerate() {
        let last = ty.dims[dim] - 1;
        take(dim, if dims.window[index].reversal { last - window[index] } else { window[index] });
    }
    let features = ty.dims[dims.kernel_output_feature];
    ty.dims.fill(1);
    ty.dims[dims.kernel_output_feature] = features;
    let strides = vec![1; ty.rank()];
    let slice = rewriter.emit(OpKind::Slice { start, limit, strides }, &[kernel], ty.clone());
    ty = TensorType::new(ty.element, [features]);
    rewriter.emit(OpKind::Reshape, &[slice], ty)
}
