//! Gather and scatter.

use super::reduce::combiner;
use super::signature::{
    Class, RegionType, Signature, ensure, one, per_dimension, same_element, sorted_dims, unique_dims,
};
use crate::{Dims, Error, GatherDims, ScatterDims, TensorType, Type};

/// The dimension numbers that gather and scatter have in common, and what the specification calls them.
struct Indexing<'a> {
    operand: &'a TensorType,
    operand_name: &'static str,
    indices: &'a TensorType,
    indices_name: &'static str,
    /// Dimensions of the operand that windows lack.
    dropped: &'a [usize],
    dropped_name: &'static str,
    operand_batching: &'a [usize],
    operand_batching_name: &'static str,
    indices_batching: &'a [usize],
    indices_batching_name: &'static str,
    /// The dimension of the operand that each element of an index vector indexes.
    map: &'a [usize],
    map_name: &'static str,
    index_vector_dim: usize,
}

impl Indexing<'_> {
    fn check(&self) -> Result<(), Error> {
        let (rank, indices_rank) = (self.operand.rank(), self.indices.rank());
        sorted_dims(self.dropped, self.dropped_name, rank, self.operand_name)?;
        sorted_dims(self.operand_batching, self.operand_batching_name, rank, self.operand_name)?;
        let both = [self.dropped, self.operand_batching].concat();
        let names = format!("{} and {}", self.dropped_name, self.operand_batching_name);
        unique_dims(&both, &names, rank, self.operand_name)?;
        unique_dims(self.indices_batching, self.indices_batching_name, indices_rank, self.indices_name)?;
        ensure!(
            self.operand_batching.len() == self.indices_batching.len(),
            "{} and {} must have the same length, got {:?} and {:?}",
            self.operand_batching_name,
            self.indices_batching_name,
            self.operand_batching,
            self.indices_batching
        );
        ensure!(
            self.index_vector_dim <= indices_rank,
            "index_vector_dim = {} must be at most the rank of {}, {}",
            self.index_vector_dim,
            self.indices_name,
            self.indices
        );
        ensure!(
            !self.indices_batching.contains(&self.index_vector_dim),
            "{} {:?} must not contain index_vector_dim = {}",
            self.indices_batching_name,
            self.indices_batching,
            self.index_vector_dim
        );
        for (&of_operand, &of_indices) in self.operand_batching.iter().zip(self.indices_batching) {
            ensure!(
                self.operand.dims[of_operand] == self.indices.dims[of_indices],
                "batching dimension {of_operand} of {}, {}, must have the size of dimension {of_indices} of {}, {}",
                self.operand_name,
                self.operand,
                self.indices_name,
                self.indices
            );
        }
        let vector = self.indices.dims.get(self.index_vector_dim).copied().unwrap_or(1);
        ensure!(
            self.map.len() == vector,
            "{} must have {vector} entries, the length of an index vector of {}, {}; got {}",
            self.map_name,
            self.indices_name,
            self.indices,
            self.map.len()
        );
        let all = [self.map, self.operand_batching].concat();
        let names = format!("{} and {}", self.map_name, self.operand_batching_name);
        unique_dims(&all, &names, rank, self.operand_name)
    }

    /// The sizes of the dimensions of the indices, without that of index vectors.
    fn batch_sizes(&self) -> Dims {
        let dims = self.indices.dims.iter().enumerate();
        dims.filter(|(dim, _)| *dim != self.index_vector_dim).map(|(_, &size)| size).collect()
    }

    /// Whether windows have dimension `dim` of the operand.
    fn in_window(&self, dim: usize) -> bool {
        !self.dropped.contains(&dim) && !self.operand_batching.contains(&dim)
    }
}

/// The shape of which the dimensions `window_dims` are those of the window, and the others those of the batch.
fn interleave(batch: &[usize], window: &[usize], window_dims: &[usize]) -> Dims {
    let (mut batch, mut window) = (batch.iter(), window.iter());
    let rank = batch.len() + window.len();
    (0..rank).filter_map(|dim| if window_dims.contains(&dim) { window.next() } else { batch.next() }).copied().collect()
}

pub(crate) fn gather(cx: Signature<'_>, dims: &GatherDims, slice_sizes: &[usize]) -> Result<Vec<Type>, Error> {
    cx.arity(2)?;
    let operand = cx.tensor(0, "operand")?;
    let indexing = Indexing {
        operand,
        operand_name: "operand",
        indices: cx.tensor_of(1, "start_indices", Class::Integer)?,
        indices_name: "start_indices",
        dropped: &dims.collapsed_slice_dims,
        dropped_name: "collapsed_slice_dims",
        operand_batching: &dims.operand_batching_dims,
        operand_batching_name: "operand_batching_dims",
        indices_batching: &dims.start_indices_batching_dims,
        indices_batching_name: "start_indices_batching_dims",
        map: &dims.start_index_map,
        map_name: "start_index_map",
        index_vector_dim: dims.index_vector_dim,
    };
    indexing.check()?;
    per_dimension(slice_sizes, "slice_sizes", operand, "operand")?;
    for (dim, &size) in slice_sizes.iter().enumerate() {
        ensure!(
            size <= operand.dims[dim],
            "slice_sizes[{dim}] must be at most dimension {dim} of operand {operand}, got {size}"
        );
        ensure!(
            indexing.in_window(dim) || size <= 1,
            "slice_sizes[{dim}] must be at most 1 for a collapsed or batching dimension, got {size}"
        );
    }
    let window: Dims =
        slice_sizes.iter().enumerate().filter(|(dim, _)| indexing.in_window(*dim)).map(|(_, &size)| size).collect();
    ensure!(
        dims.offset_dims.len() == window.len(),
        "offset_dims must have {} entries, as many as operand, {operand}, has dimensions that are neither collapsed \
         nor batching; has {}",
        window.len(),
        dims.offset_dims.len()
    );
    let batch = indexing.batch_sizes();
    sorted_dims(&dims.offset_dims, "offset_dims", batch.len() + window.len(), "the result")?;
    one(TensorType::new(operand.element, interleave(&batch, &window, &dims.offset_dims)))
}

pub(crate) fn scatter(cx: Signature<'_>, dims: &ScatterDims) -> Result<Vec<Type>, Error> {
    let count = cx.operands.len();
    ensure!(count % 2 == 1 && count >= 3, "expected inputs, scatter_indices and as many updates, got {count} operands");
    let inputs = cx.tensors(0..count / 2, "inputs")?;
    let updates = cx.tensors(count / 2 + 1..count, "updates")?;
    let (input, update) = (inputs[0], updates[0]);
    let indexing = Indexing {
        operand: input,
        operand_name: "inputs",
        indices: cx.tensor_of(count / 2, "scatter_indices", Class::Integer)?,
        indices_name: "scatter_indices",
        dropped: &dims.inserted_window_dims,
        dropped_name: "inserted_window_dims",
        operand_batching: &dims.input_batching_dims,
        operand_batching_name: "input_batching_dims",
        indices_batching: &dims.scatter_indices_batching_dims,
        indices_batching_name: "scatter_indices_batching_dims",
        map: &dims.scatter_dims_to_operand_dims,
        map_name: "scatter_dims_to_operand_dims",
        index_vector_dim: dims.index_vector_dim,
    };
    indexing.check()?;
    for (other, of) in inputs.iter().zip(&updates) {
        ensure!(other.dims == input.dims, "all inputs must have the same shape, got {input} and {other}");
        ensure!(of.dims == update.dims, "all updates must have the same shape, got {update} and {of}");
        same_element(other, "inputs", of, "updates")?;
    }
    sorted_dims(&dims.update_window_dims, "update_window_dims", update.rank(), "updates")?;
    let bounds: Dims =
        input.dims.iter().enumerate().filter(|(dim, _)| indexing.in_window(*dim)).map(|(_, &size)| size).collect();
    let window: Dims = dims.update_window_dims.iter().map(|&dim| update.dims[dim]).collect();
    ensure!(
        window.len() == bounds.len() && window.iter().zip(&bounds).all(|(size, bound)| size <= bound),
        "the update_window_dims of updates, {update}, must be within the dimensions of inputs, {input}, that are \
         neither inserted nor batching"
    );
    let expected = interleave(&indexing.batch_sizes(), &window, &dims.update_window_dims);
    ensure!(
        update.dims == expected,
        "updates must have the shape {expected:?} of scatter_indices {} and windows {window:?}, got {update}",
        indexing.indices
    );
    cx.region_count(1)?;
    let body: &RegionType = &cx.regions[0];
    let elements = combiner(body, "update_computation", &inputs)?;
    Ok(inputs.iter().zip(elements).map(|(ty, element)| ty.with_element(element).into()).collect())
}
