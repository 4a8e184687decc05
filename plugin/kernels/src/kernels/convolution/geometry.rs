//! A convolution's dimension numbers as strides, and as two lists of axes: those of the rows of a matrix product
//! (batch and places of the window) and those that are summed (input features and the window's elements).

use std::ops::Range;

use oxcall_hlo::ConvolutionDims;
use smallvec::SmallVec;

use super::patches::{Place, Run};
use crate::kernels::dot::matmul::Mat;
use crate::kernels::dot::{Number, merge};
use crate::kernels::nest::{Loop, Nest, Walk};

/// The role of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Batches of the result.
    Batch,
    /// Input features that are summed for one feature of the result.
    Feature,
    /// Places of the window along a spatial dimension.
    Place(usize),
    /// Elements of the window along a spatial dimension.
    Window(usize),
}

/// An axis of more than one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Axis {
    pub(super) role: Role,
    pub(super) size: usize,
    /// The number of consecutive input elements for which each element stands: more than one where the features of a
    /// window's row are contiguous.
    pub(super) unit: usize,
}

/// A spatial dimension.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spatial {
    /// Elements of the input, and their distance.
    pub(super) input: (usize, usize),
    pub(super) places: usize,
    pub(super) window: usize,
    pub(super) stride: isize,
    /// Between elements of the window.
    pub(super) dilation: isize,
    pub(super) base_dilation: isize,
    /// The position of element 0 of the window at place 0, in the dilated input without padding.
    pub(super) start: isize,
}

impl Spatial {
    /// The position of the window's element at a place, in the dilated input.
    #[inline(always)]
    pub(super) fn position(&self, place: usize, window: usize) -> isize {
        self.start + place as isize * self.stride + window as isize * self.dilation
    }

    /// The place of a position in the input, unless it is padding.
    #[inline(always)]
    pub(super) fn offset(&self, position: isize) -> Option<usize> {
        if position < 0 {
            return None;
        }
        let index = if self.base_dilation == 1 {
            position
        } else if position % self.base_dilation == 0 {
            position / self.base_dilation
        } else {
            return None;
        };
        ((index as usize) < self.input.0).then(|| index as usize * self.input.1)
    }
}

/// Distances of the input's elements.
#[derive(Debug, Clone, Copy)]
pub(super) struct InputStrides {
    /// From group to group.
    pub(super) group: usize,
    pub(super) batch: usize,
    pub(super) feature: usize,
}

/// A convolution as `groups` sums of products.
#[derive(Debug, Clone)]
pub(super) struct Geometry {
    pub(super) groups: usize,
    /// Features of the result in each group.
    pub(super) out_features: usize,
    pub(super) spatial: SmallVec<[Spatial; 3]>,
    pub(super) input: InputStrides,
    /// The distance of the result's features.
    pub(super) feature_stride: usize,
    /// Axes of the result outside of its features, and those inside: its elements are
    /// `[outer, groups * out_features, rows]` or, if its features are innermost, `[rows, groups * out_features]`.
    pub(super) outer: Vec<Axis>,
    pub(super) rows: Vec<Axis>,
    /// The same, with places and batches that are adjacent in the input merged into one axis.
    pub(super) joined_rows: Vec<Axis>,
    /// The axes that are summed, in the order that they have in the kernel.
    pub(super) summed: Vec<Axis>,
    /// The copy of the kernel that is made first, with its dimensions of `summed` before the output features, if it has
    /// these between them or is reversed.
    pub(super) kernel_copy: Option<KernelCopy>,
    /// The distance of neighbours in `summed` and of output features, in the kernel or its copy.
    pub(super) kernel_strides: [usize; 2],
    /// The distance of neighbours in `rows`, in the result.
    pub(super) row_stride: usize,
}

/// A copy of the kernel in another order.
#[derive(Debug, Clone)]
pub(super) struct KernelCopy {
    loops: Nest<1>,
    offset: isize,
}

impl KernelCopy {
    /// The copy of dimensions of these sizes and distances, some of them backwards.
    fn new(dims: impl Iterator<Item = (usize, usize, bool)>) -> KernelCopy {
        let mut offset = 0;
        let loops = dims.map(|(size, stride, reversed)| {
            let stride = stride as isize;
            offset += if reversed { (size as isize - 1) * stride } else { 0 };
            Loop { size, strides: [if reversed { -stride } else { stride }] }
        });
        let loops = loops.collect();
        KernelCopy { loops, offset }
    }

    /// Copies the elements to `out`, which has as many.
    pub(super) fn copy<C: Copy>(&self, kernel: &[C], out: &mut [C]) {
        let (inner, outer) = self.loops.split_last().expect("there are the features");
        let mut walk = Walk::new(outer, [self.offset], 0);
        for out in out.chunks_exact_mut(inner.size) {
            // Output features are never reversed.
            let from = kernel[walk.step()[0] as usize..].iter().step_by(inner.strides[0] as usize);
            out.iter_mut().zip(from).for_each(|(out, from)| *out = *from);
        }
    }
}

/// The strides of a dense, row-major array.
fn strides(sizes: &[usize]) -> SmallVec<[usize; 6]> {
    let mut strides: SmallVec<[usize; 6]> = SmallVec::from_elem(1, sizes.len());
    for dim in (1..sizes.len()).rev() {
        strides[dim - 1] = strides[dim] * sizes[dim];
    }
    strides
}

impl Geometry {
    /// The geometry of a convolution of `input` with `kernel` to `out`, none of which is empty.
    pub(super) fn new(dims: &ConvolutionDims, input: &[usize], kernel: &[usize], out: &[usize]) -> Geometry {
        let [input_strides, filter_strides, out_strides] = [input, kernel, out].map(strides);
        let groups = dims.feature_groups.max(dims.batch_groups);
        let out_features = kernel[dims.kernel_output_feature] / groups;
        let features = kernel[dims.kernel_input_feature];
        let batch = out[dims.output_batch];
        let spatial: SmallVec<[Spatial; 3]> = (dims.window.iter().enumerate())
            .map(|(d, window)| Spatial {
                input: (input[dims.input_spatial[d]], input_strides[dims.input_spatial[d]]),
                places: out[dims.output_spatial[d]],
                window: kernel[dims.kernel_spatial[d]],
                stride: window.stride as isize,
                dilation: window.window_dilation as isize,
                base_dilation: window.base_dilation as isize,
                start: -(window.padding_low as isize),
            })
            .collect();
        let in_strides = InputStrides {
            group: match dims.batch_groups {
                1 => features * input_strides[dims.input_feature],
                _ => batch * input_strides[dims.input_batch],
            },
            batch: input_strides[dims.input_batch],
            feature: input_strides[dims.input_feature],
        };
        let out_feature = filter_strides[dims.kernel_output_feature];

        // Axes with their distances in the result and in the kernel, outermost first.
        let axis = |role, size| Axis { role, size, unit: 1 };
        let sorted = |mut axes: Vec<(Axis, usize)>| {
            axes.retain(|(axis, _)| axis.size != 1);
            axes.sort_by_key(|&(_, stride)| std::cmp::Reverse(stride));
            axes
        };
        let places = spatial.iter().enumerate().map(|(d, s)| (axis(Role::Place(d), s.places), dims.output_spatial[d]));
        let rows = places.chain([(axis(Role::Batch, batch), dims.output_batch)]);
        let rows = sorted(rows.map(|(axis, dim)| (axis, out_strides[dim])).collect());
        let windows =
            spatial.iter().enumerate().map(|(d, s)| (axis(Role::Window(d), s.window), dims.kernel_spatial[d]));
        let summed = windows.chain([(axis(Role::Feature, features), dims.kernel_input_feature)]);
        let summed = sorted(summed.map(|(axis, dim)| (axis, filter_strides[dim])).collect());

        let feature_stride = out_strides[dims.output_feature];
        let innermost = rows.last().is_none_or(|row| row.1 >= feature_stride);
        let inside = |row: &(Axis, usize)| innermost || row.1 < feature_stride;
        let inner: Vec<(Axis, usize)> = rows.iter().copied().filter(|row| inside(row)).collect();
        let outer = rows.iter().filter(|row| !inside(row));

        let before = summed.iter().filter(|axis| axis.1 > out_feature).count();
        let between = groups * out_features > 1 && before != 0 && before != summed.len();
        let is_reversed = |role| matches!(role, Role::Window(d) if dims.window[d].reversal);
        let copied = between || summed.iter().any(|(axis, _)| is_reversed(axis.role));
        let kernel_copy = copied.then(|| {
            let loops = summed.iter().map(|(axis, stride)| (axis.size, *stride, is_reversed(axis.role)));
            KernelCopy::new(loops.chain([(groups * out_features, out_feature, false)]))
        });
        let kernel_strides =
            if copied { [groups * out_features, 1] } else { [summed.last().map_or(1, |axis| axis.1), out_feature] };
        let rows: Vec<Axis> = inner.iter().map(|row| row.0).collect();
        Geometry {
            groups,
            out_features,
            input: in_strides,
            feature_stride,
            row_stride: inner.last().map_or(1, |row| row.1),
            outer: outer.map(|row| row.0).collect(),
            joined_rows: join_batch(rows.clone(), &spatial, &in_strides),
            rows,
            summed: fuse(summed.into_iter().map(|axis| axis.0).collect(), &spatial, &in_strides),
            kernel_copy,
            kernel_strides,
            spatial,
        }
    }

    /// All features of the result.
    pub(super) fn all_features(&self) -> usize {
        self.groups * self.out_features
    }

    /// The number of products in each sum.
    pub(super) fn depth(&self) -> usize {
        count(&self.summed)
    }

    /// Sums may be split at multiples of this: a merged axis stays whole.
    pub(super) fn sum_unit(&self) -> usize {
        joined(&self.summed)
    }

    /// Rows may be split at multiples of this.
    pub(super) fn row_unit(&self) -> usize {
        if self.rows_are_outside() { 1 } else { joined(&self.joined_rows) }
    }

    /// The distance in the input of neighbours along an axis.
    pub(super) fn input_stride(&self, role: Role) -> usize {
        match role {
            Role::Batch => self.input.batch,
            Role::Feature => self.input.feature,
            Role::Place(d) => self.spatial[d].input.1 * self.spatial[d].stride as usize,
            Role::Window(d) => self.spatial[d].input.1 * self.spatial[d].dilation as usize,
        }
    }

    /// Whether patches are written row by row, with the summed axes side by side, or the other way: whichever makes
    /// longer copies.
    pub(super) fn rows_are_outside(&self) -> bool {
        let length = |axis: &Axis| if self.input_stride(axis.role) == 1 { axis.size } else { axis.size.div_ceil(4) };
        match (self.summed.last(), self.rows.last()) {
            (Some(summed), Some(rows)) => summed.unit > 1 || length(summed) >= length(rows),
            (summed, _) => summed.is_some(),
        }
    }

    /// The patches of `rows` as a part of the input itself, if possible: where the window is one element that never
    /// meets padding.
    pub(super) fn whole_matrix<'a, C: Number>(
        &self,
        input: &'a [C],
        place: &Place,
        rows: &Range<usize>,
    ) -> Option<Mat<'a, C>> {
        let inside = |s: &Spatial| {
            s.base_dilation == 1 && s.start >= 0 && s.position(s.places - 1, s.window - 1) < s.input.0 as isize
        };
        let dims = |axes: &[Axis]| -> Vec<(usize, usize)> {
            axes.iter().map(|axis| (axis.size, self.input_stride(axis.role))).collect()
        };
        if self.spatial.iter().any(|s| s.window != 1 || !inside(s)) {
            return None;
        }
        let [row, column] = [merge(&dims(&self.rows))?, merge(&dims(&self.summed))?];
        let origin = Run { axis: Axis { role: Role::Batch, size: 1, unit: 1 }, start: 0, len: 1 };
        let offset = self.locate(place, origin)?.offset + rows.start * row;
        Some(Mat::new(&input[offset..], [rows.len(), self.depth()], [row, column]))
    }
}

/// The number of elements along axes.
pub(super) fn count(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| axis.size * axis.unit).product()
}

/// The length of the last axis if it is two joined ones, else 1.
fn joined(axes: &[Axis]) -> usize {
    axes.last().map_or(1, |axis| if axis.unit > 1 { axis.size * axis.unit } else { 1 })
}

/// The longest row of a window that becomes one axis: longer ones would make blocks of sums too long.
const MAX_FUSED: usize = 1024;

/// Merges the last axis of places with the batches where they are contiguous in the input: where batch and features
/// have swapped roles, as in the gradient of a kernel.
fn join_batch(mut axes: Vec<Axis>, spatial: &[Spatial], input: &InputStrides) -> Vec<Axis> {
    if let [.., Axis { role: Role::Place(d), size, .. }, Axis { role: Role::Batch, size: batch, .. }] = axes[..] {
        let spatial = &spatial[d];
        let adjacent = input.batch == 1 && spatial.input.1 == batch;
        if adjacent && spatial.stride == 1 && spatial.base_dilation == 1 && size * batch <= MAX_FUSED {
            axes.truncate(axes.len() - 2);
            axes.push(Axis { role: Role::Place(d), size, unit: batch });
        }
    }
    axes
}

/// Merges a window's row with its features where they are contiguous in the input.
fn fuse(mut axes: Vec<Axis>, spatial: &[Spatial], input: &InputStrides) -> Vec<Axis> {
    if let [.., Axis { role: Role::Window(d), size, .. }, Axis { role: Role::Feature, size: features, .. }] = axes[..] {
        let spatial = &spatial[d];
        let adjacent = input.feature == 1 && spatial.input.1 == features;
        if adjacent && spatial.dilation == 1 && spatial.base_dilation == 1 && size * features <= MAX_FUSED {
            axes.truncate(axes.len() - 2);
            axes.push(Axis { role: Role::Window(d), size, unit: features });
        }
    }
    axes
}
