use super::*;
use crate::Literal;

#[test]
fn sources() {
    let literal = Literal::splat(TensorType::new(ElementType::F32, [4]), [0; 4]);
    takes(OpKind::Constant(literal.clone()), "-> 4xf32", &[]);
    gives_other(OpKind::Constant(literal.clone()), "-> 4xi32", &[]);
    refuses(OpKind::Constant(literal), "f32 -> 4xf32", &[], "expected 0 operands, got 1");
    takes(OpKind::Iota { dim: 1 }, "-> 4x3xui8", &[]);
    refuses(
        OpKind::Iota { dim: 2 },
        "-> 4x3xi32",
        &[],
        "iota_dimension = 2 must be a dimension of the result, tensor<4x3xi32>",
    );
    refuses(
        OpKind::Iota { dim: 0 },
        "-> 4xi1",
        &[],
        "the result must be a tensor of integer, floating-point or complex type",
    );
    refuses(OpKind::Iota { dim: 0 }, "-> f32", &[], "must be a dimension");
    refuses(OpKind::Iota { dim: 0 }, "-> 4xf32, 4xf32", &[], "expected 1 result, got 2");
}

#[test]
fn rearrangements() {
    let broadcast = |dims: &[usize]| OpKind::BroadcastInDim { dims: dims.to_vec() };
    takes(broadcast(&[2, 0]), "3x1xf32 -> 7x2x3xf32", &[]);
    refuses(
        broadcast(&[0]),
        "3xf32 -> 4xf32",
        &[],
        "dimension 0 of operand, tensor<3xf32>, must be 1 or 4, the size of dimension 0 of the result, tensor<4xf32>",
    );
    refuses(broadcast(&[0, 0]), "3x3xf32 -> 3x3xf32", &[], "broadcast_dimensions must be unique, got [0, 0]");
    refuses(broadcast(&[2]), "3xf32 -> 3x3xf32", &[], "must be dimensions of the result of rank 2");
    refuses(
        broadcast(&[]),
        "3xf32 -> 3x3xf32",
        &[],
        "broadcast_dimensions must have an entry for each dimension of operand",
    );
    gives_other(broadcast(&[0]), "3xf32 -> 3xf64", &[]);
    takes(OpKind::Reshape, "2x3xf32 -> 6x1xf32", &[]);
    refuses(
        OpKind::Reshape,
        "2x3xf32 -> 5xf32",
        &[],
        "the same number of elements, got tensor<2x3xf32> and tensor<5xf32>",
    );
    gives_other(OpKind::Reshape, "2x3xf32 -> 6xi32", &[]);
    let transpose = |permutation: &[usize]| OpKind::Transpose { permutation: permutation.to_vec() };
    takes(transpose(&[2, 0, 1]), "2x3x5xf32 -> 5x2x3xf32", &[]);
    refuses(transpose(&[0, 0]), "2x3xf32 -> 2x2xf32", &[], "permutation must be unique, got [0, 0]");
    refuses(transpose(&[0]), "2x3xf32 -> 2xf32", &[], "permutation must have an entry for each dimension");
    gives_other(transpose(&[1, 0]), "2x3xf32 -> 2x3xf32", &[]);
    takes(OpKind::Reverse { dims: vec![1] }, "2x3xf32 -> 2x3xf32", &[]);
    refuses(
        OpKind::Reverse { dims: vec![2] },
        "2x3xf32 -> 2x3xf32",
        &[],
        "dimensions must be dimensions of operand of rank 2, got [2]",
    );
    refuses(OpKind::Reverse { dims: vec![1, 1] }, "2x3xf32 -> 2x3xf32", &[], "must be unique");
    let join = |dim| OpKind::Concatenate { dim };
    takes(join(1), "2x3xf32, 2x0xf32, 2x4xf32 -> 2x7xf32", &[]);
    refuses(
        join(1),
        "2x3xf32, 3x3xf32 -> 2x6xf32",
        &[],
        "inputs must have the same shape except in dimension 1, got tensor<2x3xf32> and tensor<3x3xf32>",
    );
    refuses(join(0), "2x3xf32, 2x3xf64 -> 4x3xf32", &[], "the same element type");
    refuses(join(0), "f32, f32 -> 2xf32", &[], "dimension = 0 must be a dimension of inputs");
    refuses(join(0), "-> 2xf32", &[], "operand inputs is missing, got 0 operands");
}

#[test]
fn slices() {
    let slice = |start: usize, limit: usize, stride: usize| OpKind::Slice {
        start: vec![start],
        limit: vec![limit],
        strides: vec![stride],
    };
    takes(slice(1, 6, 2), "7xf32 -> 3xf32", &[]);
    takes(slice(7, 7, usize::MAX), "7xf32 -> 0xf32", &[]);
    refuses(
        slice(1, 8, 1),
        "7xf32 -> 7xf32",
        &[],
        "start_indices[0] = 1 and limit_indices[0] = 8 must be ascending and within operand, tensor<7xf32>",
    );
    refuses(slice(4, 3, 1), "7xf32 -> 7xf32", &[], "must be ascending");
    refuses(slice(1, 3, 0), "7xf32 -> 7xf32", &[], "strides[0] must be positive, got 0");
    refuses(slice(1, 3, 1), "7x7xf32 -> 7xf32", &[], "start_indices must have an entry for each dimension");
    let dynamic = |sizes: &[usize]| OpKind::DynamicSlice { sizes: sizes.to_vec() };
    takes(dynamic(&[2, 1]), "4x5xf32, i64, i64 -> 2x1xf32", &[]);
    refuses(
        dynamic(&[2, 6]),
        "4x5xf32, i64, i64 -> 2x6xf32",
        &[],
        "slice_sizes[1] must be at most dimension 1 of operand tensor<4x5xf32>, got 6",
    );
    refuses(
        dynamic(&[2, 1]),
        "4x5xf32, i64 -> 2x1xf32",
        &[],
        "start_indices must have an entry for each dimension of operand, tensor<4x5xf32>, got 1",
    );
    refuses(dynamic(&[2, 1]), "4x5xf32, i64, i32 -> 2x1xf32", &[], "the same element type");
    refuses(dynamic(&[2]), "4xf32, 1xi64 -> 2xf32", &[], "start_indices must be a scalar, got tensor<1xi64>");
    refuses(dynamic(&[2]), "4xf32, f32 -> 2xf32", &[], "start_indices must be a tensor of integer type");
    takes(OpKind::DynamicUpdateSlice, "4x5xf32, 2x5xf32, ui8, ui8 -> 4x5xf32", &[]);
    refuses(
        OpKind::DynamicUpdateSlice,
        "4x5xf32, 5x5xf32, ui8, ui8 -> 4x5xf32",
        &[],
        "update must fit into operand tensor<4x5xf32>, got tensor<5x5xf32>",
    );
    refuses(
        OpKind::DynamicUpdateSlice,
        "4xf32, 4xf64, ui8 -> 4xf32",
        &[],
        "operand and update must have the same element type",
    );
    let pad = |low, high, interior| OpKind::Pad { low: vec![low], high: vec![high], interior: vec![interior] };
    takes(pad(1, -2, 3), "4xf32, f32 -> 12xf32", &[]);
    takes(pad(1, 2, 3), "0xf32, f32 -> 3xf32", &[]);
    refuses(pad(0, 0, -1), "4xf32, f32 -> 4xf32", &[], "interior_padding[0] must not be negative, got -1");
    refuses(
        pad(-3, -3, 0),
        "4xf32, f32 -> 0xf32",
        &[],
        "dimension 0 of operand tensor<4xf32> cannot have size -2 after padding",
    );
    refuses(pad(i64::MAX, i64::MAX, i64::MAX), "4xf32, f32 -> 0xf32", &[], "after padding");
    refuses(pad(0, 0, 0), "4xf32, 1xf32 -> 4xf32", &[], "padding_value must be a scalar");
    refuses(pad(0, 0, 0), "4xf32, f64 -> 4xf32", &[], "operand and padding_value must have the same element type");
    let set = |dim| OpKind::SetDimensionSize { dim };
    takes(set(1), "4x5xf32, i32 -> 4x5xf32", &[]);
    refuses(set(2), "4x5xf32, i32 -> 4x5xf32", &[], "dimension");
    refuses(set(1), "4x5xf32, i64 -> 4x5xf32", &[], "size must be a scalar of i32, got tensor<i64>");
    takes(OpKind::GetDimensionSize { dim: 1 }, "4x5xf32 -> i32", &[]);
    refuses(
        OpKind::GetDimensionSize { dim: 2 },
        "4x5xf32 -> i32",
        &[],
        "dimension = 2 must be a dimension of operand, tensor<4x5xf32>",
    );
}
