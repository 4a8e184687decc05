//! Windows and convolutions.

use oxcall_proto::Message;

use super::{
    super::fields::{WINDOW_DIMENSIONS, convolution as dims, instruction as field, window},
    contraction, required, size, sizes,
};
use crate::{ConvolutionDims, Error, WindowDim};

/// The window of an instruction; without one, it has no dimensions.
pub(super) fn read(message: Message<'_>) -> Result<Vec<WindowDim>, Error> {
    let window = message.message(field::WINDOW)?.unwrap_or_default();
    window.messages(WINDOW_DIMENSIONS)?.into_iter().map(dimension).collect()
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

pub(super) fn convolution(message: Message<'_>) -> Result<ConvolutionDims, Error> {
    let numbers = required(message, field::CONVOLUTION_DIMS, "the dimension numbers")?;
    let one = |number| size(numbers, number, "a dimension number");
    let list = |number| sizes(numbers, number, "the spatial dimensions");
    // Number 0 says nothing.
    let groups = |number| Ok::<usize, Error>(size(message, number, "the number of groups")?.max(1));
    Ok(ConvolutionDims {
        window: read(message)?,
        input_batch: one(dims::INPUT_BATCH)?,
        input_feature: one(dims::INPUT_FEATURE)?,
        input_spatial: list(dims::INPUT_SPATIAL)?,
        kernel_input_feature: one(dims::KERNEL_INPUT_FEATURE)?,
        kernel_output_feature: one(dims::KERNEL_OUTPUT_FEATURE)?,
        kernel_spatial: list(dims::KERNEL_SPATIAL)?,
        output_batch: one(dims::OUTPUT_BATCH)?,
        output_feature: one(dims::OUTPUT_FEATURE)?,
        output_spatial: list(dims::OUTPUT_SPATIAL)?,
        feature_groups: groups(field::FEATURE_GROUPS)?,
        batch_groups: groups(field::BATCH_GROUPS)?,
        precision: contraction::precisions(message)?,
    })
}
