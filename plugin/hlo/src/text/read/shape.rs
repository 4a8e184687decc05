//! Ops that move elements.

use super::{Read, attributes::Reader};
use crate::{Error, GatherDims, OpKind, ScatterDims};

pub(super) const OPS: &[(&str, Read)] = &[
    ("stablehlo.iota", |reader| Ok(OpKind::Iota { dim: reader.dim("iota_dimension")? })),
    ("stablehlo.broadcast_in_dim", |reader| Ok(OpKind::BroadcastInDim { dims: reader.dims("broadcast_dimensions")? })),
    ("stablehlo.broadcast", broadcast),
    ("stablehlo.reshape", |_| Ok(OpKind::Reshape)),
    ("mhlo.copy", |_| Ok(OpKind::Reshape)),
    ("stablehlo.transpose", |reader| Ok(OpKind::Transpose { permutation: reader.dims("permutation")? })),
    ("stablehlo.slice", slice),
    ("stablehlo.dynamic_slice", |reader| Ok(OpKind::DynamicSlice { sizes: reader.dims("slice_sizes")? })),
    ("stablehlo.dynamic_update_slice", |_| Ok(OpKind::DynamicUpdateSlice)),
    ("stablehlo.pad", pad),
    ("stablehlo.concatenate", |reader| Ok(OpKind::Concatenate { dim: reader.dim("dimension")? })),
    ("stablehlo.reverse", |reader| Ok(OpKind::Reverse { dims: reader.dims("dimensions")? })),
    ("stablehlo.gather", gather),
    ("stablehlo.scatter", scatter),
    ("stablehlo.get_dimension_size", |reader| Ok(OpKind::GetDimensionSize { dim: reader.dim("dimension")? })),
];

/// Legacy: adds dimensions in front.
fn broadcast(reader: &mut Reader) -> Result<OpKind, Error> {
    let added = reader.dims("broadcast_sizes")?.len();
    let rank = reader.operand(0)?.rank();
    Ok(OpKind::BroadcastInDim { dims: (added..added + rank).collect() })
}

fn slice(reader: &mut Reader) -> Result<OpKind, Error> {
    let start = reader.dims("start_indices")?;
    let limit = reader.dims("limit_indices")?;
    let strides = reader.optional_dims("strides")?.unwrap_or_else(|| vec![1; start.len()]);
    Ok(OpKind::Slice { start, limit, strides })
}

fn pad(reader: &mut Reader) -> Result<OpKind, Error> {
    let mut padding = |name| reader.ints(name);
    Ok(OpKind::Pad {
        low: padding("edge_padding_low")?,
        high: padding("edge_padding_high")?,
        interior: padding("interior_padding")?,
    })
}

fn gather(reader: &mut Reader) -> Result<OpKind, Error> {
    let dims = reader.structure("dimension_numbers", |parameters| {
        Ok(GatherDims {
            offset_dims: parameters.dims("offset_dims")?,
            collapsed_slice_dims: parameters.dims("collapsed_slice_dims")?,
            operand_batching_dims: parameters.dims("operand_batching_dims")?,
            start_indices_batching_dims: parameters.dims("start_indices_batching_dims")?,
            start_index_map: parameters.dims("start_index_map")?,
            index_vector_dim: parameters.dim("index_vector_dim")?,
        })
    })?;
    Ok(OpKind::Gather {
        dims,
        slice_sizes: reader.dims("slice_sizes")?,
        indices_are_sorted: reader.bool("indices_are_sorted", false)?,
    })
}

fn scatter(reader: &mut Reader) -> Result<OpKind, Error> {
    let dims = reader.structure("scatter_dimension_numbers", |parameters| {
        Ok(ScatterDims {
            update_window_dims: parameters.dims("update_window_dims")?,
            inserted_window_dims: parameters.dims("inserted_window_dims")?,
            input_batching_dims: parameters.dims("input_batching_dims")?,
            scatter_indices_batching_dims: parameters.dims("scatter_indices_batching_dims")?,
            scatter_dims_to_operand_dims: parameters.dims("scatter_dims_to_operand_dims")?,
            index_vector_dim: parameters.dim("index_vector_dim")?,
        })
    })?;
    Ok(OpKind::Scatter {
        dims,
        indices_are_sorted: reader.bool("indices_are_sorted", false)?,
        unique_indices: reader.bool("unique_indices", false)?,
    })
}
