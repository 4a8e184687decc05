use super::*;
use crate::{GatherDims, ScatterDims};

/// Rows of a matrix.
fn rows() -> GatherDims {
    GatherDims {
        offset_dims: vec![1],
        collapsed_slice_dims: vec![0],
        operand_batching_dims: vec![],
        start_indices_batching_dims: vec![],
        start_index_map: vec![0],
        index_vector_dim: 1,
    }
}

fn gather(change: impl FnOnce(&mut GatherDims), slice_sizes: &[usize]) -> OpKind {
    let mut dims = rows();
    change(&mut dims);
    OpKind::Gather { dims, slice_sizes: slice_sizes.to_vec(), indices_are_sorted: false }
}

#[test]
fn gathers() {
    let text = "10x4xf32, 7x1xi32 -> 7x4xf32";
    takes(gather(|_| (), &[1, 4]), text, &[]);
    takes(gather(|dims| dims.index_vector_dim = 2, &[1, 4]), "10x4xf32, 7x3xi32 -> 7x4x3xf32", &[]);
    let batched = |dims: &mut GatherDims| {
        dims.offset_dims = vec![];
        dims.collapsed_slice_dims = vec![1];
        dims.operand_batching_dims = vec![0];
        dims.start_indices_batching_dims = vec![1];
        dims.start_index_map = vec![1];
        dims.index_vector_dim = 2;
    };
    takes(gather(batched, &[1, 1]), "10x4xf32, 7x10xi32 -> 7x10xf32", &[]);
    refuses(
        gather(batched, &[1, 1]),
        "10x4xf32, 7x9xi32 -> 7x9xf32",
        &[],
        "batching dimension 0 of operand, tensor<10x4xf32>, must have the size of dimension 1 of start_indices, tensor<7x9xi32>",
    );
    refuses(
        gather(|_| (), &[2, 4]),
        text,
        &[],
        "slice_sizes[0] must be at most 1 for a collapsed or batching dimension, got 2",
    );
    refuses(
        gather(|_| (), &[1, 5]),
        text,
        &[],
        "slice_sizes[1] must be at most dimension 1 of operand tensor<10x4xf32>, got 5",
    );
    refuses(gather(|_| (), &[1]), text, &[], "slice_sizes must have an entry for each dimension of operand");
    refuses(gather(|dims| dims.offset_dims = vec![], &[1, 4]), text, &[], "offset_dims must have 1 entries");
    refuses(
        gather(|dims| dims.offset_dims = vec![2], &[1, 4]),
        text,
        &[],
        "offset_dims must be dimensions of the result of rank 2, got [2]",
    );
    refuses(
        gather(|dims| dims.collapsed_slice_dims = vec![2], &[1, 4]),
        text,
        &[],
        "collapsed_slice_dims must be dimensions of operand of rank 2, got [2]",
    );
    refuses(
        gather(|dims| dims.start_index_map = vec![2], &[1, 4]),
        text,
        &[],
        "start_index_map and operand_batching_dims must be dimensions of operand of rank 2, got [2]",
    );
    refuses(
        gather(|dims| dims.start_index_map = vec![0, 1], &[1, 4]),
        text,
        &[],
        "start_index_map must have 1 entries, the length of an index vector",
    );
    refuses(
        gather(|dims| dims.index_vector_dim = 3, &[1, 4]),
        text,
        &[],
        "index_vector_dim = 3 must be at most the rank of start_indices, tensor<7x1xi32>",
    );
    refuses(
        gather(|dims| dims.operand_batching_dims = vec![1], &[1, 1]),
        text,
        &[],
        "operand_batching_dims and start_indices_batching_dims must have the same length",
    );
    refuses(
        gather(|_| (), &[1, 4]),
        "10x4xf32, 7x1xf32 -> 7x4xf32",
        &[],
        "start_indices must be a tensor of integer type",
    );
    gives_other(gather(|_| (), &[1, 4]), "10x4xf32, 7x1xi32 -> 4x7xf32", &[]);
}

fn scatter(change: impl FnOnce(&mut ScatterDims)) -> OpKind {
    let mut dims = ScatterDims {
        update_window_dims: vec![1],
        inserted_window_dims: vec![0],
        input_batching_dims: vec![],
        scatter_indices_batching_dims: vec![],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
    };
    change(&mut dims);
    OpKind::Scatter { dims, indices_are_sorted: false, unique_indices: false }
}

#[test]
fn scatters() {
    let text = "10x4xf32, 7x1xi32, 7x4xf32 -> 10x4xf32";
    let add = &["f32, f32 -> f32"];
    takes(scatter(|_| ()), text, add);
    takes(scatter(|_| ()), "10x4xf32, 7x1xi32, 7x3xf32 -> 10x4xf32", add);
    takes(
        scatter(|_| ()),
        "10x4xf32, 10x4xi8, 7x1xi32, 7x4xf32, 7x4xi8 -> 10x4xf32, 10x4xi8",
        &["f32, i8, f32, i8 -> f32, i8"],
    );
    takes(scatter(|_| ()), "10x4xf32, 7x1xi32, 7x4xf32 -> 10x4xf64", &["f64, f64 -> f64"]);
    refuses(
        scatter(|_| ()),
        "10x4xf32, 7x1xi32, 6x4xf32 -> 10x4xf32",
        add,
        "updates must have the shape [7, 4] of scatter_indices tensor<7x1xi32> and windows [4], got tensor<6x4xf32>",
    );
    refuses(
        scatter(|_| ()),
        "10x4xf32, 7x1xi32, 7x5xf32 -> 10x4xf32",
        add,
        "must be within the dimensions of inputs, tensor<10x4xf32>",
    );
    refuses(
        scatter(|_| ()),
        "10x4xf32, 7x1xi32, 7x4xf64 -> 10x4xf32",
        add,
        "inputs and updates must have the same element type",
    );
    refuses(
        scatter(|_| ()),
        "10x4xf32, 7x1xi32 -> 10x4xf32",
        add,
        "expected inputs, scatter_indices and as many updates, got 2 operands",
    );
    refuses(
        scatter(|_| ()),
        text,
        &["f32 -> f32"],
        "update_computation must have 2 parameters and 1 results, got 1 and 1",
    );
    refuses(
        scatter(|_| ()),
        text,
        &["f16, f16 -> f16"],
        "but the elements of tensor<10x4xf32> cannot be promoted to it",
    );
    refuses(
        scatter(|_| ()),
        text,
        &["1xf32, f32 -> f32"],
        "the parameters of update_computation must be scalars, got tensor<1xf32>",
    );
    refuses(scatter(|_| ()), text, &[], "expected 1 regions, got 0");
    refuses(
        scatter(|dims| dims.update_window_dims = vec![2]),
        text,
        add,
        "update_window_dims must be dimensions of updates of rank 2, got [2]",
    );
    refuses(
        scatter(|dims| dims.inserted_window_dims = vec![1, 0]),
        text,
        add,
        "inserted_window_dims must be sorted, got [1, 0]",
    );
}
