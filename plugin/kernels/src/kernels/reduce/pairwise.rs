//! Numbers that are joined in pairs.

use smallvec::SmallVec;

use super::loops::Loops;
use crate::element::Element;

/// Joins numbers in pairs, then pairs of pairs, and so on.
pub(super) struct Pairwise<T: Element> {
    combine: fn(T::Wide, T::Wide) -> T::Wide,
    identity: T::Wide,
    /// Joined numbers: the last of so many as the lowest set bit of `count` says.
    levels: SmallVec<[T::Wide; 24]>,
    count: usize,
}

impl<T: Element> Pairwise<T> {
    pub(super) fn new(loops: &Loops<T>) -> Pairwise<T> {
        Pairwise { combine: loops.combine, identity: loops.identity, levels: SmallVec::new(), count: 0 }
    }

    pub(super) fn push(&mut self, mut x: T::Wide) {
        let mut bits = self.count;
        while bits & 1 == 1 {
            x = self.levels.pop().map_or(x, |level| (self.combine)(level, x));
            bits >>= 1;
        }
        self.levels.push(x);
        self.count += 1;
    }

    pub(super) fn finish(&mut self) -> T::Wide {
        let joined = self.levels.drain(..).rev().reduce(|low, high| (self.combine)(high, low));
        self.count = 0;
        joined.unwrap_or(self.identity)
    }
}

/// The same for rows of numbers, which are joined column by column.
pub(super) struct PairwiseRows<'a, T: Element> {
    loops: &'a Loops<T>,
    width: usize,
    /// Joined rows: as many as bits are set in `count`, and then the next one.
    levels: &'a mut [T::Wide],
    count: usize,
}

impl<'a, T: Element> PairwiseRows<'a, T> {
    /// The number of rows in memory while `count` rows are joined.
    pub(super) fn levels(count: usize) -> usize {
        count.saturating_sub(1).checked_ilog2().map_or(1, |log| log as usize + 2)
    }

    /// None yet, of `width` numbers each.
    pub(super) fn new(loops: &'a Loops<T>, width: usize, levels: &'a mut [T::Wide]) -> PairwiseRows<'a, T> {
        PairwiseRows { loops, width, levels, count: 0 }
    }

    /// The row that is pushed next, with any contents.
    pub(super) fn next(&mut self) -> &mut [T::Wide] {
        &mut self.levels[self.count.count_ones() as usize * self.width..][..self.width]
    }

    /// Joins the next row with those before.
    pub(super) fn push(&mut self) {
        let used = self.count.count_ones() as usize;
        (0..self.count.trailing_ones() as usize).for_each(|joined| self.join(used - joined));
        self.count += 1;
    }

    /// The joined numbers.
    pub(super) fn finish(mut self) -> &'a [T::Wide] {
        match self.count {
            0 => self.levels[..self.width].fill(self.loops.identity),
            count => (1..count.count_ones() as usize).rev().for_each(|level| self.join(level)),
        }
        &self.levels[..self.width]
    }

    /// Joins the row of a level with the one before.
    fn join(&mut self, level: usize) {
        let (before, row) = self.levels.split_at_mut(level * self.width);
        (self.loops.append)(&mut before[(level - 1) * self.width..], &row[..self.width]);
    }
}
