//! Gather, scatter and sort.

use super::attributes::Attributes;
use super::source::Source;
use crate::{Error, GatherDims, OpKind, ScatterDims};

pub(super) fn gather(op: &mut dyn Source) -> Result<OpKind, Error> {
    let slice_sizes = op.sizes("slice_sizes")?;
    gather_of(op, slice_sizes)
}

/// A gather of slices of these sizes.
pub(super) fn gather_of(op: &mut dyn Source, slice_sizes: Vec<usize>) -> Result<OpKind, Error> {
    Ok(OpKind::Gather {
        dims: GatherDims {
            offset_dims: op.sizes_or("offset_dims", Vec::new)?,
            collapsed_slice_dims: op.sizes_or("collapsed_slice_dims", Vec::new)?,
            operand_batching_dims: op.optional_sizes("operand_batching_dims")?.unwrap_or_default(),
            start_indices_batching_dims: op.optional_sizes("start_indices_batching_dims")?.unwrap_or_default(),
            start_index_map: op.sizes_or("start_index_map", Vec::new)?,
            index_vector_dim: op.size_or("index_vector_dim", 0)?,
        },
        slice_sizes,
        indices_are_sorted: op.flag("indices_are_sorted")?,
    })
}

pub(super) fn write_gather(out: &mut Attributes<'_>, dims: &GatherDims, slice_sizes: &[usize], sorted: &bool) {
    let lists: &[(_, &[usize])] = &[
        ("offset_dims", &dims.offset_dims),
        ("collapsed_slice_dims", &dims.collapsed_slice_dims),
        ("operand_batching_dims", &dims.operand_batching_dims),
        ("start_indices_batching_dims", &dims.start_indices_batching_dims),
        ("start_index_map", &dims.start_index_map),
    ];
    out.dims("dimension_numbers", "gather", lists, Some(("index_vector_dim", dims.index_vector_dim)));
    out.sizes("slice_sizes", slice_sizes);
    out.flag("indices_are_sorted", sorted);
}

pub(super) fn scatter(op: &mut dyn Source) -> Result<OpKind, Error> {
    Ok(OpKind::Scatter {
        dims: ScatterDims {
            update_window_dims: op.sizes_or("update_window_dims", Vec::new)?,
            inserted_window_dims: op.sizes_or("inserted_window_dims", Vec::new)?,
            input_batching_dims: op.optional_sizes("input_batching_dims")?.unwrap_or_default(),
            scatter_indices_batching_dims: op.optional_sizes("scatter_indices_batching_dims")?.unwrap_or_default(),
            scatter_dims_to_operand_dims: op.sizes_or("scatter_dims_to_operand_dims", Vec::new)?,
            index_vector_dim: op.size_or("index_vector_dim", 0)?,
        },
        indices_are_sorted: op.flag("indices_are_sorted")?,
        unique_indices: op.flag("unique_indices")?,
    })
}

pub(super) fn write_scatter(out: &mut Attributes<'_>, dims: &ScatterDims, sorted: &bool, unique: &bool) {
    let lists: &[(_, &[usize])] = &[
        ("update_window_dims", &dims.update_window_dims),
        ("inserted_window_dims", &dims.inserted_window_dims),
        ("input_batching_dims", &dims.input_batching_dims),
        ("scatter_indices_batching_dims", &dims.scatter_indices_batching_dims),
        ("scatter_dims_to_operand_dims", &dims.scatter_dims_to_operand_dims),
    ];
    out.dims("scatter_dimension_numbers", "scatter", lists, Some(("index_vector_dim", dims.index_vector_dim)));
    out.flag("indices_are_sorted", sorted);
    out.flag("unique_indices", unique);
}

/// The legacy selection of slices along one dimension: a gather of scalar indices.
pub(super) fn torch_index_select(op: &mut dyn Source) -> Result<OpKind, Error> {
    let (dim, batch) = (op.size("dim")?, op.size_or("batch_dims", 0)?);
    let index_rank = op.operand_type(1)?.rank();
    let operand = op.operand_type(0)?;
    let rank = operand.rank();
    if dim >= rank || batch > dim || batch > index_rank {
        let message = format!(
            "dim = {dim} and batch_dims = {batch} do not fit an operand of rank {rank} and an index of rank {index_rank}"
        );
        return Err(Error::invalid(message));
    }
    // The result has the operand's dimensions, with those of the indices that are not batching in place of `dim`.
    let selected = index_rank - batch;
    let offset_dims = (batch..dim).chain(dim + selected..rank + selected - 1).collect();
    let in_slice = |(index, &size): (usize, &usize)| if index < batch || index == dim { size.min(1) } else { size };
    let slice_sizes = operand.dims.iter().enumerate().map(in_slice).collect();
    Ok(OpKind::Gather {
        dims: GatherDims {
            offset_dims,
            collapsed_slice_dims: vec![dim],
            operand_batching_dims: (0..batch).collect(),
            start_indices_batching_dims: (0..batch).collect(),
            start_index_map: vec![dim],
            index_vector_dim: index_rank,
        },
        slice_sizes,
        indices_are_sorted: false,
    })
}

pub(super) fn sort(op: &mut dyn Source) -> Result<OpKind, Error> {
    let dim = op.integer_or("dimension", -1)?;
    let rank = op.operand_type(0)?.rank() as i64;
    // -1 is the last dimension.
    let counted = if dim < 0 { dim.saturating_add(rank) } else { dim };
    let Ok(dim) = usize::try_from(counted) else {
        return Err(Error::invalid(format!("dimension must be a dimension of operands of rank {rank}, got {dim}")));
    };
    Ok(OpKind::Sort { dim, stable: op.flag("is_stable")? })
}
