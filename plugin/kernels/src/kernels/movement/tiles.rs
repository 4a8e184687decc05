//! Transposition of matrices in tiles, which vector instructions permute.

use bytemuck::Pod;
use smallvec::SmallVec;

use super::interleave::interleave_few;
use super::shuffle::{Tile, transposed};
use super::stream;
use super::strided::{self, LONG};
use super::thin::{self, Way};
use crate::math::level::vectorised;

/// A matrix in an operand, dense along columns: element (row, column) at `base + row + column * stride`.
pub(super) struct Matrix<'a, T> {
    pub(super) src: &'a [T],
    pub(super) base: isize,
    pub(super) stride: isize,
    /// The distance of rows in the result.
    pub(super) pitch: usize,
    pub(super) stores: Stores,
}

/// The way in which results are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stores {
    /// Tile by tile.
    Cached,
    /// Tile by tile, lines past the caches.
    Streamed,
    /// Block by block, through memory that stays in the cache. Pieces of lines of the result go past the caches.
    Blocks,
}

/// The bytes of the lines of a block, and the lines. Shorter pieces of a result's lines are slower to store: each is in
/// a page of its own.
const BLOCK: (usize, usize) = (512, 64);

/// The bytes between lines of a block, so that its columns are in different sets of the cache.
const GAP: usize = 64;

/// Memory for a block.
#[repr(align(64))]
pub(super) struct Lines([u8; BLOCK.1 * (BLOCK.0 + GAP)]);

impl Lines {
    pub(super) fn new() -> Lines {
        Lines([0; BLOCK.1 * (BLOCK.0 + GAP)])
    }
}

impl<T: Pod> Matrix<'_, T> {
    /// Writes the first `rows` and `columns` to `dst`, dense along rows.
    pub(super) fn transpose(&self, dst: &mut [T], rows: usize, columns: usize, lines: &mut Option<Lines>) {
        let size = (rows, columns);
        if self.stores == Stores::Blocks {
            let lines = bytemuck::cast_slice_mut(&mut lines.get_or_insert_with(Lines::new).0);
            match (size_of::<T>(), rows.min(columns)) {
                (..=4, 16..) => return shuffle_blocks::<T, 16>(self, dst, size, lines),
                (..=8, 8..) => return shuffle_blocks::<T, 8>(self, dst, size, lines),
                _ => {}
            }
        }
        match (size_of::<T>(), rows.min(columns)) {
            // A row of the result has these elements alone.
            (width, _) if columns == self.pitch && rows >= thin::WIDEST && Way::Join.suits(columns, width) => {
                thin::join(self, &mut dst[..rows * columns], columns);
            }
            (width, _) if columns >= LONG && strided::is_every(rows, self.stride, width) => {
                self.transpose_thin(dst, size);
            }
            (..=4, 16..) => shuffle_tiles::<T, 16>(self, dst, size),
            (..=8, 8..) => shuffle_tiles::<T, 8>(self, dst, size),
            (_, 4..) => self.transpose_by::<4>(dst, size, pick),
            _ => self.transpose_thin(dst, size),
        }
    }

    /// Does so block by block. The last tiles of a block, and the last blocks, overlap those before.
    #[inline(always)]
    fn transpose_blocks<const TILE: usize>(
        &self,
        dst: &mut [T],
        (rows, columns): (usize, usize),
        lines: &mut [T],
        permute: impl Fn(&Tile<T, TILE, TILE>) -> Tile<T, TILE, TILE> + Copy,
    ) {
        let (wide, pitch) = (BLOCK.0 / size_of::<T>(), (BLOCK.0 + GAP) / size_of::<T>());
        for top in (0..rows).step_by(BLOCK.1) {
            let tall = BLOCK.1.min(rows - top).max(TILE);
            let top = top.min(rows - tall);
            for left in (0..columns).step_by(wide) {
                let wide = wide.min(columns - left).max(TILE);
                let left = left.min(columns - wide);
                for column in (0..wide).step_by(TILE) {
                    let column = column.min(wide - TILE);
                    for row in (0..tall).step_by(TILE) {
                        let row = row.min(tall - TILE);
                        let tile = self.permuted(top + row, left + column, permute);
                        for (i, line) in tile.0.iter().enumerate() {
                            lines[(row + i) * pitch + column..][..TILE].copy_from_slice(line);
                        }
                    }
                }
                for row in 0..tall {
                    let to = &mut dst[(top + row) * self.pitch + left..][..wide];
                    stream::copy_row(&lines[row * pitch..][..wide], to);
                }
            }
        }
    }

    /// Does so tile by tile, each permuted by `permute`. The last tiles of rows and columns overlap those before.
    /// Blocks of a few tiles are finished before the next, so that few pages are in use at a time.
    #[inline(always)]
    fn transpose_by<const TILE: usize>(
        &self,
        dst: &mut [T],
        (rows, columns): (usize, usize),
        permute: impl Fn(&Tile<T, TILE, TILE>) -> Tile<T, TILE, TILE> + Copy,
    ) {
        let block = TILE * 4;
        let place = |at: usize, size: usize| at.min(size - TILE);
        for top in (0..rows).step_by(block) {
            for left in (0..columns).step_by(block) {
                let down = (top..(top + block).min(rows)).step_by(TILE);
                let right = (left..(left + block).min(columns)).step_by(TILE);
                if self.stores == Stores::Streamed {
                    // Lines of the operand that are neighbours follow each other.
                    for column in right {
                        for row in down.clone() {
                            self.tile(dst, (place(row, rows), place(column, columns)), permute);
                        }
                    }
                } else {
                    for row in down {
                        for column in right.clone() {
                            self.tile(dst, (place(row, rows), place(column, columns)), permute);
                        }
                    }
                }
            }
        }
    }

    #[inline(always)]
    pub(super) fn at(&self, row: usize, column: usize) -> usize {
        (self.base + row as isize + column as isize * self.stride) as usize
    }

    /// The tile of the result at this place.
    #[inline(always)]
    fn permuted<const TILE: usize>(
        &self,
        row: usize,
        column: usize,
        permute: impl Fn(&Tile<T, TILE, TILE>) -> Tile<T, TILE, TILE>,
    ) -> Tile<T, TILE, TILE> {
        let mut tile = Tile([[T::zeroed(); TILE]; TILE]);
        for (i, line) in tile.0.iter_mut().enumerate() {
            line.copy_from_slice(&self.src[self.at(row, column + i)..][..TILE]);
        }
        permute(&tile)
    }

    #[inline(always)]
    fn tile<const TILE: usize>(
        &self,
        dst: &mut [T],
        (row, column): (usize, usize),
        permute: impl Fn(&Tile<T, TILE, TILE>) -> Tile<T, TILE, TILE>,
    ) {
        let tile = self.permuted(row, column, permute);
        for (i, line) in tile.0.iter().enumerate() {
            let to = &mut dst[(row + i) * self.pitch + column..][..TILE];
            if self.stores == Stores::Streamed {
                stream::copy(line, to);
            } else {
                to.copy_from_slice(line);
            }
        }
    }

    /// Does so where one side has a few elements only: along the other, a cache's worth at a time.
    fn transpose_thin(&self, dst: &mut [T], (rows, columns): (usize, usize)) {
        const LONG: usize = 256;
        for (top, left) in
            (0..rows).step_by(LONG).flat_map(|top| (0..columns).step_by(LONG).map(move |left| (top, left)))
        {
            let (rows, columns) = ((rows - top).min(LONG), (columns - left).min(LONG));
            if rows < columns {
                for row in top..top + rows {
                    let line = &mut dst[row * self.pitch + left..][..columns];
                    strided::copy_row(self.src, self.at(row, left), self.stride, line);
                }
                continue;
            }
            // A row of the result has these elements alone.
            if columns <= 4 && columns == self.pitch {
                let lines: SmallVec<[&[T]; 4]> =
                    (0..columns).map(|column| &self.src[self.at(top, column)..][..rows]).collect();
                if interleave_few(&lines, &mut dst[top * columns..][..rows * columns]) {
                    continue;
                }
            }
            for column in left..left + columns {
                let lines = dst[top * self.pitch + column..].iter_mut().step_by(self.pitch);
                lines.zip(&self.src[self.at(top, column)..][..rows]).for_each(|(to, from)| *to = *from);
            }
        }
    }
}

vectorised! {
/// Transposes in tiles that are shuffled.
fn shuffle_tiles<T: Pod, const TILE: usize>(matrix: &Matrix<'_, T>, dst: &mut [T], size: (usize, usize)) {
    matrix.transpose_by::<TILE>(dst, size, transposed);
}
}

vectorised! {
/// Transposes in blocks of tiles that are shuffled.
fn shuffle_blocks<T: Pod, const TILE: usize>(
    matrix: &Matrix<'_, T>,
    dst: &mut [T],
    size: (usize, usize),
    lines: &mut [T],
) {
    matrix.transpose_blocks::<TILE>(dst, size, lines, transposed);
}
}

/// Transposes a tile element by element.
#[inline(always)]
fn pick<T: Pod, const TILE: usize>(from: &Tile<T, TILE, TILE>) -> Tile<T, TILE, TILE> {
    let mut tile = *from;
    for (i, line) in tile.0.iter_mut().enumerate() {
        line.iter_mut().zip(&from.0).for_each(|(to, from)| *to = from[i]);
    }
    tile
}
