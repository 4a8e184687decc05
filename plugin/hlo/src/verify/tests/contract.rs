use super::*;
use crate::{ConvolutionDims, DotAlgorithm, DotDims, Precision, Transpose, WindowDim};

/// A product of batches of matrices.
fn dot(change: impl FnOnce(&mut DotDims)) -> OpKind {
    let mut dims = DotDims {
        lhs_batching: vec![0],
        rhs_batching: vec![0],
        lhs_contracting: vec![2],
        rhs_contracting: vec![1],
        precision: vec![],
        algorithm: None,
    };
    change(&mut dims);
    OpKind::DotGeneral(dims)
}

#[test]
fn dot_products() {
    let text = "7x2x3xf32, 7x3x5xf32 -> 7x2x5xf32";
    takes(dot(|_| ()), text, &[]);
    takes(dot(|_| ()), "7x2x3xi8, 7x3x5xi8 -> 7x2x5xi32", &[]);
    takes(dot(|_| ()), "7x2x3xi8, 7x3x5xi8 -> 7x2x5xf32", &[]);
    takes(dot(|_| ()), "7x2x3xi1, 7x3x5xi1 -> 7x2x5xi32", &[]);
    takes(dot(|_| ()), "7x2x3xcomplex<f32>, 7x3x5xcomplex<f32> -> 7x2x5xf32", &[]);
    takes(dot(|_| ()), "7x2x3xf32, 7x3x5xi8 -> 7x2x5xf32", &[]);
    takes(dot(|_| ()), "7x2x3xui8, 7x3x5xbf16 -> 7x2x5xf32", &[]);
    refuses(dot(|_| ()), "7x2x3xi8, 7x3x5xf32 -> 7x2x5xi32", &[], "cannot have elements of type i32");
    takes(dot(|_| ()), "7x2x3xf8E4M3FN, 7x3x5xf8E5M2 -> 7x2x5xf32", &[]);
    takes(dot(|dims| dims.precision = vec![Precision::High, Precision::Default]), text, &[]);
    refuses(
        dot(|dims| dims.precision = vec![Precision::High]),
        text,
        &[],
        "precision_config must have 2 entries or none, got 1",
    );
    refuses(
        dot(|_| ()),
        "7x2x3xf32, 7x4x5xf32 -> 7x2x5xf32",
        &[],
        "contracting dimension 2 of lhs, tensor<7x2x3xf32>, must have the size of dimension 1 of rhs, tensor<7x4x5xf32>",
    );
    refuses(dot(|_| ()), "7x2x3xf32, 6x3x5xf32 -> 7x2x5xf32", &[], "batching dimension 0 of lhs");
    let kinds = "lhs and rhs must have element types of one kind, or floats and integers";
    refuses(dot(|_| ()), "7x2x3xf32, 7x3x5xi1 -> 7x2x5xf32", &[], kinds);
    refuses(dot(|_| ()), "7x2x3xcomplex<f32>, 7x3x5xi8 -> 7x2x5xcomplex<f32>", &[], kinds);
    refuses(dot(|_| ()), "7x2x3xf32, 7x3x5xf32 -> 7x2x5xi32", &[], "cannot have elements of type i32");
    refuses(
        dot(|dims| dims.lhs_contracting = vec![0]),
        text,
        &[],
        "lhs_batching_dimensions and lhs_contracting_dimensions must be unique, got [0, 0]",
    );
    refuses(
        dot(|dims| dims.lhs_contracting = vec![]),
        text,
        &[],
        "lhs_contracting_dimensions and rhs_contracting_dimensions must have the same length, got [] and [1]",
    );
    refuses(dot(|dims| dims.rhs_batching = vec![3]), text, &[], "must be dimensions of rhs of rank 3");
    let algorithm = DotAlgorithm {
        lhs_precision: None,
        rhs_precision: None,
        accumulation: Some(ElementType::F32),
        lhs_components: 0,
        rhs_components: 1,
        primitive_operations: 1,
        allow_imprecise_accumulation: false,
    };
    refuses(dot(|dims| dims.algorithm = Some(algorithm)), text, &[], "must be positive, got [0, 1, 1]");
    gives_other(dot(|_| ()), "7x2x3xf32, 7x3x5xf32 -> 7x5x2xf32", &[]);
}

/// A convolution over one dimension: `NCW`, `OIW`, `NCW`, of 3 elements.
fn convolution(change: impl FnOnce(&mut ConvolutionDims)) -> OpKind {
    let window = WindowDim {
        size: 3,
        stride: 1,
        padding_low: 0,
        padding_high: 0,
        base_dilation: 1,
        window_dilation: 1,
        reversal: false,
    };
    let mut dims = ConvolutionDims {
        window: vec![window],
        input_batch: 0,
        input_feature: 1,
        input_spatial: vec![2],
        kernel_input_feature: 1,
        kernel_output_feature: 0,
        kernel_spatial: vec![2],
        output_batch: 0,
        output_feature: 1,
        output_spatial: vec![2],
        feature_groups: 1,
        batch_groups: 1,
        precision: vec![],
    };
    change(&mut dims);
    OpKind::Convolution(dims)
}

#[test]
fn convolutions() {
    let text = "2x6x9xf32, 4x6x3xf32 -> 2x4x7xf32";
    takes(convolution(|_| ()), text, &[]);
    takes(convolution(|dims| dims.feature_groups = 2), "2x6x9xf32, 4x3x3xf32 -> 2x4x7xf32", &[]);
    takes(convolution(|dims| dims.batch_groups = 2), "2x6x9xf32, 4x6x3xf32 -> 1x4x7xf32", &[]);
    takes(convolution(|_| ()), "2x6x9xi8, 4x6x3xi8 -> 2x4x7xi32", &[]);
    refuses(
        convolution(|_| ()),
        "2x6x9xf32, 4x5x3xf32 -> 2x4x7xf32",
        &[],
        "the feature dimension 1 of lhs, tensor<2x6x9xf32>, must be feature_group_count = 1 times the input feature dimension 1 of rhs, tensor<4x5x3xf32>",
    );
    refuses(
        convolution(|_| ()),
        "2x6x9xf32, 4x6x2xf32 -> 2x4x8xf32",
        &[],
        "spatial dimension 0 of the window must have size 2, as in rhs tensor<4x6x2xf32>, got 3",
    );
    refuses(
        convolution(|_| ()),
        "2x6xf32, 4x6x3xf32 -> 2x4x7xf32",
        &[],
        "lhs and rhs must have rank 3 for a window of 1 dimensions",
    );
    refuses(convolution(|dims| dims.input_batch = 1), text, &[], "the input dimensions must be unique, got [1, 1, 2]");
    refuses(
        convolution(|dims| dims.output_spatial = vec![]),
        text,
        &[],
        "the output dimensions must be 3 dimensions, got 2",
    );
    refuses(convolution(|dims| dims.kernel_spatial = vec![3]), text, &[], "must be dimensions of rhs of rank 3");
    refuses(convolution(|dims| dims.feature_groups = 0), text, &[], "must be positive");
    refuses(
        convolution(|dims| (dims.feature_groups, dims.batch_groups) = (2, 2)),
        text,
        &[],
        "one of feature_group_count and batch_group_count must be 1",
    );
    refuses(
        convolution(|dims| dims.batch_groups = 4),
        text,
        &[],
        "the batch dimension 0 of lhs, tensor<2x6x9xf32>, must be a multiple of batch_group_count = 4",
    );
    refuses(
        convolution(|dims| dims.feature_groups = 3),
        "2x6x9xf32, 4x2x3xf32 -> 2x4x7xf32",
        &[],
        "the output feature dimension 0 of rhs",
    );
    refuses(convolution(|dims| dims.window[0].stride = 0), text, &[], "window_strides[0] must be positive, got 0");
    gives_other(convolution(|_| ()), "2x6x9xf32, 4x6x3xf32 -> 2x4x9xf32", &[]);
}

#[test]
fn matrices() {
    let cholesky = OpKind::Cholesky { lower: true };
    takes(cholesky.clone(), "2x3x3xf32 -> 2x3x3xf32", &[]);
    refuses(
        cholesky.clone(),
        "2x3xf32 -> 2x3xf32",
        &[],
        "the last two dimensions of a must be equal, got tensor<2x3xf32>",
    );
    refuses(cholesky.clone(), "3xf32 -> 3xf32", &[], "the last two dimensions of a must be equal");
    refuses(cholesky, "3x3xi32 -> 3x3xi32", &[], "a must be a tensor of floating-point or complex type");
    let solve = |left_side| OpKind::TriangularSolve {
        left_side,
        lower: true,
        unit_diagonal: false,
        transpose: Transpose::NoTranspose,
    };
    takes(solve(true), "2x3x3xf64, 2x3x5xf64 -> 2x3x5xf64", &[]);
    takes(solve(false), "3x3xf64, 5x3xf64 -> 5x3xf64", &[]);
    takes(solve(true), "3x3xbf16, 3x5xbf16 -> 3x5xbf16", &[]);
    refuses(
        solve(false),
        "3x3xf64, 3x5xf64 -> 3x5xf64",
        &[],
        "dimension 1 of b, tensor<3x5xf64>, must have the size of the matrices of a, tensor<3x3xf64>, since left_side is false",
    );
    refuses(solve(true), "2x3x3xf64, 3x5xf64 -> 3x5xf64", &[], "a and b must have the same rank and batch dimensions");
    refuses(solve(true), "3x3xf64, 3x5xf32 -> 3x5xf32", &[], "a and b must have the same element type");
}
