//! Ops with a body that combines elements: reductions, windows, sorts.

use super::{
    Read,
    attributes::{Reader, bools, pairs},
};
use crate::{Error, OpKind, WindowDim};

pub(super) const OPS: &[(&str, Read)] = &[
    ("stablehlo.reduce", |reader| Ok(OpKind::Reduce { dims: reader.dims("dimensions")? })),
    ("stablehlo.reduce_window", reduce_window),
    ("stablehlo.select_and_scatter", select_and_scatter),
    ("stablehlo.map", |reader| Ok(OpKind::Map { dims: reader.dims("dimensions")? })),
    ("stablehlo.sort", sort),
    ("chlo.top_k", top_k),
];

/// The names of a window's attributes.
pub(super) struct WindowNames {
    pub(super) strides: &'static str,
    pub(super) base_dilations: &'static str,
    pub(super) window_dilations: &'static str,
}

const REDUCE_WINDOW: WindowNames =
    WindowNames { strides: "window_strides", base_dilations: "base_dilations", window_dilations: "window_dilations" };

/// The window of an op, whose sizes are given. Attributes that are not there have no effect.
pub(super) fn window(reader: &mut Reader, sizes: &[usize], names: &WindowNames) -> Result<Vec<WindowDim>, Error> {
    let count = sizes.len();
    let mut ones = |name| Ok(reader.optional_dims(name)?.unwrap_or_else(|| vec![1; count]));
    let strides = ones(names.strides)?;
    let base_dilations = ones(names.base_dilations)?;
    let window_dilations = ones(names.window_dilations)?;
    let padding = reader.optional("padding", "a tensor of two columns of integers", pairs)?;
    let padding = padding.unwrap_or_else(|| vec![[0, 0]; count]);
    let reversal = reader.optional("window_reversal", "a list of booleans", bools)?;
    let reversal = reversal.unwrap_or_else(|| vec![false; count]);
    let lengths = [strides.len(), base_dilations.len(), window_dilations.len(), padding.len(), reversal.len()];
    if lengths != [count; 5] {
        return Err(reader.error(format!("the window has {count} dimensions, but not all of its attributes do")));
    }
    let dim = |index: usize| WindowDim {
        size: sizes[index],
        stride: strides[index],
        padding_low: padding[index][0],
        padding_high: padding[index][1],
        base_dilation: base_dilations[index],
        window_dilation: window_dilations[index],
        reversal: reversal[index],
    };
    Ok((0..count).map(dim).collect())
}

fn reduce_window(reader: &mut Reader) -> Result<OpKind, Error> {
    let sizes = reader.dims("window_dimensions")?;
    Ok(OpKind::ReduceWindow { window: window(reader, &sizes, &REDUCE_WINDOW)? })
}

fn select_and_scatter(reader: &mut Reader) -> Result<OpKind, Error> {
    let rank = reader.operand(0)?.rank();
    let sizes = reader.optional_dims("window_dimensions")?.unwrap_or_else(|| vec![1; rank]);
    Ok(OpKind::SelectAndScatter { window: window(reader, &sizes, &REDUCE_WINDOW)? })
}

/// A negative dimension counts from the end; the last is the default.
fn sort(reader: &mut Reader) -> Result<OpKind, Error> {
    let rank = reader.operand(0)?.rank() as i64;
    let dim = reader.optional_int("dimension")?.unwrap_or(-1);
    let from_start = if dim < 0 { dim.saturating_add(rank) } else { dim };
    let dim = usize::try_from(from_start)
        .map_err(|_| reader.error(format!("dimension {dim} of an operand of {rank} dimensions")))?;
    Ok(OpKind::Sort { dim, stable: reader.bool("is_stable", false)? })
}

fn top_k(reader: &mut Reader) -> Result<OpKind, Error> {
    Ok(OpKind::TopK { k: reader.dim("k")?, largest: reader.bool("largest", true)? })
}
