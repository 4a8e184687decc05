//! Transposition of matrices that have a few elements along one side: that side is one tile, which vector instructions
//! permute.

use bytemuck::Pod;

use super::shuffle::{Tile, transposed};
use super::tiles::Matrix;
use crate::math::level::vectorised;

/// The most elements along the short side.
pub(super) const MOST: usize = 16;

/// The most columns or rows of a tile.
pub(super) const WIDEST: usize = 16;

/// The way in which elements of a matrix are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// To a few lines, from columns of so many elements.
    Split,
    /// To rows of a few elements, from as many lines.
    Join,
}

impl Way {
    /// Whether tiles of so many elements, of `width` bytes, are faster than other ways.
    pub(super) fn suits(self, few: usize, width: usize) -> bool {
        let range = match (self, width) {
            // LLVM has better code for the few elements of a known number of short columns.
            (Way::Split, 1 | 2) => 9..=MOST,
            (Way::Split, 4) => 5..=MOST,
            (Way::Join, 1 | 2 | 4) => 4..=MOST,
            (_, 8) => 5..=8,
            _ => return false,
        };
        range.contains(&few)
    }
}

/// Small matrices, one after another in the result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Small {
    /// The sides of the result's.
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The distance of columns in the operand, whose elements are neighbours, and of matrices.
    pub(super) stride: usize,
    pub(super) matrix: usize,
}

impl Small {
    /// Whether each matrix is one tile, which is faster than other ways.
    pub(super) fn is_tile(&self, width: usize) -> bool {
        let [shorter, longer] = [self.rows.min(self.columns), self.rows.max(self.columns)];
        match width {
            8 => [shorter, longer] == [8, 8],
            1 | 2 | 4 => (9..=MOST).contains(&longer) && shorter >= 8 || self.are_eights(),
            _ => false,
        }
    }

    /// Whether they have eight rows and columns, and follow each other.
    fn are_eights(&self) -> bool {
        (self.rows, self.columns, self.stride, self.matrix) == (8, 8, 8, 64)
    }

    /// Writes matrices, the first of which begins at the start of `src`.
    pub(super) fn transpose<T: Pod>(&self, src: &[T], dst: &mut [T]) {
        match size_of::<T>() {
            8 => transpose_small::<T, 8>(self, src, dst),
            _ if self.are_eights() => transpose_eights(src, dst),
            _ => transpose_small::<T, MOST>(self, src, dst),
        }
    }
}

/// Writes lines of the result, from a column on: each line has one of the few elements of all columns. They are at
/// least [`WIDEST`] elements long.
pub(super) fn split<T: Pod>(matrix: &Matrix<'_, T>, left: usize, lines: &mut [&mut [T]]) {
    match (size_of::<T>(), lines.len()) {
        (8, _) => split_by::<T, 8, 8>(matrix, left, lines),
        (_, ..=8) => split_by::<T, 8, WIDEST>(matrix, left, lines),
        _ => split_by::<T, MOST, WIDEST>(matrix, left, lines),
    }
}

/// Writes rows of so many columns, which are neighbours in the result: at least [`WIDEST`] rows.
pub(super) fn join<T: Pod>(matrix: &Matrix<'_, T>, rows: &mut [T], columns: usize) {
    match (size_of::<T>(), columns) {
        (8, _) => join_by::<T, 8, 8>(matrix, rows, columns),
        (_, ..=8) => join_by::<T, 8, WIDEST>(matrix, rows, columns),
        _ => join_by::<T, MOST, WIDEST>(matrix, rows, columns),
    }
}

vectorised! {
/// [`split`] of at most `SIDE` lines, `WIDE` columns at a time.
fn split_by<T: Pod, const SIDE: usize, const WIDE: usize>(matrix: &Matrix<'_, T>, left: usize, lines: &mut [&mut [T]]) {
    let (width, side) = (lines[0].len(), lines.len());
    for column in (0..width).step_by(WIDE) {
        // The last tile overlaps the one before.
        let column = column.min(width - WIDE);
        let mut tile = Tile([[T::zeroed(); SIDE]; WIDE]);
        let end = matrix.at(0, left + column + WIDE - 1) + SIDE;
        for (i, to) in tile.0.iter_mut().enumerate() {
            let from = &matrix.src[matrix.at(0, left + column + i)..];
            if end <= matrix.src.len() {
                // What follows the column is not used.
                to.copy_from_slice(&from[..SIDE]);
            } else {
                to[..side].copy_from_slice(&from[..side]);
            }
        }
        let tile = transposed::<T, WIDE, SIDE>(&tile);
        for (line, from) in lines.iter_mut().zip(&tile.0) {
            line[column..][..WIDE].copy_from_slice(from);
        }
    }
}
}

vectorised! {
/// Transposes matrices whose sides are at most `SIDE`.
fn transpose_small<T: Pod, const SIDE: usize>(small: &Small, src: &[T], dst: &mut [T]) {
    let &Small { rows, columns, stride, matrix } = small;
    let size = rows * columns;
    let read = (columns - 1) * stride + SIDE;
    let written = (rows - 1) * columns + SIDE;
    for index in 0..dst.len() / size {
        let (from, to) = (&src[index * matrix..], &mut dst[index * size..]);
        let mut tile = Tile([[T::zeroed(); SIDE]; SIDE]);
        if from.len() >= read {
            for (i, line) in tile.0.iter_mut().enumerate().take(columns) {
                line.copy_from_slice(&from[i * stride..][..SIDE]);
            }
        } else {
            for (i, line) in tile.0.iter_mut().enumerate().take(columns) {
                line[..rows].copy_from_slice(&from[i * stride..][..rows]);
            }
        }
        let tile = transposed::<T, SIDE, SIDE>(&tile);
        if to.len() >= written {
            // What is written behind a row is overwritten by the next.
            for (i, line) in tile.0.iter().enumerate().take(rows) {
                to[i * columns..][..SIDE].copy_from_slice(line);
            }
        } else {
            to.chunks_exact_mut(columns).zip(&tile.0).take(rows).for_each(|(to, from)| to.copy_from_slice(&from[..columns]));
        }
    }
}
}

vectorised! {
/// Transposes matrices of eight rows and columns, which follow each other, two at a time: LLVM takes a tile of one
/// apart.
fn transpose_eights<T: Pod>(src: &[T], dst: &mut [T]) {
    let (pairs, last) = dst.as_chunks_mut::<128>();
    let single = &src[128 * pairs.len()..];
    for (to, from) in pairs.iter_mut().zip(src.as_chunks::<128>().0) {
        let mut tile = Tile([[T::zeroed(); 8]; 16]);
        tile.0.as_flattened_mut().copy_from_slice(from);
        let tile = transposed::<T, 16, 8>(&tile);
        for (row, line) in tile.0.iter().enumerate() {
            to[8 * row..][..8].copy_from_slice(&line[..8]);
            to[64 + 8 * row..][..8].copy_from_slice(&line[8..]);
        }
    }
    for (place, to) in last.iter_mut().enumerate() {
        *to = single[place % 8 * 8 + place / 8];
    }
}
}

vectorised! {
/// [`join`] of at most `SIDE` columns, `WIDE` rows at a time.
fn join_by<T: Pod, const SIDE: usize, const WIDE: usize>(matrix: &Matrix<'_, T>, rows: &mut [T], columns: usize) {
    let count = rows.len() / columns;
    for row in (0..count).step_by(WIDE) {
        // The last tile overlaps the one before.
        let row = row.min(count - WIDE);
        let mut tile = Tile([[T::zeroed(); WIDE]; SIDE]);
        for (i, to) in tile.0.iter_mut().enumerate().take(columns) {
            to.copy_from_slice(&matrix.src[matrix.at(row, i)..][..WIDE]);
        }
        let tile = transposed::<T, SIDE, WIDE>(&tile);
        let to = &mut rows[row * columns..];
        if to.len() >= (WIDE - 1) * columns + SIDE {
            // What is written behind a row is overwritten by the next.
            for (i, from) in tile.0.iter().enumerate() {
                to[i * columns..][..SIDE].copy_from_slice(from);
            }
        } else {
            to.chunks_exact_mut(columns).zip(&tile.0).for_each(|(to, from)| to.copy_from_slice(&from[..columns]));
        }
    }
}
}
