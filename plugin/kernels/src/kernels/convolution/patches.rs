//! Places in a convolution, and the matrix of the elements that the window sees at each.

use std::ops::Range;

use smallvec::SmallVec;

use super::geometry::{Axis, Geometry, Role, Spatial};
use crate::kernels::dot::Number;

/// An index along every axis.
#[derive(Debug, Clone)]
pub(super) struct Place {
    batch: usize,
    feature: usize,
    /// The place of the window and the element of it, along each spatial dimension.
    spatial: SmallVec<[[usize; 2]; 3]>,
}

/// Elements along one axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) axis: Axis,
    pub(super) start: usize,
    pub(super) len: usize,
}

impl Place {
    /// Index 0.
    pub(super) fn origin(geometry: &Geometry) -> Place {
        Place { batch: 0, feature: 0, spatial: SmallVec::from_elem([0; 2], geometry.spatial.len()) }
    }

    fn set(&mut self, role: Role, index: usize) {
        match role {
            Role::Batch => self.batch = index,
            Role::Feature => self.feature = index,
            Role::Place(d) => self.spatial[d][0] = index,
            Role::Window(d) => self.spatial[d][1] = index,
        }
    }

    /// Goes to the element at `linear` along `axes`, in row-major order.
    pub(super) fn go(&mut self, axes: &[Axis], mut linear: usize) {
        for axis in axes.iter().rev() {
            self.set(axis.role, linear % axis.size);
            linear /= axis.size;
        }
    }

    /// Calls `visit` with the runs along the last axis that `range` of `axes` consists of, and for each the number of
    /// elements before it.
    pub(super) fn for_runs(
        &mut self,
        axes: &[Axis],
        range: Range<usize>,
        mut visit: impl FnMut(&mut Place, Run, usize),
    ) {
        let Some((&axis, outer)) = axes.split_last() else {
            let axis = Axis { role: Role::Batch, size: 1, unit: 1 };
            return visit(self, Run { axis, start: 0, len: range.len() }, 0);
        };
        let (size, mut at) = (axis.size * axis.unit, range.start);
        while at < range.end {
            self.go(outer, at / size);
            let start = at % size;
            let len = (size - start).min(range.end - at);
            let run = Run { axis, start: start / axis.unit, len: len / axis.unit };
            visit(self, run, at - range.start);
            at += len;
        }
    }
}

/// The elements of a run that are in the input rather than padding: `first`, `first + every`, and so on, `count` in
/// all; and their places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Located {
    pub(super) first: usize,
    pub(super) every: usize,
    pub(super) count: usize,
    /// The place of the first one in the input, and the distance between successive ones.
    pub(super) offset: usize,
    pub(super) step: isize,
}

impl Geometry {
    /// The places in the input of a run's elements at `place`; `None` if all are padding.
    #[inline]
    pub(super) fn locate(&self, place: &Place, run: Run) -> Option<Located> {
        let mut offset = place.batch * self.input.batch + place.feature * self.input.feature;
        let mut along = None;
        for (d, (spatial, &[at, window])) in self.spatial.iter().zip(&place.spatial).enumerate() {
            match run.axis.role {
                Role::Place(dim) if dim == d => {
                    along = Some((spatial, spatial.position(run.start, window), spatial.stride));
                }
                Role::Window(dim) if dim == d => {
                    along = Some((spatial, spatial.position(at, run.start), spatial.dilation));
                }
                _ => offset += spatial.offset(spatial.position(at, window))?,
            }
        }
        let all = |offset, step: usize| Located { first: 0, every: 1, count: run.len, offset, step: step as isize };
        match (run.axis.role, along) {
            (_, Some((spatial, first, step))) => locate_along(spatial, offset, first, step, run.len),
            (Role::Feature, _) => Some(all(offset + run.start * self.input.feature, self.input.feature)),
            _ => Some(all(offset + run.start * self.input.batch, self.input.batch)),
        }
    }

    /// Writes the elements that the window sees: in `out`, a row for each element of `outer`, with an element for each
    /// of `inner`.
    pub(super) fn gather<C: Number>(
        &self,
        input: &[C],
        mut place: Place,
        [(outer, rows), (inner, columns)]: [(&[Axis], Range<usize>); 2],
        out: &mut [C],
    ) {
        for (row, out) in rows.zip(out.chunks_exact_mut(columns.len())) {
            place.go(outer, row);
            let mut within = place.clone();
            within.for_runs(inner, columns.clone(), |place, run, before| {
                let out = &mut out[before..][..run.len * run.axis.unit];
                match self.locate(place, run) {
                    Some(located) => copy(input, located, run.axis.unit, out),
                    None => out.fill(C::ZERO),
                }
            });
        }
    }
}

/// The part of `first`, `first + step`, ... at positions of elements rather than of padding or holes.
#[inline]
fn locate_along(spatial: &Spatial, offset: usize, first: isize, step: isize, len: usize) -> Option<Located> {
    let dilation = spatial.base_dilation;
    let highest = (spatial.input.0 as isize - 1) * dilation;
    let last = first + (len as isize - 1) * step;
    let (mut low, mut high) = (0, len as isize);
    if first.min(last) < 0 || first.max(last) > highest {
        let (before, after, step) =
            if step > 0 { (-first, highest - first, step) } else { (first - highest, first, -step) };
        low = if before > 0 { (before + step - 1) / step } else { 0 };
        high = if after < 0 { 0 } else { high.min(after / step + 1) };
    }
    let mut every = 1;
    if dilation > 1 {
        // Elements that are not holes are at equal distances: the smallest one whose remainder is 0.
        every = (1..=dilation).find(|each| each * step % dilation == 0).unwrap_or(dilation);
        low = (low..low + every).find(|t| (first + t * step) % dilation == 0)?;
    }
    (low < high).then(|| Located {
        first: low as usize,
        every: every as usize,
        count: ((high - low - 1) / every + 1) as usize,
        offset: offset + ((first + low * step) / dilation) as usize * spatial.input.1,
        step: step * every / dilation * spatial.input.1 as isize,
    })
}

/// Copies the elements that are not padding, `unit` at each place, and clears the others.
#[inline]
fn copy<C: Number>(input: &[C], located: Located, unit: usize, out: &mut [C]) {
    let Located { first, every, count, offset, step } = located;
    if every == 1 && step == unit as isize {
        let (start, end) = (first * unit, (first + count) * unit);
        out[..start].fill(C::ZERO);
        out[start..end].copy_from_slice(&input[offset..][..count * unit]);
        return out[end..].fill(C::ZERO);
    }
    if count * every * unit < out.len() || every > 1 {
        out.fill(C::ZERO);
    }
    for i in 0..count {
        let from = offset.wrapping_add_signed(i as isize * step);
        out[(first + i * every) * unit..][..unit].copy_from_slice(&input[from..][..unit]);
    }
}
