//! Dot products and convolutions.

use super::signature::{Signature, dimension, ensure, one, unique_dims};
use super::window::places;
use crate::{ConvolutionDims, DotDims, ElementType, Error, Precision, TensorType, Type};

fn precision(precision: &[Precision]) -> Result<(), Error> {
    ensure!(
        precision.is_empty() || precision.len() == 2,
        "precision_config must have 2 entries or none, got {}",
        precision.len()
    );
    Ok(())
}

/// Checks that operands may be multiplied, and the element type of the result: any of their kind if given, any float
/// for integers and for floats by integers, the real part for complex numbers, and anything for booleans.
fn product_element(cx: Signature<'_>, lhs: &TensorType, rhs: &TensorType) -> Result<ElementType, Error> {
    let kind = |element: ElementType| {
        (element.is_float(), element.is_complex(), element.is_integer(), element == ElementType::Pred)
    };
    let mixes = |a: ElementType, b: ElementType| kind(a) == kind(b);
    // HLO has products of floats by integers, which weights of fewer bits are multiplied with.
    let float = match (lhs.element, rhs.element) {
        (float, integer) | (integer, float) if float.is_float() && integer.is_integer() => Some(float),
        _ => None,
    };
    ensure!(
        float.is_some() || mixes(lhs.element, rhs.element),
        "lhs and rhs must have element types of one kind, or floats and integers, got {lhs} and {rhs}"
    );
    let wider = if lhs.element.bits() < rhs.element.bits() { rhs.element } else { lhs.element };
    let default = float.unwrap_or(wider);
    let element = cx.given_element(0, default);
    let holds = mixes(element, float.unwrap_or(lhs.element))
        || lhs.element == ElementType::Pred
        || (float.is_none() && lhs.element.is_integer() && element.is_float())
        || (lhs.element.is_complex() && element.is_float());
    ensure!(holds, "the result of a product of {lhs} cannot have elements of type {element}");
    Ok(element)
}

pub(crate) fn dot_general(cx: Signature<'_>, dims: &DotDims) -> Result<Vec<Type>, Error> {
    cx.arity(2)?;
    let (lhs, rhs) = (cx.tensor(0, "lhs")?, cx.tensor(1, "rhs")?);
    let element = product_element(cx, lhs, rhs)?;
    precision(&dims.precision)?;
    if let Some(algorithm) = &dims.algorithm {
        let counts = [algorithm.lhs_components, algorithm.rhs_components, algorithm.primitive_operations];
        ensure!(
            counts.iter().all(|count| *count > 0),
            "lhs_component_count, rhs_component_count and num_primitive_operations must be positive, got {counts:?}"
        );
    }
    for (batching, contracting, ty, name) in [
        (&dims.lhs_batching, &dims.lhs_contracting, lhs, "lhs"),
        (&dims.rhs_batching, &dims.rhs_contracting, rhs, "rhs"),
    ] {
        let both = [batching.as_slice(), contracting].concat();
        let names = format!("{name}_batching_dimensions and {name}_contracting_dimensions");
        unique_dims(&both, &names, ty.rank(), name)?;
    }
    for (of_lhs, of_rhs, what) in [
        (&dims.lhs_batching, &dims.rhs_batching, "batching"),
        (&dims.lhs_contracting, &dims.rhs_contracting, "contracting"),
    ] {
        ensure!(
            of_lhs.len() == of_rhs.len(),
            "lhs_{what}_dimensions and rhs_{what}_dimensions must have the same length, got {of_lhs:?} and {of_rhs:?}"
        );
        for (&left, &right) in of_lhs.iter().zip(of_rhs) {
            ensure!(
                lhs.dims[left] == rhs.dims[right],
                "{what} dimension {left} of lhs, {lhs}, must have the size of dimension {right} of rhs, {rhs}"
            );
        }
    }
    let free = |ty: &TensorType, batching: &[usize], contracting: &[usize]| {
        let dims = ty.dims.iter().enumerate();
        dims.filter(|(dim, _)| !batching.contains(dim) && !contracting.contains(dim))
            .map(|(_, &size)| size)
            .collect::<Vec<_>>()
    };
    let batch = dims.lhs_batching.iter().map(|&dim| lhs.dims[dim]);
    let free_lhs = free(lhs, &dims.lhs_batching, &dims.lhs_contracting);
    let free_rhs = free(rhs, &dims.rhs_batching, &dims.rhs_contracting);
    one(TensorType::new(element, batch.chain(free_lhs).chain(free_rhs)))
}

pub(crate) fn convolution(cx: Signature<'_>, dims: &ConvolutionDims) -> Result<Vec<Type>, Error> {
    cx.arity(2)?;
    let (lhs, rhs) = (cx.tensor(0, "lhs")?, cx.tensor(1, "rhs")?);
    let element = product_element(cx, lhs, rhs)?;
    precision(&dims.precision)?;
    let rank = dims.window.len() + 2;
    ensure!(
        lhs.rank() == rank && rhs.rank() == rank,
        "lhs and rhs must have rank {rank} for a window of {} dimensions, got {lhs} and {rhs}",
        dims.window.len()
    );
    let complete = |batch: usize, feature: usize, spatial: &[usize], names: &str, tensor: &str| {
        let all = [&[batch, feature], spatial].concat();
        ensure!(all.len() == rank, "{names} must be {rank} dimensions, got {}", all.len());
        unique_dims(&all, names, rank, tensor)
    };
    complete(dims.input_batch, dims.input_feature, &dims.input_spatial, "the input dimensions", "lhs")?;
    let (input, output) = (dims.kernel_input_feature, dims.kernel_output_feature);
    complete(input, output, &dims.kernel_spatial, "the kernel dimensions", "rhs")?;
    complete(dims.output_batch, dims.output_feature, &dims.output_spatial, "the output dimensions", "the result")?;

    let (groups, batch_groups) = (dims.feature_groups, dims.batch_groups);
    ensure!(
        groups > 0 && batch_groups > 0,
        "feature_group_count and batch_group_count must be positive, got {groups} and {batch_groups}"
    );
    ensure!(
        groups == 1 || batch_groups == 1,
        "one of feature_group_count and batch_group_count must be 1, got {groups} and {batch_groups}"
    );
    let (batch, features) = (lhs.dims[dims.input_batch], lhs.dims[dims.input_feature]);
    let outputs = rhs.dims[output];
    ensure!(
        batch % batch_groups == 0,
        "the batch dimension {} of lhs, {lhs}, must be a multiple of batch_group_count = {batch_groups}",
        dims.input_batch
    );
    ensure!(
        features % groups == 0 && features / groups == rhs.dims[input],
        "the feature dimension {} of lhs, {lhs}, must be feature_group_count = {groups} times the input feature \
         dimension {input} of rhs, {rhs}",
        dims.input_feature
    );
    ensure!(
        outputs % groups == 0 && outputs % batch_groups == 0,
        "the output feature dimension {output} of rhs, {rhs}, must be a multiple of feature_group_count = {groups} \
         and batch_group_count = {batch_groups}"
    );
    let mut result = TensorType::new(element, std::iter::repeat_n(0, rank));
    result.dims[dims.output_batch] = batch / batch_groups;
    result.dims[dims.output_feature] = outputs;
    for (index, window) in dims.window.iter().enumerate() {
        let (of_input, of_kernel) = (dims.input_spatial[index], dims.kernel_spatial[index]);
        ensure!(
            window.size == rhs.dims[of_kernel],
            "spatial dimension {index} of the window must have size {}, as in rhs {rhs}, got {}",
            rhs.dims[of_kernel],
            window.size
        );
        // An empty kernel has no place, and no rule about windows applies to it.
        result.dims[dims.output_spatial[index]] = match window.size {
            0 => cx.given_result()?.dims.get(dims.output_spatial[index]).copied().unwrap_or(0),
            _ => places(index, lhs.dims[of_input], window)?,
        };
    }
    one(result)
}

pub(crate) fn cholesky(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let a = cx.tensor_of(0, "a", super::signature::Class::FloatOrComplex)?;
    square(a, "a")?;
    one(a.clone())
}

/// Checks that the last two dimensions are equal.
fn square(ty: &TensorType, name: &str) -> Result<(), Error> {
    let is_square = matches!(ty.dims.as_slice(), [.., rows, columns] if rows == columns);
    ensure!(is_square, "the last two dimensions of {name} must be equal, got {ty}");
    Ok(())
}

pub(crate) fn triangular_solve(cx: Signature<'_>, left_side: bool) -> Result<Vec<Type>, Error> {
    cx.arity(2)?;
    let a = cx.tensor_of(0, "a", super::signature::Class::FloatOrComplex)?;
    let b = cx.tensor(1, "b")?;
    square(a, "a")?;
    super::signature::same_element(a, "a", b, "b")?;
    let batch = a.rank() - 2;
    ensure!(
        b.rank() == a.rank() && b.dims[..batch] == a.dims[..batch],
        "a and b must have the same rank and batch dimensions, got {a} and {b}"
    );
    let side = if left_side { batch } else { batch + 1 };
    dimension(side, "the solved dimension", b, "b")?;
    ensure!(
        b.dims[side] == a.dims[batch],
        "dimension {side} of b, {b}, must have the size of the matrices of a, {a}, since left_side is {left_side}"
    );
    one(b.clone())
}
