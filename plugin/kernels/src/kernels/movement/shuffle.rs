//! Transposition of a tile by vector instructions that permute elements.

use bytemuck::Pod;

/// A tile in whole cache lines, so that no vector is in two.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Tile<T, const COLUMNS: usize, const ROWS: usize>(pub(super) [[T; COLUMNS]; ROWS]);

/// The transpose of a tile whose sides are powers of two, by perfect shuffles of all elements: each rotates the bits of
/// an element's place by one.
#[inline(always)]
pub(super) fn transposed<T: Pod, const ROWS: usize, const COLUMNS: usize>(
    tile: &Tile<T, COLUMNS, ROWS>,
) -> Tile<T, ROWS, COLUMNS> {
    let mut tiles = [Tile([[T::zeroed(); ROWS]; COLUMNS]); 2];
    let rounds = ROWS.ilog2();
    for round in 0..rounds {
        let [to, from] = &mut tiles;
        let (from, to) = if (rounds - round).is_multiple_of(2) { (to, from) } else { (from, to) };
        let from = if round == 0 { tile.0.as_flattened() } else { from.0.as_flattened() };
        let to = to.0.as_flattened_mut();
        if size_of::<T>() == 8 {
            // LLVM takes vectors of wider elements apart.
            shuffle::<u32, 2>(bytemuck::cast_slice(from), bytemuck::cast_slice_mut(to));
        } else {
            shuffle::<T, 1>(from, to);
        }
    }
    tiles[0]
}

/// Writes elements of the first half and of the second in turns, `LEN` at a time.
#[allow(clippy::manual_memcpy, reason = "calls would not become permutations of vectors")]
#[inline(always)]
fn shuffle<T: Pod, const LEN: usize>(from: &[T], to: &mut [T]) {
    let (low, high) = from.split_at(from.len() / 2);
    for (to, (low, high)) in to.chunks_exact_mut(2 * LEN).zip(low.chunks_exact(LEN).zip(high.chunks_exact(LEN))) {
        for i in 0..LEN {
            to[i] = low[i];
            to[LEN + i] = high[i];
        }
    }
}
