//! Strided access of a tile to the elements of an operand.

use bytemuck::Pod;
use oxcall::Error;
use oxcall_hlo::TensorType;
use smallvec::SmallVec;

use super::spread::spread;
use crate::kernels::movement::strided::{LARGEST_STRIDE, copy_row};

/// A map from elements of a domain, in row-major order, to elements of an operand: all of the domain's, or those in a
/// box.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Access {
    /// The domain's dimensions: none has size 1, and adjacent ones are merged where box and strides allow it.
    dims: SmallVec<[Dim; 4]>,
    /// The operand's element for the first one in the box.
    offset: usize,
}

/// The number of elements, a few apart, that take as long to copy as one run.
const VECTORS: usize = 64;

/// A dimension of the domain of an [`Access`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dim {
    /// The size of the domain.
    pub size: usize,
    /// The start of the box.
    pub start: usize,
    /// The size of the box.
    pub len: usize,
    /// The distance of neighbours in the operand, in elements; 0 repeats.
    pub stride: usize,
}

impl Dim {
    /// A dimension all of which is in the box.
    fn whole(size: usize, stride: usize) -> Dim {
        Dim { size, start: 0, len: size, stride }
    }

    fn is_whole(self) -> bool {
        self.len == self.size
    }

    /// The one dimension that this and the next inner one are, if elements are evenly spaced.
    fn merged(self, inner: Dim) -> Option<Dim> {
        let is_even = self.stride == inner.stride * inner.size || self.len == 1;
        (inner.is_whole() && is_even).then(|| Dim {
            size: self.size * inner.size,
            start: self.start * inner.size,
            len: self.len * inner.size,
            stride: inner.stride,
        })
    }
}

impl Access {
    /// The access to an operand for which dimension `i` of the domain has stride `strides[i]`.
    pub fn new(dims: &[usize], strides: &[usize]) -> Access {
        Access::of_box(dims.iter().zip(strides).map(|(&size, &stride)| Dim::whole(size, stride)), 0)
    }

    /// The access to an operand whose element `offset` is the first in the box of `dims`, which is not empty.
    pub fn of_box(dims: impl IntoIterator<Item = Dim>, offset: usize) -> Access {
        let mut merged: SmallVec<[Dim; 4]> = SmallVec::new();
        for dim in dims.into_iter().filter(|dim| dim.size != 1) {
            match merged.last_mut().map(|last| (last.merged(dim), last)) {
                Some((Some(both), last)) => *last = both,
                _ => merged.push(dim),
            }
        }
        Access { dims: merged, offset }
    }

    /// The access of a `broadcast_in_dim` from `operand` to `result`, where `dims[i]` is the place of dimension `i`.
    pub fn broadcast(operand: &[usize], result: &[usize], dims: &[usize]) -> Access {
        let mut strides: SmallVec<[usize; 4]> = smallvec::smallvec![0; result.len()];
        let mut stride = 1;
        for (&size, &dim) in operand.iter().zip(dims).rev() {
            if size != 1 {
                strides[dim] = stride;
            }
            stride *= size;
        }
        Access::new(result, &strides)
    }

    /// The access to an operand with one element for each of `rows` rows.
    pub fn rows(rows: usize, row: usize) -> Access {
        Access::new(&[rows, row], &[1, 0])
    }

    /// The access to an operand of the result's shape, or to a scalar.
    ///
    /// # Errors
    /// INTERNAL if the operand has another shape.
    pub fn same_or_scalar(operand: &TensorType, result: &TensorType) -> Result<Access, Error> {
        match () {
            () if operand.dims == result.dims => {
                Ok(Access::broadcast(&operand.dims, &result.dims, &identity(result.rank())))
            }
            () if operand.count() == 1 => Ok(Access::new(&[], &[])),
            () => {
                Err(Error::internal(format!("expected an operand of the shape of {result} or a scalar, got {operand}")))
            }
        }
    }

    /// Whether the elements are the operand's first ones, in order.
    pub fn is_contiguous(&self) -> bool {
        self.offset == 0 && self.dims.len() <= 1 && self.dims.iter().all(|dim| dim.is_whole() && dim.stride == 1)
    }

    /// Whether every element is the operand's first.
    pub(crate) fn is_splat(&self) -> bool {
        self.offset == 0 && self.dims.iter().all(|dim| dim.is_whole() && dim.stride == 0)
    }

    /// The number of elements of the domain that are evenly spaced in the operand, line after line.
    pub(crate) fn line(&self) -> usize {
        self.dims.last().map_or(1, |dim| dim.size)
    }

    /// The number of elements in the domain.
    pub fn count(&self) -> usize {
        self.dims.iter().map(|dim| dim.size).product()
    }

    /// The number of elements in the box.
    pub(crate) fn len(&self) -> usize {
        self.dims.iter().map(|dim| dim.len).product()
    }

    /// The number of elements in a row: those that are evenly spaced in the operand, as far as box and strides go.
    pub(crate) fn row(&self) -> usize {
        self.dims.last().map_or(1, |dim| dim.size)
    }

    /// Whether a box cuts its lines.
    pub(crate) fn cuts_lines(&self) -> bool {
        self.dims.last().is_some_and(|dim| !dim.is_whole())
    }

    /// Whether all elements of the box are one of the operand.
    pub(crate) fn is_constant(&self) -> bool {
        self.dims.iter().all(|dim| dim.stride == 0 || dim.len == 1)
    }

    /// The number of runs of elements that are copied as one.
    pub(crate) fn runs(&self) -> usize {
        self.runs_of(1)
    }

    /// The same, where elements a few apart are runs, too: loops that are compiled for vectors copy them.
    pub fn runs_for_vectors(&self) -> usize {
        self.runs_of(VECTORS)
    }

    /// The number of runs, if one has so many elements where these are a few apart.
    fn runs_of(&self, strided: usize) -> usize {
        let Some((inner, outer)) = self.dims.split_last() else { return 1 };
        let rows: usize = outer.iter().map(|dim| dim.len).product();
        match inner.stride {
            0 | 1 => rows,
            2..=LARGEST_STRIDE => rows * inner.len.div_ceil(strided),
            _ => rows * inner.len,
        }
    }

    /// The number of groups of evenly spaced rows of `row` elements, in the domain.
    pub(super) fn groups(&self, row: usize) -> usize {
        match &self.dims[..] {
            [] => 1,
            [outer @ .., _, inner] if inner.size <= row => outer.iter().map(|dim| dim.size).product(),
            [outer @ .., _] => outer.iter().map(|dim| dim.size).product(),
        }
    }

    /// The operand's element for each element of the domain, which is the box, beginning at `first`.
    pub(crate) fn places(&self, first: usize) -> impl Iterator<Item = usize> {
        (first..).map(|index| {
            let step =
                |(rest, place): (usize, usize), dim: &Dim| (rest / dim.size, place + rest % dim.size * dim.stride);
            self.dims.iter().rev().fold((index, self.offset), step).1
        })
    }

    /// The stride of successive elements, if there is one in all of the box.
    pub(crate) fn stride(&self) -> usize {
        self.dims.last().map_or(0, |dim| dim.stride)
    }

    /// The first element and the number of neighbours that repeat, one time after another, in all of the domain.
    pub(super) fn period(&self) -> Option<(usize, usize)> {
        match self.dims[..] {
            [outer, inner] if outer.stride == 0 && inner.stride == 1 && outer.is_whole() && inner.is_whole() => {
                Some((self.offset, inner.size))
            }
            _ => None,
        }
    }

    /// The number of elements that repeat, one time after another, at most `longest`, and that of elements up to where
    /// others begin to, if there are such in all of the domain.
    pub(crate) fn repeated(&self, longest: usize) -> Option<(usize, usize)> {
        let mut inner = self.count();
        if inner == 0 || !self.dims.iter().all(|dim| dim.is_whole()) {
            return None;
        }
        self.dims.iter().find_map(|dim| {
            let span = inner;
            inner /= dim.size;
            (dim.stride == 0 && (2..=longest).contains(&inner)).then_some((inner, span))
        })
    }

    /// Copies the elements that are in the box to their places in `out`, which is the domain from `start` on.
    pub(crate) fn load<T: Pod>(&self, operand: &[T], start: usize, out: &mut [T]) {
        if self.dims.iter().all(|dim| dim.is_whole()) {
            return self.load_whole(operand, start, out);
        }
        let mut cursor = Cursor::new(self, start);
        let mut rest = out;
        while !rest.is_empty() {
            let run = cursor.run();
            let count = run.count.min(rest.len());
            let (out, others) = rest.split_at_mut(count);
            if let Some(place) = run.place {
                place.copy(operand, out);
            }
            cursor.advance(count);
            rest = others;
        }
    }

    /// [`load`](Access::load) where the box is the domain: rows may be short, and need no look at it.
    fn load_whole<T: Pod>(&self, operand: &[T], start: usize, out: &mut [T]) {
        let Some((inner, outer)) = self.dims.split_last() else { return out.fill(operand[self.offset]) };
        if let Some((first, period)) = self.period() {
            return repeat(&operand[first..first + period], start % period, out);
        }
        let mut index: SmallVec<[usize; 4]> = smallvec::smallvec![0; outer.len()];
        let (mut rest, mut first) = (start / inner.size, self.offset);
        for (index, dim) in index.iter_mut().zip(outer).rev() {
            *index = rest % dim.size;
            rest /= dim.size;
            first += *index * dim.stride;
        }
        let (mut column, mut filled) = (start % inner.size, 0);
        while filled < out.len() {
            // Rows of one element each, which are short.
            if let (0, 0, [.., dim], [.., at]) = (column, inner.stride, outer, &index[..])
                && dim.stride == 1
                && inner.size <= SHORT_REPEAT
            {
                let rows = ((out.len() - filled) / inner.size).min(dim.size - at);
                if rows > 0 {
                    spread(&operand[first..first + rows], inner.size, &mut out[filled..filled + rows * inner.size]);
                    filled += rows * inner.size;
                    advance(&mut index, outer, &mut first, rows);
                    continue;
                }
            }
            let run = (inner.size - column).min(out.len() - filled);
            let place = Place { first: first + column * inner.stride, stride: inner.stride };
            place.copy(operand, &mut out[filled..filled + run]);
            filled += run;
            column = 0;
            advance(&mut index, outer, &mut first, 1);
        }
    }
}

/// The most times that an element is repeated by code for as many.
const SHORT_REPEAT: usize = 32;

/// Goes on by `count` steps of the innermost loop, at most to its end, and moves `first` to the element there.
#[inline]
fn advance(index: &mut [usize], dims: &[Dim], first: &mut usize, count: usize) {
    let mut count = count;
    for (index, dim) in index.iter_mut().zip(dims).rev() {
        *index += count;
        *first += count * dim.stride;
        if *index < dim.size {
            break;
        }
        *first -= *index * dim.stride;
        *index = 0;
        count = 1;
    }
}

/// Fills `out` with copies of a row, from its element `start` on.
fn repeat<T: Pod>(row: &[T], start: usize, out: &mut [T]) {
    let rest = (row.len() - start).min(out.len());
    out[..rest].copy_from_slice(&row[start..start + rest]);
    let mut filled = row.len().min(out.len());
    out[rest..filled].copy_from_slice(&row[..filled - rest]);
    // A copy of a few elements takes as long as one of many.
    while filled < out.len() {
        let more = filled.min(out.len() - filled);
        out.copy_within(..more, filled);
        filled += more;
    }
}

/// Elements of an operand that are evenly spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The first one.
    pub(crate) first: usize,
    /// The distance of neighbours.
    pub(crate) stride: usize,
}

impl Place {
    /// Copies as many elements as `out` has.
    #[inline]
    pub(crate) fn copy<T: Pod>(self, operand: &[T], out: &mut [T]) {
        let Place { first, stride } = self;
        match stride {
            // Rows may be of two elements, for which a call would take longer than the rest.
            0 => out.fill(operand[first]),
            1 => out.copy_from_slice(&operand[first..first + out.len()]),
            _ => copy_row(operand, first, stride.cast_signed(), out),
        }
    }
}

/// Successive elements of the domain, all in the box or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    /// Their number.
    pub(crate) count: usize,
    /// Their place, if they are in the box.
    pub(crate) place: Option<Place>,
}

/// An element of the domain of an [`Access`], from which one goes on run by run.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    access: &'a Access,
    /// The index in all dimensions but the last.
    outer: SmallVec<[usize; 4]>,
    /// The index in the last dimension.
    column: usize,
    /// The elements from here on, up to the end of the row or of the box.
    run: Run,
}

impl<'a> Cursor<'a> {
    /// The element `start` of the domain.
    pub(crate) fn new(access: &'a Access, start: usize) -> Cursor<'a> {
        let Some((inner, dims)) = access.dims.split_last() else {
            let place = Place { first: access.offset, stride: 0 };
            let run = Run { count: usize::MAX, place: Some(place) };
            return Cursor { access, outer: SmallVec::new(), column: 0, run };
        };
        let mut outer: SmallVec<[usize; 4]> = smallvec::smallvec![0; dims.len()];
        let mut rest = start / inner.size;
        for (index, dim) in outer.iter_mut().zip(dims).rev() {
            *index = rest % dim.size;
            rest /= dim.size;
        }
        let mut cursor = Cursor { access, outer, column: start % inner.size, run: Run { count: 0, place: None } };
        cursor.find_run(inner, dims);
        cursor
    }

    /// The elements from here on, up to the end of the row or of the box.
    #[inline]
    pub(crate) fn run(&self) -> Run {
        self.run
    }

    /// The number of rows of `count` elements from here on, at least 1, that all are in the box or none, and whose
    /// places are evenly spaced.
    #[inline]
    pub(crate) fn alike(&self, count: usize) -> usize {
        let Some((inner, dims)) = self.access.dims.split_last() else { return usize::MAX };
        if count < self.run.count {
            return self.run.count / count;
        }
        if inner.is_whole() && self.column == 0 { self.lines_alike(dims) } else { 1 }
    }

    /// The distance, in the operand, of rows of `count` elements that are [`alike`](Cursor::alike).
    #[inline]
    pub(crate) fn step(&self, count: usize) -> usize {
        match (self.access.dims.split_last(), self.run.place) {
            (Some(_), Some(place)) if count < self.run.count => count * place.stride,
            (Some((_, [.., dim])), _) => dim.stride,
            _ => 0,
        }
    }

    /// The number of rows of the domain, of `row` elements each, from this one on, in which `count` elements from this
    /// column on are all in the box or none, and evenly spaced. Lines are as long as rows, or several times that.
    #[inline]
    pub(crate) fn rows_alike(&self, count: usize, row: usize) -> usize {
        match self.access.dims.split_last() {
            None => usize::MAX,
            Some((inner, _)) if inner.size > row => (self.run.count - count) / row + 1,
            Some((_, dims)) => self.lines_alike(dims),
        }
    }

    /// The distance, in the operand, of elements in the same column of two such rows.
    #[inline]
    pub(crate) fn row_step(&self, row: usize) -> usize {
        match self.access.dims.split_last() {
            Some((inner, _)) if inner.size > row => row * inner.stride,
            Some((_, [.., dim])) => dim.stride,
            _ => 0,
        }
    }

    /// The number of lines from this one on that are all in the box or none, as far as the last dimension but one goes.
    #[inline]
    fn lines_alike(&self, dims: &[Dim]) -> usize {
        let (Some(dim), Some(&index)) = (dims.last(), self.outer.last()) else { return 1 };
        let inside = index.wrapping_sub(dim.start);
        match () {
            () if inside < dim.len => dim.len - inside,
            () if index < dim.start => dim.start - index,
            () => dim.size - index,
        }
    }

    /// Goes on by `rows` rows of `count` elements, at most as many as are [`alike`](Cursor::alike).
    #[inline]
    pub(crate) fn advance_alike(&mut self, count: usize, rows: usize) {
        if count < self.run.count {
            return self.advance(rows * count);
        }
        if let Some(index) = self.outer.last_mut() {
            *index += rows - 1;
        }
        self.advance(count);
    }

    /// Finds the run of the present index.
    #[inline]
    fn find_run(&mut self, inner: &Dim, dims: &[Dim]) {
        let mut first = self.access.offset;
        let mut is_inside = true;
        for (index, dim) in self.outer.iter().zip(dims) {
            // An index before the box wraps to a large one.
            let inside = index.wrapping_sub(dim.start);
            is_inside &= inside < dim.len;
            first = first.wrapping_add(inside.wrapping_mul(dim.stride));
        }
        let (column, end) = (self.column, inner.start + inner.len);
        self.run = match () {
            () if !is_inside || column >= end => Run { count: inner.size - column, place: None },
            () if column < inner.start => Run { count: inner.start - column, place: None },
            () => {
                let first = first + (column - inner.start) * inner.stride;
                Run { count: end - column, place: Some(Place { first, stride: inner.stride }) }
            }
        };
    }

    /// Goes on by at most the number of elements of the [`run`](Cursor::run).
    #[inline]
    pub(crate) fn advance(&mut self, count: usize) {
        if count < self.run.count {
            self.column += count;
            self.run.count -= count;
            if let Some(place) = &mut self.run.place {
                place.first += count * place.stride;
            }
            return;
        }
        let Some((inner, dims)) = self.access.dims.split_last() else { return };
        self.column += count;
        if self.column >= inner.size {
            self.column = 0;
            for (index, dim) in self.outer.iter_mut().zip(dims).rev() {
                *index += 1;
                if *index < dim.size {
                    break;
                }
                *index = 0;
            }
        }
        self.find_run(inner, dims);
    }
}

/// The numbers of dimensions in order.
fn identity(rank: usize) -> SmallVec<[usize; 4]> {
    (0..rank).collect()
}
