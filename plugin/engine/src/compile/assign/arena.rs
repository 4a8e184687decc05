//! Offsets in the arena.

use std::collections::{BTreeMap, BTreeSet};

use oxcall_kernels::memory::BUFFER_ALIGN;

use crate::compile::graph::Position;

/// A request for memory from the first to the last position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub(super) bytes: usize,
    pub(super) live: (Position, Position),
}

/// The offset of each request, and the size of an arena that holds all of them. Blocks that are live at the same
/// position do not overlap. In order of time, each block takes the smallest gap that is large enough.
pub(super) fn assign(requests: &[Request]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by_key(|&index| (requests[index].live.0, std::cmp::Reverse(requests[index].bytes)));
    let mut ends: BTreeMap<Position, Vec<usize>> = BTreeMap::new();
    let mut offsets = vec![0; requests.len()];
    let mut gaps = Gaps::default();
    for index in order {
        let Request { bytes, live } = requests[index];
        while let Some(entry) = ends.first_entry().filter(|entry| *entry.key() < live.0) {
            for index in entry.remove() {
                gaps.free(offsets[index], rounded(requests[index].bytes));
            }
        }
        offsets[index] = gaps.take(rounded(bytes));
        ends.entry(live.1).or_default().push(index);
    }
    (offsets, gaps.end)
}

fn rounded(bytes: usize) -> usize {
    bytes.next_multiple_of(BUFFER_ALIGN)
}

/// The unused parts of the arena.
#[derive(Default)]
struct Gaps {
    /// Their sizes, by offset.
    sizes: BTreeMap<usize, usize>,
    /// The same gaps by size, with the offsets of each size.
    by_size: BTreeSet<(usize, usize)>,
    end: usize,
}

impl Gaps {
    /// Takes the smallest gap that is large enough; of several, the first.
    fn take(&mut self, size: usize) -> usize {
        if let Some(&(gap, offset)) = self.by_size.range((size, 0)..).next() {
            self.remove(offset);
            if gap > size {
                self.insert(offset + size, gap - size);
            }
            return offset;
        }
        // A gap at the end grows.
        let last = self.sizes.last_key_value().map(|(&offset, &gap)| (offset, gap));
        let offset = last.filter(|(offset, gap)| offset + gap == self.end).map_or(self.end, |(offset, _)| offset);
        self.remove(offset);
        self.end = offset + size;
        offset
    }

    fn free(&mut self, mut offset: usize, mut size: usize) {
        if let Some(next) = self.remove(offset + size) {
            size += next;
        }
        let before = self.sizes.range(..offset).next_back().map(|(&at, &gap)| (at, gap));
        if let Some((before, gap)) = before.filter(|(at, gap)| at + gap == offset) {
            self.remove(before);
            (offset, size) = (before, gap + size);
        }
        self.insert(offset, size);
    }

    fn insert(&mut self, offset: usize, size: usize) {
        self.sizes.insert(offset, size);
        self.by_size.insert((size, offset));
    }

    /// Removes the gap at an offset, if there is one, and returns its size.
    fn remove(&mut self, offset: usize) -> Option<usize> {
        let size = self.sizes.remove(&offset)?;
        self.by_size.remove(&(size, offset));
        Some(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(requests: &[Request]) -> usize {
        let (offsets, size) = assign(requests);
        for (i, a) in requests.iter().enumerate() {
            assert_eq!(offsets[i] % BUFFER_ALIGN, 0);
            assert!(offsets[i] + a.bytes <= size);
            for (j, b) in requests.iter().enumerate().take(i) {
                let together = a.live.0 <= b.live.1 && b.live.0 <= a.live.1;
                let apart = offsets[i] + a.bytes <= offsets[j] || offsets[j] + b.bytes <= offsets[i];
                assert!(!together || apart, "{i} and {j} overlap");
            }
        }
        size
    }

    #[test]
    fn chains_take_two_blocks() {
        let chain: Vec<_> = (0..100).map(|i| Request { bytes: 1000, live: (i, i + 1) }).collect();
        assert_eq!(check(&chain), 2 * 1024);
    }

    #[test]
    fn what_lives_together_lies_apart() {
        let mut seed = 7u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..50 {
            let requests: Vec<_> = (0..60)
                .map(|_| {
                    let first = random(100) as Position;
                    Request { bytes: 1 + random(5000) as usize, live: (first, first + random(20) as Position) }
                })
                .collect();
            let size = check(&requests);
            let most = (0..120).map(|at| {
                let live = requests.iter().filter(|request| (request.live.0..=request.live.1).contains(&at));
                live.map(|request| rounded(request.bytes)).sum::<usize>()
            });
            assert!(size <= 2 * most.max().unwrap(), "the arena is fragmented");
        }
    }
}
