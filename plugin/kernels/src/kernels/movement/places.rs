//! Copies of elements at offsets from a table: results whose innermost loops are short.

use bytemuck::Pod;

use crate::kernels::nest::{Loop, Nest, Walk};
use crate::pool::{Cost, Pool};

/// The most elements of a block: its offsets stay in the nearest cache.
const MOST: usize = 1024;

/// The fewest elements of a block: a shorter one takes longer to find than to copy.
const FEWEST: usize = 16;

/// A block: lines of the innermost loops, which follow each other in the result, and the loops around it.
#[derive(Debug)]
pub(super) struct Places {
    /// The offset of each element of a block in the operand, from the lowest of them.
    offsets: Box<[u32]>,
    /// The number of elements in a line, and the lowest and the highest of their offsets from its start.
    line: usize,
    bounds: [isize; 2],
    /// The loop over lines.
    lines: Loop<1>,
    outer: Nest<1>,
}

impl Places {
    /// As many of the innermost loops as fit into a block, and as many steps of the next; `None` if they are few
    /// elements, or too far apart.
    pub(super) fn new(loops: &[Loop<1>]) -> Option<Places> {
        if loops.iter().any(|each| each.size == 0) {
            return None;
        }
        let mut line = 1;
        let fits = |each: &&Loop<1>| {
            let is_whole = line * each.size <= MOST;
            line *= if is_whole { each.size } else { 1 };
            is_whole
        };
        let whole = loops.iter().rev().take_while(fits).count();
        let (outer, inner) = loops.split_at(loops.len() - whole);
        let one = Loop { size: 1, strides: [0] };
        let (lines, outer) = outer.split_last().map_or((one, &[][..]), |(lines, outer)| (*lines, outer));
        let count = lines.size.min(MOST / line);
        if line * count < FEWEST {
            return None;
        }
        let block: Nest<1> = std::iter::once(Loop { size: count, ..lines }).chain(inner.iter().copied()).collect();
        let mut walk = Walk::new(&block, [0], 0);
        let all: Vec<isize> = (0..count * line).map(|_| walk.step()[0]).collect();
        let bounds = |offsets: &[isize]| Some([*offsets.iter().min()?, *offsets.iter().max()?]);
        let lowest = bounds(&all)?[0];
        let offsets = all.iter().map(|offset| u32::try_from(offset - lowest)).collect::<Result<_, _>>().ok()?;
        Some(Places { offsets, line, bounds: bounds(&all[..line])?, lines, outer: outer.into() })
    }

    /// Copies from `src`, from `offset` on, to `dst`.
    pub(super) fn copy<T: Pod + Send + Sync>(
        &self,
        (pool, cost): (&Pool, Cost),
        src: &[T],
        offset: isize,
        dst: &mut [T],
    ) {
        let Loop { size, strides: [stride] } = self.lines;
        pool.for_chunks(cost, dst, self.line, |start, chunk| {
            let first = start / self.line;
            let mut walk = Walk::new(&self.outer, [offset], first / size);
            let (mut line, mut rest) = (first % size, chunk);
            while !rest.is_empty() {
                let base = walk.step()[0];
                while line < size && !rest.is_empty() {
                    let count = (self.offsets.len() / self.line).min(size - line).min(rest.len() / self.line);
                    let (block, others) = rest.split_at_mut(count * self.line);
                    self.copy_block(src, base + line as isize * stride, block);
                    (line, rest) = (line + count, others);
                }
                line = 0;
            }
        });
    }

    /// Copies some lines, at most those of a block, the first of which begins at `start`.
    #[inline]
    fn copy_block<T: Pod>(&self, src: &[T], start: isize, block: &mut [T]) {
        let way = |count: usize| (count / self.line - 1) as isize * self.lines.strides[0];
        let (way, whole_way) = (way(block.len()), way(self.offsets.len()));
        let [lowest, highest] = self.bounds;
        let from = &src[(start + lowest + way.min(0)) as usize..=(start + highest + way.max(0)) as usize];
        // Of fewer lines that go backwards, the lowest offset is a higher one.
        let skipped = (way.min(0) - whole_way.min(0)) as usize;
        for (to, &place) in block.iter_mut().zip(&self.offsets) {
            // SAFETY: the offsets of these lines are those from the lowest to the highest of the slice.
            *to = unsafe { *from.get_unchecked(place as usize - skipped) };
        }
    }
}
