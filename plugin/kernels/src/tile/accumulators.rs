//! Accumulators of reductions: combined with elements, and joined in pairs.

use crate::element::Scalar;
use crate::kernels::reduce::ColumnFold;

/// Memory for one number of any type.
pub(super) type Word = u64;

/// The function of accumulators.
#[derive(Debug)]
pub(super) struct Accumulator {
    pub(super) fold: ColumnFold,
    /// The initial value of the reduction.
    pub(super) init: Scalar,
    /// The size of an element in bytes.
    pub(super) bytes: usize,
}

/// Accumulators of a piece of work.
pub(super) struct Sums<'a> {
    pub(super) accumulator: &'a Accumulator,
    pub(super) bytes: &'a mut [u8],
}

impl Sums<'_> {
    /// Combines the elements of a tile with them, the first one with number `first`, after the last with the first.
    pub(super) fn add(&mut self, tile: &[u8], first: usize) {
        let mut rest = tile;
        let mut start = first * self.accumulator.bytes % self.bytes.len();
        while !rest.is_empty() {
            let (row, others) = rest.split_at(rest.len().min(self.bytes.len() - start));
            (self.accumulator.fold.join)(row, &mut self.bytes[start..][..row.len()]);
            (rest, start) = (others, 0);
        }
    }
}

impl Accumulator {
    /// The bytes of as many numbers as there are words.
    pub(super) fn bytes<'a>(&self, words: &'a mut [Word]) -> &'a mut [u8] {
        let len = words.len() * self.bytes;
        &mut bytemuck::cast_slice_mut(words)[..len]
    }

    /// Makes all numbers equal.
    pub(super) fn fill(&self, numbers: &mut [u8], value: Scalar) {
        match self.bytes {
            4 => bytemuck::cast_slice_mut(numbers).fill(value.to_pod::<u32>()),
            _ => bytemuck::cast_slice_mut(numbers).fill(value.to_pod::<u64>()),
        }
    }

    /// Joins rows of `row` bytes to the first one, in pairs.
    pub(super) fn join_rows(&self, sums: &mut [u8], row: usize) {
        let mut rows = sums.len() / row.max(1);
        while rows > 1 {
            let half = rows / 2;
            let (low, high) = sums[..rows * row].split_at_mut((rows - half) * row);
            (self.fold.join)(high, &mut low[..half * row]);
            rows -= half;
        }
    }
}

/// Accumulators that are joined in pairs, then pairs of pairs, and so on.
pub(super) struct Joined<'a> {
    accumulators: &'a [Accumulator],
    /// The number of elements of an accumulator.
    width: usize,
    /// Joined ones, as many as bits are set in `count`: the last of so many as the lowest of these bits says.
    levels: &'a mut [Word],
    count: usize,
}

impl<'a> Joined<'a> {
    /// None yet: for accumulators of `width` elements each, with memory for as many times all of them as there are bits
    /// in the number of those to join, and one more.
    pub(super) fn new(accumulators: &'a [Accumulator], width: usize, levels: &'a mut [Word]) -> Joined<'a> {
        Joined { accumulators, width, levels, count: 0 }
    }

    fn join(&mut self, level: usize, sums: &mut [Word]) {
        let level = &mut self.levels[level * sums.len()..][..sums.len()];
        let each = level.chunks_exact_mut(self.width).zip(sums.chunks_exact_mut(self.width)).zip(self.accumulators);
        for ((level, sums), accumulator) in each {
            (accumulator.fold.join)(accumulator.bytes(level), accumulator.bytes(sums));
        }
    }

    /// Joins one more with those before.
    pub(super) fn push(&mut self, sums: &mut [Word]) {
        let mut used = self.count.count_ones() as usize;
        for _ in 0..self.count.trailing_ones() {
            used -= 1;
            self.join(used, sums);
        }
        self.levels[used * sums.len()..][..sums.len()].copy_from_slice(sums);
        self.count += 1;
    }

    /// Makes `sums` all of them joined; at least one was pushed.
    pub(super) fn finish(&mut self, sums: &mut [Word]) {
        let used = self.count.count_ones() as usize;
        sums.copy_from_slice(&self.levels[(used - 1) * sums.len()..][..sums.len()]);
        (0..used - 1).rev().for_each(|level| self.join(level, sums));
    }
}
