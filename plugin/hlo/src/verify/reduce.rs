//! Ops that reduce with a region, and those whose region sees single elements.

use super::signature::{
    Class, RegionType, Signature, dimension, ensure, one, per_dimension, same_element, scalar, unique_dims,
};
use super::window::windowed;
use crate::{ElementType, Error, TensorType, Type, WindowDim};

/// Whether values of one type go in where another is expected: elements may be promoted to wider ones of their kind.
fn promotable(from: ElementType, to: ElementType) -> bool {
    let same_kind = (from.is_signed() && to.is_signed())
        || (from.is_unsigned() && to.is_unsigned())
        || (from.is_float() && to.is_float())
        || (from.is_complex() && to.is_complex());
    from == to || (same_kind && from.bits() <= to.bits())
}

/// Checks that `types` are scalars called `name`; their element types.
fn scalars(types: &[Type], name: &str) -> Result<Vec<ElementType>, Error> {
    types
        .iter()
        .map(|ty| match ty.tensor() {
            Some(tensor) if tensor.rank() == 0 => Ok(tensor.element),
            _ => Err(Error::invalid(format!("{name} must be scalars, got {ty}"))),
        })
        .collect()
}

/// Checks a region that combines an accumulator with an element for each of `inputs`: `(E, ..., E, ...) -> (E, ...)`,
/// where each `E` may be wider than that of the input. The element types of the accumulators.
pub(super) fn combiner(body: &RegionType, name: &str, inputs: &[&TensorType]) -> Result<Vec<ElementType>, Error> {
    let params = scalars(&body.params, &format!("the parameters of {name}"))?;
    let results = scalars(&body.results, &format!("the results of {name}"))?;
    let count = inputs.len();
    ensure!(
        params.len() == 2 * count && results.len() == count,
        "{name} must have {} parameters and {count} results, got {} and {}",
        2 * count,
        params.len(),
        results.len()
    );
    for (index, &element) in results.iter().enumerate() {
        ensure!(
            params[index] == element && params[count + index] == element,
            "{name} must have parameters and results of the same types, result {index} is {element}, the parameters \
             {} and {}",
            params[index],
            params[count + index]
        );
        ensure!(
            promotable(inputs[index].element, element),
            "{name} computes {element}, but the elements of {} cannot be promoted to it",
            inputs[index]
        );
    }
    Ok(results)
}

/// Splits operands into inputs of one shape and as many scalar initial values.
fn inputs_and_inits<'a>(cx: Signature<'a>) -> Result<Vec<&'a TensorType>, Error> {
    let count = cx.operands.len();
    ensure!(count.is_multiple_of(2) && count > 0, "expected inputs and as many init_values, got {count} operands");
    let inputs = cx.tensors(0..count / 2, "inputs")?;
    let inits = cx.tensors(count / 2..count, "init_values")?;
    for (input, init) in inputs.iter().zip(inits) {
        ensure!(input.dims == inputs[0].dims, "all inputs must have the same shape, got {} and {input}", inputs[0]);
        scalar(init, "init_values")?;
        same_element(input, "inputs", init, "init_values")?;
    }
    Ok(inputs)
}

pub(crate) fn reduce(cx: Signature<'_>, dims: &[usize]) -> Result<Vec<Type>, Error> {
    let inputs = inputs_and_inits(cx)?;
    unique_dims(dims, "dimensions", inputs[0].rank(), "inputs")?;
    cx.region_count(1)?;
    let elements = combiner(&cx.regions[0], "body", &inputs)?;
    let kept = inputs[0].dims.iter().enumerate().filter(|(dim, _)| !dims.contains(dim)).map(|(_, &size)| size);
    Ok(elements.into_iter().map(|element| TensorType::new(element, kept.clone()).into()).collect())
}

pub(crate) fn reduce_window(cx: Signature<'_>, window: &[WindowDim]) -> Result<Vec<Type>, Error> {
    let inputs = inputs_and_inits(cx)?;
    let dims = windowed(inputs[0], "inputs", window)?;
    cx.region_count(1)?;
    let elements = combiner(&cx.regions[0], "body", &inputs)?;
    Ok(elements.into_iter().map(|element| TensorType::new(element, dims.iter().copied()).into()).collect())
}

pub(crate) fn select_and_scatter(cx: Signature<'_>, window: &[WindowDim]) -> Result<Vec<Type>, Error> {
    cx.arity(3)?;
    let (operand, source) = (cx.tensor(0, "operand")?, cx.tensor(1, "source")?);
    let init = cx.tensor(2, "init_value")?;
    same_element(operand, "operand", source, "source")?;
    same_element(operand, "operand", init, "init_value")?;
    scalar(init, "init_value")?;
    let dims = windowed(operand, "operand", window)?;
    ensure!(
        source.dims == dims,
        "source must have the shape {dims:?} of the windows of operand {operand}, got {source}"
    );
    let undilated = window.iter().all(|dim| dim.base_dilation == 1 && dim.window_dilation == 1);
    ensure!(undilated, "the window must not be dilated");
    cx.region_count(2)?;
    comparator(&cx.regions[0], "select", &[operand])?;
    let element = combiner(&cx.regions[1], "scatter", &[operand])?[0];
    one(operand.with_element(element))
}

/// Checks a region that compares two elements of each of `inputs`: `(E, E, ...) -> i1`.
fn comparator(body: &RegionType, name: &str, inputs: &[&TensorType]) -> Result<(), Error> {
    let params = scalars(&body.params, &format!("the parameters of {name}"))?;
    let expected: Vec<ElementType> = inputs.iter().flat_map(|ty| [ty.element; 2]).collect();
    ensure!(
        params == expected,
        "{name} must have two scalar parameters of the element type of each input, {}; got {}",
        list(&expected),
        list(&params)
    );
    let results = scalars(&body.results, &format!("the results of {name}"))?;
    ensure!(results == [ElementType::Pred], "{name} must return one i1, got {}", list(&results));
    Ok(())
}

fn list(elements: &[ElementType]) -> String {
    let names: Vec<&str> = elements.iter().map(|element| element.name()).collect();
    format!("({})", names.join(", "))
}

pub(crate) fn sort(cx: Signature<'_>, dim: usize) -> Result<Vec<Type>, Error> {
    let inputs = cx.tensors(0..cx.operands.len().max(1), "inputs")?;
    for input in &inputs {
        ensure!(input.dims == inputs[0].dims, "all inputs must have the same shape, got {} and {input}", inputs[0]);
    }
    // Scalars have no dimension, but one element is sorted.
    if inputs[0].rank() > 0 || dim > 0 {
        dimension(dim, "dimension", inputs[0], "inputs")?;
    }
    cx.region_count(1)?;
    comparator(&cx.regions[0], "comparator", &inputs)?;
    Ok(cx.operands.to_vec())
}

pub(crate) fn top_k(cx: Signature<'_>, k: usize) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let operand = cx.tensor_of(0, "operand", Class::Number)?;
    ensure!(!operand.element.is_complex(), "operand must have an ordered element type, got {operand}");
    let mut values = operand.clone();
    let Some(last) = values.dims.last_mut() else {
        return Err(Error::invalid("operand must have at least one dimension, got a scalar"));
    };
    ensure!(k <= *last, "k must be at most {last}, the last dimension of operand {operand}, got {k}");
    *last = k;
    let indices = values.with_element(ElementType::S32);
    Ok(vec![values.into(), indices.into()])
}

pub(crate) fn map(cx: Signature<'_>, dims: &[usize]) -> Result<Vec<Type>, Error> {
    let inputs = cx.tensors(0..cx.operands.len().max(1), "inputs")?;
    per_dimension(dims, "dimensions", inputs[0], "inputs")?;
    ensure!(
        dims.iter().copied().eq(0..inputs[0].rank()),
        "dimensions must be all dimensions of inputs, {}, in order; got {dims:?}",
        inputs[0]
    );
    for input in &inputs {
        ensure!(input.dims == inputs[0].dims, "all inputs must have the same shape, got {} and {input}", inputs[0]);
    }
    cx.region_count(1)?;
    let params = scalars(&cx.regions[0].params, "the parameters of computation")?;
    let expected: Vec<ElementType> = inputs.iter().map(|ty| ty.element).collect();
    ensure!(
        params == expected,
        "computation must have a scalar parameter of the element type of each input, {}; got {}",
        list(&expected),
        list(&params)
    );
    match scalars(&cx.regions[0].results, "the results of computation")?.as_slice() {
        [element] => one(inputs[0].with_element(*element)),
        results => Err(Error::invalid(format!("computation must have one result, got {}", results.len()))),
    }
}
