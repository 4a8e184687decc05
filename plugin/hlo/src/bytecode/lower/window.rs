//! Reductions, windows and convolution.

use super::super::op::OpReader;
use crate::{ConvolutionDims, Error, OpKind, WindowDim};

pub(super) fn reduce(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    Ok(OpKind::Reduce { dims: op.sizes("dimensions")? })
}

pub(super) fn reduce_window(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let window = Window {
        sizes: op.sizes("window_dimensions")?,
        strides: op.sizes("window_strides")?,
        padding: op.integers("padding")?,
        base_dilations: op.sizes("base_dilations")?,
        window_dilations: op.sizes("window_dilations")?,
        reversal: Vec::new(),
    };
    Ok(OpKind::ReduceWindow { window: window.dims()? })
}

pub(super) fn select_and_scatter(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let window = Window {
        sizes: op.sizes("window_dimensions")?,
        strides: op.sizes("window_strides")?,
        padding: op.integers("padding")?,
        base_dilations: Vec::new(),
        window_dilations: Vec::new(),
        reversal: Vec::new(),
    };
    Ok(OpKind::SelectAndScatter { window: window.dims()? })
}

pub(super) fn convolution(op: &mut OpReader<'_, '_, '_>) -> Result<OpKind, Error> {
    let padding = op.integers("padding")?;
    convolution_of(op, padding)
}

/// A convolution with this padding: low and high for each spatial dimension.
pub(super) fn convolution_of(op: &OpReader<'_, '_, '_>, padding: Vec<i64>) -> Result<OpKind, Error> {
    let kernel = op.operand_type(1)?;
    let kernel_spatial = op.sizes("kernel_spatial_dimensions")?;
    let size = |&dim: &usize| {
        let size = kernel.dims.get(dim).copied();
        size.ok_or_else(|| Error::invalid(format!("spatial dimension {dim} of a kernel {kernel}")))
    };
    let window = Window {
        sizes: kernel_spatial.iter().map(size).collect::<Result<_, _>>()?,
        strides: op.sizes("window_strides")?,
        padding,
        base_dilations: op.sizes("lhs_dilation")?,
        window_dilations: op.sizes("rhs_dilation")?,
        reversal: op.integers("window_reversal")?,
    };
    Ok(OpKind::Convolution(ConvolutionDims {
        window: window.dims()?,
        input_batch: op.size("input_batch_dimension")?,
        input_feature: op.size("input_feature_dimension")?,
        input_spatial: op.sizes("input_spatial_dimensions")?,
        kernel_input_feature: op.size("kernel_input_feature_dimension")?,
        kernel_output_feature: op.size("kernel_output_feature_dimension")?,
        kernel_spatial,
        output_batch: op.size("output_batch_dimension")?,
        output_feature: op.size("output_feature_dimension")?,
        output_spatial: op.sizes("output_spatial_dimensions")?,
        feature_groups: op.size("feature_group_count")?,
        batch_groups: op.size("batch_group_count")?,
        precision: op.precision()?,
    }))
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
                let message = format!("{length} {what} for a window of {rank} dimensions");
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
