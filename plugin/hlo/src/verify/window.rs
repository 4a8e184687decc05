//! Sliding windows, and the shapes that they give.

use super::signature::{ensure, per_dimension};
use crate::{Dims, Error, TensorType, WindowDim};

/// The number of places of each window over `base`, called `name`.
pub(super) fn windowed(base: &TensorType, name: &str, window: &[WindowDim]) -> Result<Dims, Error> {
    per_dimension(window, "the window", base, name)?;
    base.dims.iter().zip(window).enumerate().map(|(dim, (&size, window))| places(dim, size, window)).collect()
}

/// The number of places of a window over dimension `dim`, of `size` elements.
pub(super) fn places(dim: usize, size: usize, window: &WindowDim) -> Result<usize, Error> {
    let positive = [
        (window.size, "window_dimensions"),
        (window.stride, "window_strides"),
        (window.base_dilation, "base_dilations"),
        (window.window_dilation, "window_dilations"),
    ];
    for (value, name) in positive {
        ensure!(value > 0, "{name}[{dim}] must be positive, got {value}");
    }
    let padding = i128::from(window.padding_low) + i128::from(window.padding_high);
    let padded = dilated(size, window.base_dilation).saturating_add(padding);
    let reach = dilated(window.size, window.window_dilation);
    ensure!(padded >= 0, "dimension {dim} of size {size} must not be negative after padding, got {padded}");
    if size == 0 && padded == 0 || padded < reach {
        return Ok(0);
    }
    let places = (padded - reach) / window.stride as i128 + 1;
    usize::try_from(places)
        .map_err(|_| Error::invalid(format!("dimension {dim} has {places} windows, which do not fit in 64 bits")))
}

/// The size of a dimension with holes between its elements.
fn dilated(size: usize, dilation: usize) -> i128 {
    match size {
        0 => 0,
        size => (size as i128 - 1).saturating_mul(dilation as i128).saturating_add(1),
    }
}
