//! Gathers and scatters by one index instead of several.
//!
//! `gather(x, concatenate(i, j))`, of elements or rows of a matrix, becomes `gather(reshape(x), columns * i + j)`: the
//! index is element-wise work, which fuses with that on `i` and `j`, and index vectors are not written. So does a
//! gather of an element of each row, as `take_along_axis` makes it: the number of the row is an index too. And gathers
//! of single elements get the form that fusions take.

use oxcall::Error;
use oxcall_hlo::{
    BinaryOp, ComparisonDirection, ComparisonType, ElementType, GatherDims, Literal, Module, Op, OpKind, TensorType,
    ValueId,
};

use super::ir::{Rewrite, Rewriter, rewrite};

/// The fewest index vectors: machine code of loops takes fewer as they are.
const FEWEST: usize = 64;

/// Joins the components of index vectors. Returns whether there were any.
///
/// # Errors
/// None; the type is that of rewrites.
pub(super) fn indices(module: &mut Module) -> Result<bool, Error> {
    rewrite(module, |rewriter, op| {
        let flat = match op.kind {
            OpKind::Gather { .. } => {
                let flat = gather(rewriter, &op).or_else(|| along_batches(rewriter, &op));
                flat.or_else(|| by_other_index(rewriter, &op)).map(|value| vec![value]) // Bounded: one.
            }
            OpKind::Scatter { .. } => scatter(rewriter, &op),
            _ => None,
        };
        Ok(match flat {
            Some(values) => Rewrite::With(values.into()),
            None => Rewrite::Keep(op),
        })
    })
}

/// The fewest elements of a gather of single words in a fusion: machine code of loops takes smaller ones apart. Tests
/// have fewer.
pub(in crate::compile) const FEWEST_PICKED: usize = if cfg!(test) { 128 } else { 2048 };

/// Whether fusions gather single elements of such an array: words that indices of 32 bits reach.
pub(in crate::compile) fn can_be_picked(array: &TensorType) -> bool {
    let is_word = matches!(array.element, ElementType::F32 | ElementType::S32 | ElementType::U32);
    is_word && array.checked_count().is_some_and(|count| (1..=i32::MAX as usize).contains(&count))
}

/// A constant of an integer type.
fn constant(rewriter: &mut Rewriter<'_>, ty: &TensorType, number: usize) -> ValueId {
    let width = ty.element.byte_width();
    rewriter.constant(Literal::splat(ty.clone(), (number as u64).to_le_bytes()[..width].to_vec()))
}

/// The index in two dimensions: `inner`, along one of `size`, and `outer`, if there is one, before it.
fn joined(
    rewriter: &mut Rewriter<'_>,
    outer: Option<ValueId>,
    size: usize,
    inner: ValueId,
    ty: &TensorType,
) -> ValueId {
    let Some(outer) = outer else { return inner };
    let stride = constant(rewriter, ty, size);
    let outer = rewriter.emit_like(OpKind::Binary(BinaryOp::Multiply), &[outer, stride]);
    rewriter.emit_like(OpKind::Binary(BinaryOp::Add), &[outer, inner])
}

/// Index vectors whose components are arrays of their own, and the dimensions of the indexed array that become one.
struct Vectors {
    /// The first of the dimensions, which are side by side.
    first: usize,
    /// Their sizes.
    sizes: Vec<usize>,
    /// The components, in the order of these dimensions.
    components: Vec<ValueId>,
}

impl Vectors {
    /// The index vectors `indices`, whose component `i` is along dimension `map[i]` of an array of `dims`.
    fn of(
        rewriter: &Rewriter<'_>,
        indices: ValueId,
        vector_dim: usize,
        map: &[usize],
        dims: &[usize],
    ) -> Option<Vectors> {
        let ty = rewriter.tensor(indices);
        let vectors = ty.checked_count()? / map.len().max(1);
        let is_known = matches!(ty.element, ElementType::S32 | ElementType::U32 | ElementType::S64 | ElementType::U64);
        let OpKind::Concatenate { dim } = rewriter.def(indices)?.kind else { return None };
        if dim != vector_dim || map.len() < 2 || vectors < FEWEST || !is_known || !rewriter.is_local(indices) {
            return None;
        }
        let parts = &rewriter.def(indices)?.operands;
        let first = *map.iter().min()?;
        // As many components as parts, none of them empty: each part is one.
        let mut ordered: Vec<(usize, ValueId)> = map.iter().copied().zip(parts.iter().copied()).collect();
        ordered.sort_unstable_by_key(|&(dim, _)| dim);
        let are_alone = parts.len() == map.len() && parts.iter().all(|&part| rewriter.tensor(part).dims[dim] == 1);
        let are_adjacent = ordered.iter().map(|&(dim, _)| dim).eq(first..first + map.len());
        if !are_alone || !are_adjacent {
            return None;
        }
        let sizes = dims[first..first + map.len()].to_vec();
        let all = sizes.iter().try_fold(1_usize, |all, &size| all.checked_mul(size))?;
        let fits = (1..=i32::MAX as usize).contains(&all);
        fits.then(|| Vectors { first, sizes, components: ordered.into_iter().map(|(_, part)| part).collect() })
    }

    /// The dimensions of the array that has one in the place of these.
    fn merged(&self, dims: &[usize]) -> Vec<usize> {
        let rest = &dims[self.first + self.sizes.len()..];
        [&dims[..self.first], &[self.sizes.iter().product()], rest].concat()
    }

    /// A dimension after these in the array that has one in their place.
    fn moved(&self, dim: usize) -> usize {
        if dim < self.first { dim } else { dim + 1 - self.sizes.len() }
    }

    /// The one index, in the place of vectors: that of the nearest element in bounds or, where `drops`, one that is out
    /// of bounds if a component is.
    fn index(&self, rewriter: &mut Rewriter<'_>, vector_dim: usize, drops: bool) -> ValueId {
        let mut ty = rewriter.tensor(self.components[0]).clone();
        ty.dims.remove(vector_dim);
        let zero = constant(rewriter, &ty, 0);
        let (mut index, mut is_inside) = (None, None);
        for (&component, &size) in self.components.iter().zip(&self.sizes) {
            let component = rewriter.emit(OpKind::Reshape, &[component], ty.clone());
            let last = constant(rewriter, &ty, size - 1);
            let clamped = rewriter.emit(OpKind::Clamp, &[zero, component, last], ty.clone());
            if drops {
                let equal = OpKind::Compare(ComparisonDirection::Eq, ComparisonType::NoType);
                let inside = rewriter.emit(equal, &[component, clamped], ty.with_element(ElementType::Pred));
                is_inside = Some(match is_inside {
                    Some(both) => rewriter.emit_like(OpKind::Binary(BinaryOp::And), &[both, inside]),
                    None => inside,
                });
            }
            index = Some(joined(rewriter, index, size, clamped, &ty));
        }
        let index = index.unwrap_or(zero);
        match is_inside {
            Some(is_inside) => {
                let nowhere = constant(rewriter, &ty, self.sizes.iter().product());
                rewriter.emit(OpKind::Select, &[is_inside, index, nowhere], ty.clone())
            }
            None => index,
        }
    }
}

/// The result of a gather of single elements along the dimensions that several components index.
fn gather(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<ValueId> {
    let OpKind::Gather { dims, slice_sizes, indices_are_sorted } = &op.kind else { return None };
    let array = rewriter.tensor(op.operands[0]).clone();
    let vectors = Vectors::of(rewriter, op.operands[1], dims.index_vector_dim, &dims.start_index_map, &array.dims)?;
    let indexed = vectors.first..vectors.first + vectors.sizes.len();
    let are_single = slice_sizes[indexed.clone()].iter().all(|&size| size == 1);
    if !dims.operand_batching_dims.is_empty() || !are_single || !dims.collapsed_slice_dims.iter().copied().eq(indexed) {
        return None;
    }
    let index = vectors.index(rewriter, dims.index_vector_dim, false);
    let merged = TensorType::new(array.element, vectors.merged(&array.dims));
    let merged = rewriter.emit(OpKind::Reshape, &[op.operands[0]], merged);
    let mut dims = dims.clone();
    dims.collapsed_slice_dims = vec![vectors.first]; // Bounded: one.
    dims.start_index_map = vec![vectors.first]; // Bounded: one.
    dims.index_vector_dim = rewriter.tensor(index).rank();
    let mut slice_sizes = slice_sizes.clone();
    slice_sizes.drain(vectors.first + 1..vectors.first + vectors.sizes.len());
    let kind = OpKind::Gather { dims, slice_sizes, indices_are_sorted: *indices_are_sorted };
    let ty = rewriter.tensor(op.results[0]).clone();
    Some(rewriter.emit(kind, &[merged, index], ty))
}

/// The result of a gather of single words, by one index, from an array all of whose other dimensions are batches.
fn along_batches(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<ValueId> {
    let OpKind::Gather { dims, slice_sizes, .. } = &op.kind else { return None };
    let [array, indices] = [0, 1].map(|index| rewriter.tensor(op.operands[index]).clone());
    let &[indexed] = &dims.start_index_map[..] else { return None };
    let are_single = dims.collapsed_slice_dims == [indexed] && slice_sizes.iter().all(|&size| size == 1);
    let are_batches = !dims.operand_batching_dims.is_empty() && dims.operand_batching_dims.len() + 1 == array.rank();
    let vector_dim = dims.index_vector_dim;
    let mut ty = indices.clone();
    if vector_dim < ty.rank() {
        ty.dims.remove(vector_dim);
    }
    let is_large = ty.checked_count()? >= FEWEST_PICKED;
    if !(can_be_picked(&array) && are_single && are_batches && is_large) || indices.element != ElementType::S32 {
        return None;
    }
    let bounds = [0, array.dims[indexed] - 1].map(|bound| constant(rewriter, &ty, bound));
    let component = rewriter.emit(OpKind::Reshape, &[op.operands[1]], ty.clone());
    let component = rewriter.emit(OpKind::Clamp, &[bounds[0], component, bounds[1]], ty.clone());
    let mut index = None;
    for (dim, &size) in array.dims.iter().enumerate() {
        let batching = dims.operand_batching_dims.iter().position(|&batching| batching == dim);
        let number = match batching.map(|batching| dims.start_indices_batching_dims[batching]) {
            Some(place) => {
                let dim = if place > vector_dim { place - 1 } else { place };
                rewriter.emit(OpKind::Iota { dim }, &[], ty.clone())
            }
            None => component,
        };
        index = Some(joined(rewriter, index, size, number, &ty));
    }
    let merged = TensorType::new(array.element, [array.checked_count()?]);
    let merged = rewriter.emit(OpKind::Reshape, &[op.operands[0]], merged);
    let dims = GatherDims::of_elements(ty.rank());
    let kind = OpKind::Gather { dims, slice_sizes: vec![1], indices_are_sorted: false };
    let result = rewriter.tensor(op.results[0]).clone();
    Some(rewriter.emit(kind, &[merged, index?], result))
}

/// The result of a gather of single words of an array of one dimension by indices of another type than fusions take, or
/// with a dimension for the word, as `searchsorted` makes it.
fn by_other_index(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<ValueId> {
    let OpKind::Gather { dims, slice_sizes, indices_are_sorted } = &op.kind else { return None };
    let [array, indices] = [0, 1].map(|index| rewriter.tensor(op.operands[index]).clone());
    let is_known = matches!(indices.element, ElementType::S32 | ElementType::U32 | ElementType::S64 | ElementType::U64);
    let is_single = slice_sizes[..] == [1] && dims.start_index_map == [0];
    let is_there = dims.collapsed_slice_dims == [0] && indices.element == ElementType::S32;
    let mut ty = indices;
    if dims.index_vector_dim < ty.rank() {
        ty.dims.remove(dims.index_vector_dim);
    }
    let is_large = ty.checked_count()? >= FEWEST_PICKED;
    if is_there || !(is_known && is_single && is_large && can_be_picked(&array)) {
        return None;
    }
    let mut index = rewriter.emit(OpKind::Reshape, &[op.operands[1]], ty.clone());
    if ty.element != ElementType::S32 {
        let bounds = [0, array.dims[0] - 1].map(|bound| constant(rewriter, &ty, bound));
        index = rewriter.emit(OpKind::Clamp, &[bounds[0], index, bounds[1]], ty.clone());
        index = rewriter.emit(OpKind::Convert, &[index], ty.with_element(ElementType::S32));
    }
    let dims = GatherDims::of_elements(ty.rank());
    let kind = OpKind::Gather { dims, slice_sizes: vec![1], indices_are_sorted: *indices_are_sorted }; // Bounded: one.
    let word = rewriter.emit(kind, &[op.operands[0], index], ty.with_element(array.element));
    let result = rewriter.tensor(op.results[0]).clone();
    Some(rewriter.emit(OpKind::Reshape, &[word], result))
}

/// The results of a scatter to single elements along the dimensions that several components index.
fn scatter(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Vec<ValueId>> {
    let OpKind::Scatter { dims, indices_are_sorted, unique_indices } = &op.kind else { return None };
    let count = op.results.len();
    let arrays: Vec<TensorType> = op.results.iter().map(|&result| rewriter.tensor(result).clone()).collect();
    let map = &dims.scatter_dims_to_operand_dims;
    let vectors = Vectors::of(rewriter, op.operands[count], dims.index_vector_dim, map, &arrays[0].dims)?;
    let indexed = vectors.first..vectors.first + vectors.sizes.len();
    if !dims.input_batching_dims.is_empty() || !indexed.clone().all(|dim| dims.inserted_window_dims.contains(&dim)) {
        return None;
    }
    let index = vectors.index(rewriter, dims.index_vector_dim, true);
    let mut operands = op.operands.clone(); // Bounded: operands.
    operands[count] = index;
    let merged: Vec<TensorType> =
        arrays.iter().map(|ty| TensorType::new(ty.element, vectors.merged(&ty.dims))).collect();
    for (operand, ty) in operands.iter_mut().zip(&merged) {
        *operand = rewriter.emit(OpKind::Reshape, &[*operand], ty.clone());
    }
    let mut dims = dims.clone();
    dims.inserted_window_dims.retain(|dim| *dim == vectors.first || !indexed.contains(dim));
    dims.inserted_window_dims.iter_mut().for_each(|dim| {
        *dim = if *dim == vectors.first { *dim } else { vectors.moved(*dim) };
    });
    dims.scatter_dims_to_operand_dims = vec![vectors.first]; // Bounded: one.
    dims.index_vector_dim = rewriter.tensor(index).rank();
    let kind = OpKind::Scatter { dims, indices_are_sorted: *indices_are_sorted, unique_indices: *unique_indices };
    let results: Vec<ValueId> = merged.into_iter().map(|ty| rewriter.value(ty.into())).collect();
    rewriter.push(Op {
        kind,
        operands,
        results: results.clone(),    // Bounded: results.
        regions: op.regions.clone(), // Bounded: a body.
        location: op.location,
    });
    Some(results.into_iter().zip(arrays).map(|(value, ty)| rewriter.emit(OpKind::Reshape, &[value], ty)).collect())
}
