//! Philox 4x32 with ten rounds, of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
#![allow(clippy::needless_range_loop, reason = "lanes of several words at once, as they are in vectors")]

use super::{LANES, Word};
use crate::math::level::vectorised;

/// Counters that take one word each from every lane.
type Block = [[u32; LANES]; 4];

#[inline(always)]
fn rounds(mut x: Block, key: [u32; 2]) -> Block {
    let (mut k0, mut k1) = (key[0], key[1]);
    for _ in 0..10 {
        for lane in 0..LANES {
            let a = u64::from(x[0][lane]) * 0xD251_1F53;
            let b = u64::from(x[2][lane]) * 0xCD9E_8D57;
            x[0][lane] = (b >> 32) as u32 ^ x[1][lane] ^ k0;
            x[1][lane] = b as u32;
            x[2][lane] = (a >> 32) as u32 ^ x[3][lane] ^ k1;
            x[3][lane] = a as u32;
        }
        k0 = k0.wrapping_add(0x9E37_79B9);
        k1 = k1.wrapping_add(0xBB67_AE85);
    }
    x
}

/// The blocks of counters `counter`, `counter + 1`, ...
#[inline(always)]
fn block(key: u64, counter: u128) -> Block {
    let mut x = Block::default();
    for lane in 0..LANES {
        let counter = counter.wrapping_add(lane as u128);
        for (word, lanes) in x.iter_mut().enumerate() {
            lanes[lane] = (counter >> (32 * word)) as u32;
        }
    }
    rounds(x, [key as u32, (key >> 32) as u32])
}

/// The number of counters that `count` elements take.
pub(super) fn counters<T: Word>(count: usize) -> usize {
    count.div_ceil(per_counter::<T>())
}

/// The number of elements that one counter gives.
pub(super) fn per_counter<T: Word>() -> usize {
    if T::WIDE { 2 } else { 4 }
}

vectorised! {
/// Fills `out` with the words of `counter`, then those of the next, and so on.
pub(super) fn fill<T: Word>(key: u64, counter: u128, out: &mut [T]) {
    let mut counter = counter;
    for chunk in out.chunks_mut(LANES * if T::WIDE { 2 } else { 4 }) {
        let words = block(key, counter);
        counter = counter.wrapping_add(LANES as u128);
        if T::WIDE {
            for (i, to) in chunk.iter_mut().enumerate() {
                *to = T::from_words(words[i % 2 * 2][i / 2], words[i % 2 * 2 + 1][i / 2]);
            }
        } else {
            for (i, to) in chunk.iter_mut().enumerate() {
                *to = T::from_words(words[i % 4][i / 4], 0);
            }
        }
    }
}
}
