//! Windows and convolutions.

use oxcall_proto::Message;

use super::super::fields::{WINDOW_DIMENSIONS, convolution as dims, instruction as field, window};
use super::{contraction, required, size, sizes};
use crate::{ConvolutionDims, Error, TensorType, WindowDim};

/// The window of an instruction; without one, it has no dimensions.
fn read(message: Message<'_>) -> Result<Vec<WindowDim>, Error> {
    let window = message.message(field::WINDOW)?.unwrap_or_default();
    window.messages(WINDOW_DIMENSIONS)?.into_iter().map(dimension).collect()
}

/// The window of an instruction that has no reversals.
pub(super) fn forward(message: Message<'_>) -> Result<Vec<WindowDim>, Error> {
    let window = read(message)?;
    if window.iter().any(|dim| dim.reversal) {
        return Err(Error::invalid("the window must not be reversed, except that of a convolution"));
    }
    Ok(window)
}

/// The window of an instruction that has neither reversals nor dilations.
pub(super) fn undilated(message: Message<'_>) -> Result<Vec<WindowDim>, Error> {
    let window = forward(message)?;
    if window.iter().any(|dim| (dim.base_dilation, dim.window_dilation) != (1, 1)) {
        return Err(Error::invalid("the window must not be dilated"));
    }
    Ok(window)
}

fn dimension(dim: Message<'_>) -> Result<WindowDim, Error> {
    Ok(WindowDim {
        size: size(dim, window::SIZE, "the size of a window")?,
        stride: size(dim, window::STRIDE, "the stride of a window")?,
        padding_low: dim.int(window::PADDING_LOW)?,
        padding_high: dim.int(window::PADDING_HIGH)?,
        base_dilation: size(dim, window::BASE_DILATION, "the dilation of the base")?,
        window_dilation: size(dim, window::WINDOW_DILATION, "the dilation of a window")?,
        reversal: dim.bool(window::REVERSAL)?,
    })
}

/// A convolution, whose window must be as large as the kernel.
pub(super) fn convolution(message: Message<'_>, kernel: &TensorType) -> Result<ConvolutionDims, Error> {
    let numbers = required(message, field::CONVOLUTION_DIMS, "the dimension numbers")?;
    let one = |number| size(numbers, number, "a dimension number");
    let list = |number| sizes(numbers, number, "the spatial dimensions");
    // Number 0 says nothing.
    let groups = |number| Ok::<usize, Error>(size(message, number, "the number of groups")?.max(1));
    let (window, kernel_spatial) = (read(message)?, list(dims::KERNEL_SPATIAL)?);
    let sizes = kernel_spatial.iter().map(|&dim| kernel.dims.get(dim).copied());
    if !sizes.eq(window.iter().map(|dim| Some(dim.size))) {
        return Err(Error::invalid(format!("the window must have the sizes of the kernel, {kernel}")));
    }
    Ok(ConvolutionDims {
        window,
        input_batch: one(dims::INPUT_BATCH)?,
        input_feature: one(dims::INPUT_FEATURE)?,
        input_spatial: list(dims::INPUT_SPATIAL)?,
        kernel_input_feature: one(dims::KERNEL_INPUT_FEATURE)?,
        kernel_output_feature: one(dims::KERNEL_OUTPUT_FEATURE)?,
        kernel_spatial,
        output_batch: one(dims::OUTPUT_BATCH)?,
        output_feature: one(dims::OUTPUT_FEATURE)?,
        output_spatial: list(dims::OUTPUT_SPATIAL)?,
        feature_groups: groups(field::FEATURE_GROUPS)?,
        batch_groups: groups(field::BATCH_GROUPS)?,
        precision: contraction::precisions(message)?,
    })
}
