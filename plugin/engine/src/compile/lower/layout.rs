//! Conversions between the engine's buffers and those of custom calls: layouts that are not row-major, elements that
//! share bytes, and results that share memory with operands.

use oxcall::Error;
use oxcall_hlo::{CustomCall, ElementType, TensorType};
use oxcall_kernels::kernel::Kernel;
use oxcall_kernels::kernels::movement;

use super::packing;

/// A conversion step from one form of a buffer to another.
pub(super) struct Conversion {
    pub(super) kernel: Box<dyn Kernel>,
    /// The size of the result.
    pub(super) bytes: usize,
}

/// The size of an element in buffers of custom calls, in bits.
fn foreign_bits(element: ElementType) -> usize {
    if element == ElementType::Pred { 8 } else { element.bits() }
}

/// The size of a buffer of custom calls, in bytes.
pub(super) fn foreign_size(ty: &TensorType) -> usize {
    match foreign_bits(ty.element) {
        bits @ (1 | 2 | 4) => ty.count().div_ceil(8 / bits),
        _ => ty.byte_size(),
    }
}

/// From the engine's form to that of a custom call with `layout`, minor to major.
pub(super) fn to_foreign(ty: &TensorType, layout: Option<&Vec<usize>>) -> Result<Vec<Conversion>, Error> {
    let mut conversions = Vec::new();
    if let Some(order) = major_to_minor(ty, layout)? {
        conversions.push(transpose(ty, &order));
    }
    if let Some(kernel) = packing::pack(ty, foreign_bits(ty.element)) {
        conversions.push(Conversion { kernel, bytes: foreign_size(ty) });
    }
    Ok(conversions)
}

/// From the form of a custom call to the engine's.
pub(super) fn from_foreign(ty: &TensorType, layout: Option<&Vec<usize>>) -> Result<Vec<Conversion>, Error> {
    let mut conversions = Vec::new();
    if let Some(kernel) = packing::unpack(ty, foreign_bits(ty.element)) {
        conversions.push(Conversion { kernel, bytes: ty.byte_size() });
    }
    if let Some(order) = major_to_minor(ty, layout)? {
        let stored = TensorType::new(ty.element, order.iter().map(|&dim| ty.dims[dim]));
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &dim)| back[dim] = place);
        conversions.push(transpose(&stored, &back));
    }
    Ok(conversions)
}

/// The dimensions of a layout, major to minor; `None` if it is row-major.
fn major_to_minor(ty: &TensorType, layout: Option<&Vec<usize>>) -> Result<Option<Vec<usize>>, Error> {
    let Some(layout) = layout else { return Ok(None) };
    let order: Vec<usize> = layout.iter().rev().copied().collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..ty.rank()) {
        let rank = ty.rank();
        return Err(Error::invalid_argument(format!(
            "{layout:?} is not a valid layout of {ty}: list its {rank} dimensions, minor to major"
        )));
    }
    // Dimensions of size 1 may be anywhere.
    let moves = !order.iter().filter(|&&dim| ty.dims[dim] != 1).is_sorted();
    Ok((moves && ty.count() > 0).then_some(order))
}

/// Permutes the dimensions of `ty`.
fn transpose(ty: &TensorType, permutation: &[usize]) -> Conversion {
    Conversion { kernel: movement::transpose(ty, permutation), bytes: ty.byte_size() }
}

/// Pairs of operand and result leaves that share memory. `operands` and `results` are the numbers of leaves of each
/// value.
pub(super) fn alias_pairs(call: &CustomCall, operands: &[usize], results: &[usize]) -> Vec<(usize, usize)> {
    let first = |counts: &[usize], index: usize| counts.iter().take(index).sum::<usize>();
    // A path of one index leads into a flat tuple; programs have no other tuples.
    let pair = |alias: &oxcall_hlo::Alias| {
        let operand = first(operands, alias.operand) + alias.operand_path.first().copied().unwrap_or(0);
        let index = alias.output.first().copied().unwrap_or(0);
        let result = if results.len() > 1 { first(results, index) } else { index };
        (operand, result)
    };
    let in_range =
        |(operand, result): &(usize, usize)| *operand < operands.iter().sum() && *result < results.iter().sum();
    call.aliases.iter().map(pair).filter(in_range).collect()
}
