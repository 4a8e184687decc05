//! Threefry 2x32 with twenty rounds, of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
#![allow(clippy::needless_range_loop, reason = "lanes of several words at once, as they are in vectors")]

use super::{LANES, Word};
use crate::math::level::vectorised;

/// Both words of the counters in all lanes.
type Block = [[u32; LANES]; 2];

#[inline(always)]
fn rounds(mut x: Block, key: [u32; 2]) -> Block {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD1_1BDA];
    let inject = |x: &mut Block, step: usize| {
        for lane in 0..LANES {
            x[0][lane] = x[0][lane].wrapping_add(keys[step % 3]);
            x[1][lane] = x[1][lane].wrapping_add(keys[(step + 1) % 3]).wrapping_add(step as u32);
        }
    };
    inject(&mut x, 0);
    for step in 0..5 {
        for rotation in ROTATIONS[step % 2] {
            for lane in 0..LANES {
                x[0][lane] = x[0][lane].wrapping_add(x[1][lane]);
                x[1][lane] = x[1][lane].rotate_left(rotation) ^ x[0][lane];
            }
        }
        inject(&mut x, step + 1);
    }
    x
}

/// The words of counters `counter`, `counter + 1`, ...
#[inline(always)]
fn block(key: u64, counter: u64) -> Block {
    let mut x = Block::default();
    for lane in 0..LANES {
        let counter = counter.wrapping_add(lane as u64);
        x[0][lane] = counter as u32;
        x[1][lane] = (counter >> 32) as u32;
    }
    rounds(x, [key as u32, (key >> 32) as u32])
}

vectorised! {
/// Fills `out` with elements of two words: one counter each, from `counter` on.
pub(super) fn fill_wide<T: Word>(key: u64, counter: u64, out: &mut [T]) {
    let mut counter = counter;
    for chunk in out.chunks_mut(LANES) {
        let [low, high] = block(key, counter);
        counter = counter.wrapping_add(LANES as u64);
        for (i, to) in chunk.iter_mut().enumerate() {
            *to = T::from_words(low[i], high[i]);
        }
    }
}
}

vectorised! {
/// Fills `out` with elements of one word: lines of `inner` elements, alternately the first and the second words of as
/// many counters, from `counter` on. The last line may be one of first words.
pub(super) fn fill_lines<T: Word>(key: u64, counter: u64, inner: usize, out: &mut [T]) {
    let mut counter = counter;
    if inner == 1 {
        for chunk in out.chunks_mut(2 * LANES) {
            let words = block(key, counter);
            counter = counter.wrapping_add(LANES as u64);
            for (i, to) in chunk.iter_mut().enumerate() {
                *to = T::from_words(words[i % 2][i / 2], 0);
            }
        }
        return;
    }
    let counters = out.len().div_ceil(2 * inner) * inner;
    let (mut line, mut column) = (0, 0);
    for first in (0..counters).step_by(LANES) {
        let words = block(key, counter);
        counter = counter.wrapping_add(LANES as u64);
        for lane in 0..LANES.min(counters - first) {
            out[line + column] = T::from_words(words[0][lane], 0);
            if let Some(to) = out.get_mut(line + inner + column) {
                *to = T::from_words(words[1][lane], 0);
            }
            column += 1;
            if column == inner {
                (line, column) = (line + 2 * inner, 0);
            }
        }
    }
}
}

/// XLA's arrangement of words in a result of one-word elements: the first even dimension, or else the longest, is
/// halved, and its indices are alternately first and second words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// The number of elements that are laid out together.
    pub(super) row: usize,
    /// The number of counters that they take.
    pub(super) counters: usize,
    /// The number of elements in a line of first, or of second, words.
    pub(super) inner: usize,
}

impl Layout {
    pub(super) fn new(dims: &[usize]) -> Layout {
        let longest = dims.iter().copied().max().unwrap_or(1);
        let split = dims.iter().position(|dim| dim.is_multiple_of(2)).or(dims.iter().position(|&dim| dim == longest));
        let Some(split) = split else { return Layout { row: 1, counters: 1, inner: 1 } };
        let outer: usize = dims[..split].iter().product();
        let inner: usize = dims[split + 1..].iter().product();
        // Lines continue from one row to the next, except where an odd line remains.
        let rows = if dims[split].is_multiple_of(2) { 1 } else { outer };
        let lines = if rows == 1 { outer * dims[split] } else { dims[split] };
        Layout { row: lines * inner, counters: lines.div_ceil(2) * inner, inner }
    }
}
