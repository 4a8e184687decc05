//! Copies of elements at offsets from a table: results whose innermost loops are short.

use bytemuck::Pod;

use crate::kernels::nest::{Loop, Nest, Walk};
use crate::pool::{Cost, Pool};

/// The most elements of a block: its offsets stay in the nearest cache.
const MOST: usize = 1024;

/// The fewest elements of a block, for which the loops around it are taken one step further.
const FEWEST: usize = 16;

/// The elements of a block, which follow each other in the result, and the loops around it.
#[derive(Debug)]
pub(super) struct Places {
    /// The offset of each element in the operand, from the lowest of them.
    offsets: Box<[u32]>,
    /// The lowest and the highest offset, from the place that the loops around give.
    bounds: [isize; 2],
    outer: Nest<1>,
}

impl Places {
    /// The innermost of these loops as a block, as many as fit, and a part of the next; `None` if they are few elements
    /// then, or too far apart.
    pub(super) fn new(loops: &[Loop<1>]) -> Option<Places> {
        let (mut outer, mut inner): (Nest<1>, Nest<1>) = (loops.into(), Nest::new());
        let mut len = 1;
        while let Some(Loop { size, strides: [stride] }) = outer.pop() {
            let part = (1..=size.min(MOST / len)).rev().find(|&part| size % part == 0)?;
            inner.insert(0, Loop { size: part, strides: [stride] });
            len *= part;
            if part < size {
                outer.push(Loop { size: size / part, strides: [stride * part as isize] });
                break;
            }
        }
        if len < FEWEST {
            return None;
        }
        let mut walk = Walk::new(&inner, [0], 0);
        let all: Vec<isize> = (0..len).map(|_| walk.step()[0]).collect();
        let bounds = [*all.iter().min()?, *all.iter().max()?];
        let offsets = all.iter().map(|offset| u32::try_from(offset - bounds[0])).collect::<Result<_, _>>().ok()?;
        Some(Places { offsets, bounds, outer })
    }

    /// Copies from `src`, from `offset` on, to `dst`.
    pub(super) fn copy<T: Pod + Send + Sync>(
        &self,
        (pool, cost): (&Pool, Cost),
        src: &[T],
        offset: isize,
        dst: &mut [T],
    ) {
        let len = self.offsets.len();
        let [lowest, highest] = self.bounds;
        pool.for_chunks(cost, dst, len, |start, chunk| {
            let mut walk = Walk::new(&self.outer, [offset], start / len);
            for block in chunk.chunks_exact_mut(len) {
                let base = walk.step()[0];
                let from = &src[(base + lowest) as usize..=(base + highest) as usize];
                for (to, &place) in block.iter_mut().zip(&self.offsets) {
                    // SAFETY: no offset is above the highest, which is inside `from`.
                    *to = unsafe { *from.get_unchecked(place as usize) };
                }
            }
        });
    }
}
