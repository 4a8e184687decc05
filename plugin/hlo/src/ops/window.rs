//! Windows and convolution.

use super::attributes::{Attributes, signed};
use super::source::Source;
use super::value::{Field, Value};
use crate::{ConvolutionDims, Error, OpKind, WindowDim};

pub(super) fn reduce_window(op: &mut dyn Source) -> Result<OpKind, Error> {
    let window = Window {
        sizes: op.sizes("window_dimensions")?,
        strides: op.sizes_or("window_strides", Vec::new)?,
        padding: op.integers_or_none("padding")?,
        base_dilations: op.sizes_or("base_dilations", Vec::new)?,
        window_dilations: op.sizes_or("window_dilations", Vec::new)?,
        reversal: Vec::new(),
    };
    Ok(OpKind::ReduceWindow { window: window.dims()? })
}

pub(super) fn write_reduce_window(out: &mut Attributes<'_>, window: &[WindowDim]) {
    write_window(out, window);
    out.window("base_dilations", window, |dim| dim.base_dilation);
    out.window("window_dilations", window, |dim| dim.window_dilation);
}

pub(super) fn select_and_scatter(op: &mut dyn Source) -> Result<OpKind, Error> {
    let rank = op.operand_type(0)?.rank();
    let window = Window {
        sizes: op.sizes_or("window_dimensions", || vec![1; rank])?,
        strides: op.sizes_or("window_strides", Vec::new)?,
        padding: op.integers_or_none("padding")?,
        base_dilations: Vec::new(),
        window_dilations: Vec::new(),
        reversal: Vec::new(),
    };
    Ok(OpKind::SelectAndScatter { window: window.dims()? })
}

/// A window without dilations.
pub(super) fn write_window(out: &mut Attributes<'_>, window: &[WindowDim]) {
    out.window("window_dimensions", window, |dim| dim.size);
    out.window("window_strides", window, |dim| dim.stride);
    out.padding("padding", window);
}

pub(super) fn convolution(op: &mut dyn Source) -> Result<OpKind, Error> {
    let padding = op.integers_or_none("padding")?;
    convolution_of(op, padding)
}

/// A convolution with this padding: low and high for each spatial dimension.
pub(super) fn convolution_of(op: &mut dyn Source, padding: Vec<i64>) -> Result<OpKind, Error> {
    let kernel_spatial = op.sizes_or("kernel_spatial_dimensions", Vec::new)?;
    let kernel = op.operand_type(1)?;
    let size = |&dim: &usize| {
        let size = kernel.dims.get(dim).copied();
        size.ok_or_else(|| {
            Error::invalid(format!("kernel_spatial_dimensions must be dimensions of the kernel {kernel}, got {dim}"))
        })
    };
    let window = Window {
        sizes: kernel_spatial.iter().map(size).collect::<Result<_, _>>()?,
        strides: op.sizes_or("window_strides", Vec::new)?,
        padding,
        base_dilations: op.sizes_or("lhs_dilation", Vec::new)?,
        window_dilations: op.sizes_or("rhs_dilation", Vec::new)?,
        reversal: op.integers_or_none("window_reversal")?,
    };
    Ok(OpKind::Convolution(ConvolutionDims {
        window: window.dims()?,
        input_batch: op.size_or("input_batch_dimension", 0)?,
        input_feature: op.size_or("input_feature_dimension", 0)?,
        input_spatial: op.sizes_or("input_spatial_dimensions", Vec::new)?,
        kernel_input_feature: op.size_or("kernel_input_feature_dimension", 0)?,
        kernel_output_feature: op.size_or("kernel_output_feature_dimension", 0)?,
        kernel_spatial,
        output_batch: op.size_or("output_batch_dimension", 0)?,
        output_feature: op.size_or("output_feature_dimension", 0)?,
        output_spatial: op.sizes_or("output_spatial_dimensions", Vec::new)?,
        feature_groups: op.size_or("feature_group_count", 1)?,
        batch_groups: op.size_or("batch_group_count", 1)?,
        precision: op.precisions("precision_config")?,
    }))
}

pub(super) fn write_convolution(out: &mut Attributes<'_>, dims: &ConvolutionDims) {
    let number = |value: usize| Field::Int(value as i64);
    let numbers = vec![
        ("input_batch_dimension", number(dims.input_batch)),
        ("input_feature_dimension", number(dims.input_feature)),
        ("input_spatial_dimensions", Field::Ints(signed(&dims.input_spatial))),
        ("kernel_input_feature_dimension", number(dims.kernel_input_feature)),
        ("kernel_output_feature_dimension", number(dims.kernel_output_feature)),
        ("kernel_spatial_dimensions", Field::Ints(signed(&dims.kernel_spatial))),
        ("output_batch_dimension", number(dims.output_batch)),
        ("output_feature_dimension", number(dims.output_feature)),
        ("output_spatial_dimensions", Field::Ints(signed(&dims.output_spatial))),
    ];
    out.set("dimension_numbers", Value::Struct("conv", numbers));
    let window = &dims.window;
    out.window("window_strides", window, |dim| dim.stride);
    out.padding("padding", window);
    out.window("lhs_dilation", window, |dim| dim.base_dilation);
    out.window("rhs_dilation", window, |dim| dim.window_dilation);
    out.set("window_reversal", Value::Bools(window.iter().map(|dim| dim.reversal).collect()));
    out.size("feature_group_count", &dims.feature_groups);
    out.size("batch_group_count", &dims.batch_groups);
    out.precisions("precision_config", &dims.precision);
}

/// The attributes of a window, one entry for each dimension. What is empty has the neutral value.
struct Window {
    sizes: Vec<usize>,
    strides: Vec<usize>,
    /// Low and high for each dimension.
    padding: Vec<i64>,
    base_dilations: Vec<usize>,
    window_dilations: Vec<usize>,
    reversal: Vec<i64>,
}

impl Window {
    fn dims(&self) -> Result<Vec<WindowDim>, Error> {
        let rank = self.sizes.len();
        for (what, length, expected) in [
            ("strides", self.strides.len(), rank),
            ("paddings", self.padding.len(), 2 * rank),
            ("base dilations", self.base_dilations.len(), rank),
            ("window dilations", self.window_dilations.len(), rank),
            ("reversals", self.reversal.len(), rank),
        ] {
            if length != 0 && length != expected {
                let message = format!("expected {rank} {what} for the dimensions of the window, got {length}");
                return Err(Error::invalid(message));
            }
        }
        let dim = |index: usize| WindowDim {
            size: self.sizes[index],
            stride: self.strides.get(index).copied().unwrap_or(1),
            padding_low: self.padding.get(2 * index).copied().unwrap_or(0),
            padding_high: self.padding.get(2 * index + 1).copied().unwrap_or(0),
            base_dilation: self.base_dilations.get(index).copied().unwrap_or(1),
            window_dilation: self.window_dilations.get(index).copied().unwrap_or(1),
            reversal: self.reversal.get(index).is_some_and(|&reversed| reversed != 0),
        };
        Ok((0..rank).map(dim).collect())
    }
}
