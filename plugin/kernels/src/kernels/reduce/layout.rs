//! The elements from which each result of a reduction is made.

use std::ops::Range;

use crate::kernels::movement::row_major;
use crate::kernels::nest::{self, Loop, Nest, Walk};

/// Loops over the kept and the reduced dimensions of an operand, collapsed.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// Over the results, in row-major order.
    pub(super) kept: Nest<1>,
    /// Over the elements of a result.
    pub(super) reduced: Nest<1>,
}

/// The number of contiguous elements that are reduced to one number at a time.
pub(super) const SEGMENT: usize = 8192;

impl Layout {
    pub(super) fn new(dims: &[usize], reduced: &[usize]) -> Layout {
        let strides = row_major(dims);
        // Neighbours of one kind merge even across one of the other kind with a single step.
        let loops = |is_reduced: bool| {
            let dims =
                (0..dims.len()).filter(move |dim| reduced.contains(dim) == is_reduced).map(|dim| (dim, dims[dim]));
            nest::collapse(dims.map(|(dim, size)| Loop { size, strides: [strides[dim]] }))
        };
        Layout { kept: loops(false), reduced: loops(true) }
    }

    /// The number of results.
    pub(super) fn results(&self) -> usize {
        nest::iterations(&self.kept)
    }

    /// The number of elements of each result.
    pub(super) fn elements(&self) -> usize {
        nest::iterations(&self.reduced)
    }

    /// The number of neighbouring elements of one result; more than 1 if elements lie in rows.
    pub(super) fn row(&self) -> usize {
        self.reduced.last().filter(|inner| inner.strides == [1]).map_or(1, |inner| inner.size)
    }

    /// The number of elements of a result, if they are neighbours, and those of the next result follow.
    pub(super) fn neighbouring_rows(&self) -> Option<usize> {
        match (&self.reduced[..], &self.kept[..]) {
            (&[Loop { size, strides: [1] }], []) => Some(size),
            (&[Loop { size, strides: [1] }], &[Loop { strides: [stride], .. }]) if stride == size as isize => {
                Some(size)
            }
            _ => None,
        }
    }

    /// Whether the elements of each result are neighbours.
    pub(super) fn has_rows(&self) -> bool {
        matches!(self.reduced[..], [] | [Loop { strides: [1], .. }])
    }

    /// The number of neighbouring results whose elements are also neighbours.
    pub(super) fn columns(&self) -> usize {
        self.kept.last().filter(|inner| inner.strides == [1]).map_or(1, |inner| inner.size)
    }

    /// Whether the elements of a result are in rows, or scattered; in columns otherwise.
    pub(super) fn is_of_rows(&self) -> bool {
        self.row() > 1 || self.columns() == 1
    }

    /// The start of the elements of result `index`.
    pub(super) fn start(&self, index: usize) -> isize {
        Walk::new(&self.kept, [0], index).step()[0]
    }

    /// The number of segments into which the elements of a result are split.
    pub(super) fn segments(&self) -> usize {
        self.elements() / self.row().max(1) * self.row().div_ceil(SEGMENT)
    }

    /// The segments `range` of elements in rows: first element and length, for a result that starts at `start`.
    pub(super) fn for_segments(&self, start: isize, range: Range<usize>, mut work: impl FnMut(usize, usize)) {
        if range.is_empty() {
            return;
        }
        let row = self.row();
        let per_row = row.div_ceil(SEGMENT).max(1);
        let outer = if row > 1 { &self.reduced[..self.reduced.len() - 1] } else { &self.reduced[..] };
        let mut walk = Walk::new(outer, [start], range.start / per_row);
        let (mut piece, mut offset) = (range.start % per_row, walk.step()[0] as usize);
        for _ in range {
            if piece == per_row {
                (piece, offset) = (0, walk.step()[0] as usize);
            }
            work(offset + piece * SEGMENT, SEGMENT.min(row - piece * SEGMENT));
            piece += 1;
        }
    }
}
