//! Dot products, convolutions, linear algebra, transforms, random numbers and batch norm.

use super::{
    Read,
    attributes::{Parameters, Reader},
    window::{WindowNames, window},
};
use crate::{
    ConvolutionDims, DotAlgorithm, DotDims, ElementType, Error, FftType, OpKind, Precision, RngAlgorithm,
    RngDistribution, Transpose,
    text::{syntax::Value, types::element_type},
};

pub(super) const OPS: &[(&str, Read)] = &[
    ("stablehlo.dot", dot),
    ("stablehlo.dot_general", dot_general),
    ("stablehlo.convolution", convolution),
    ("stablehlo.fft", fft),
    ("stablehlo.cholesky", |reader| Ok(OpKind::Cholesky { lower: reader.bool("lower", false)? })),
    ("stablehlo.triangular_solve", triangular_solve),
    ("stablehlo.rng", |reader| Ok(OpKind::Rng(reader.enumeration("rng_distribution", RngDistribution::from_name)?))),
    ("stablehlo.rng_bit_generator", |reader| {
        Ok(OpKind::RngBitGenerator(reader.enumeration("rng_algorithm", RngAlgorithm::from_name)?))
    }),
    ("stablehlo.batch_norm_inference", |reader| {
        let (epsilon, feature) = batch_norm(reader)?;
        Ok(OpKind::BatchNormInference { epsilon, feature })
    }),
    ("stablehlo.batch_norm_training", |reader| {
        let (epsilon, feature) = batch_norm(reader)?;
        Ok(OpKind::BatchNormTraining { epsilon, feature })
    }),
    ("stablehlo.batch_norm_grad", |reader| {
        let (epsilon, feature) = batch_norm(reader)?;
        Ok(OpKind::BatchNormGrad { epsilon, feature })
    }),
];

/// Legacy: the last dimension of the left operand with the first of the right.
fn dot(reader: &mut Reader) -> Result<OpKind, Error> {
    let (lhs, rhs) = (reader.operand(0)?.rank(), reader.operand(1)?.rank());
    if !(1..=2).contains(&lhs) || !(1..=2).contains(&rhs) {
        return Err(reader.error(format!("operands of {lhs} and {rhs} dimensions: must be vectors or matrices")));
    }
    Ok(OpKind::DotGeneral(DotDims {
        lhs_batching: Vec::new(),
        rhs_batching: Vec::new(),
        lhs_contracting: vec![lhs - 1],
        rhs_contracting: vec![0],
        precision: reader.enums("precision_config", Precision::from_name)?,
        algorithm: None,
    }))
}

fn dot_general(reader: &mut Reader) -> Result<OpKind, Error> {
    let precision = reader.enums("precision_config", Precision::from_name)?;
    let algorithm = reader.optional_struct("algorithm", dot_algorithm)?;
    let dims = reader.structure("dot_dimension_numbers", |parameters| {
        Ok(DotDims {
            lhs_batching: parameters.dims("lhs_batching_dimensions")?,
            rhs_batching: parameters.dims("rhs_batching_dimensions")?,
            lhs_contracting: parameters.dims("lhs_contracting_dimensions")?,
            rhs_contracting: parameters.dims("rhs_contracting_dimensions")?,
            precision,
            algorithm,
        })
    })?;
    Ok(OpKind::DotGeneral(dims))
}

fn dot_algorithm(parameters: &mut Parameters) -> Result<DotAlgorithm, Error> {
    let allow = parameters.word("allow_imprecise_accumulation")?;
    Ok(DotAlgorithm {
        lhs_precision: precision_type(parameters, "lhs_precision_type")?,
        rhs_precision: precision_type(parameters, "rhs_precision_type")?,
        accumulation: precision_type(parameters, "accumulation_type")?,
        lhs_components: parameters.int("lhs_component_count")?,
        rhs_components: parameters.int("rhs_component_count")?,
        primitive_operations: parameters.int("num_primitive_operations")?,
        allow_imprecise_accumulation: match allow {
            "true" => true,
            "false" => false,
            _ => return Err(Error::invalid("`allow_imprecise_accumulation` must be a boolean")),
        },
    })
}

/// A type that operands are rounded to; `None` is TF32.
fn precision_type(parameters: &mut Parameters, name: &str) -> Result<Option<ElementType>, Error> {
    match parameters.word(name)? {
        "tf32" => Ok(None),
        word => match element_type(word) {
            Some(element) => Ok(Some(element)),
            None => Err(Error::invalid(format!("`{word}` is not a type"))),
        },
    }
}

const CONVOLUTION: WindowNames =
    WindowNames { strides: "window_strides", base_dilations: "lhs_dilation", window_dilations: "rhs_dilation" };

fn convolution(reader: &mut Reader) -> Result<OpKind, Error> {
    let kernel = reader.operand(1)?.clone();
    let feature_groups = reader.optional_dim("feature_group_count")?.unwrap_or(1);
    let batch_groups = reader.optional_dim("batch_group_count")?.unwrap_or(1);
    let precision = reader.enums("precision_config", Precision::from_name)?;
    let mut dims = reader.structure("dimension_numbers", |parameters| {
        Ok(ConvolutionDims {
            window: Vec::new(),
            input_batch: parameters.dim("input_batch_dimension")?,
            input_feature: parameters.dim("input_feature_dimension")?,
            input_spatial: parameters.dims("input_spatial_dimensions")?,
            kernel_input_feature: parameters.dim("kernel_input_feature_dimension")?,
            kernel_output_feature: parameters.dim("kernel_output_feature_dimension")?,
            kernel_spatial: parameters.dims("kernel_spatial_dimensions")?,
            output_batch: parameters.dim("output_batch_dimension")?,
            output_feature: parameters.dim("output_feature_dimension")?,
            output_spatial: parameters.dims("output_spatial_dimensions")?,
            feature_groups,
            batch_groups,
            precision,
        })
    })?;
    let sizes: Option<Vec<usize>> = dims.kernel_spatial.iter().map(|&dim| kernel.dims.get(dim).copied()).collect();
    let sizes = sizes.ok_or_else(|| reader.error(format!("a kernel of type {kernel} lacks a spatial dimension")))?;
    dims.window = window(reader, &sizes, &CONVOLUTION)?;
    Ok(OpKind::Convolution(dims))
}

fn fft(reader: &mut Reader) -> Result<OpKind, Error> {
    let fft_type = reader.enumeration("fft_type", FftType::from_name)?;
    Ok(OpKind::Fft { fft_type, lengths: reader.dims("fft_length")? })
}

fn triangular_solve(reader: &mut Reader) -> Result<OpKind, Error> {
    Ok(OpKind::TriangularSolve {
        left_side: reader.bool("left_side", false)?,
        lower: reader.bool("lower", false)?,
        unit_diagonal: reader.bool("unit_diagonal", false)?,
        transpose: reader.enumeration("transpose_a", Transpose::from_name)?,
    })
}

/// The epsilon and the feature dimension.
fn batch_norm(reader: &mut Reader) -> Result<(f32, usize), Error> {
    let epsilon = reader.required("epsilon", "a number of type f32", |value| match value {
        Value::Attribute(crate::Attribute::Float(value, ElementType::F32)) => Some(*value as f32),
        _ => None,
    })?;
    Ok((epsilon, reader.dim("feature_index")?))
}
